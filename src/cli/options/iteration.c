/* cli/options/iteration.c: the files that iterations of debug tools keep, and when to stop. */
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "cli/options/groups.h"
#include "debug/candidate/hash.h"

/* ---- Parallel checks ---- */

#define MOST_JOBS 64 /* speculation beyond this rarely predicts the candidates that a search needs */

int jobs_check(const struct parse *parse, const struct session_settings *session, bool engines, struct error *err)
{
    static const char *const one_file[] = {"--save-tactics", "--save-timing-cache", "--save-layer-info"};
    int64_t jobs = session->jobs;

    if (jobs < 1 || jobs > MOST_JOBS)
        return error_set(err, ERR_INVALID, "--jobs: expected 1 to %d", MOST_JOBS);
    if (jobs == 1 || !engines)
        return 0;
    if (!parse_given(parse, "--deterministic") && !parse_given(parse, "--error-on-timing-cache-miss"))
        return error_set(
            err, ERR_UNSUPPORTED,
            "--jobs: parallel checks would distort the tactic timings of engine builds; add --deterministic, or "
            "--load-timing-cache with --error-on-timing-cache-miss, to build without timing");
    for (size_t i = 0; i < ARRAY_LEN(one_file); i++)
        if (parse_given(parse, one_file[i]))
            return error_set(err, ERR_UNSUPPORTED,
                             "%s: with --jobs, speculatively built engines would overwrite that file; leave out one of "
                             "the two options",
                             one_file[i]);
    return 0;
}

/* ---- Artifacts ---- */

static int finish_expected_artifacts(struct parse *parse, void *given, struct error *err)
{
    const struct debug_values *values = given;

    (void)err;
    if (values->session.artifacts.paths.count == 0)
        log_message(
            parse_log(parse), LOG_WARNING,
            "`--artifacts` was not specified; No artifacts will be stored: name the files to keep with --artifacts");
    return 0;
}

#define ROW(member, ...) OPTION_ROW(struct debug_values, member, __VA_ARGS__)

