/* cli/debug/build.c: build an engine repeatedly, and sort artifacts of builds into good and bad. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/engine_builds.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/debug/trt_builds.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "debug/tactics/build.h"

struct debug_build_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct engine_values engine;

    /* own options */
    bool explore;
    double within;
};

static int finish_explore(struct parse *parse, void *given, struct error *err)
{
    const struct debug_build_settings *values = given;

    if (values->within < 1)
        return error_set(err, ERR_INVALID,
                         "--explore-within: %g is less than 1, which excludes even the fastest tactic", values->within);
    if (!values->explore && parse_given(parse, "--explore-within"))
        return error_set(err, ERR_INVALID, "--explore-within needs --explore");
    if (values->explore && parse_given(parse, "--deterministic"))
        return error_set(err, ERR_INVALID,
                         "--explore and --deterministic exclude each other: one chooses tactics at random, the other "
                         "always chooses the same");
    return 0;
}

#define ROW(member, ...) OPTION_ROW(struct debug_build_settings, member, __VA_ARGS__)

static const struct option explore_rows[] = {
    ROW(explore, .names = {"--explore"}, .kind = OPTION_FLAG,
        .help = "choose each layer's tactic at random among the fast ones, instead of relying on timing noise, so that "
                "fewer builds separate good tactics from bad ones. Every other build avoids half of the kernels in all "
                "layers. --seed seeds the random choice"),
    ROW(within, .names = {"--explore-within"}, .kind = OPTION_ONE, .type = OPTION_FLOAT, .value_name = "FACTOR",
        .fallback = "2.0", .help = "a tactic is fast if it takes at most FACTOR times the time of the fastest"),
};

static const struct option_group explore_options = {
    .title = "Choice of tactics",
    OPTION_ROWS(explore_rows),
    .finish = finish_explore,
};

/* Only the built-in engine's builder supports random and deterministic choices of tactics. */
static int refuse_for_tensorrt(const struct parse *parse, struct error *err)
{
    if (parse_given(parse, "--explore"))
        return error_set(err, ERR_UNSUPPORTED,
                         "--explore: TensorRT cannot choose tactics at random; its builds differ by timing noise "
                         "alone. Leave the option out, or use the built-in engine with POLYGRAPHY_TRT=builtin");
    if (parse_given(parse, "--deterministic"))
        return error_set(err, ERR_UNSUPPORTED,
                         "--deterministic: TensorRT always chooses tactics by time. Leave the option out; "
                         "--load-timing-cache with --error-on-timing-cache-miss makes all builds equal");
    return 0;
}

static int build_by_ourselves(const struct command_context *context, const struct debug_build_settings *explore,
                              struct debug_session *session, struct error *err)
{
    const struct repetition *until = &explore->debug.until;
    struct engine_builds builds SCOPED(engine_builds_release) = {0};
    struct build_session build = {.maker = engine_builds_maker(&builds), .log = context->log, .until = *until};
    int rc = engine_builds_init(&builds, context, &explore->engine, &explore->file, err);

    if (rc < 0)
        return rc;
    build.tactics = builds.file.values->save_tactics;
    builds.file.request.builder.explore = explore->explore;
    builds.file.request.builder.explore_within = explore->within;
    debug_session_watch_data(session, builds.network->model);
    builds.times_are_kept = explore->explore;
    return build_run(&build, session, err);
}

/* On TensorRT: one model. */
static int build_by_tensorrt(const struct command_context *context, const struct debug_build_settings *settings,
                             struct debug_session *session, struct error *err)
{
    const struct repetition *until = &settings->debug.until;
    const struct engine_values *values = &settings->engine;
    struct trt_builds builds SCOPED(trt_builds_release) = {0};
    struct build_session build = {
        .maker = trt_builds_maker(&builds), .log = context->log, .until = *until, .tactics = values->save_tactics};
    struct model *model SCOPED(model_free_pointed) = NULL;
    int rc = refuse_for_tensorrt(context->parse, err);

