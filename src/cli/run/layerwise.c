/* cli/run/layerwise.c: see layerwise.h. */
#include "cli/run/layerwise.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "cli/run/blamed_nodes.h"
#include "cli/run/model.h"
#include "comparator/compare/first_divergence.h"
#include "comparator/infer/lockstep.h"
#include "onnx/edit/four_bit_identity.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/mark_outputs.h"
#include "tensor/compare/validate.h"

struct layered_run {
    const struct run_layerwise *request;
    struct model *model; /* once it is loaded */
    struct run_results loaded;
    struct first_divergence divergence;
};

static const struct comparison_values *comparison_values(const struct command_context *context)
{
    return PARSE_VALUES(context->parse, struct comparison_values);
}

static bool writes_in_turns(const struct command_context *context)
{
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    const struct inference_values *inference = PARSE_VALUES(context->parse, struct inference_values);

    return inference->save_outputs == NULL || runners->names.count == 1 || safetensors_is_name(inference->save_outputs);
}

bool run_layerwise_is_wanted(const struct command_context *context)
{
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    const struct inference_values *inference = PARSE_VALUES(context->parse, struct inference_values);
    const struct onnx_load_values *load = PARSE_VALUES(context->parse, struct onnx_load_values);

    if (comparison_values(context)->first_divergence)
        return true;
    return runners->names.count > 0 && load->outputs.mark_all && inference->output_memory > 0 &&
           !inference->use_subprocess && !run_model_has_runner(context, &engine_backend) && writes_in_turns(context);
}

int run_layerwise_check(const struct command_context *context, struct error *err)
{
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);
    const struct inference_values *inference = PARSE_VALUES(context->parse, struct inference_values);
    const struct onnx_load_values *load = PARSE_VALUES(context->parse, struct onnx_load_values);
    const struct comparison_values *comparison = comparison_values(context);

    if (!comparison->first_divergence)
        return 0;
    if (runners->names.count == 0)
        return error_set(err, ERR_INVALID, "--first-divergence needs the model and a runner: add --onnxrt");
    if (run_model_has_runner(context, &engine_backend))
        return error_set(err, ERR_UNSUPPORTED,
                         "--first-divergence does not work with --trt: save all tensors of the engine first (--trt "
                         "--trt-outputs mark all --save-inputs IN --save-outputs OUT), then compare them with "
                         "--onnxrt --load-inputs IN --load-outputs OUT --first-divergence");
    if (runners->names.count + comparison->load_outputs.count < 2 && !comparison->validate)
        return error_set(
            err, ERR_INVALID,
            "--first-divergence has nothing to compare: give results of all tensors with --load-outputs, or "
            "look for NaN and infinities with --validate");
    if (load->outputs.names.count > 0)
        return error_set(err, ERR_INVALID, "--first-divergence compares all tensors: leave --onnx-outputs away");
    if (inference->use_subprocess)
        return error_set(err, ERR_UNSUPPORTED, "--first-divergence does not work with --use-subprocess");
    if (load->fp_to_fp16)
        return error_set(err, ERR_UNSUPPORTED, "--fp-to-fp16: with --first-divergence, convert the model beforehand");
    if (!writes_in_turns(context))
        return error_set(
            err, ERR_UNSUPPORTED,
            "--save-outputs: with --first-divergence and several runners only .safetensors can be written");
    return 0;
}

/* ---- The model ---- */

static void mark_all(struct model *model)
{
    struct subgraph whole;

    subgraph_init_whole(&whole, model);
    outputs_mark_all(&whole, NULL);
    value_list_assign(&model->outputs, &whole.outputs);
    subgraph_release(&whole);
}

/* Warns of options for outputs that there are not. */
static void check_names(const struct layered_run *run, const struct model *model)
{
    struct run_results names = {0};
    struct iteration_result *iteration = runner_results_add_iteration(run_results_add_runner(&names, TEXT("")), 0);

    for (size_t i = 0; i < model->outputs.count; i++)
        tensor_list_add(&iteration->outputs, model->values.items[model->outputs.items[i]].name, &(struct tensor){0});
    if (run->request->count + run->loaded.count > 1)
        run->request->check_names(run->request->context, &names);
    run_results_release(&names);
}

