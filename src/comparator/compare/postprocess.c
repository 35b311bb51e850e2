/* comparator/compare/postprocess.c: see postprocess.h. */
#include "comparator/compare/postprocess.h"

#include "base/text/names.h"
#include "tensor/compare/top_k.h"

static int replace_outputs(struct tensor_list *outputs, const struct top_k_rule *rules, size_t count, struct error *err)
{
    for (size_t i = 0; i < outputs->count; i++) {
        struct named_tensor *output = &outputs->items[i];
        const struct top_k_rule *rule = name_rule_find(rules, count, sizeof(*rules), output->name);
        struct tensor ranking;

        if (rule == NULL)
            continue;
        if (top_k(&output->tensor, rule->k, rule->axis, &ranking, err) < 0)
            return error_context(err, "output '%s'", output->name);
        tensor_release(&output->tensor);
        output->tensor = ranking;
    }
    return 0;
}

int postprocess_top_k(struct run_results *results, const struct top_k_rule *rules, size_t count, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; i < results->count; i++)
        for (size_t k = 0; k < results->items[i].count && rc == 0; k++)
            rc = replace_outputs(&results->items[i].items[k].outputs, rules, count, err);
    return rc;
}
