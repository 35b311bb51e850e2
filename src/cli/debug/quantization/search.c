/* cli/debug/quantization/search.c: see search.h. */
#include "cli/debug/quantization/search.h"

#include <math.h>
#include <stdlib.h>

#include "base/file/identity.h"
#include "base/memory.h"
#include "cli/debug/session.h"
#include "cli/options/groups.h"
#include "debug/record/result_folder.h"
#include "onnx/external/data.h"

/* Files in the folder. */
#define REPAIRED_MODEL "repaired.onnx"
#define UNQUANTIZED_MODEL "unquantized.onnx"
#define LISTS "exclusions.py"

/* Without a search nothing is written there. */
static void list_results(const struct parse *parse, struct word_list *ret)
{
    if (!own_check_is_asked_for(parse) && parse_given(parse, "--check") == NULL)
        return;
    *VECTOR_APPEND(ret) = REPAIRED_MODEL;
    *VECTOR_APPEND(ret) = LISTS;
    if (own_check_list_results(parse, ret))
        *VECTOR_APPEND(ret) = UNQUANTIZED_MODEL;
}

static const char *const forms[] = {"onnx", "left-out", "lists", NULL};

#define ROW(member, ...) OPTION_ROW(struct debug_quantization_settings, member, __VA_ARGS__)

