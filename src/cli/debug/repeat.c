/* cli/debug/repeat.c: run a command repeatedly, and sort its artifacts into good and bad. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/options/groups.h"

struct debug_repeat_settings {
    struct debug_values debug;
};

/* Without a model, every iteration is new. */
static int identify_iteration(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    (void)data, (void)search, (void)ret, (void)err;
    return 0;
}

static int debug_repeat_run(const struct command_context *context, const struct debug_repeat_settings *options,
                            struct error *err)
{
    struct session_settings settings = debug_session_settings(context, &options->debug, NULL);
    struct repetition until = options->debug.until;
    struct session_subject subject = {
        .ops = &repetition_ops, .search = &until, .end = until.end, .identify = identify_iteration};
    struct debug_outputs outputs SCOPED(debug_outputs_close) = {0};
    struct debug_session *session SCOPED(session_free_pointed) = NULL;
    int rc = debug_outputs_open(&outputs, context, &options->debug, "debug repeat", err);

    if (rc < 0)
        return rc;
    outputs.counts = true;
    outputs.has_polygraphy_log = true;
    debug_outputs_watch(&outputs, "iterations", &settings);
    rc = session_new(&settings, NULL, context->log, &session, err);
    if (rc < 0)
        return rc;
    rc = session_search(session, &subject, err);
    debug_outputs_count_failures(&outputs, "iterations", session);
    return debug_outputs_finish(&outputs, session, rc, true, err);
}

DEFINE_COMMAND_RUN(debug_repeat_run, struct debug_repeat_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct debug_repeat_settings, debug.common.logging, logging_options),
    COMMAND_GROUP(struct debug_repeat_settings, debug, check_options),
    COMMAND_GROUP(struct debug_repeat_settings, debug, expected_artifact_options),
    COMMAND_GROUP(struct debug_repeat_settings, debug, iteration_options),
    COMMAND_GROUP(struct debug_repeat_settings, debug, until_options),
    COMMAND_GROUP(struct debug_repeat_settings, debug, replay_options),
    DEBUG_RESULT_GROUPS(struct debug_repeat_settings),
};

const struct command cmd_debug_repeat = {
    .name = "repeat",
    .summary = "run a command repeatedly and sort its artifacts into good and bad",
    .description = "Runs the check repeatedly, moves the files that it writes into the folders `good` and `bad` by its "
                   "verdict, and counts. Use it for intermittent failures: keep what differs between good and bad "
                   "iterations (tactic replays, logs, outputs) as artifacts and compare.\n\n"
                   "The verdicts are saved after every iteration. Resume a session that was interrupted or killed with "
                   "--load-debug-replay.\n\n"
                   "In the check's environment, POLYGRAPHY_ITERATION is the number of the iteration, counting from 0. "
                   "With --exit-code the exit status is 4 when at least one iteration failed, 0 when all passed.",
    .example = "# until a test fails for the first time, and what it wrote in good and bad iterations\n"
               "polygraphy debug repeat --until bad --artifacts log.txt --check \"./test.sh > log.txt\"\n"
               "# how often does it fail, or hang?\n"
               "polygraphy debug repeat --until 100 --check-timeout 60 --check ./test.sh",
    COMMAND_GROUPS(groups),
    .essential = "--check --until --artifacts --art-dir --fail-regex --fail-code --ignore-fail-code --check-timeout "
                 "--on-timeout --flaky --show-output --json --report -v",
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_repeat_run),
};
