/* cli/run/steps.c: see steps.h. */
#include "cli/run/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "cli/run/encoder.h"
#include "format/data/writer.h"
#include "tensor/values/elements.h"

#define MOST_OUTPUTS 10 /* that fail, in the log */

#define ROW(member, ...) OPTION_ROW(struct step_values, member, __VA_ARGS__)

static int finish_steps(struct parse *parse, void *given, struct error *err)
{
    const struct step_values *values = given;
    static const char *const others[] = {"--cache", "--step-roles", "--save-step-inputs", "--encoder"};
    static const char *const of_encoder[] = {"--encoder-inputs", "--encoder-outputs"};

    if (values->count < 0 || (values->count == 0 && parse_given(parse, "--steps") != NULL))
        return error_set(err, ERR_INVALID, "--steps: %lld is less than 1", (long long)values->count);
    for (size_t i = 0; i < ARRAY_LEN(others) && values->count == 0; i++)
        if (parse_given(parse, others[i]) != NULL)
            return error_set(err, ERR_INVALID, "%s has no effect without --steps N", others[i]);
    for (size_t i = 0; i < ARRAY_LEN(of_encoder) && values->encoder == NULL; i++)
        if (parse_given(parse, of_encoder[i]) != NULL)
            return error_set(err, ERR_INVALID, "%s has no effect without --encoder", of_encoder[i]);
    return 0;
}