    if (rc == 0)
        rc = engine_builds_check_model(&settings->file.model, err);
    if (rc < 0)
        return rc;
    rc = model_file_load(context, &settings->file, &model, err);
    if (rc < 0)
        return rc;
    debug_session_watch_data(session, model);
    rc = trt_builds_init(&builds, context, &settings->engine, &settings->file, err);
    if (rc == 0)
        rc = trt_builds_set_model(&builds, model, err);
    return rc < 0 ? rc : build_run(&build, session, err);
}

static int debug_build_run(const struct command_context *context, const struct debug_build_settings *options,
                           struct error *err)
{
    struct session_settings settings = debug_session_settings(context, &options->debug, &options->file);
    const struct tensorrt_description *library;
    struct debug_outputs outputs SCOPED(debug_outputs_close) = {0};
    struct debug_session *session SCOPED(session_free_pointed) = NULL;
    int rc = debug_outputs_open(&outputs, context, &options->debug, "debug build", err);

    if (rc == 0)
        rc = trt_choose(context->log, NULL, TRT_BUILDS, &library, err);
    if (rc < 0)
        return rc;
    outputs.counts = true;
    outputs.has_polygraphy_log = true;
    debug_outputs_watch(&outputs, "builds", &settings);
    rc = session_new(&settings, NULL, context->log, &session, err);
    if (rc < 0)
        return rc;
    rc = library != NULL ? build_by_tensorrt(context, options, session, err)
                         : build_by_ourselves(context, options, session, err);
    debug_outputs_count_failures(&outputs, "builds", session);
    return debug_outputs_finish(&outputs, session, rc, true, err);
}

DEFINE_COMMAND_RUN(debug_build_run, struct debug_build_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct debug_build_settings, debug.common.logging, logging_options),
    COMMAND_GROUP(struct debug_build_settings, debug, check_options),
    COMMAND_GROUP(struct debug_build_settings, debug, expected_artifact_options),
    COMMAND_GROUP(struct debug_build_settings, debug, intermediate_engine_options),
    COMMAND_GROUP(struct debug_build_settings, debug, iteration_options),
    COMMAND_GROUP(struct debug_build_settings, debug, until_options),
    {&explore_options, 0},
    DEBUG_ENGINE_GROUPS(struct debug_build_settings, engine_config_options),
    DEBUG_RESULT_GROUPS(struct debug_build_settings),
};

const struct command cmd_debug_build = {
    .name = "build",
    .summary = "build an engine repeatedly and sort its tactics into good and bad",
    .description = "Builds the same network repeatedly. Each engine is written to polygraphy_debug.engine, the check "
                   "decides whether it is good, and the files that --artifacts names are moved into the folders `good` "
                   "and `bad`. Use it if the accuracy differs from one build to the next: keep the tactics of every "
                   "build as artifacts, then run `debug diff-tactics` to rank the tactics that may be wrong.\n\n"
                   "Builds differ because tactics are chosen by measured times, which vary. With --explore tactics are "
                   "chosen at random among the fast ones: a few builds then separate tactics that timing noise would "
                   "always choose together. Every other build also avoids half of the kernels, to find a kernel that "
                   "is wrong in many layers.\n\n"
                   "An iteration whose engine cannot be built counts as failed, and the session continues. "
                   "In the check's environment, POLYGRAPHY_ARTIFACT is the engine's path, "
                   "POLYGRAPHY_ITERATION the number of the iteration, counting from 0. "
                   "With --exit-code the exit status is 4 when at least one iteration failed, 0 when all passed.",
    .example = "polygraphy run model.onnx --onnxrt --save-outputs golden.json\n"
               "polygraphy debug build model.onnx --explore --until 16 --save-tactics replay.json \\\n"
               "    --artifacts replay.json --artifacts-dir replays \\\n"
               "    --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json\n"
               "polygraphy debug diff-tactics --dir replays",
    COMMAND_GROUPS(groups),
    .essential = "--check --until --explore --explore-within --save-tactics --artifacts --art-dir --fp16 --int8 "
                 "--load-inputs --fail-regex --flaky --show-output --json --report -v",
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_build_run),
};
