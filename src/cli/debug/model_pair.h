/* cli/debug/model_pair.h: two models that should be equal, and the table of their differences: of `debug models` and
 * `inspect diff-models`. */
#ifndef CLI_DEBUG_MODEL_PAIR_H
#define CLI_DEBUG_MODEL_PAIR_H

#include "debug/models/differences.h"
#include "report/result.h"

/* Opens a model for model_pairing_make(): its nodes are sorted and its Constant nodes are initializers. `*ret`
 * is NULL before; free it in any case. */
int model_pair_open(const char *path, const char *external_folder, struct model **ret, struct error *err);

/* Adds the table of static differences, with the harmless ones, and those of nodes without a partner; and what of the
 * models is not compared. */
void model_pair_add_tables(const struct model_pairing *pairing, const struct model_differences *differences,
                           struct result *ret);

#endif
