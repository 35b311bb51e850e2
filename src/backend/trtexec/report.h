/* backend/trtexec/report.h: what trtexec said when it ran: read line by line out of its two streams, which are those of
 * a program that nobody has vouched for.
 *
 * A line of its own is "[11/22/2026-08:02:20] [I] text"; what TensorRT says has "[TRT] " before the text. A text with
 * line breaks has that in front of its first line only. Help texts, which follow a mistyped option, are no such lines.
 */
#ifndef BACKEND_TRTEXEC_REPORT_H
#define BACKEND_TRTEXEC_REPORT_H

#include "base/container/arena.h"
#include "base/log.h"
#include "tensor/values/tensor.h"

/* An input or output, as trtexec has made memory for it. */
struct trtexec_binding {
    const char *name;
    bool is_output;
    bool by_allocator;   /* its shape depends on data: neither type nor shape are told */
    enum data_type type; /* DATA_UNDEFINED: not told, as up to TensorRT 8 */
    struct shape shape;
};

/* A raw file of one of them, relative to the folder. Sizes that depend on data are -1. */
struct trtexec_dump {
    const char *name, *file;
    bool is_output;
    enum data_type type;
    struct shape shape;
};

/* Text lives in the arena that it was read into. */
struct trtexec_report {
    bool passed; /* the last line says so; by itself that proves nothing */
    struct {
        struct trtexec_binding *items;
        size_t count, capacity;
    } bindings;
    struct {
        struct trtexec_dump *items;
        size_t count, capacity;
    } dumps;
    struct {
        const char **items; /* inputs whose values came out of a file */
        size_t count, capacity;
    } loaded;
    struct {
        const char **items; /* layers that were told which precision to have */
        size_t count, capacity;
    } set_layers;
    struct {
        const char **items; /* layers that got another precision all the same */
        size_t count, capacity;
    } other_layers;
    bool lost_timing_cache; /* it could not be read: TensorRT went on with an empty one */
    struct {
        const char **items; /* inputs of open sizes */
        size_t count, capacity;
    } open_inputs;
    double host_seconds;          /* that inferences took; negative: not told */
    struct string_builder errors; /* the first of them, in words; empty: none was told */
};

/* Reads both streams. `log` hears warnings and errors, and on lower levels the rest; may be NULL. */
void trtexec_report_read(struct text out, struct text error_out, struct arena *arena, struct log *log,
                         struct trtexec_report *ret);
void trtexec_report_release(struct trtexec_report *report);

/* A name in one of its lists. */
const struct trtexec_binding *trtexec_find_binding(const struct trtexec_report *report, const char *name);

/* The type that trtexec calls "fp32"; DATA_UNDEFINED for one that is not known here. */
enum data_type trtexec_type(struct text word);

#endif
