/* cli/debug/models_recorded.c: see models_recorded.h. */
#include "cli/debug/models_recorded.h"

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/number.h"
#include "debug/models/differences.h"

#define MOST_NODES 5 /* in a line */

static void add_diverging_nodes(const struct recorded_study *study, struct string_builder *ret)
{
    struct short_list list = {.text = ret, .most = MOST_NODES};

    BITSET_EACH (i, &study->nodes)
        if (short_list_next(&list))
            node_describe(study->model, (uint32_t)i, ret);
    short_list_end(&list);
}

static void add_divergence(const struct recorded_study *study, struct result *result)
{
    size_t count = bitset_count(&study->nodes);
    SCOPED_STRING(nodes);

    add_diverging_nodes(study, &nodes);
    result_add_line(result, RESULT_EVIDENCE, "B's '" TEXT_FORMAT "' %s",
                    TEXT_ARGS(study->model->values.items[study->first_value].name), study->text.data);
    result_add_line(result, RESULT_EVIDENCE, "%s of A compute%s it from tensors that are equal in B, and from inputs",
                    nodes.data, count == 1 ? "s" : "");
    result_add_line(result, RESULT_NOT_TESTED,
                    "which of these nodes B computes wrongly, and whether this makes the outputs differ: of B only "
                    "tensors are known");
    BITSET_EACH (i, &study->nodes)
        result_add_node(result, model_node_label(study->model, (uint32_t)i));
}

static void set_recorded_verdict(const struct recorded_study *study, struct result *result)
{
    char error[NUMBER_TEXT_SIZE], tolerance[NUMBER_TEXT_SIZE];
    SCOPED_STRING(nodes);

    if (study->different_outputs == 0 && study->equal_outputs > 0) {
        result_set_verdict(
            result, REPORT_PASSED, "The outputs agree: largest difference %s of the largest magnitude (tolerance %s)",
            number_to_text_short(study->error, error), number_to_text_short(study->tolerance, tolerance));
    } else if (study->different_outputs == 0) {
        result_set_verdict(result, REPORT_UNKNOWN,
                           "No output of A was compared: B has neither tensors of these names, nor equal ones");
    } else {
        add_diverging_nodes(study, &nodes);
        if (bitset_count(&study->nodes) > 1)
            result_set_verdict(result, REPORT_FAILED,
                               "The outputs differ; B first diverges from A in one of %zu nodes: %s",
                               bitset_count(&study->nodes), nodes.data);
        else
            result_set_verdict(result, REPORT_FAILED, "The outputs differ; B first diverges from A at %s", nodes.data);
    }
}

bool models_recorded_fill(const struct recorded_study *study, struct result *result)
{
    size_t outputs = study->model->outputs.count, compared = study->equal_outputs + study->different_outputs;
    bool agree = study->different_outputs == 0 && study->equal_outputs > 0;

    set_recorded_verdict(study, result);
    if (study->first_value != VALUE_NONE)
        add_divergence(study, result);
    result_add_line(result, RESULT_EVIDENCE,
                    "%zu of the tensors that nodes of A compute have an equal counterpart in B, of %zu",
                    study->equal_values, study->values);
    if (compared < outputs)
        result_add_line(result, RESULT_NOT_TESTED,
                        "%zu of %zu outputs of A, which have no tensor of that name in B, nor an equal one",
                        outputs - compared, outputs);
    result_add_line(result, RESULT_NOT_TESTED, "other input data");
    result_add_text(result, "outcome", agree ? "agree" : "differ");
    result_add_text(result, "first_divergence",
                    study->first_value != VALUE_NONE
                        ? model_node_label(study->model, study->model->values.items[study->first_value].producer)
                        : NULL);
    result_add_number(result, "error", study->error);
    result_add_number(result, "tolerance", study->tolerance);
    return agree;
}
