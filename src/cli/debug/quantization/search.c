/* cli/debug/quantization/search.c: see search.h. */
#include "cli/debug/quantization/search.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/debug/session.h"
#include "cli/options/groups.h"
#include "onnx/external/data.h"

/* In the folder. */
#define REPAIRED_MODEL "repaired.onnx"
#define UNQUANTIZED_MODEL "unquantized.onnx"

static const char *const forms[] = {"onnx", "left-out", "lists", NULL};

#define ROW(member, ...) OPTION_ROW(struct debug_quantization_settings, member, __VA_ARGS__)

static const struct option search_rows[] = {
    ROW(folder, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .fallback = "polygraphy_quantization", .file = OPTION_WRITES_FOLDER,
        .help =
            "where the search leaves the repaired model (repaired.onnx), what not to quantize as lists for programs "
            "that quantize (exclusions.py), and without --check input data and the reference's outputs"),
    ROW(emit, .names = {"--emit"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = forms, .fallback = "onnx",
        .help =
            "what the answer is written as. onnx: a repaired model, in which other scales, a scale for each channel "
            "or 16 bits take the place of leaving out, where the check passes with them; left-out: a repaired "
            "model without the quantizers that were found; lists: no model. The lists are written in any case"),
    JOBS_ROW(struct debug_quantization_settings, "", ""),
};

static int finish_search(struct parse *parse, void *given, struct error *err)
{
    const struct debug_quantization_settings *settings = given;

    return jobs_check(parse, &settings->debug.loop, false, err);
}

const struct option_group quantization_search_options = {
    .title = "Search for the quantizers to leave out",
    .description = "It runs when --check, or a tolerance of a comparison, says what a failure is.",
    .options = search_rows,
    .count = ARRAY_LEN(search_rows),
    .finish = finish_search,
};

bool quantization_search_is_wanted(const struct command_context *context,
                                   const struct debug_quantization_settings *settings)
{
    return settings->debug.loop.check.command.count > 0 || own_check_is_asked_for(context);
}

static int keep_model(const struct command_context *context, const char *folder, const char *model, const char *what,
                      const char *name, struct error *err)
{
    const char *path = arena_printf(parse_arena((struct parse *)context->parse), "%s/%s", folder, name);
    struct stat one, other;

    if (model == NULL || stat(model, &one) != 0 || stat(path, &other) != 0 || one.st_dev != other.st_dev ||
        one.st_ino != other.st_ino)
        return 0;
    return error_set(err, ERR_EXISTS, "-o: '%s' is %s, and it would be lost: choose another folder", path, what);
}

int quantization_search_keep_models(const struct command_context *context,
                                    const struct debug_quantization_settings *settings, struct error *err)
{
    static const char *const written[] = {REPAIRED_MODEL, UNQUANTIZED_MODEL};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(written); i++) {
        rc = keep_model(context, settings->folder, settings->file.model.path, "the model itself", written[i], err);
        if (rc == 0)
            rc = keep_model(context, settings->folder, settings->float_model, "the model of --float", written[i], err);
    }
    return rc;
}

/* ---- The check ---- */

static struct arena *arena_of(const struct quantization_session *session)
{
    return parse_arena((struct parse *)session->context->parse);
}

static const char *path_in_folder(const struct quantization_session *session, const char *name)
{
    return arena_printf(arena_of(session), "%s/%s", session->settings->folder, name);
}

static void add_run(const struct quantization_session *session, const char *model, struct word_list *words)
{
    const char *const run[] = {"polygraphy", "run", model, "--onnxrt"};

    for (size_t i = 0; i < ARRAY_LEN(run); i++)
        *VECTOR_APPEND(words) = run[i];
    parse_add_given_of_group(session->context->parse, &onnxrt_options, NULL, words);
}

/* Runs the float model, or what comes nearest to it. */
static int make_reference(struct quantization_session *session, struct error *err)
{
    static const char *const environment[] = {"POLYGRAPHY_ITERATION=0", NULL};
    const char *model = session->float_path;
    struct word_list words = {0};
    size_t left_out;
    int rc;

    if (model == NULL) {
        model = path_in_folder(session, UNQUANTIZED_MODEL);
        rc = quantization_save_without_any(session->subject, model, &left_out, err);
        if (rc < 0)
            return rc;
        log_message(session->context->log, LOG_INFO, "The reference is the model with %zu of %zu quantizers left out",
                    left_out, session->subject->quantizers.count);
    } else {
        log_message(session->context->log, LOG_INFO, "The reference is '%s'", model);
    }
    add_run(session, model, &words);
    rc = own_check_make_reference(&session->check, &words, environment, arena_printf(arena_of(session), "'%s'", model),
                                  err);
    free(words.items);
    return rc;
}

/* Unless the user has one: each candidate is compared with the reference. */
static int make_check(struct quantization_session *session, struct error *err)
{
    struct check_settings *settings = &session->loop_settings.check;
    int rc;

    if (settings->command.count > 0)
        return own_check_refuse(session->context, err);
    rc = own_check_begin(session->context, session->settings->folder, &session->check, err);
    if (rc < 0)
        return rc;
    add_run(session, "{artifact}", &session->check.words);
    if (own_check_needs_reference(&session->check))
        rc = make_reference(session, err);
    own_check_finish(&session->check, settings);
    return rc;
}