static const struct option options[] = {
    ROW(count, .names = {"--steps"}, .yields = true, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "0",
        .help = "run a decoder with a cache as it is used: a prefill, then N steps of one token, each with the caches "
                "of the step before. All runners get the tokens that the first runner prefers, or those of "
                "--load-inputs with data of all steps. Iteration 0 is the prefill; names the first step that fails, "
                "and the step in which the difference enters, which --first-divergence then looks into"),
    ROW(words.caches, .names = {"--cache"}, .yields = true, .kind = OPTION_MANY, .value_name = "PAST:PRESENT",
        .help = "with --steps: inputs that are caches, and the outputs that they get in the next step (default: by "
                "name, past* and present*, else by the graph: outputs that append to an input)"),
    ROW(words.roles, .names = {"--step-roles"}, .yields = true, .kind = OPTION_MANY, .value_name = "NAME:ROLE",
        .naming = OPTION_INPUT_NAMES,
        .hints = (const char *const[]){"tokens", "mask", "positions", "past-length", "total-length", "constant",
                                       "logits", NULL},
        .help = "with --steps: what becomes of an input in the next step, for inputs where this is not derived: "
                "tokens, mask (a one is appended), positions, past-length, total-length or constant; and the output "
                "that has the logits"),
    ROW(encoder, .names = {"--encoder"}, .yields = true, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_READS_MODEL, .extensions = "onnx",
        .help =
            "with --steps: the encoder in another file. It runs once, with ONNX Runtime, and its outputs are inputs "
            "of the decoder in all steps, of all runners"),
    ROW(encoder_inputs, .names = {"--encoder-inputs"}, .yields = true, .kind = OPTION_MANY, .value_name = "PATH",
        .file = OPTION_READS_DATA,
        .help = "with --encoder: its input data, in the formats of --load-inputs (default: generated)"),
    ROW(encoder_outputs, .names = {"--encoder-outputs"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "OUTPUT:INPUT",
        .help = "with --encoder: its outputs, and the inputs of the decoder that get them (default: by name, else by "
                "type and shape)"),
    ROW(save_inputs, .names = {"--save-step-inputs"}, .yields = true, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES_DATA,
        .help = "with --steps: write the inputs of the step in which the difference enters, with the caches of the "
                "reference, for --load-inputs of other tools. Not written if no step fails"),
};

const struct option_group step_options = {
    .title = "Steps of a decoder",
    OPTION_ROWS(options),
    .finish = finish_steps,
};

/* ---- Before the run ---- */

int run_steps_check(const struct command_context *context, const struct run_settings *settings, struct error *err)
{
    static const char *const excluded[] = {"--iterations", "--warm-up", "--use-subprocess", "--sequential-runners"};

    if (settings->steps.count == 0)
        return 0;
    if (settings->file.model.path == NULL || settings->file.model.type != MODEL_ONNX ||
        settings->runners.names.count == 0)
        return error_set(err, ERR_INVALID, "--steps needs an ONNX model and a runner, such as --onnxrt");
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
        if (parse_given(context->parse, excluded[i]) != NULL)
            return error_set(err, ERR_INVALID, "%s is not supported with --steps: leave it out", excluded[i]);
    return 0;
}

static const char *mark_name(bool by_name)
{
    return by_name ? ", by name" : "";
}

/* By which rules caches are paired: ", by name". */
static void add_cache_rules(const struct decoder *decoder, struct string_builder *text)
{
    for (enum cache_rule rule = CACHE_GIVEN; rule <= CACHE_BY_GRAPH; rule++) {
        bool is_used = false;

        ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
            is_used |= input->rule == rule;
        if (is_used)
            string_add_format(text, ", %s", cache_rule_name(rule));
    }
}

static void warn_of_other_sources(struct log *log, const struct decoder *decoder)
{
    ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
        if (input->other_source != NULL)
            log_message(log, LOG_WARNING,
                        "Output '%s' is the cache '%s' by name, but the graph computes it from '%s'. Pass the pairs to "
                        "--cache if the names are wrong",
                        input->present, input->name, input->other_source);
}

static void log_decoder(struct log *log, const struct decoder *decoder, int64_t count)
{
    SCOPED_STRING(caches);
    SCOPED_STRING(others);
    SCOPED_STRING(rules);
    size_t pairs = 0;

    for (size_t i = 0; i < decoder->count; i++) {
        const struct decoder_input *input = &decoder->inputs[i];

        if (input->role != DECODER_CACHE) {
            string_add_format(&others, " | %s%s: '%s'", decoder_role_name(input->role), mark_name(input->by_name),
                              input->name);
            continue;
        }
        if (pairs++ < 2)
            string_add_format(&caches, "%s'%s' gets '%s'", pairs > 1 ? ", " : "", input->name, input->present);
    }
    add_cache_rules(decoder, &rules);
    log_message(log, LOG_INFO, "Decoder: a prefill and %lld step(s)%s | logits%s: '%s' | %zu cache(s)%s: %s%s",
                (long long)count, others.data, mark_name(decoder->logits_by_name), decoder->logits, pairs, rules.data,
                caches.data, pairs > 2 ? ", ..." : "");
    warn_of_other_sources(log, decoder);
}

/* Shapes with no entries for caches of which the user has given none. They have priority over patterns of the user. */
static void add_empty_caches(const struct command_context *context, const struct decoder *decoder,
                             const struct model *model, struct input_shapes *shapes)
{
    struct arena *arena = parse_arena((struct parse *)context->parse);
    struct input_shape *items = arena_alloc_zero(arena, shapes->count + decoder->count + 1, sizeof(*items));
    size_t given = shapes->count, count = given;

    if (given > 0)
        memcpy(items, shapes->items, given * sizeof(*items));
    for (size_t i = 0; i < decoder->count; i++) {
        const struct decoder_input *input = &decoder->inputs[i];
        struct value_type type;
        bool is_given = false;

        for (size_t k = 0; k < given; k++)
            is_given |= text_matches_pattern(text_of(input->name), text_of(items[k].name));
        if (is_given || input->role != DECODER_CACHE || input->axis == SIZE_MAX)
            continue;
        value_info_decode(model->values.items[model->inputs.items[i]].info, &type);
        items[count].name = arena_strdup(arena, input->name);
        items[count].shape = type.shape;
        items[count].shape.dims[input->axis] = 0;
        count++;
    }
    shapes->items = items;
    shapes->count = count;
}

/* Other inputs of the same sizes, such as masks, follow. */
static void add_shapes_of(const struct command_context *context, const struct tensor_list *tensors,
                          struct input_shapes *shapes)
{
    struct arena *arena = parse_arena((struct parse *)context->parse);
    struct input_shape *items = arena_alloc_zero(arena, shapes->count + tensors->count + 1, sizeof(*items));

    if (shapes->count > 0)
        memcpy(items, shapes->items, shapes->count * sizeof(*items));
    for (size_t i = 0; i < tensors->count; i++)
        items[shapes->count + i] = (struct input_shape){.name = arena_strdup(arena, tensors->items[i].name),
                                                        .shape = tensors->items[i].tensor.shape};
    shapes->items = items;
    shapes->count += tensors->count;
}

int run_steps_prepare(const struct command_context *context, const struct run_settings *settings,
                      struct model_file_settings *file, struct step_outcome *ret, struct error *err)
{
    const struct step_values *values = &settings->steps;
    struct model *model;
    int rc = model_open(file->model.path, file->load.external_data_dir, &model, err);

    if (rc < 0)
        return rc;
    rc = decoder_find(model, &values->words, &ret->decoder, err);
    if (rc == 0) {
        log_decoder(context->log, &ret->decoder, values->count);
        rc = encoder_run(context, settings, model, &ret->decoder, &ret->encoded, err);
    }
    if (rc == 0) {
        add_empty_caches(context, &ret->decoder, model, &file->model.shapes);
        add_shapes_of(context, &ret->encoded, &file->model.shapes);
        file->data.generated = GENERATED_REPRESENTATIVE;
        file->data.whole_masks = true; /* zeros at the end would be in front of the next token */
    }
    model_free(model);
    return rc;
}

/* ---- Runs ---- */

/* What is seen of the iterations of a run. */
struct step_observer {
    size_t count;
    bool *failed; /* of each iteration */
    void (*next)(void *data, const struct compared_outputs *compared);
    void *next_data;
    struct string_builder outputs; /* the first that fail in the first iteration that fails */
    size_t outputs_of, output_count;
};

static void observe_failure(struct step_observer *observer, size_t iteration, const char *output)
{
    if (iteration >= observer->count)
        return;
    if (observer->output_count == 0 || iteration < observer->outputs_of) {
        string_clear(&observer->outputs);
        observer->outputs_of = iteration;
        observer->output_count = 0;
    }
    if (observer->outputs_of == iteration && observer->output_count++ < MOST_OUTPUTS)
        name_list_add(&observer->outputs, output);
    observer->failed[iteration] = true;
}

static void observe_comparison(void *data, const struct compared_outputs *compared)
{
    struct step_observer *observer = data;

    if (!compared->result->passed)
        observe_failure(observer, compared->iteration, compared->first->name);
    if (observer->next != NULL)
        observer->next(observer->next_data, compared);
}

/* The first output with NaN or infinities stands for all of its iteration, unless outputs that differ are known. */
static void observe_validations(struct step_observer *observer, const struct run_report *report)
{
    for (size_t i = 0; i < report->validation_count; i++) {
        const struct validated_record *record = &report->validations[i];

        if (record->found.nans + record->found.infinities > 0 && record->iteration < observer->count &&
            !observer->failed[record->iteration])
            observe_failure(observer, record->iteration, record->output);
    }
}

static size_t first_failed(const bool *failed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (failed[i])
            return i;
    return SIZE_MAX;
}

/* Runs these iterations, with the settings for what is reported. `observer` gets what failed. */
static int run_iterations(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                          struct step_observer *observer, bool *ret_passed, struct error *err)
{
    struct run_model whole = {.context = model->context, .settings = model->settings, .library = model->library};
    struct driver_settings own = *settings;
    struct run_results results = {0};
    struct run_report report;
    int rc;

    run_report_init(&report);
    own.sequential = own.in_groups = own.keep_outputs = false;
    own.load_data = model->in_groups ? &whole : model; /* no engine is run in groups: `whole` needs none */
    own.report = own.report == NULL && own.validate ? &report : own.report;
    own.comparison.divergence = NULL;
    observer->next = own.comparison.on_compared;
    observer->next_data = own.comparison.on_compared_data;
    own.comparison.on_compared = observe_comparison;
    own.comparison.on_compared_data = observer;
    rc = driver_run(&own, loader, &results, ret_passed, err);
    if (own.report != NULL)
        observe_validations(observer, own.report);
    run_results_release(&results);
    run_report_release(&report);
    run_model_release(&whole);
    return rc;
}

/* ---- Where the difference enters ---- */

/* From `last` on backwards: each step with the caches of the reference, then the steps up to `last` with own caches,
 * until a step fails. */
static struct decoder_iteration *list_exchanges(size_t last, size_t *ret_count)
{
    struct decoder_iteration *ret = memory_alloc_zero((last + 1) * (last + 2) / 2, sizeof(*ret));
    size_t count = 0;

    for (size_t start = last + 1; start-- > 0;)
        for (size_t step = start; step <= last; step++)
            ret[count++] = (struct decoder_iteration){.step = step, .of_reference = step == start};
    *ret_count = count;
    return ret;
}

static void log_entry(struct log *log, const struct step_outcome *outcome)
{
    size_t first = outcome->first, entered = outcome->entered, shown = outcome->shown;
    SCOPED_STRING(accumulates);

    if (shown > entered + 1)
        string_add_format(&accumulates, " or accumulates from there to step %zu,", shown);
    if (entered == SIZE_MAX)
        log_message(log, LOG_WARNING,
                    "The difference is not reproducible: no step fails when the steps up to %zu are repeated", first);
    else if (first == 0)
        log_message(log, LOG_ERROR,
                    "The difference enters in step 0, the prefill, for which all runners have the same inputs");
    else if (entered == first)
        log_message(log, LOG_ERROR,
                    "The difference enters in step %zu: with the caches of the reference step %zu fails, too", entered,
                    first);
    else if (entered == shown)
        log_message(log, LOG_ERROR,
                    "The difference enters in step %zu, which fails with the caches of the reference, although it "
                    "passed with each runner's own; step %zu passes with those of the reference",
                    entered, first);
    else
        log_message(log, LOG_ERROR,
                    "The difference enters in step %zu,%s and is inherited through the caches: with the caches of the "
                    "reference before step %zu, and each runner's own from there on, step %zu fails; with those of the "
                    "reference before step %zu it passes",
                    entered, accumulates.data, entered, shown, entered + 1);
}

/* Runs the iterations of the steps without reporting them, and leaves none. `ret_failed`: whether each failed. */
static int run_exchanges(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                         bool *ret_failed, struct error *err)
{
    struct decoder_steps *steps = settings->steps;
    struct step_observer observer = {.count = steps->count, .failed = ret_failed};
    bool passed;
    int rc;

    rc = run_iterations(model, settings, loader, &observer, &passed, err);
    steps->iterations = NULL;
    string_release(&observer.outputs);
    return rc;
}

static int find_entry(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                      struct step_outcome *ret, struct error *err)
{
    struct driver_settings quiet = *settings;
    size_t count, at;
    struct decoder_iteration *iterations SCOPED_FREE = list_exchanges(ret->first, &count);
    bool *failed SCOPED_FREE = memory_alloc_zero(count, sizeof(*failed));
    int rc;

    quiet.comparison.fail_fast = true;
    ret->steps.iterations = iterations;
    ret->steps.count = count;
    rc = run_exchanges(model, &quiet, loader, failed, err);
    at = first_failed(failed, count);
    if (rc < 0 || at == SIZE_MAX)
        return rc;
    ret->shown = iterations[at].step;
    while (!iterations[at].of_reference)
        at--;
    ret->entered = iterations[at].step;
    return 0;
}

/* For each cache: the steps from the entry to the one that failed then, with this one alone as each runner's own. */
static int find_carriers(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                         struct step_outcome *ret, struct error *err)
{
    const struct decoder *decoder = &ret->decoder;
    size_t length = ret->shown - ret->entered + 1, count = 0;
    struct decoder_iteration *iterations SCOPED_FREE = memory_alloc_zero(decoder->count * length, sizeof(*iterations));
    bool *failed SCOPED_FREE = memory_alloc_zero(decoder->count * length, sizeof(*failed));
    int rc;

    ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
        for (size_t i = 0; i < length && input->role == DECODER_CACHE; i++)
            iterations[count++] =
                (struct decoder_iteration){.step = ret->entered + i, .of_reference = i == 0, .own = input->name};
    ret->steps.iterations = iterations;
    ret->steps.count = count;
    rc = run_exchanges(model, settings, loader, failed, err);
    if (rc < 0)
        return rc;
    ret->carries = memory_alloc_zero(decoder->count, sizeof(*ret->carries));
    count = 0;
    for (size_t i = 0; i < decoder->count; i++)
        for (size_t k = 0; k < length && decoder->inputs[i].role == DECODER_CACHE; k++)
            ret->carries[i] |= failed[count++];
    return 0;
}

static void log_carriers(struct log *log, const struct step_outcome *outcome)
{
    SCOPED_STRING(names);

    for (size_t i = 0; i < outcome->decoder.count; i++)
        if (outcome->carries[i])
            name_list_add(&names, outcome->decoder.inputs[i].present);
    if (names.size > 0)
        log_message(log, LOG_ERROR, "Caches that carry it, each with all others of the reference: [%s]", names.data);
    else
        log_message(log, LOG_ERROR, "No cache carries it alone, with all others of the reference");
}

static int locate_entry(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                        struct step_outcome *ret, struct error *err)
{
    struct driver_settings quiet = *settings;
    int rc = 0;

    quiet.log = NULL;
    quiet.report = NULL;
    quiet.save = (struct saving_paths){0};
    quiet.comparison.on_compared = NULL;
    quiet.comparison.fail_fast = false;
    if (ret->first > 0 && settings->load_count > 0) {
        log_message(settings->log, LOG_WARNING,
                    "Whether the difference enters in step %zu or in its caches is not known: caches are exchanged "
                    "between runners, not with the results of --load-outputs",
                    ret->first);
        return 0;
    }
    if (settings->count < 2)
        return 0;
    if (ret->first == 0)
        ret->entered = ret->shown = 0;
    else
        rc = find_entry(model, &quiet, loader, ret, err);
    if (rc < 0)
        return rc;
    log_entry(settings->log, ret);
    if (ret->entered == SIZE_MAX || ret->entered == ret->shown)
        return 0;
    rc = find_carriers(model, &quiet, loader, ret, err);
    if (rc == 0)
        log_carriers(settings->log, ret);
    return rc;
}

/* ---- Tokens, and what failed ---- */

static const struct tensor *tokens_of_step(const struct step_outcome *outcome, size_t step)
{
    const struct decoder_input *tokens = decoder_find_role(&outcome->decoder, DECODER_TOKENS);
    const struct named_tensor *fed = tensor_list_find(&outcome->steps.feeds.items[step], text_of(tokens->name));

    return fed != NULL ? &fed->tensor : NULL;
}

/* Of the first row. */
static void log_tokens(struct log *log, const struct step_outcome *outcome, const char *source)
{
    SCOPED_STRING(text);

    for (size_t step = 1; step < outcome->steps.feeds.count; step++) {
        const struct tensor *tokens = tokens_of_step(outcome, step);
        uint64_t token;

        if (tokens == NULL || tensor_elements(tokens) == 0)
            continue;
        elements_to_integers(tokens, 0, 1, &token);
        string_add_format(&text, " %lld", (long long)token);
    }
    log_message(log, LOG_INFO, "Decoder Steps | Tokens of steps 1 to %zu, from %s:%s", outcome->steps.feeds.count - 1,
                source, text.data);
}

static void log_steps(struct log *log, const struct step_outcome *outcome, const struct step_observer *observer)
{
    SCOPED_STRING(failed);

    if (outcome->first == SIZE_MAX)
        return;
    for (size_t i = 0; i < outcome->count; i++)
        if (outcome->failed[i])
            string_add_format(&failed, "%s%zu", failed.size > 0 ? ", " : "", i);
    log_message(log, LOG_ERROR,
                "FAILED | Decoder Steps | First failing step: %zu%s | Outputs: [%s%s] | Failing steps: %s",
                outcome->first, outcome->first == 0 ? ", the prefill" : "", observer->outputs.data,
                observer->output_count > MOST_OUTPUTS ? ", ..." : "", failed.data);
}

int step_inputs_save(const char *path, const struct tensor_list *feed, size_t step, struct log *log, struct error *err)
{
    struct tensor_list item;
    struct feed_dicts one = {.items = &item, .count = 1};

    if (feed == NULL) { /* inputs of an earlier run would look like those of this one */
        bool removed = unlink(path) == 0;

        if (!removed && errno != ENOENT)
            return error_set_errno(err, ERR_IO, "cannot remove '%s', which an earlier run has written", path);
        log_message(log, LOG_WARNING, "No step fails: '%s' is not written%s", path,
                    removed ? ", and the file of an earlier run is removed" : "");
        return 0;
    }
    item = *feed;
    log_message(log, LOG_INFO, "Saving the inputs of step %zu to %s", step, path);
    return data_file_save(&one, path, err);
}

static int save_outcome_inputs(const char *path, const struct step_outcome *outcome, struct log *log, struct error *err)
{
    size_t step = step_to_look_into(outcome);

    return path != NULL
               ? step_inputs_save(path, step != SIZE_MAX ? &outcome->steps.feeds.items[step] : NULL, step, log, err)
               : 0;
}

/* The steps need data of all of them, or of the first. */
static int check_loaded_steps(const struct driver_settings *settings, const struct data_loader *loader, size_t count,
                              bool *ret_has_tokens, struct error *err)
{
    size_t loaded = data_loader_generates(loader) ? 1 : (size_t)data_loader_iterations(loader);

    *ret_has_tokens = loaded > 1;
    if (loaded > 1 && loaded < count)
        return error_set(err, ERR_INVALID,
                         "--load-inputs has %zu iterations, and the prefill with %zu steps needs %zu: pass data of the "
                         "prefill alone, or --steps %zu",
                         loaded, count - 1, count, loaded - 1);
    if (settings->load_count > 0 && !*ret_has_tokens)
        return error_set(err, ERR_INVALID,
                         "--load-outputs with --steps needs the tokens with which those results were computed: pass "
                         "the file of --save-inputs of that run to --load-inputs");
    return 0;
}

int run_steps(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
              struct step_outcome *ret, bool *ret_passed, struct error *err)
{
    const struct step_values *values = &model->settings->steps;
    struct driver_settings own = *settings;
    struct step_observer observer = {.count = (size_t)values->count + 1};
    struct decoder_iteration *iterations = memory_alloc_zero(observer.count, sizeof(*iterations));
    int rc;

    ret->count = observer.count;
    ret->failed = observer.failed = memory_alloc_zero(observer.count, sizeof(*observer.failed));
    ret->first = ret->entered = ret->shown = SIZE_MAX;
    ret->steps.decoder = &ret->decoder;
    ret->steps.encoded = &ret->encoded;
    ret->steps.iterations = iterations;
    ret->steps.count = observer.count;
    for (size_t i = 0; i < observer.count; i++)
        iterations[i].step = i;
    rc = check_loaded_steps(settings, loader, observer.count, &ret->steps.has_tokens, err);
    if (rc < 0)
        goto done;
    own.steps = &ret->steps;
    if (model->settings->comparison.first_divergence) {
        own.report = NULL;
        own.comparison.on_compared = NULL;
    }
    rc = run_iterations(model, &own, loader, &observer, ret_passed, err);
    if (rc < 0)
        goto done;
    log_tokens(settings->log, ret, ret->steps.has_tokens ? "--load-inputs" : settings->runners[0].name);
    if (!*ret_passed)
        ret->first = first_failed(ret->failed, ret->count);
    log_steps(settings->log, ret, &observer);
    if (ret->first != SIZE_MAX)
        rc = locate_entry(model, &own, loader, ret, err);
    if (rc == 0)
        rc = save_outcome_inputs(values->save_inputs, ret, settings->log, err);
done:
    ret->steps.iterations = NULL;
    free(iterations);
    string_release(&observer.outputs);
    return rc;
}

size_t step_to_look_into(const struct step_outcome *outcome)
{
    return outcome->entered != SIZE_MAX ? outcome->entered : outcome->first;
}

void step_outcome_release(struct step_outcome *outcome)
{
    decoder_steps_release(&outcome->steps);
    tensor_list_release(&outcome->encoded);
    decoder_release(&outcome->decoder);
    free(outcome->failed);
    free(outcome->carries);
    *outcome = (struct step_outcome){0};
}

/* ---- JSON ---- */

static void write_step_or_null(const char *key, size_t step, struct json_writer *json)
{
    if (json_writer_key_or_null(json, key, step != SIZE_MAX))
        json_writer_integer(json, (int64_t)step);
}

void step_outcome_write(const struct step_outcome *outcome, struct json_writer *json)
{
    json_writer_begin_object(json);
    json_writer_begin_array_member(json, "inputs");
    for (size_t i = 0; i < outcome->decoder.count; i++) {
        json_writer_begin_object(json);
        json_writer_add_string(json, "name", outcome->decoder.inputs[i].name);
        json_writer_add_string(json, "role", decoder_role_name(outcome->decoder.inputs[i].role));
        json_writer_add_string(json, "present", outcome->decoder.inputs[i].present);
        if (json_writer_key_or_null(json, "paired", outcome->decoder.inputs[i].present != NULL))
            json_writer_string(json, cache_rule_name(outcome->decoder.inputs[i].rule));
        if (json_writer_key_or_null(json, "carries", outcome->carries != NULL && outcome->decoder.inputs[i].present))
            json_writer_boolean(json, outcome->carries[i]);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_add_boolean(json, "tokens_loaded", outcome->steps.has_tokens);
    json_writer_begin_array_member(json, "steps");
    for (size_t step = 0; step < outcome->steps.feeds.count; step++) {
        const struct tensor *tokens = tokens_of_step(outcome, step);

        json_writer_begin_object(json);
        json_writer_add_boolean(json, "passed", !outcome->failed[step]);
        json_writer_begin_array_member(json, "tokens");
        for (size_t i = 0; tokens != NULL && i < tensor_elements(tokens); i++) {
            uint64_t token;

            elements_to_integers(tokens, i, 1, &token);
            json_writer_integer(json, (int64_t)token);
        }
        json_writer_end_array(json);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    write_step_or_null("first_failing", outcome->first, json);
    write_step_or_null("entered", outcome->entered, json);
    json_writer_end_object(json);
}
