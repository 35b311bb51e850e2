/* engine/onednn/library.h: oneDNN's library, loaded once per process and never unloaded.
 *
 *   const struct onednn *onednn;
 *   rc = onednn_load(&onednn, err);
 *   status = onednn->primitive_create(&primitive, descriptor);
 *
 * Version-dependent operations use its dialect. oneDNN's threads are OpenMP threads, which do not survive a fork().
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

/* Loads the library. ERR_MISSING if there is none; ERR_UNSUPPORTED for a version without a dialect. After a success
 * every later call returns the same. */
int onednn_load(const struct onednn **ret, struct error *err);

/* Sets the number of threads for oneDNN in the calling thread; 0: all that the process may use. A primitive must run
 * with the number of threads for which it was created. */
void onednn_use_threads(const struct onednn *onednn, int threads);

/* Calls `visit` for each implementation in the library, in its order, until it returns false; never if a memory
 * descriptor cannot be created. Descriptors are valid during the call. */
void onednn_computation_each(const struct onednn *onednn, const struct onednn_computation *computation,
                             bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor), void *context);

#endif
