/* engine/onednn/library.h: oneDNN itself, loaded once per process and kept until its end.
 *
 *   const struct onednn *onednn;
 *   rc = onednn_load(&onednn, err);
 *   status = onednn->primitive_create(&primitive, descriptor);
 *
 * What depends on the major version is asked through its dialect. oneDNN's threads are OpenMP's: they do not survive a
 * fork().
 */
#ifndef ENGINE_ONEDNN_LIBRARY_H
#define ENGINE_ONEDNN_LIBRARY_H

#include "base/error.h"
#include "engine/onednn/dialect.h"

struct onednn {
#define X(result, name, parameters) result(*name) parameters;
    ONEDNN_FUNCTIONS(X)
#undef X
    void (*omp_set_num_threads)(int); /* NULL when the library does not use OpenMP */
    const struct onednn_dialect *dialect;
    struct dnnl_engine *engine;
    struct dnnl_stream *stream;
    char version_text[32];
};

/* ERR_MISSING when there is none; ERR_UNSUPPORTED when it is of a version for which there is no dialect. Once that has
 * worked, every later call gives the same. */
int onednn_load(const struct onednn **ret, struct error *err);

/* What the calling thread does with oneDNN from now on takes this many threads; 0: as many as the process may use. A
 * primitive has to be run with as many as it was made for. */
void onednn_use_threads(const struct onednn *onednn, int threads);

/* Calls `visit` for each implementation that the library has for it, in its order, until it returns false; for none
 * when it has none, or when something cannot be described. Descriptors live as long as the call. */
void onednn_computation_each(const struct onednn *onednn, const struct onednn_computation *computation,
                             bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor), void *context);

#endif