/* ---- The session ---- */

static int hash_file_into(const char *path, struct hash *hash, struct error *err)
{
    struct hash content;
    int rc = path != NULL ? hash_file(path, &content, err) : 0;

    if (rc == 0 && path != NULL)
        *hash = hash_combine(*hash, content);
    return rc;
}

/* The models, data that the command line of the check does not tell, and the order of the search. */
static int hash_session(const struct quantization_session *session, const double *scores, struct hash *ret,
                        struct error *err)
{
    const struct quantization_subject *subject = session->subject;
    int rc = hash_file(session->model_path, ret, err);

    if (rc < 0)
        return rc;
    rc = external_data_hash(subject->model, ret, err);
    if (rc < 0)
        return rc;
    rc = hash_file_into(session->float_path, ret, err);
    if (rc == 0 && subject->float_model != NULL)
        rc = external_data_hash(subject->float_model, ret, err);
    if (rc == 0)
        rc = hash_file_into(session->check.inputs, ret, err);
    *ret = hash_combine(*ret, hash_bytes(scores, subject->quantizers.count * sizeof(*scores)));
    return rc;
}

static int save_repaired(struct quantization_session *session, struct error *err)
{
    const char *path = path_in_folder(session, REPAIRED_MODEL);
    int rc = quantization_save(session->subject, session->ranges, &session->answer.repair, path, err);

    if (rc == 0)
        session->repaired = path;
    return rc;
}

static int save_results(struct quantization_session *session, struct error *err)
{
    const char *lists = path_in_folder(session, "exclusions.py");
    int rc = session->settings->emit != EMIT_LISTS ? save_repaired(session, err) : 0;

    if (rc < 0)
        return rc;
    quantizer_lists_make(session->subject, &session->answer, &session->lists);
    rc = quantizer_lists_save(&session->lists, session->model_path, lists, err);
    if (rc == 0)
        session->lists_path = lists;
    return rc;
}

bool quantization_session_has_found(const struct quantization_session *session)
{
    const struct precision_result *result = &session->answer.search;

    return session->loop != NULL && result->outcome == PRECISION_FOUND && !result->none_needed;
}

/* Of each quantizer, what it costs, and what was seen of its values. */
static void read_table(struct quantization_session *session, const struct quantization_table *table, double *scores)
{
    size_t count = session->subject->quantizers.count;

    session->ranges = memory_alloc_zero(count, sizeof(*session->ranges));
    for (size_t i = 0; i < count; i++)
        session->ranges[i] = (struct quantizer_range){NAN, NAN};
    for (size_t i = 0; i < table->count; i++) {
        const struct quantization_row *row = &table->rows[i];

        scores[row->quantizer] = row->alone_crash != NULL ? INFINITY : row->alone_noise;
        if (row->tensor.why_not == NULL && !row->tensor.of_stored)
            session->ranges[row->quantizer] =
                (struct quantizer_range){row->tensor.measures.least, row->tensor.measures.largest};
    }
}

static int run(struct quantization_session *session, const double *scores, struct error *err)
{
    const struct command_context *context = session->context;
    const struct debug_values *debug = &session->settings->debug;
    struct quantization_search_settings settings = {
        .subject = session->subject,
        .scores = scores,
        .ranges = session->ranges,
        .refines = session->settings->emit == EMIT_ONNX,
        .keep_artifact = session->loop_settings.keep_intermediate,
        .copy_weights = debug->copy_weights,
        .log = context->log,
    };
    struct hash hash;
    int rc = file_make_folders(session->settings->folder, err);

    if (rc < 0)
        return rc;
    rc = make_check(session, err);
    if (rc < 0)
        return rc;
    rc = hash_session(session, scores, &hash, err);
    if (rc == 0)
        rc = loop_new(&session->loop_settings, &hash, context->log, &session->loop, err);
    if (rc < 0)
        return rc;
    debug_session_watch_data(session->loop, session->subject->model);
    settings.artifact = loop_artifact(session->loop);
    settings.take_over = loop_takes_over(session->loop);
    rc = quantization_search(&settings, session->loop, &session->answer, err);
    if (rc < 0)
        return debug_session_end(context, debug, session->loop, rc);
    return quantization_session_has_found(session) ? save_results(session, err) : 0;
}

int quantization_session_run(struct quantization_session *session, const struct quantization_table *table,
                             struct error *err)
{
    double *scores = memory_alloc_zero(session->subject->quantizers.count, sizeof(*scores));
    int rc;

    read_table(session, table, scores);
    rc = run(session, scores, err);
    free(scores);
    return rc;
}

void quantization_session_release(struct quantization_session *session)
{
    quantization_answer_release(&session->answer);
    quantizer_lists_release(&session->lists);
    loop_free(session->loop);
    free(session->ranges);
    own_check_release(&session->check);
}
