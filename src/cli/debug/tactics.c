/* cli/debug/tactics.c: prove which tactics make a build fail. */
#include <string.h>

#include "base/file/file.h"
#include "base/file/identity.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/engine_builds.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/debug/tactics_result.h"
#include "cli/debug/trt_builds.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "debug/tactics/isolation.h"
#include "debug/tactics/pair.h"
#include "engine/precision/words.h"

struct debug_tactics_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct engine_values engine;

    /* own options */
    const char *good, *bad; /* NULL: in `dir` */
    const char *dir;
    const char *fixed; /* NULL: not written */
};

/* Options that choose tactics are refused, because the tool chooses them. */
static int finish_tactics(struct parse *parse, void *given, struct error *err)
{
    const struct debug_tactics_settings *values = given;

    if (parse_given(parse, "--load-tactics"))
        return error_set(
            err, ERR_INVALID,
            "--load-tactics: debug tactics creates its replays from the good and the bad one; leave the option out");
    if (parse_given(parse, "--exclude-tactics"))
        return error_set(err, ERR_INVALID,
                         "--exclude-tactics: debug tactics tries all tactics of the two replays. To test builds "
                         "without a tactic, pass --exclude-tactics to run or to debug build");
    if (!values->dir && (!values->good || !values->bad))
        return error_set(
            err, ERR_INVALID,
            "no replays: pass --good and --bad, or --dir with the folder into which debug build sorted them");
    if (values->dir && values->good && values->bad)
        return error_set(err, ERR_INVALID, "--dir has no effect with --good and --bad: leave it out");
    return jobs_check(parse, &values->debug.session, true, err);
}

#define ROW(member, ...) OPTION_ROW(struct debug_tactics_settings, member, __VA_ARGS__)

