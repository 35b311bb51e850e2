/* cli/inspect/diff_tactics.c: which tactics bad builds have in common. */
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/inspect/diff_tactics_json.h"
#include "cli/inspect/tactic_ranking.h"
#include "cli/options/groups.h"

struct diff_tactics_values {
    const char *dir;
    const char *good, *bad; /* NULL: in `dir` */
};

static const struct option options[] = {
    {
        .names = {"--dir"},
        .kind = OPTION_ONE,
        .value_name = "FOLDER",
        .fallback = "",
        OPTION_FIELD(struct diff_tactics_values, dir),
        .help = "where the folders `good` and `bad` with the replays are; the current folder if not given",
    },
    {
        .names = {"--good"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_READS,
        OPTION_FIELD(struct diff_tactics_values, good),
        .help = "replays of good builds: a folder, with all folders in it, or a single file",
    },
    {
        .names = {"--bad"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_READS,
        OPTION_FIELD(struct diff_tactics_values, bad),
        .help = "the same for bad builds",
    },
};

static const struct option_group diff_tactics_options = {
    .title = "Tactics",
    .options = options,
    .count = ARRAY_LEN(options),
};

/* Loads the replays at `path`, or those of `kind`, "good" or "bad", in the folder `dir` when `path` is NULL. */
static int load(struct tactic_builds *builds, const char *kind, const char *path, const char *dir, struct log *log,
                struct error *err)
{
    char *folder = file_join(dir, kind);
    int rc;

    if (path && !file_exists(path))
        log_message(log, LOG_WARNING, "--%s: '%s' does not exist", kind, path);
    rc = tactic_builds_load(builds, path ? path : folder, log, err);
    if (rc == 0)
        log_message(log, LOG_INFO, "Loaded %zu %s tactic replays.", builds->count, kind);
    free(folder);
    return rc;
}

/* The algorithms of a layer that only bad builds have, as a list in Python's syntax. Returns how many there are. */
static size_t list_only_in_bad(const struct tactic_diff *diff, const struct tactic_layer *layer,
                               struct string_builder *ret)
{
    struct string_builder algorithm;
    size_t count = 0;

    string_init(&algorithm);
    string_add(ret, "[");
    for (size_t i = 0; i < layer->tactics.count; i++) {
        size_t tactic = layer->tactics.items[i];

        if (!tactic_diff_only_in_bad(diff, tactic))
            continue;
        string_clear(&algorithm);
        tactic_algorithm_text(diff->tactics.items[tactic].algorithm, &algorithm);
        string_add(ret, count > 0 ? ", " : "");
        string_add_quoted(ret, algorithm.data);
        count++;
    }
    string_add(ret, "]");
    string_release(&algorithm);
    return count;
}

/* What Polygraphy shows: all that no good build has. */
static void show_only_in_bad(const struct tactic_diff *diff, struct log *log)
{
    struct string_builder algorithms;
    bool found = false;

    string_init(&algorithms);
    for (size_t i = 0; i < diff->layers.count; i++) {
        string_clear(&algorithms);
        if (list_only_in_bad(diff, &diff->layers.items[i], &algorithms) == 0)
            continue;
        if (!found)
            log_message(log, LOG_INFO, "Found potentially bad tactics:");
        found = true;
        log_message(log, LOG_INFO, "Layer: %s\n    Algorithms: %s", diff->layers.items[i].name, algorithms.data);
    }
    if (!found)
        log_message(log, LOG_INFO,
                    "Could not determine potentially bad tactics. Try generating more tactic replay files?");
    string_release(&algorithms);
}

static int compare(struct tactic_diff *diff, const struct command_context *context, struct error *err)
{
    const struct diff_tactics_values *values = PARSE_VALUES(context->parse, struct diff_tactics_values);
    const struct json_values *json = PARSE_VALUES(context->parse, struct json_values);
    struct log *log = context->log;
    int rc = load(&diff->good, "good", values->good, values->dir, log, err);

    if (rc == 0)
        rc = load(&diff->bad, "bad", values->bad, values->dir, log, err);
    if (rc < 0)
        return rc;
    if (diff->good.count + diff->bad.count == 0)
        log_message(
            log, LOG_WARNING,
            "No tactic replay was found at all: --dir names the folder that holds the folders `good` and `bad`");
    tactic_diff_compare(diff);
    show_only_in_bad(diff, log);
    if (tactic_diff_is_ranked(diff))
        tactic_ranking_log(diff, log);
    return json->path ? tactic_diff_save(diff, json->path, err) : 0;
}

static int diff_tactics_run(const struct command_context *context, struct error *err)
{
    struct tactic_diff diff;
    int rc;

    tactic_diff_init(&diff);
    rc = compare(&diff, context, err);
    tactic_diff_release(&diff);
    return rc;
}

static const struct option_group *const groups[] = {&logging_options, &diff_tactics_options, &json_options};

const struct command cmd_inspect_diff_tactics = {
    .name = "diff-tactics",
    .summary = "find out which tactic makes builds fail",
    .description = "Compares the tactic replays of good and bad builds, as `debug build` or `debug repeat` have sorted "
                   "them, first in Polygraphy's way: what do bad builds have that no good build has? That is exact as "
                   "long as every verdict is, and misses the culprit when it fails only now and then.\n\n"
                   "Then the tactics are ranked by evidence: how probable is it, after these builds, that a tactic is "
                   "to blame, and how probable that none is? The model behind it is in docs/diff-tactics.md. Tactics "
                   "are not chosen by lot, so that a high probability is no proof: for that, make a build with the "
                   "tactic forced.\n\n"
                   "With --json, the file gets the paths of the replays (\"good\", \"bad\"), what only bad builds "
                   "have (\"only_in_bad\") and the \"ranking\", with all suspects.",
    .example =
        "# builds whose outputs are wrong now and then\n"
        "polygraphy debug repeat --until 20 --artifacts replay.json --art-dir replays --check ./build_and_test.sh\n"
        "polygraphy inspect diff-tactics --dir replays",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .run = diff_tactics_run,
};
