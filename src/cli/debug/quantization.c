/* cli/debug/quantization.c: measure the cost of each quantizer of a model. */
#include "backend/onnxrt/apart/backend.h"
#include "base/memory.h"
#include "base/system.h"
#include "cli/commands.h"
#include "cli/debug/own_check.h"
#include "cli/debug/quantization/result.h"
#include "cli/debug/quantization/search.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "cli/terminal/progress_line.h"
#include "debug/quantization/subject.h"
#include "debug/quantization/table.h"

#define ROW(member, ...) OPTION_ROW(struct debug_quantization_settings, member, __VA_ARGS__)

static const struct option quantization_rows[] = {
    ROW(float_model, .names = {"--float"}, .kind = OPTION_ONE, .value_name = "MODEL", .file = OPTION_READS_MODEL,
        .extensions = "onnx",
        .help = "the float model that was quantized: its outputs are the reference, and its weights replace constants "
                "that are stored as integers. Default: the quantized model with all possible quantizers disabled"),
};

static const struct option_group quantization_options = {
    .title = "Quantization",
    OPTION_ROWS(quantization_rows),
};

struct quantization_command {
    const struct command_context *context;
    const struct debug_quantization_settings *settings;
    struct quantization_study study;
    struct quantization_subject subject;
    struct quantization_table table;
    struct quantization_rewriting rewriting;
    struct quantization_traps traps;
    struct weight_faults faults;
    struct debug_outputs outputs;
    struct quantization_session search;
    bool data_are_generated;
};

static void warn_of_bodies(const struct quantization_command *command)
{
    if (command->subject.quantizers.inside > 0)
        log_message(command->context->log, LOG_WARNING,
                    "%zu QuantizeLinear and DequantizeLinear in subgraphs and functions are ignored",
                    command->subject.quantizers.inside);
}

/* Often it is the quantized model, by mistake. */
static void warn_of_quantized_reference(const struct quantization_command *command)
{
    const struct quantization_subject *subject = &command->subject;
    struct quantizers quantizers SCOPED(quantizers_release) = {0};

    if (subject->float_model == NULL)
        return;
    quantizers_find(subject->float_model, NULL, &quantizers);
    if (quantizers.count > 0)
        log_message(command->context->log, LOG_WARNING,
                    "--float: '%s' contains %zu quantizer(s), so it is not a float model. All figures below compare "
                    "with this model",
                    subject->float_model->display_name, quantizers.count);
}

static int measure_table(struct quantization_command *command, struct error *err)
{
    const struct command_context *context = command->context;
    const struct debug_quantization_settings *settings = command->settings;
    struct quantization_study *study = &command->study;
    int rc = data_loader_from_options(context, &settings->file, NULL, &study->loader, err);

    if (rc < 0)
        return rc;
    command->data_are_generated = data_loader_generates(study->loader);
    if (command->data_are_generated)
        log_message(context->log, LOG_WARNING,
                    "Input data are generated: the range of activations, and so clipping and noise, may differ from "
                    "real data. Pass --load-inputs for real data");
    warn_of_bodies(command);
    warn_of_quantized_reference(command);
    study->subject = &command->subject;
    study->backend = &onnxrt_apart_backend; /* the model may crash the runtime */
    study->request = model_file_request(context, &settings->file);
    study->request.model.path = settings->file.model.path;
    study->float_path = settings->float_model;
    study->log = context->log;
    if (context->progress != NULL && settings->debug.common.logging.settings.threshold <= LOG_INFO) {
        study->progress = progress_line_show;
        study->progress_data = context->progress;
    }
    return quantization_measure(study, &command->table, err);
}

