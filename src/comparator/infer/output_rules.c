/* comparator/infer/output_rules.c: see output_rules.h. */
#include "comparator/infer/output_rules.h"

#include "base/text/names.h"
#include "base/text/string_builder.h"

static bool is_output_of_any(const struct run_results *results, const char *rule)
{
    for (size_t i = 0; i < results->count; i++)
        for (size_t k = 0; k < results->items[i].count; k++) {
            const struct tensor_list *outputs = &results->items[i].items[k].outputs;

            for (size_t n = 0; n < outputs->count; n++)
                if (name_rule_covers(rule, outputs->items[n].name))
                    return true;
        }
    return rule[0] == '\0';
}

void output_rules_warn(const struct output_rules *options, size_t count, const struct run_results *results,
                       struct log *log)
{
    SCOPED_STRING(extra);

    ARRAY_EACH (const struct output_rules, rules, options, count) {
        for (size_t k = 0; k < rules->count; k++) {
            const char *name = *(const char *const *)((const char *)rules->items + k * rules->item_size);

            if (!is_output_of_any(results, name))
                name_list_add(&extra, name);
        }
        if (extra.size > 0)
            log_message(log, LOG_WARNING, "Extra items in %s: [%s]: no output has such a name", rules->option,
                        extra.data);
        string_clear(&extra);
    }
}