static const struct option artifact_rows[] = {
    ROW(session.artifacts.paths, .names = {"--artifacts"}, .kind = OPTION_MANY, .value_name = "PATH",
        .file = OPTION_MOVES,
        .help = "files or folders that are moved to good/ or bad/ after each check, with the iteration in their name"),
    ROW(session.artifacts.folder, .names = {"--art-dir", "--artifacts-dir"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .fallback = "polygraphy_artifacts", .file = OPTION_WRITES_FOLDER, .help = "parent folder of good/ and bad/"),
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
        .file = OPTION_SCRATCH, .fallback = path_unless_given,                                                         \
        OPTION_FIELD(struct debug_values, session.check.files.items[CANDIDATE_ARTIFACT]),                              \
        .help = "file to which each iteration writes its " what " for the check. While one session has its "           \
                "candidates there, it is locked for others",                                                           \
    },                                                                                                                 \
    {                                                                                                                  \
        .names = {"--no-remove-intermediate"}, .kind = OPTION_FLAG,                                                    \
        OPTION_FIELD(struct debug_values, session.keep_intermediate),                                                  \
        .help = "keep that file after each iteration",                                                                 \
    },                                                                                                                 \
    {                                                                                                                  \
        .names = {"--copy-weights"}, .kind = OPTION_FLAG,                                                              \
        OPTION_FIELD(struct debug_values, copy_weights),                                                               \
        .help = "copy external data for ONNX candidates, once, instead of hard links through which the check could "   \
                "modify the original",                                                                                 \
    }
/* clang-format on */

static const struct option intermediate_onnx_rows[] = {INTERMEDIATE_ROWS("polygraphy_debug.onnx", "model")};
static const struct option intermediate_engine_rows[] = {INTERMEDIATE_ROWS("polygraphy_debug.engine", "engine")};
static const struct option intermediate_library_rows[] = {INTERMEDIATE_ROWS("polygraphy_debug.so", "library")};
static const struct option intermediate_list_rows[] = {INTERMEDIATE_ROWS("polygraphy_debug.disabled", "list")};

#define ITERATION_GROUP(rows, finisher)                                                                                \
    {                                                                                                                  \
        .title = "Iterations", .options = (rows), .count = ARRAY_LEN(rows), .finish = (finisher),                      \
    }

const struct option_group intermediate_onnx_options = ITERATION_GROUP(intermediate_onnx_rows, NULL);
const struct option_group intermediate_engine_options = ITERATION_GROUP(intermediate_engine_rows, NULL);
const struct option_group intermediate_library_options = ITERATION_GROUP(intermediate_library_rows, NULL);
const struct option_group intermediate_list_options = ITERATION_GROUP(intermediate_list_rows, NULL);

static const struct option iteration_rows[] = {
    ROW(session.check.files.items[CANDIDATE_INFORMATION], .names = {"--iter-info", "--iteration-info"},
        .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_SCRATCH,
        .help = "write the iteration's number, counted from 0, to this file before each check: {\"iteration\": 0}"),
    ROW(session.force, .names = {"--force"}, .kind = OPTION_FLAG,
        .help = "overwrite existing files at the paths of candidates and iteration files, which are removed at the "
                "end. By default such a file is an error before the first check"),
};

const struct option_group iteration_options = ITERATION_GROUP(iteration_rows, NULL);

/* ---- Replays ---- */

static int finish_replay(struct parse *parse, void *given, struct error *err)
{
    struct debug_values *values = given;
    struct session_settings *session = &values->session;

    (void)parse, (void)err;
    if (session->save_replay[0] == '\0')
        session->save_replay = NULL;
    session->hash_content = candidate_content_hash;
    return 0;
}

static const struct option replay_rows[] = {
    ROW(session.load_replay, .names = {"--load-debug-replay"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_READS, .extensions = "json",
        .help = "resume an earlier session: reuse the verdicts in this file instead of running the check. The result "
                "is still checked once"),
    ROW(session.save_replay, .names = {"--save-debug-replay"}, .kind = OPTION_ONE, .value_name = "PATH",
        .fallback = "polygraphy_debug_replay.json", .file = OPTION_WRITES, .shares = "--load-debug-replay",
        .extensions = "json", .help = "save the verdicts to this file; '' saves none"),
    ROW(session.force_replay, .names = {"--force-debug-replay"}, .kind = OPTION_FLAG,
        .help = "accept a replay of another model or check"),
    ROW(session.verdict_cache, .names = {"--verdict-cache"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .file = OPTION_WRITES_FOLDER,
        .help =
            "cache verdicts in this folder, for other sessions of the same user (it is not used if others can write to "
            "it, or if it is a link). Candidates are identified by their content, checks by their command line: use "
            "another folder if the program that the check runs has changed. The result is still checked once"),
};

const struct option_group replay_options = ITERATION_GROUP(replay_rows, finish_replay);

/* ---- The end ---- */

static int convert_until(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    const char *word = words.items[words.count - 1];
    struct repetition *ret = field;

    (void)parse;
    *ret = (struct repetition){.end = ENDS_BY_ITSELF};
    if (strcmp(word, "good") == 0)
        ret->end = ENDS_BY_PASS;
    else if (strcmp(word, "bad") == 0)
        ret->end = ENDS_BY_FAILURE;
    else if (!number_parse_integer(text_of(word), &ret->count))
        return error_set(err, ERR_INVALID, "%s value must be an integer, 'good', or 'bad', but was: %s", spelling,
                         word);
    else if (ret->count < 1)
        ret->count = 1;
    return 0;
}

static const struct option until_rows[] = {
    ROW(until, .names = {"--until"}, .kind = OPTION_ONE, .value_name = "{good,bad,N}", .required = true,
        .convert = convert_until, .hints = (const char *const[]){"good", "bad", NULL},
        .help = "when to stop: after the first iteration that passes (good), that fails (bad), or after N iterations"),
};

/* These tools check no original model whose failure could be recognised. */
static int finish_until(struct parse *parse, void *given, struct error *err)
{
    struct debug_values *values = given;

    (void)parse, (void)err;
    if (values->signature == SIGNATURE_AUTO)
        values->session.check.rules.compare_failures = false;
    return 0;
}

const struct option_group until_options = ITERATION_GROUP(until_rows, finish_until);
