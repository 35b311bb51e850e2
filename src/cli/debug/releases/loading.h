/* cli/debug/releases/loading.h: which releases of ONNX Runtime load a model's operator set.
 *
 * The module cli/debug/releases/ contains what `debug releases` knows of ONNX Runtime: its releases and the loading of
 * a model (loading.h), the tools that explain a release (explanation.h), and the answer (answer.h). The search is in
 * debug/releases/.
 */
#ifndef CLI_DEBUG_RELEASES_LOADING_H
#define CLI_DEBUG_RELEASES_LOADING_H

#include "backend/onnxrt/settings.h"
#include "debug/releases/releases.h"

struct release_loading {
    const char *model;                      /* its path */
    const struct onnxrt_settings *settings; /* of the command line */
    uint64_t max_memory;
    struct arena *arena;
    struct log *log;
};

/* For struct releases_request: fetches the release, and loads the model with it in a worker process, without
 * optimizations. The release is untestable if it cannot be fetched or loaded, or if it says that it does not have the
 * model's operator set, an operator in it, or the version of the format; a crash and other refusals are for the check.
 * `data` is a struct release_loading. ERR_INTERRUPTED. */
int release_open(void *data, struct release *release, struct error *err);
bool release_is_at_hand(void *data, const struct release *release); /* it need not be fetched */

/* Opens the oldest release that is testable. If the oldest one of all is too old for the model, those after it are
 * bisected: what is older than one that is too old is not tried. `ret` is the number of releases if there is none. */
int release_find_oldest(struct release_loading *loading, struct release_list *releases, size_t *ret, struct error *err);

#endif
