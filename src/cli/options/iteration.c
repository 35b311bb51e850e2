/* cli/options/iteration.c: what the iterations of debug tools leave behind, and when they end. */
#include <string.h>

#include "backend/onnxrt/preload.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "cli/command.h"
#include "cli/options/groups.h"
#include "cli/terminal/progress_line.h"
#include "cli/terminal/prompt.h"
#include "debug/candidate/hash.h"
#include "engine/onednn/library.h"

/* ---- Artifacts ---- */

static int finish_expected_artifacts(struct parse *parse, struct error *err)
{
    const struct artifact_values *values = PARSE_VALUES(parse, struct artifact_values);

    (void)err;
    if (values->paths.count == 0)
        log_message(
            parse_log(parse), LOG_WARNING,
            "`--artifacts` was not specified; No artifacts will be stored: name the files to keep with --artifacts");
    return 0;
}

static const struct option artifact_rows[] = {
    {
        .names = {"--artifacts"},
        .kind = OPTION_MANY,
        .value_name = "PATH",
        .file = OPTION_MOVES,
        OPTION_FIELD(struct artifact_values, paths),
        .help = "files or folders to sort into good/ and bad/ after each check, with the iteration in their name",
    },
    {
        .names = {"--art-dir", "--artifacts-dir"},
        .kind = OPTION_ONE,
        .value_name = "FOLDER",
        .fallback = "polygraphy_artifacts",
        .file = OPTION_WRITES_FOLDER,
        OPTION_FIELD(struct artifact_values, folder),
        .help = "where good/ and bad/ are",
    },
};

#define ARTIFACT_GROUP(finisher)                                                                                       \
    {                                                                                                                  \
        .title = "Artifacts", .options = artifact_rows, .count = ARRAY_LEN(artifact_rows), .finish = (finisher),       \
    }

const struct option_group artifact_options = ARTIFACT_GROUP(NULL);
const struct option_group expected_artifact_options = ARTIFACT_GROUP(finish_expected_artifacts);

/* ---- The candidate on disk ---- */

/* clang-format off */
#define INTERMEDIATE_ROWS(path_unless_given, what)                                                                     \
    {                                                                                                                  \
        .names = {"--iter-artifact", "--intermediate-artifact"}, .kind = OPTION_ONE, .value_name = "PATH",             \
        .file = OPTION_SCRATCH, .fallback = path_unless_given, OPTION_FIELD(struct intermediate_values, path),   \
        .help = "where each iteration writes its " what ", for the check to use. As long as one session has its "      \
                "candidates there, no other one can",                                                                  \
    },                                                                                                                 \
    {                                                                                                                  \
        .names = {"--no-remove-intermediate"}, .kind = OPTION_FLAG,                                                    \
        OPTION_FIELD(struct intermediate_values, no_remove_intermediate),                                        \
        .help = "leave that file behind after each iteration",                                                         \
    },                                                                                                                 \
    {                                                                                                                  \
        .names = {"--copy-weights"}, .kind = OPTION_FLAG,                                                              \
        OPTION_FIELD(struct intermediate_values, copy_weights),                                                  \
        .help = "give ONNX candidates a copy of external data, once, where hard links would let the check write to "   \
                "the original's",                                                                                      \
    }
/* clang-format on */

static const struct option intermediate_onnx_rows[] = {INTERMEDIATE_ROWS("polygraphy_debug.onnx", "model")};
static const struct option intermediate_engine_rows[] = {INTERMEDIATE_ROWS("polygraphy_debug.engine", "engine")};

#define ITERATION_GROUP(rows, finisher)                                                                                \
    {                                                                                                                  \
        .title = "Iterations", .options = (rows), .count = ARRAY_LEN(rows), .finish = (finisher),                      \
    }

const struct option_group intermediate_onnx_options = ITERATION_GROUP(intermediate_onnx_rows, NULL);
const struct option_group intermediate_engine_options = ITERATION_GROUP(intermediate_engine_rows, NULL);