static const struct option tactics_rows[] = {
    ROW(good, .names = {"--good"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_READS, .extensions = "json",
        .help = "the tactic replay of a build that passes the check, or a folder with several"),
    ROW(bad, .names = {"--bad"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_READS, .extensions = "json",
        .help = "the tactic replay of a build that fails the check, or a folder with several"),
    ROW(dir, .names = {"--dir"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .help =
            "folder with the folders `good` and `bad` of replays: the good and the bad one that differ least are used"),
    ROW(fixed, .names = {"--save-fixed-tactics"}, .former_name = "--save-mended-tactics", .kind = OPTION_ONE,
        .value_name = "PATH", .file = OPTION_WRITES, .extensions = "json",
        .help = "write the bad replay with the wrong tactics replaced by those of the good one, for --load-tactics. "
                "Only written if a build with it passed"),
    JOBS_ROW(struct debug_tactics_settings,
             "Needs --deterministic or --error-on-timing-cache-miss, so that no kernel is timed. ",
             ". Each candidate has a separate file, which the check names as {artifact} or by its usual path"),
};

static const struct option_group tactics_options = {
    .title = "Replays",
    OPTION_ROWS(tactics_rows),
    .finish = finish_tactics,
};

/* ---- The replays ---- */

/* Loads the replay at `path`, or those in it; or those of `kind` in the folder of --dir. */
static int load_builds(struct tactic_builds *builds, const char *kind, const char *path, const char *dir,
                       struct log *log, struct error *err)
{
    char *folder SCOPED_FREE = path ? memory_strdup(path) : file_join(dir, kind);
    int rc = 0;

    if (file_is_folder(folder)) {
        rc = tactic_builds_load(builds, folder, log, err);
        if (rc == 0 && builds->count == 0)
            rc = error_set(err, ERR_MISSING, "no tactic replay in '%s'", folder);
    } else {
        struct tactic_build build = {.path = memory_strdup(folder)};

        tactic_replay_init(&build.replay);
        rc = tactic_replay_load(&build.replay, folder, err);
        *VECTOR_APPEND(builds) = build;
    }
    return rc;
}

static void log_pair(const struct tactic_pair *pair, struct log *log)
{
    if (pair->count > 1)
        log_message(log, LOG_INFO, "Of %zu pairs of replays, '%s' and '%s' differ least", pair->count, pair->good->path,
                    pair->bad->path);
    if (pair->same_good != NULL && pair->differences > 0)
        log_message(log, LOG_WARNING,
                    "'%s' passed and '%s' failed with the same tactics: the verdict also depends on something else, or "
                    "is not reproducible (`polygraphy debug repeat` counts)",
                    pair->same_good->path, pair->same_bad->path);
}

/* ---- Builds ---- */

/* The builds: of the built-in engine, or of TensorRT, whose layers are compared with those of the network. */
struct tactics_builds {
    const struct tensorrt_description *library; /* NULL: the built-in engine */
    struct engine_builds own;
    struct trt_builds trt;
    struct tactic_options precision; /* of both */
};

/* ---- Precisions ---- */

static bool has_type(const struct network *network, enum data_type type)
{
    for (size_t i = 0; i < network->layers.count; i++)
        for (size_t k = 0; k < network->layers.items[i].outputs.count; k++) {
            uint32_t value = network->layers.items[i].outputs.items[k];

            if (value != VALUE_NONE && network_type(network, value) == type)
                return true;
        }
    return false;
}

static bool replay_has(const struct tactic_replay *replay, const char *dtype)
{
    for (size_t i = 0; i < replay->count; i++) {
        const struct tactic_algorithm *algorithm = &replay->items[i].algorithm;
        const struct tactic_tensors *const lists[] = {&algorithm->inputs, &algorithm->outputs};

        for (size_t list = 0; list < ARRAY_LEN(lists); list++)
            for (size_t k = 0; k < lists[list]->count; k++)
                if (strcmp(lists[list]->items[k].dtype, dtype) == 0)
                    return true;
    }
    return false;
}

/* A replay without a recorded precision may still have tensors of types that neither the model nor the options have. */
static int refuse_other_types(const struct tactic_build *build, const struct engine_builds *builds, struct error *err)
{
    for (int i = PRECISION_BFLOAT16; i < PRECISION_COUNT; i++) {
        const char *dtype = precision_tensorrt_name((enum precision)i);

        if (!builds->file.request.builder.precision.enabled[i] && replay_has(&build->replay, dtype) &&
            !has_type(builds->network, precision_type((enum precision)i)))
            return error_set(err, ERR_INVALID,
                             "'%s' does not record its precision, but has %s tensors: pass the precision options "
                             "(--fp16, --bf16, --int8) of that build",
                             build->path, dtype);
    }
    return 0;
}

static int take_precision(struct engine_builds *builds, const struct tactic_pair *pair, struct tactic_options *ret,
                          struct log *log, struct error *err)
{
    const struct tactic_options *known =
        pair->good->replay.precision.known ? &pair->good->replay.precision : &pair->bad->replay.precision;
    SCOPED_STRING(text);
    int rc = engine_file_take_precision(&builds->file, known, err);

    if (rc == 0 && !known->known)
        rc = refuse_other_types(pair->good, builds, err);
    if (rc == 0 && !known->known)
        rc = refuse_other_types(pair->bad, builds, err);
    if (rc < 0)
        return rc;
    precision_words_of(&builds->file.request.builder.precision, ret);
    tactic_options_text(ret, &text);
    if (known->known)
        log_message(log, LOG_INFO, "Building with the precision of the replays: %s", text.data);
    else
        log_message(log, LOG_WARNING, "The replays do not record their precision: building with %s", text.data);
    return 0;
}

/* ---- The session ---- */

/* Hashes what verdicts are bound to: the model, both replays, the precision and the builder. */
static int hash_tactics_session(const struct command_context *context, const struct debug_tactics_settings *settings,
                                const struct tactics_builds *builds, const struct tactic_pair *pair, struct hash *ret,
                                struct error *err)
{
    const char *const paths[] = {settings->file.model.path, pair->good->path, pair->bad->path};
    SCOPED_STRING(text);
    struct hash hash = {0};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct hash content;
        int rc = file_content_hash(paths[i], &content, err);

        if (rc < 0)
            return rc;
        hash = hash_combine(hash, content);
    }
    tactic_options_text(&builds->precision, &text);
    if (builds->library != NULL)
        string_add(&text, builds->library->name);
    *ret = hash_combine(hash, hash_bytes(text.data, text.size));
    return debug_hash_builder_options(context, &engine_config_options, ret, err);
}

static int save_fixed_replay(struct tactic_isolation *isolation, const char *path, struct log *log, struct error *err)
{
    struct tactic_replay fixed;
    int rc;

    if (path == NULL)
        return 0;
    if (!tactic_isolation_fixed_replay(isolation, &fixed)) {
        log_message(log, LOG_WARNING, "'%s' is not written: no build with a corrected bad replay passed", path);
        return 0;
    }
    rc = tactic_replay_save(&fixed, path, err);
    tactic_replay_release(&fixed);
    if (rc == 0)
        isolation->fixed = path;
    return rc;
}

static void announce_differences(const struct tactic_isolation *isolation, struct log *log)
{
    if (isolation->only_in_one > 0)
        log_message(log, LOG_WARNING,
                    "%zu layer(s) are only in one of the replays, which may be of different networks: the builder "
                    "chooses their tactics",
                    isolation->only_in_one);
    log_message(log, LOG_INFO, "%zu of %zu layer(s) have different tactics in the two replays",
                isolation->differences.count, isolation->bad->count);
}

/* From TensorRT 11 on, and in TensorRT-RTX, there is no algorithm selector. */
static int choose_builder(const struct command_context *context, struct tactics_builds *ret, struct error *err)
{
    int rc;

    *ret = (struct tactics_builds){0};
    rc = trt_choose(context->log, NULL, TRT_BUILDS, &ret->library, err);
    if (rc == 0 && ret->library != NULL && (ret->library->is_rtx || ret->library->major >= 11))
        return error_set(err, ERR_UNSUPPORTED,
                         "debug tactics: %s cannot be told the tactics of layers, which TensorRT 10 and earlier can. "
                         "`polygraphy debug diff-tactics` ranks the tactics of good and bad builds; for replays of the "
                         "built-in engine, set POLYGRAPHY_TRT=builtin",
                         ret->library->name);
    return rc;
}

static int open_trt_builds(struct tactics_builds *builds, const struct command_context *context,
                           const struct debug_tactics_settings *options, struct error *err)
{
    struct engine_builds *own = &builds->own;
    struct model *model;
    int rc = engine_builds_check_model(&options->file.model, err);

    if (rc < 0)
        return rc;
    rc = engine_file_init_aside(&own->file, context, &options->engine, &options->file, err);
    if (rc == 0)
        rc = model_file_load(context, &options->file, &model, err);
    if (rc < 0)
        return rc;
    rc = trt_builds_init(&builds->trt, context, &options->engine, &options->file, err);
    if (rc == 0)
        rc = trt_builds_set_model(&builds->trt, model, err);
    if (rc < 0) {
        model_free(model);
        return rc;
    }
    own->file.request.network.keep_nodes_apart = true;
    return network_build(model, &own->file.request.network, &own->network, err);
}

static int open_builds(struct tactics_builds *builds, const struct command_context *context,
                       const struct debug_tactics_settings *options, struct error *err)
{
    return builds->library != NULL ? open_trt_builds(builds, context, options, err)
                                   : engine_builds_init(&builds->own, context, &options->engine, &options->file, err);
}

static int run_with(const struct command_context *context, const struct debug_tactics_settings *options,
                    struct tactics_builds *builds, const struct tactic_pair *pair, struct debug_outputs *outputs,
                    struct error *err)
{
    struct session_settings settings = debug_session_settings(context, &options->debug, &options->file);
    struct debug_session *session SCOPED(session_free_pointed) = NULL;
    struct tactic_isolation isolation;
    struct hash hash;
    int rc;

    tactic_isolation_init(&isolation, &pair->good->replay, &pair->bad->replay);
    rc = open_builds(builds, context, options, err);
    if (rc < 0)
        goto done;
    isolation.log = context->log;
    isolation.good_path = pair->good->path;
    isolation.bad_path = pair->bad->path;
    isolation.maker = builds->library != NULL ? trt_builds_maker(&builds->trt) : engine_builds_maker(&builds->own);
    announce_differences(&isolation, context->log);
    rc = take_precision(&builds->own, pair, &builds->precision, context->log, err);
    if (rc < 0)
        goto done;
    if (builds->library != NULL)
        trt_request_set_precision(&builds->trt.trt, &builds->own.file.request.builder.precision);
    rc = hash_tactics_session(context, options, builds, pair, &hash, err);
    if (rc < 0)
        goto done;
    debug_outputs_watch(outputs, "builds", &settings);
    rc = session_new(&settings, &hash, context->log, &session, err);
    if (rc < 0)
        goto done;
    debug_session_watch_data(session, builds->own.network->model);
    rc = tactic_isolation_run(&isolation, session, err);
    if (rc == 0)
        rc = save_fixed_replay(&isolation, options->fixed, context->log, err);
    if (rc == 0)
        tactics_result_fill(&isolation, builds->own.network, outputs->result);
    debug_outputs_add_model(outputs, builds->own.network->model);
    rc = debug_outputs_finish(outputs, session, rc, isolation.outcome == ISOLATION_FOUND, err);
done:
    tactic_isolation_release(&isolation);
    tactic_options_release(&builds->precision);
    trt_builds_release(&builds->trt);
    engine_builds_release(&builds->own);
    return rc;
}

static int debug_tactics_run(const struct command_context *context, const struct debug_tactics_settings *values,
                             struct error *err)
{
    struct tactic_pair pair;
    struct debug_outputs outputs SCOPED(debug_outputs_close) = {0};
    struct tactic_diff replays SCOPED(tactic_diff_release) = {0};
    struct tactics_builds builds;
    int rc = choose_builder(context, &builds, err);

    if (rc == 0)
        rc = debug_outputs_open(&outputs, context, &values->debug, "debug tactics", err);
    if (rc < 0)
        return rc;
    tactic_diff_init(&replays);
    rc = load_builds(&replays.good, "good", values->good, values->dir, context->log, err);
    if (rc == 0)
        rc = load_builds(&replays.bad, "bad", values->bad, values->dir, context->log, err);
    if (rc < 0)
        return rc;
    rc = tactic_pair_choose(&replays.good, &replays.bad, &pair, err);
    if (rc < 0)
        return rc;
    log_pair(&pair, context->log);
    return run_with(context, values, &builds, &pair, &outputs, err);
}

DEFINE_COMMAND_RUN(debug_tactics_run, struct debug_tactics_settings)

static const struct command_group groups[] = {
    DEBUG_SEARCH_GROUPS(struct debug_tactics_settings, check_options, intermediate_engine_options),
    {&tactics_options, 0},
    DEBUG_RESULT_GROUPS(struct debug_tactics_settings),
    DEBUG_ENGINE_GROUPS(struct debug_tactics_settings, engine_config_options),
};

const struct command cmd_debug_tactics = {
    .name = "tactics",
    .summary = "prove which tactics make a build fail",
    .description =
        "Compares the tactic replay of a build that passes with one of a build that fails; of those that debug build "
        "sorted, the two that differ least. Both are built again first, to verify that one passes and the other fails. "
        "Then the network is built with mixtures of both, which halve the difference (delta debugging): with d layers "
        "whose tactics differ, about log2(d) builds find the tactic that changes the verdict, or the set of tactics "
        "that only fail together.\n\n"
        "The result is verified: the good build with these tactics fails, and without any one of them it passes. One "
        "more build tests whether the bad one passes without them or has another cause as well.\n\n"
        "Replays record the precision of their build, which is used again; replays of other programs do not. Pass the "
        "same options for tactic sources, plug-ins and calibration as for those builds. With --save-tactics, the file "
        "contains the mixture while the check runs; as an artifact it is kept for each iteration. With --exit-code the "
        "exit status is 4 when nothing was found, "
        "because the good replay fails or the bad one passes.",
    .example = "# the replays come from debug build, see there\n"
               "polygraphy debug tactics model.onnx --dir replays \\\n"
               "    --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json",
    COMMAND_GROUPS(groups),
    .essential = "--check --dir --good --bad --fp16 --int8 --load-inputs --fail-regex --flaky " DEBUG_SEARCH_ESSENTIAL,
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_tactics_run),
};
