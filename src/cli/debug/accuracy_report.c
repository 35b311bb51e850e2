/* cli/debug/accuracy_report.c: see accuracy_report.h. */
#include "cli/debug/accuracy_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/search.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/shell_line.h"
#include "cli/options/groups.h"
#include "debug/accuracy/inputs.h"
#include "format/tensorrt/layer_info.h"
#include "report/result.h"

/* The built-in engine and type inference use the library, too: it is always named. */
static void add_runtimes(struct report *report, const struct accuracy_settings *settings)
{
    struct onnxrt_identity reference SCOPED(onnxrt_identity_release) = {0};
    struct onnxrt_identity suspect SCOPED(onnxrt_identity_release) = {0};

    if (onnxrt_identify(accuracy_library_of(settings->reference), &reference, NULL) < 0 ||
        onnxrt_identify(accuracy_library_of(settings->suspect), &suspect, NULL) < 0)
        return;
    if (strcmp(reference.path, suspect.path) == 0) {
        report_add_environment(report, "ONNX Runtime", reference.version);
        return;
    }
    report_add_environment(report, "ONNX Runtime of the reference", reference.version);
    report_add_environment(report, "ONNX Runtime of the suspect", suspect.version);
}

static void add_environment(struct report *report, const struct study *study)
{
    const struct accuracy_settings *settings = study->settings;
    const struct words *const runners[] = {&settings->reference, &settings->suspect};
    static const char *const names[] = {"reference", "suspect"};
    SCOPED_STRING(text);

    for (size_t i = 0; i < ARRAY_LEN(runners); i++) {
        string_clear(&text);
        for (size_t k = 0; k < runners[i]->count; k++)
            shell_add_argument(&text, runners[i]->items[k]);
        report_add_environment(report, names[i], text.data);
    }
    report_add_environment(report, "model", study->question->model);
    report_add_environment(report, "input data", settings->data_are_given ? "given" : "generated");
    report_add_environment(report, "tolerance", study->tolerance_why);
    add_runtimes(report, settings);
}

static void add_steps(struct report *report, const struct study *study)
{
    for (size_t i = 0; i < study->steps.count; i++) {
        const struct study_step *step = study->steps.items[i];

        report_add_step(report, &(struct report_step){.what = step->hypothesis,
                                                      .why = step->why,
                                                      .command = step->command,
                                                      .outcome = step->outcome,
                                                      .seconds = step->seconds});
    }
}

/* ---- The errors of all tensors ---- */

static struct report_range range_of_side(struct study_step *errors, const json_t *side)
{
    const json_t *finite = result_find(side, "finite");

    return (struct report_range){.known = json_is_object(finite),
                                 .minimum = result_number(errors, finite, "min", NAN),
                                 .maximum = result_number(errors, finite, "max", NAN),
                                 .mean = result_number(errors, finite, "mean", NAN),
                                 .nan = (uint64_t)result_count(errors, side, "nans"),
                                 .infinities = (uint64_t)result_count(errors, side, "infinities")};
}

/* "(1, 64, 56)" of a list of numbers. */
static void list_text(struct study_step *errors, const json_t *list, struct string_builder *ret)
{
    const json_t *item;
    size_t i;

    string_clear(ret);
    string_add(ret, "(");
    json_array_foreach (list, i, item)
        string_add_format(ret, "%s%.0f", i > 0 ? ", " : "", result_number(errors, item, "", 0));
    string_add(ret, ")");
}