static int load(void *data, struct log *log, struct model **ret, struct error *err)
{
    struct layered_run *run = data;
    struct command_context context = *run->request->context;
    const struct onnx_load_values *options = PARSE_VALUES(context.parse, struct onnx_load_values);
    struct subgraph whole;
    int rc;

    context.log = log;
    rc = model_file_open(&context, &run->model, err);
    if (rc < 0)
        return rc;
    if (model_file_options(&context).save->path != NULL)
        rc = model_file_infer(&context, run->model, err);
    if (!options->outputs.mark_all)
        mark_all(run->model);
    if (rc == 0)
        rc = model_file_mark_outputs(&context, run->model, err);
    if (rc == 0)
        rc = model_file_convert_to_float16(&context, run->model, NULL, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, run->model);
    rc = model_file_save(&context, &whole, err);
    subgraph_release(&whole);
    if (rc == 0)
        rc = model_respell_four_bit_identities(run->model, NULL, err);
    if (rc == 0)
        rc = model_lower_constants(run->model, err);
    if (rc == 0)
        rc = model_sort_nodes(run->model, err);
    if (rc == 0)
        check_names(run, run->model);
    *ret = run->model;
    return rc;
}

static int prepare_options(void *data, struct backend_request *ret, struct error *err)
{
    (void)err;
    *ret = model_file_request(data);
    return 0;
}

/* ---- Running ---- */

static int postprocess(void *data, struct tensor_list *outputs, struct error *err)
{
    struct layered_run *run = data;
    struct iteration_result iteration = {.outputs = *outputs};
    struct runner_results runner = {.items = &iteration, .count = 1};
    struct run_results results = {.items = &runner, .count = 1};
    int rc = run->request->postprocess(comparison_values(run->request->context), &results, err);

    *outputs = iteration.outputs;
    return rc;
}

static int run_and_compare(struct layered_run *run, struct run_results_writer *writer, bool *passed, struct error *err)
{
    const struct run_layerwise *request = run->request;
    const struct inference_values *inference = PARSE_VALUES(request->context->parse, struct inference_values);
    struct lockstep_settings settings = {
        .load = load,
        .load_data = run,
        .runners = request->runners,
        .count = request->count,
        .memory = inference->output_memory > 0 ? (uint64_t)inference->output_memory : UINT64_MAX,
        .warm_up = inference->warm_up,
        .save_inputs = inference->save_inputs,
        .writer = writer,
        .comparison = *request->comparison,
        .validate = comparison_values(request->context)->validate,
        .report = request->report,
        .on_invalid = first_divergence_add_invalid,
        .postprocess = postprocess,
        .postprocess_data = run,
        .log = request->context->log,
    };

    /* Who blames nodes goes by names: another tensor at the same place, or with a similar name, proves nothing. */
    settings.comparison.strict |= comparison_values(request->context)->first_divergence;
    settings.comparison.on_verdict = first_divergence_add_verdict;
    settings.comparison.on_verdict_data = &run->divergence;
    return lockstep_run(&settings, request->loader, &run->loaded, passed, err);
}

static int run_and_save(struct layered_run *run, bool *passed, struct error *err)
{
    const struct command_context *context = run->request->context;
    const struct inference_values *inference = PARSE_VALUES(context->parse, struct inference_values);
    struct run_results_writer writer;
    int rc;

    if (inference->save_outputs == NULL)
        return run_and_compare(run, NULL, passed, err);
    rc = run_results_writer_open(&writer, inference->save_outputs, err);
    if (rc == 0)
        rc = run_and_compare(run, &writer, passed, err);
    if (rc == 0) {
        log_message(context->log, LOG_INFO, "Saving inference results to %s", inference->save_outputs);
        rc = run_results_writer_commit(&writer, err);
    }
    run_results_writer_release(&writer);
    return rc;
}

/* ---- The model as it is, once more ---- */

static int prepare_file(void *data, struct backend_request *ret, struct error *err)
{
    const struct command_context *context = data;

    (void)err;
    *ret = model_file_request(context);
    ret->model_path = model_file_options(context).model->path;
    ret->log = NULL;
    return 0;
}