static const struct option search_rows[] = {
    ROW(folder, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .fallback = "polygraphy_quantization", .file = OPTION_WRITES_RESULTS, .list_results = list_results,
        .help = "folder for the repaired model (repaired.onnx), lists of nodes to exclude for quantization programs "
                "(exclusions.py) and, without --check, input data and the reference's outputs"),
    ROW(emit, .names = {"--emit"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = forms, .fallback = "onnx",
        .help = "form of the answer. onnx: a repaired model with other scales, a scale for each channel or 16 bits if "
                "the check passes with them, else without the quantizer; left-out: a repaired model without the "
                "quantizers found; lists: no model. The lists are always written"),
    JOBS_ROW(struct debug_quantization_settings, "", ""),
};

static int finish_search(struct parse *parse, void *given, struct error *err)
{
    const struct debug_quantization_settings *settings = given;

    return jobs_check(parse, &settings->debug.session, false, err);
}

const struct option_group quantization_search_options = {
    .title = "Search for the quantizers to disable",
    .description = "Runs if --check or a tolerance of a comparison defines a failure.",
    OPTION_ROWS(search_rows),
    .finish = finish_search,
};

bool quantization_search_is_wanted(const struct command_context *context,
                                   const struct debug_quantization_settings *settings)
{
    return settings->debug.session.check.command.count > 0 || own_check_is_asked_for(context->parse);
}

/* ---- The check ---- */

static struct arena *arena_of(const struct quantization_session *command)
{
    return parse_arena((struct parse *)command->context->parse);
}

static const char *path_in_folder(const struct quantization_session *command, const char *name)
{
    return arena_printf(arena_of(command), "%s/%s", command->settings->folder, name);
}

static void add_run(const struct quantization_session *command, const char *model, struct word_list *words)
{
    const char *const run[] = {"polygraphy", "run", model, "--onnxrt"};

    for (size_t i = 0; i < ARRAY_LEN(run); i++)
        *VECTOR_APPEND(words) = run[i];
    parse_add_given_of_group(command->context->parse, &onnxrt_options, NULL, words);
}

/* Computes the reference with the float model, or with as many quantizers disabled as possible. */
static int make_reference(struct quantization_session *command, struct error *err)
{
    static const char *const environment[] = {"POLYGRAPHY_ITERATION=0", NULL};
    const char *model = command->float_path;
    struct word_list words SCOPED_ITEMS = {0};
    size_t left_out;
    int rc;

    if (model == NULL) {
        model = path_in_folder(command, UNQUANTIZED_MODEL);
        rc = quantization_save_without_any(command->subject, model, &left_out, err);
        if (rc < 0)
            return rc;
        log_message(command->context->log, LOG_INFO, "The reference is the model with %zu of %zu quantizers disabled",
                    left_out, command->subject->quantizers.count);
    } else {
        log_message(command->context->log, LOG_INFO, "The reference is '%s'", model);
    }
    add_run(command, model, &words);
    return own_check_make_reference(&command->check, &words, environment,
                                    arena_printf(arena_of(command), "'%s'", model), err);
}

/* Without --check: compares each candidate with the reference. */
static int make_check(struct quantization_session *command, struct error *err)
{
    struct check_settings *settings = &command->session_settings.check;
    int rc;

    if (settings->command.count > 0)
        return own_check_refuse(command->context, err);
    rc = own_check_begin(command->context, command->settings->folder, &command->check, err);
    if (rc < 0)
        return rc;
    add_run(command, "{artifact}", &command->check.words);
    if (own_check_needs_reference(&command->check))
        rc = make_reference(command, err);
    own_check_finish(&command->check, settings);
    return rc;
}

/* ---- The command ---- */

static int hash_file_into(const char *path, struct hash *hash, struct error *err)
{
    struct hash content;
    int rc = path != NULL ? file_content_hash(path, &content, err) : 0;

    if (rc == 0 && path != NULL)
        *hash = hash_combine(*hash, content);
    return rc;
}

/* Hashes the models, data that are not in the check's command line, and the order of the search. */
static int hash_quantization_session(const struct quantization_session *command, const double *scores, struct hash *ret,
                                     struct error *err)
{
    const struct quantization_subject *subject = command->subject;
    int rc = file_content_hash(command->model_path, ret, err);

    if (rc < 0)
        return rc;
    rc = external_data_hash(subject->model, ret, err);
    if (rc < 0)
        return rc;
    rc = hash_file_into(command->float_path, ret, err);
    if (rc == 0 && subject->float_model != NULL)
        rc = external_data_hash(subject->float_model, ret, err);
    if (rc == 0)
        rc = hash_file_into(command->check.inputs, ret, err);
    *ret = hash_combine(*ret, hash_bytes(scores, subject->quantizers.count * sizeof(*scores)));
    debug_hash_runtime(&command->settings->file.onnxrt.runtime, ret);
    return rc;
}

static int save_repaired(struct quantization_session *command, struct error *err)
{
    const char *path = path_in_folder(command, REPAIRED_MODEL);
    int rc = quantization_save(command->subject, command->ranges, &command->answer.repair, path, err);

    if (rc == 0)
        command->repaired = path;
    return rc;
}

static int save_results(struct quantization_session *command, struct error *err)
{
    const char *lists = path_in_folder(command, LISTS);
    int rc = command->settings->emit != EMIT_LISTS ? save_repaired(command, err) : 0;

    if (rc < 0)
        return rc;
    quantizer_lists_make(command->subject, &command->answer, &command->lists);
    rc = quantizer_lists_save(&command->lists, command->model_path, lists, err);
    if (rc == 0)
        command->lists_path = lists;
    return rc;
}

bool quantization_session_has_found(const struct quantization_session *command)
{
    const struct precision_result *result = &command->answer.search;

    return command->session != NULL && result->outcome == PRECISION_FOUND && !result->none_needed;
}

bool quantization_session_is_in_doubt(const struct quantization_session *command)
{
    const struct repair_measures *repair = &command->repair;

    if (other_data_contradicts(&command->other))
        return true;
    if (!repair->is_known || !command->check.has_begun || !own_check_needs_reference(&command->check))
        return false;
    return repair_is_worse(&repair->reference) ||
           (!isnan(repair->other.repaired) &&
            (repair_is_worse(&repair->other) || repair->other.rescaled > repair->other.repaired));
}

/* Reads the cost and the range of each quantizer from the table. */
static void read_table(struct quantization_session *command, const struct quantization_table *table, double *scores)
{
    size_t count = command->subject->quantizers.count;

    command->ranges = memory_alloc_zero(count, sizeof(*command->ranges));
    for (size_t i = 0; i < count; i++)
        command->ranges[i] = (struct quantizer_range){NAN, NAN};
    ARRAY_EACH (const struct quantization_row, row, table->rows, table->count) {
        double cost = quantization_cost(row);

        scores[row->quantizer] = row->alone_crash != NULL ? INFINITY : isnan(cost) ? 0 : pow(10, -cost / 10);
        if (row->tensor.why_not == NULL && !row->tensor.of_stored)
            command->ranges[row->quantizer] =
                (struct quantizer_range){row->tensor.measures.least, row->tensor.measures.largest};
    }
}

static int run_quantization_search(struct quantization_session *command, const double *scores, struct error *err)
{
    const struct command_context *context = command->context;
    const struct debug_values *debug = &command->settings->debug;
    struct quantization_search_settings settings = {
        .subject = command->subject,
        .scores = scores,
        .ranges = command->ranges,
        .refines = command->settings->emit == EMIT_ONNX,
        .keep_artifact = command->session_settings.keep_intermediate,
        .copy_weights = debug->copy_weights,
        .log = context->log,
    };
    struct hash hash;
    int rc = result_folder_begin(command->settings->folder, "debug quantization", err);

    if (rc < 0)
        return rc;
    rc = make_check(command, err);
    if (rc < 0)
        return rc;
    rc = hash_quantization_session(command, scores, &hash, err);
    if (rc == 0)
        rc = session_new(&command->session_settings, &hash, context->log, &command->session, err);
    if (rc < 0)
        return rc;
    debug_session_watch_data(command->session, command->subject->model);
    settings.artifact = session_state(command->session).artifact;
    settings.take_over = session_state(command->session).takes_over;
    rc = quantization_search(&settings, command->session, &command->answer, err);
    if (rc < 0)
        return rc;
    return quantization_session_has_found(command) ? save_results(command, err) : 0;
}

/* Repeats the verdicts on the model and on the repaired one with other data. */
static int repeat_with_other_data(struct quantization_session *command, struct error *err)
{
    const char *reference =
        command->float_path != NULL ? command->float_path : path_in_folder(command, UNQUANTIZED_MODEL);
    struct word_list words[3] = {{0}, {0}, {0}};
    struct other_runs runs;
    int rc;

    if (!command->check.has_begun || command->repaired == NULL || session_state(command->session).is_flaky)
        return 0;
    add_run(command, reference, &words[0]);
    add_run(command, command->model_path, &words[1]);
    add_run(command, command->repaired, &words[2]);
    runs = (struct other_runs){.reference = {.words = {words[0].items, words[0].count}},
                               .failing = {.words = {words[1].items, words[1].count}},
                               .passing = {.words = {words[2].items, words[2].count}}};
    rc = other_data_repeat(&command->check, command->settings->file.data.seed, &runs, &command->other, err);

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        free(words[i].items);
    return rc;
}

int quantization_session_run(struct quantization_session *command, struct quantization_table *table, struct error *err)
{
    double *scores = memory_alloc_zero(command->subject->quantizers.count, sizeof(*scores));
    int rc;

    read_table(command, table, scores);
    rc = run_quantization_search(command, scores, err);
    if (rc == 0 && quantization_session_has_found(command))
        rc = quantization_measure_repair(command->study, command->ranges, &command->answer.repair, table,
                                         &command->repair, err);
    if (rc == 0 && quantization_session_has_found(command))
        rc = repeat_with_other_data(command, err);
    free(scores);
    return rc;
}

void quantization_session_release(struct quantization_session *command)
{
    quantization_answer_release(&command->answer);
    quantizer_lists_release(&command->lists);
    session_free(command->session);
    free(command->ranges);
    own_check_release(&command->check);
}
