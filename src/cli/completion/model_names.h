/* cli/completion/model_names.h: the names in a model, for completion. */
#ifndef CLI_COMPLETION_MODEL_NAMES_H
#define CLI_COMPLETION_MODEL_NAMES_H

#include "cli/parse/option.h"

struct model_name {
    const char *name;
    const char *shape;       /* "[1,3,224,224]", 1 where a dimension is dynamic; NULL: not known */
    const char *description; /* type and shape of a tensor if known, or the operator of its node */
};

/* Calls `visit` for each name of that kind, in the order of the file; never for an invalid model. Names with control
 * characters or line breaks are omitted. */
void model_names_each(const char *path, enum option_names naming,
                      void (*visit)(void *data, const struct model_name *name), void *data);

#endif