static bool has_invalid(const struct run_results *results, size_t count)
{
    struct validation found;

    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < results->items[r].count; i++)
            for (size_t k = 0; k < results->items[r].items[i].outputs.count; k++) {
                tensor_validate(&results->items[r].items[i].outputs.items[k].tensor, &found);
                if (found.nans + found.infinities > 0)
                    return true;
            }
    return false;
}

/* Marking outputs keeps a runtime from fusing nodes, which may be what made the difference, or hide it. */
static int check_again(struct layered_run *run, struct error *err)
{
    const struct run_layerwise *request = run->request;
    struct comparison_settings comparison = *request->comparison;
    struct runner_settings settings = {.keep_feeds = true, .keep_outputs = true};
    struct run_results results = {0};
    bool matched = true, invalid, comparable = true;
    int rc = 0;

    comparison.strict = true;
    comparison.log = NULL;
    comparison.on_compared = NULL;
    comparison.release = false;
    comparison.require_all = false;
    for (size_t r = 0; r < request->count && rc == 0; r++) {
        struct runner runner = request->runners[r];

        runner.prepare = prepare_file;
        runner.data = (void *)request->context;
        rc = runner_run(&runner, request->loader, &settings, &results, err);
    }
    invalid = rc == 0 && has_invalid(&results, results.count);
    for (size_t i = 0; rc == 0 && i < comparison_values(request->context)->load_outputs.count; i++)
        rc = run_results_load(&results, comparison_values(request->context)->load_outputs.items[i], err);
    if (rc == 0)
        rc = request->postprocess(comparison_values(request->context), &results, err);
    if (rc == 0 && results.count > 1) {
        rc = comparison_run(&results, &comparison, &matched, err);
        comparable = rc != ERR_INVALID;
        rc = comparable ? rc : 0;
    }
    if (rc == 0 && results.count > 1)
        log_message(request->context->log, LOG_INFO,
                    "Re-checked without the extra outputs, which can change the result: the model's own outputs %s",
                    !comparable ? "have no counterparts of their names"
                    : matched   ? "match"
                                : "differ");
    if (rc == 0 && comparison_values(request->context)->validate)
        log_message(
            request->context->log, LOG_INFO,
            "Re-checked without the extra outputs, which can change the result: the model's own outputs hold %s",
            invalid ? "NaN or infinities" : "neither NaN nor infinities");
    run_results_release(&results);
    return rc;
}

static int report(struct layered_run *run, struct error *err)
{
    struct value_list differing = {0}, invalid = {0};
    struct backend_request request = model_file_request(run->request->context);
    const struct comparison_values *values = comparison_values(run->request->context);
    struct blamed_nodes blamed = {.model = run->model,
                                  .backend = run->request->runners[0].backend,
                                  .request = &request,
                                  .loader = run->request->loader,
                                  .log = run->request->context->log};
    int rc = 0;

    request.log = NULL;
    first_divergence_find(&run->divergence, run->model, &differing, &invalid);
    if (run->divergence.compared.count > 0)
        blamed_nodes_log_differing(&blamed, &differing);
    if (values->validate)
        rc = blamed_nodes_log_invalid(&blamed, &invalid, err);
    if (rc == 0)
        rc = check_again(run, err);
    free(differing.items);
    free(invalid.items);
    return rc;
}

int run_layerwise(const struct run_layerwise *request, bool *ret_passed, struct error *err)
{
    struct layered_run run = {.request = request};
    int rc;

    first_divergence_init(&run.divergence);
    for (size_t i = 0; i < request->count; i++) {
        request->runners[i].prepare = prepare_options;
        request->runners[i].data = (void *)request->context;
    }
    rc = request->load_results(request->context, &run.loaded, err);
    if (rc == 0)
        rc = request->postprocess(comparison_values(request->context), &run.loaded, err);
    if (rc == 0)
        rc = run_and_save(&run, ret_passed, err);
    if (rc == 0 && comparison_values(request->context)->first_divergence)
        rc = report(&run, err);
    run_results_release(&run.loaded);
    first_divergence_release(&run.divergence);
    if (run.model != NULL)
        model_free(run.model);
    return rc;
}