/* The table is measured first: it determines the order of the search. */
static int measure_and_search(struct quantization_command *command, struct error *err)
{
    const struct command_context *context = command->context;
    const struct debug_quantization_settings *settings = command->settings;
    const char *model = settings->file.model.path;
    struct quantization_report table;
    struct result *result = command->outputs.result;
    bool found = true;
    int rc;

    command->search.session_settings = debug_session_settings(context, &settings->debug, &settings->file);
    debug_outputs_watch(&command->outputs, "quantizers", &command->search.session_settings);
    rc = measure_table(command, err);
    if (rc < 0)
        return rc;
    table = (struct quantization_report){.subject = &command->subject,
                                         .table = &command->table,
                                         .rewriting = &command->rewriting,
                                         .traps = &command->traps,
                                         .faults = &command->faults,
                                         .float_path = command->study.float_path,
                                         .data_are_generated = command->data_are_generated};
    quantization_rewriting_read(&command->study, &command->rewriting);
    quantization_traps_find(&command->subject, system_saturates_products(), &command->rewriting, &command->traps);
    weight_faults_find(&command->subject, &command->faults);
    quantization_result_fill(&table, result);
    result_log(result, context->log);
    if (quantization_search_is_wanted(context, settings)) {
        command->search.context = context;
        command->search.settings = settings;
        command->search.subject = &command->subject;
        command->search.study = &command->study;
        command->search.model_path = model;
        command->search.float_path = command->study.float_path;
        rc = quantization_session_run(&command->search, &command->table, err);
        if (rc == 0)
            quantization_session_fill(&command->search, result);
        found = quantization_session_has_found(&command->search) && !quantization_session_is_in_doubt(&command->search);
        own_check_add_not_tested(&command->search.check, &settings->comparison, result);
    }
    debug_outputs_add_model(&command->outputs, command->subject.model);
    return debug_outputs_finish(&command->outputs, command->search.session, rc, found, err);
}

static int debug_quantization_run(const struct command_context *context,
                                  const struct debug_quantization_settings *values, struct error *err)
{
    const char *path = values->file.model.path;
    struct quantization_command command = {.context = context, .settings = values};
    int rc;

    if (parse_given(context->parse, "--emit") && !quantization_search_is_wanted(context, values))
        return error_set(err, ERR_INVALID, "--emit needs a search: pass --check, or a tolerance such as --atol");
    if (quantization_search_is_wanted(context, values)) {
        rc = own_check_refuse_unknown_outputs(context, &values->comparison, path, err);
        if (rc < 0)
            return rc;
    }
    rc = debug_outputs_open(&command.outputs, context, &values->debug, "debug quantization", err);
    if (rc < 0)
        return rc;
    rc = quantization_subject_open(path, values->float_model, &command.subject, err);
    if (rc == 0)
        rc = measure_and_search(&command, err);
    debug_outputs_close(&command.outputs);
    quantization_session_release(&command.search);
    quantization_traps_release(&command.traps);
    weight_faults_release(&command.faults);
    quantization_rewriting_release(&command.rewriting);
    quantization_table_release(&command.table);
    data_loader_free(command.study.loader);
    quantization_subject_release(&command.subject);
    return rc;
}

DEFINE_COMMAND_RUN(debug_quantization_run, struct debug_quantization_settings)

static const struct command_group groups[] = {
    DEBUG_SEARCH_GROUPS(struct debug_quantization_settings, optional_check_options, intermediate_onnx_options),
    {&quantization_options, 0},
    {&quantization_search_options, 0},
    COMMAND_GROUP(struct debug_quantization_settings, file.model, lint_model_options),
    COMMAND_GROUP(struct debug_quantization_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct debug_quantization_settings, comparison, comparison_options),
    COMMAND_GROUP(struct debug_quantization_settings, file.onnxrt, onnxrt_options),
    DEBUG_RESULT_GROUPS(struct debug_quantization_settings),
};

const struct command cmd_debug_quantization = {
    .name = "quantization",
    .summary = "find the quantizers that cost accuracy",
    .description =
        "Measures the cost of each quantizer of a model with QuantizeLinear and DequantizeLinear: the noise in its own "
        "tensor, the noise at the outputs with only this one enabled, and the gain with only this one disabled; also "
        "the share of clipped values, the unused part of the range, and known traps.\n\n"
        "The model runs twice for each quantizer, with a switch in place of each quantizer and float kernels between "
        "them, so that only quantization is measured. The difference from the runtime's own kernels is reported, too.",
    .example = "# which quantizers make the outputs worse than those of the float model?\n"
               "polygraphy debug quantization model_int8.onnx --float model.onnx --load-inputs inputs.json",
    COMMAND_GROUPS(groups),
    .essential = "--float --load-inputs --val-range --check --atol --snr-threshold -o --emit -j --flaky --providers "
                 "--json --report -v",
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_quantization_run),
};
