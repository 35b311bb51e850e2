/* cmd_debug_tactics.c: prove which tactics make a build fail. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug_session.h"
#include "cli/engine_builds.h"
#include "cli/option_groups.h"
#include "cli/option_parser.h"
#include "cli/tactic_isolation_report.h"
#include "debug/tactic_isolation.h"

struct tactics_values {
    const char *good, *bad;
};

/* Which tactics are taken is what the tool decides. */
static int finish_tactics(void *data, struct parse *parse, struct error *err)
{
    (void)data;
    if (parse_given(parse, "--load-tactics"))
        return error_set(err, ERR_INVALID,
                         "--load-tactics: debug tactics makes replays of its own, out of --good and --bad");
    return 0;
}

static const struct option tactics_rows[] = {
    {
        .names = {"--good"},
        .kind = OPTION_ONE,
        .value_name = "REPLAY",
        .required = true,
        .offset = offsetof(struct tactics_values, good),
        .help = "the tactic replay of a build that passes the check",
    },
    {
        .names = {"--bad"},
        .kind = OPTION_ONE,
        .value_name = "REPLAY",
        .required = true,
        .offset = offsetof(struct tactics_values, bad),
        .help = "that of one that fails it",
    },
};

static const struct option_group tactics_options = {
    .title = "Replays",
    .options = tactics_rows,
    .count = ARRAY_LEN(tactics_rows),
    .values_size = sizeof(struct tactics_values),
    .finish = finish_tactics,
};

/* What verdicts belong to: the model and both replays. */
static int hash_session(const struct command_context *context, struct hash *ret, struct error *err)
{
    const struct tactics_values *values = parse_values(context->parse, &tactics_options);
    const struct model_values *model = parse_values(context->parse, &inspect_model_options);
    const char *const paths[] = {model->path, values->good, values->bad};
    struct hash hash = {0};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct hash content;
        int rc = hash_file(paths[i], &content, err);

        if (rc < 0)
            return rc;
        hash = hash_combine(hash, content);
    }
    *ret = hash;
    return 0;
}

static int isolate(const struct command_context *context, struct tactic_isolation *isolation, struct loop *loop,
                   struct debug_report *report, struct error *err)
{
    struct engine_builds builds;
    int rc;

    rc = engine_builds_init(&builds, context, err);
    if (rc < 0)
        return rc;
    isolation->maker = engine_builds_maker(&builds);
    rc = tactic_isolation_run(isolation, loop, err);
    if (rc == 0) {
        tactic_isolation_log(isolation, context->log);
        loop_log_checks(loop);
        rc = debug_report_save(report, loop, tactic_isolation_write, isolation, err);
    }
    engine_builds_release(&builds);
    return rc;
}

static int run_with(const struct command_context *context, const struct tactic_replay *good,
                    const struct tactic_replay *bad, struct debug_report *report, struct error *err)
{
    const struct check_values *check = parse_values(context->parse, &check_options);
    struct loop_settings settings = debug_loop_settings(context);
    struct tactic_isolation isolation;
    enum isolation_outcome outcome;
    struct loop *loop = NULL;
    struct hash hash;
    int rc;

    tactic_isolation_init(&isolation, good, bad);
    isolation.log = context->log;
    tactic_isolation_announce(&isolation, context->log);
    rc = hash_session(context, &hash, err);
    if (rc == 0)
        rc = loop_new(&settings, &hash, context->log, &loop, err);
    if (rc == 0)
        rc = isolate(context, &isolation, loop, report, err);
    outcome = isolation.outcome;
    tactic_isolation_release(&isolation);
    if (rc < 0 && loop)
        rc = debug_session_end(context, loop, rc);
    else if (rc == 0 && check->exit_code && outcome != ISOLATION_FOUND)
        rc = EXIT_STATUS_NOT_REPRODUCED;
    loop_free(loop);
    return rc;
}

static int debug_tactics_run(const struct command_context *context, struct error *err)
{
    const struct tactics_values *values = parse_values(context->parse, &tactics_options);
    struct tactic_replay good, bad;
    struct debug_report report;
    int rc = debug_report_open(&report, context, err);

    if (rc < 0)
        return rc;
    tactic_replay_init(&good);
    tactic_replay_init(&bad);
    rc = tactic_replay_load(&good, values->good, err);
    if (rc == 0)
        rc = tactic_replay_load(&bad, values->bad, err);
    if (rc == 0)
        rc = run_with(context, &good, &bad, &report, err);
    tactic_replay_release(&good);
    tactic_replay_release(&bad);
    debug_report_close(&report);
    return rc;
}

static const struct option_group *const groups[] = {
    &logging_options,        &check_options,           &artifact_options,       &intermediate_engine_options,
    &iteration_options,      &replay_options,          &tactics_options,        &json_options,
    &inspect_model_options,  &shape_inference_options, &onnx_load_options,      &data_loader_options,
    &onnxrt_library_options, &engine_config_options,   &engine_network_options, &engine_cache_options,
    &engine_ignored_options};

const struct command cmd_debug_tactics = {
    .name = "tactics",
    .summary = "prove which tactics make a build fail",
    .description =
        "Takes the tactic replay of a build that passes and that of one that fails. First both are built again, to see "
        "the one "
        "pass and the other fail. Then the network is built with mixtures of them, and the difference is halved with "
        "each: with "
        "d layers whose tactics differ, about log2(d) builds find the one that turns the verdict. If it does not fail "
        "alone, "
        "those are found that it needs to.\n\n"
        "The result was seen, not inferred: the good build with these tactics fails, and without any one of them it "
        "passes. One more build "
        "says whether the bad one passes without them, or has another fault as well.\n\n"
        "Give the same options for precision, providers and plug-ins as to the builds that the replays are from. With "
        "--save-tactics, the file holds the mixture while the check runs; as an artifact it is kept for each "
        "iteration. "
        "With --json, the result also goes to a file. With --exit-code the exit status is 4 when nothing was found, "
        "because the good "
        "replay fails or the bad one passes.",
    .example =
        "# the replays come from debug build, see there\n"
        "polygraphy debug tactics model.onnx --good replays/good/replay_N0.json --bad replays/bad/replay_N3.json \\\n"
        "    --check polygraphy run polygraphy_debug.engine --trt --load-outputs golden.json",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .exact_names = true,
    .framed = true,
    .run = debug_tactics_run,
};
