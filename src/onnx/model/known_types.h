/* onnx/model/known_types.h: what was found out about a model's tensors, laid over what its file says of them.
 *
 * The model stays as it is: whoever describes or writes a part of it (struct subgraph) is given this beside it. Several
 * of them can lie over one model, and one that is thrown away leaves nothing behind.
 */
#ifndef ONNX_MODEL_KNOWN_TYPES_H
#define ONNX_MODEL_KNOWN_TYPES_H

#include "onnx/model/model.h"
#include "onnx/proto/value_info.h"

struct known_types {
    const struct model *model;
    struct arena *arena; /* has the descriptions, which copies share */
    struct span *infos;  /* of each value, a ValueInfoProto; size 0: what the model says holds. NULL: none is known */
};

/* Nothing is known beyond the model. Both have to outlive it. */
void known_types_init(struct known_types *known, const struct model *model, struct arena *arena);
void known_types_init_copy(struct known_types *known, const struct known_types *from);
void known_types_release(struct known_types *known);

/* Describes a value; replaces what was known. The ValueInfoProto has to live as long as the arena. */
void known_types_set(struct known_types *known, uint32_t value, const struct value_type *type);
void known_types_set_info(struct known_types *known, uint32_t value, struct span info);

/* States all of it in `model`, the one that it is about or a copy of that, which the arena has to outlive. */
void known_types_state(const struct known_types *known, struct model *model);

/* True when the description of the value is not the model's own. `known` may be NULL, here and below. */
static inline bool known_types_has(const struct known_types *known, uint32_t value)
{
    return known != NULL && known->infos != NULL && known->infos[value].size > 0;
}

/* What is known of a value of `model`: a ValueInfoProto, size 0 when that is nothing. */
static inline struct span known_types_info(const struct known_types *known, const struct model *model, uint32_t value)
{
    return known_types_has(known, value) ? known->infos[value] : model->values.items[value].info;
}

#endif