/* The runner is the first side, recorded reference values are the second. */
static void add_compared_tensor(struct report *report, const struct study *study, const json_t *comparison)
{
    const json_t *first_bad = result_find(comparison, "differences/first_bad");
    struct study_step *errors = study->errors;
    struct report_tensor tensor = REPORT_TENSOR_UNKNOWN;
    SCOPED_STRING(shape);
    SCOPED_STRING(position);

    list_text(errors, result_find(comparison, "second/shape"), &shape);
    tensor.name = result_text(errors, comparison, "output");
    tensor.type = result_text(errors, comparison, "second/dtype");
    if (strcmp(tensor.type, "float32") == 0 && strcmp(study->settings->precision, "float32") != 0)
        tensor.precision = study->settings->precision;
    tensor.shape = shape.data;
    tensor.reference = range_of_side(errors, result_find(comparison, "second"));
    tensor.suspect = range_of_side(errors, result_find(comparison, "first"));
    tensor.absolute_error = result_number(errors, comparison, "differences/absolute/max", NAN);
    tensor.relative_error = result_number(errors, comparison, "differences/relative/max", NAN);
    tensor.atol = result_number(errors, comparison, "tolerances/atol_in_effect", NAN);
    tensor.rtol = result_number(errors, comparison, "tolerances/rtol", NAN);
    tensor.signal_to_noise = result_number(errors, comparison, "metrics/snr", NAN);
    tensor.cosine_similarity = result_number(errors, comparison, "metrics/cosine_similarity", NAN);
    tensor.mismatches = result_number(errors, comparison, "differences/mismatches", NAN);
    tensor.elements = result_number(errors, comparison, "differences/elements", NAN);
    tensor.outcome = json_is_true(result_find(comparison, "passed")) ? REPORT_MATCHES : REPORT_DIFFERS;
    if (json_is_object(first_bad)) {
        list_text(errors, result_find(first_bad, "position"), &position);
        tensor.first_bad.index = position.data;
        tensor.first_bad.reference = result_number(errors, first_bad, "second", NAN);
        tensor.first_bad.suspect = result_number(errors, first_bad, "first", NAN);
    }
    report_add_tensor(report, &tensor);
}

static void add_compared_tensors(struct report *report, const struct study *study)
{
    struct study_step *errors = study->errors;
    const json_t *comparison;
    size_t i;

    if (errors == NULL || !errors->has_result)
        return;
    json_array_foreach (result_find(errors->result.root, "comparisons"), i, comparison)
        if (result_number(errors, comparison, "iteration", 0) == 0)
            add_compared_tensor(report, study, comparison);
}

/* Of the engine that was built last to see whether it fails. */
static void add_engine_layers(struct report *report, struct study *study)
{
    struct layer_info info SCOPED(layer_info_release) = {0};
    struct error ignored; /* where there is no engine, or it does not tell, the page is without layers */

    if (study->layers == NULL || layer_info_open(&info, study->layers, &ignored) < 0)
        return;
    VECTOR_EACH (const struct layer_info_layer, layer, info.layers) {
        report_add_layer(report,
                         &(struct report_layer){.name = layer->name,
                                                .kind = layer->type,
                                                .precision = layer_info_precision(layer, NULL),
                                                .tactic = layer->tactic_name,
                                                .seconds = NAN,
                                                .nodes = {.items = layer->nodes.items, .count = layer->nodes.count}});
    }
}

int accuracy_report_write(const struct command_context *context, const struct report_values *values,
                          struct study *study, const struct result *result, struct error *err)
{
    const struct report_files own = {.page = study_path(study, "report.html"),
                                     .data = study_path(study, "report.json")};
    struct report *report = report_begin_always(context, "debug accuracy", study->question->model);
    struct model *model = NULL;
    int rc;

    result_show(result, report);
    if (context->junit != NULL)
        junit_add_verdict(context->junit, report, study->outcome == OUTCOME_NOTHING_FAILS);
    add_environment(report, study);
    add_steps(report, study);
    rc = model_open(study->settings->model, NULL, &model, err);
    if (rc < 0)
        goto done;
    report_add_network(report, model);
    add_compared_tensors(report, study);
    add_engine_layers(report, study);
    rc = report_write(report, &own, context->log, err);
    if (rc < 0)
        goto done;
    if (values->files.page != NULL)
        rc = file_copy(own.page, values->files.page, FILE_DURABLE, err);
    if (rc == 0 && values->files.data != NULL)
        rc = file_copy(own.data, values->files.data, FILE_DURABLE, err);
done:
    model_free(model);
    report_free(report);
    return rc;
}
