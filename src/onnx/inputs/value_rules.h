/* onnx/inputs/value_rules.h: what the readers of an input demand of its values. */
#ifndef ONNX_INPUTS_VALUE_RULES_H
#define ONNX_INPUTS_VALUE_RULES_H

#include "onnx/inputs/facts.h"

enum derived_values {
    DERIVED_ANY,       /* no rule: any values */
    DERIVED_INTEGERS,  /* from `low` to `high` */
    DERIVED_MASK,      /* ones, and zeros in the last `low` places of the last axis */
    DERIVED_POSITIONS, /* `low`, `low` + 1, ... along the last axis; at most `high`, then 0 and on again */
    DERIVED_NUMBER,    /* `low` everywhere */
};

struct value_rule {
    enum derived_values values;
    int64_t low, high;
    bool by_name, is_certain;
    bool allows_default; /* zeros and ones */
    uint32_t node;       /* whose demand it is; NODE_NONE: none */
};

/* Follows the elements of the model's input `value` through its readers, after a pass whose sizes are all solved.
 * `cache` is the number of entries of a cache, 0 if there is none. */
void value_rule_find(const struct pass *pass, const struct value_readers *readers, uint32_t value, int64_t cache,
                     struct value_rule *ret);

#endif
