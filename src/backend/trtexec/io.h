/* backend/trtexec/io.h: the inputs, or the outputs, of an engine: how backends describe them, and what trtexec knows of
 * each.
 */
#ifndef BACKEND_TRTEXEC_IO_H
#define BACKEND_TRTEXEC_IO_H

#include "backend/backend.h"
#include "backend/trtexec/network.h"

/* An input or output of the engine. */
struct io {
    char *safe;           /* what trtexec calls it */
    enum data_type bound; /* the type that TensorRT has for it; DATA_UNDEFINED: not known yet */
    bool is_open;         /* an input whose shape has to be told */
    bool is_debug;        /* no output, but a tensor inside of the engine */
};

struct io_list {
    struct backend_io *items;
    struct io *details;
    size_t count, capacity;
};

/* Appends one; text is copied. What is returned stays where it is until the next call. */
struct io *io_list_add(struct io_list *list, const char *name, const char *safe, enum data_type type);

/* Those of a model. */
void io_list_take(const struct trtexec_tensors *tensors, struct io_list *ret);

/* By trtexec's name; NULL when it is not there. */
struct io *io_list_find(const struct io_list *list, const char *safe);
void io_list_release(struct io_list *list);

#endif
