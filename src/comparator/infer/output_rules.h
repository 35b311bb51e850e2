/* comparator/infer/output_rules.h: options with rules for single outputs, by name. */
#ifndef COMPARATOR_INFER_OUTPUT_RULES_H
#define COMPARATOR_INFER_OUTPUT_RULES_H

#include "base/log.h"
#include "format/polygraphy/run_results.h"

/* The rules of an option. `items` are structs whose first member is a name or a pattern. */
struct output_rules {
    const char *option;
    const void *items;
    size_t count, item_size;
};

/* Warns about rules that match no output in `results`: one line for each of the `count` options. */
void output_rules_warn(const struct output_rules *options, size_t count, const struct run_results *results,
                       struct log *log);

#endif