static const struct option iteration_rows[] = {
    {
        .names = {"--iter-info", "--iteration-info"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_SCRATCH,
        OPTION_FIELD(struct iteration_values, iteration_info),
        .help = "write the number of the iteration, counted from 0, to this file before each check: {\"iteration\": 0}",
    },
    {
        .names = {"--force"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct iteration_values, force),
        .help = "write over files that are where candidates, and what goes with them, are written, and which are "
                "removed in the end. Without it such a file is refused before anything is checked",
    },
};

const struct option_group iteration_options = ITERATION_GROUP(iteration_rows, NULL);

/* ---- Replays ---- */

static int finish_replay(struct parse *parse, struct error *err)
{
    struct replay_values *values = PARSE_VALUES(parse, struct replay_values);

    (void)parse, (void)err;
    if (values->save_replay[0] == '\0')
        values->save_replay = NULL;
    return 0;
}

static const struct option replay_rows[] = {
    {
        .names = {"--load-debug-replay"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_READS,
        OPTION_FIELD(struct replay_values, load_replay),
        .help = "go on where an earlier session stopped: take verdicts from this file instead of running the check. "
                "The result is checked once all the same",
    },
    {
        .names = {"--save-debug-replay"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .fallback = "polygraphy_debug_replay.json",
        .file = OPTION_WRITES,
        .shares = "--load-debug-replay",
        OPTION_FIELD(struct replay_values, save_replay),
        .help = "keep the verdicts in this file; '' keeps none",
    },
    {
        .names = {"--force-debug-replay"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct replay_values, force_replay),
        .help = "take the replay even if it belongs to another model or check",
    },
    {
        .names = {"--verdict-cache"},
        .kind = OPTION_ONE,
        .value_name = "FOLDER",
        .file = OPTION_WRITES_FOLDER,
        OPTION_FIELD(struct replay_values, verdict_cache),
        .help = "look verdicts up in this folder before the check is run, and keep them there, for other sessions of "
                "the same user (it is not used when others can write to it, or when it is a link). It "
                "knows a candidate by its content, and the check by its command line: when what that runs has "
                "changed, take another folder. The result is checked once all the same",
    },
};

const struct option_group replay_options = ITERATION_GROUP(replay_rows, finish_replay);

/* ---- The end ---- */

static int convert_until(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    const char *word = words.items[words.count - 1];
    struct until_value *ret = field;

    (void)parse;
    *ret = (struct until_value){.kind = UNTIL_COUNT};
    if (strcmp(word, "good") == 0)
        ret->kind = UNTIL_GOOD;
    else if (strcmp(word, "bad") == 0)
        ret->kind = UNTIL_BAD;
    else if (!number_parse_integer(text_of(word), &ret->count))
        return error_set(err, ERR_INVALID, "%s value must be an integer, 'good', or 'bad', but was: %s", spelling,
                         word);
    else if (ret->count < 1)
        ret->count = 1;
    return 0;
}

static const struct option until_rows[] = {
    {
        .names = {"--until"},
        .kind = OPTION_ONE,
        .value_name = "{good,bad,N}",
        .required = true,
        .convert = convert_until,
        OPTION_FIELD(struct until_values, until),
        .help = "stop after the first iteration that passes, the first one that fails, or after N iterations",
    },
};

const struct option_group until_options = ITERATION_GROUP(until_rows, NULL);

enum loop_end until_end(const struct until_value *until)
{
    return until->kind == UNTIL_GOOD ? ENDS_BY_PASS : until->kind == UNTIL_BAD ? ENDS_BY_FAILURE : ENDS_BY_ITSELF;
}

bool until_is_reached(const struct until_value *until, int64_t index, enum verdict verdict)
{
    switch (until->kind) {
    case UNTIL_GOOD:
        return verdict == VERDICT_PASS;
    case UNTIL_BAD:
        return verdict == VERDICT_FAIL;
    case UNTIL_COUNT:
        break;
    }
    return index + 1 >= until->count;
}

/* ---- All of it, for the loop ---- */

/* Where the failure that is looked for is known from the beginning, that of the original, the code that it ends with
 * tells it from others, unless the user has said what a failure is. */
static bool compares_failures(const struct command_context *context, const struct check_values *check)
{
    bool has_original = PARSE_VALUES(context->parse, struct until_values) == NULL;

    if (check->signature != SIGNATURE_AUTO)
        return check->signature != SIGNATURE_OFF;
    return has_original && check->fail_codes.count == 0 && check->fail_regex.count == 0;
}

static void use_check(const struct check_values *check, struct check_settings *ret)
{
    ret->command = check->command.items;
    ret->command_count = check->command.count;
    ret->shell = check->shell;
    ret->fail_codes = check->fail_codes.items;
    ret->fail_code_count = check->fail_codes.count;
    ret->ignored_codes = check->ignore_fail_codes.items;
    ret->ignored_code_count = check->ignore_fail_codes.count;
    ret->skip_codes = check->skip_codes.items;
    ret->skip_code_count = check->skip_codes.count;
    ret->on_timeout = check->on_timeout;
    ret->by_pattern = check->signature == SIGNATURE_REGEX;
    ret->compare_reasons = check->signature == SIGNATURE_AUTO;
    ret->flaky = check->flaky;
    ret->no_false_failures = check->no_false_failures;
    ret->fail_patterns = check->fail_regex.items;
    ret->fail_pattern_count = check->fail_regex.count;
    ret->show_output = check->show_output;
    ret->hide_fail_output = check->hide_fail_output;
    ret->timeout = check->timeout.seconds;
    ret->auto_timeout = check->timeout.is_auto;
    ret->launcher = check->launcher.items;
    ret->launcher_count = check->launcher.count;
}

/* A line at the bottom of the terminal, for those who want to see plain information, and are not asked anything
 * there. */
static void use_progress(const struct command_context *context, struct loop_settings *ret)
{
    const struct logging_values *logging = PARSE_VALUES(context->parse, struct logging_values);
    const struct until_values *until = PARSE_VALUES(context->parse, struct until_values);

    if (!context->progress || !logging || logging->settings.threshold > LOG_INFO || ret->check.command_count == 0)
        return;
    if (until && until->until.kind == UNTIL_COUNT && !ret->load_replay) /* otherwise some of them are not run again */
        context->progress->total = until->until.count;
    ret->progress = progress_line_show;
    ret->progress_data = context->progress;
}

/* What a session is about: the model and the data that it is fed. */
static void use_sources(const struct command_context *context, struct loop_settings *ret)
{
    const struct model_values *model = PARSE_VALUES(context->parse, struct model_values);
    const struct data_loader_values *data = PARSE_VALUES(context->parse, struct data_loader_values);

    if (model != NULL)
        ret->model = model->path;
    if (data != NULL) {
        ret->data = data->load_inputs.items;
        ret->data_count = data->load_inputs.count;
    }
}

/* Whether one of the words begins like that. */
static bool has_word(const char *const *words, const char *word)
{
    for (; *words != NULL; words++)
        if (strncmp(*words, word, strlen(word)) == 0)
            return true;
    return false;
}

/* In the fork server of a check that runs this program: what its runners use is loaded once for all of them, unless it
 * names an ONNX Runtime of its own. What cannot be loaded is left to the check to complain about. */
static void preload_libraries(void *words)
{
    const struct onednn *onednn;

    if (has_word(words, "--onnxruntime-lib"))
        return;
    if (has_word(words, "--onnxrt") || has_word(words, "--trt"))
        onnxrt_preload(NULL);
    if (has_word(words, "--trt"))
        onednn_load(&onednn, NULL);
}

struct loop_settings debug_loop_settings(const struct command_context *context)
{
    const struct parse *parse = context->parse;
    const struct check_values *check = PARSE_VALUES(parse, struct check_values);
    const struct artifact_values *artifacts = PARSE_VALUES(parse, struct artifact_values);
    const struct intermediate_values *intermediate = PARSE_VALUES(parse, struct intermediate_values);
    const struct iteration_values *iteration = PARSE_VALUES(parse, struct iteration_values);
    const struct replay_values *replay = PARSE_VALUES(parse, struct replay_values);
    struct loop_settings ret = {.check = {.self = context->program,
                                          .self_main = context->main,
                                          .self_prepare = preload_libraries,
                                          .ask = prompt_ask}};

    if (check) {
        use_check(check, &ret.check);
        ret.check.compare_failures = compares_failures(context, check);
        ret.work_folder = check->work_folder;
    }
    if (artifacts) {
        ret.artifacts.paths = artifacts->paths.items;
        ret.artifacts.count = artifacts->paths.count;
        ret.artifacts.folder = artifacts->folder;
    }
    if (intermediate) {
        ret.check.files.items[CANDIDATE_ARTIFACT] = intermediate->path;
        ret.keep_intermediate = intermediate->no_remove_intermediate;
    }
    if (iteration) {
        ret.check.files.items[CANDIDATE_INFORMATION] = iteration->iteration_info;
        ret.force = iteration->force;
    }
    if (replay) {
        ret.load_replay = replay->load_replay;
        ret.save_replay = replay->save_replay;
        ret.force_replay = replay->force_replay;
        ret.verdict_cache = replay->verdict_cache;
        ret.hash_content = candidate_content_hash;
    }
    use_sources(context, &ret);
    use_progress(context, &ret);
    return ret;
}
