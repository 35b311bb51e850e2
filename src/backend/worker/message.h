/* backend/worker/message.h: what passes between this program and a worker process (backend/worker/worker.h).
 *
 * A message is a head of numbers of 64 bits, and of texts with their size in front; data of tensors and models follow
 * it, aligned, so that they need not be copied. A reader takes values in the order in which they were put. A hostile
 * model may control the worker, so messages are read like files: missing bytes make the reader `damaged`, and whatever
 * was taken is worthless then.
 */
#ifndef BACKEND_WORKER_MESSAGE_H
#define BACKEND_WORKER_MESSAGE_H

#include "backend/backend.h"
#include "base/container/arena.h"

#define MESSAGE_NONE UINT64_MAX /* in place of a size: no text, no list */

/* Kinds of struct members that a message can hold. */
enum message_kind {
    MESSAGE_INT,     /* int */
    MESSAGE_NUMBER,  /* uint64_t */
    MESSAGE_REAL,    /* double */
    MESSAGE_FLAG,    /* bool */
    MESSAGE_TYPE,    /* enum data_type */
    MESSAGE_SHAPE,   /* struct shape */
    MESSAGE_STRING,  /* const char *, may be NULL */
    MESSAGE_STRINGS, /* const char *const *, NULL-terminated, may be NULL */
    MESSAGE_WORDS,   /* struct words */
    MESSAGE_LIST,    /* struct { const T *items; size_t count; } of structs that have a table of their own */
    MESSAGE_STRUCT,  /* a struct that has a table of its own */
};

/* One member of a struct. A struct that is sent is described by a table of these, which writes and reads it. */
struct message_field {
    size_t offset;
    enum message_kind kind;
    const struct message_record *record; /* of MESSAGE_LIST and MESSAGE_STRUCT */
};

/* The table of a struct. */
struct message_record {
    size_t size; /* of the struct, in bytes */
    const struct message_field *fields;
    size_t count;
};

#define MESSAGE_FIELD(type, member, kind)                                                                              \
    {                                                                                                                  \
        offsetof(type, member), kind, NULL                                                                             \
    }
#define MESSAGE_FIELD_OF(type, member, kind, record)                                                                   \
    {                                                                                                                  \
        offsetof(type, member), kind, record                                                                           \
    }
#define MESSAGE_RECORD(type, fields)                                                                                   \
    {                                                                                                                  \
        sizeof(type), fields, sizeof(fields) / sizeof((fields)[0])                                                     \
    }

/* Data that are not copied into the message; somebody else's. */
struct message_data {
    struct text *items;
    size_t count, capacity;
};

struct message {
    struct string_builder head;
    struct message_data data;

    /* Tensors in memory that both processes map, one behind the other; only where `shares`. */
    bool shares;
    struct message_data shared;
    size_t shared_size;

    struct bounded_files files; /* of tensors that message_allocate_tensor() made; somebody else's */
};

void message_init(struct message *message);
void message_release(struct message *message);

void message_put_number(struct message *message, uint64_t number);
void message_put_real(struct message *message, double number); /* bit by bit */
void message_put_text(struct message *message, struct text text);
void message_put_string(struct message *message, const char *string); /* may be NULL */
void message_put_ios(struct message *message, const struct backend_io *ios, size_t count);

/* The members of `object` that the table lists, in its order. */
void message_put_record(struct message *message, const struct message_record *record, const void *object);

/* These data have to stay where they are until the message is gone. */
void message_put_data(struct message *message, struct text data);

/* The same for tensors. Large ones are not part of the message: with message->shares they go to memory that both
 * processes map, and those that message_allocate_tensor() made go as files. */
void message_put_tensors(struct message *message, const struct tensor_list *tensors);

/* Tensors of numbers whose data are at the same address in the process that reads this, because it was forked off with
 * them: only the address is put into the message. */
void message_put_shared_tensors(struct message *message, const struct tensor_list *tensors);

/* As tensor_allocate(), for a tensor that goes to the other process: a large one is in memory that is given to that
 * process as it is, up to BOUNDED_MOST_FILES at a time. `ret_data`: the same data, to be written (tensor_writable()
 * does not know them). ERR_MEMORY. */
int message_allocate_tensor(enum data_type type, const struct shape *shape, struct tensor *ret, void **ret_data,
                            struct error *err);

/* Copies shared tensors to their places in memory of message->shared_size bytes. */
void message_fill_shared(const struct message *message, char *memory);

/* All of it but shared tensors and files, in the right order, malloc'd. */
struct text *message_parts(const struct message *message, size_t *ret_count);

struct message_reader {
    const char *data;
    size_t size, at;
    bool damaged;
    struct text shared;                /* memory with shared tensors; empty: none */
    const struct bounded_files *files; /* that came with the message; NULL: none */
};

uint64_t message_take_number(struct message_reader *reader);
double message_take_real(struct message_reader *reader);
size_t message_take_count(struct message_reader *reader); /* of things that take eight bytes each, at least */
struct text message_take_text(struct message_reader *reader);
char *message_take_string(struct message_reader *reader, struct arena *arena);

/* Sets the members of `object` that the table lists; text and lists lie in the arena. */
void message_take_record(struct message_reader *reader, struct arena *arena, const struct message_record *record,
                         void *object);

struct backend_io *message_take_ios(struct message_reader *reader, struct arena *arena, size_t *ret_count);
struct text message_take_data(struct message_reader *reader, uint64_t size);

/* Adds them to what is there. Tensors of numbers refer to the message, to the shared memory, or own a mapped file.
 * ERR_MEMORY. */
int message_take_tensors(struct message_reader *reader, struct tensor_list *ret, struct error *err);

/* Reads the addresses that message_put_shared_tensors() put. Only for messages from the process that this one was
 * forked off from: those of a worker are not to be trusted. */
void message_take_shared_tensors(struct message_reader *reader, struct tensor_list *ret);

#endif
