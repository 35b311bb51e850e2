/* cli/inspect/diff_tactics.c: the tactics that bad builds have in common. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/text/shell_line.h"
#include "cli/commands.h"
#include "cli/inspect/diff_tactics_json.h"
#include "cli/options/groups.h"
#include "debug/tactics/pair.h"
#include "report/report.h"

struct diff_tactics_settings {
    struct common_settings common;
    struct json_values json;
    struct report_values report;

    /* its own */
    const char *dir;
    const char *good, *bad; /* NULL: in `dir` */
};

#define ROW(member, ...) OPTION_ROW(struct diff_tactics_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(dir, .names = {"--dir"}, .kind = OPTION_ONE, .value_name = "FOLDER", .fallback = "",
        .help = "parent folder of the folders `good` and `bad` with replays (default: the current folder)"),
    ROW(good, .names = {"--good"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_READS, .extensions = "json",
        .help = "replays of good builds: a folder, searched recursively, or a single file"),
    ROW(bad, .names = {"--bad"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_READS, .extensions = "json",
        .help = "the same for bad builds"),
};

static const struct option_group diff_tactics_options = {
    .title = "Tactics",
    OPTION_ROWS(options),
};

/* Loads the replays at `path`, or those of `kind`, "good" or "bad", in the folder `dir` when `path` is NULL. */
static int load_builds(struct tactic_builds *builds, const char *kind, const char *path, const char *dir,
                       struct log *log, struct error *err)
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

#define LISTED 10 /* maximum number of layers or tactics in one list without -v */

/* Appends the algorithms of a layer that only bad builds have, as a list in Python's syntax. Returns their number. */
static size_t list_only_in_bad(const struct tactic_diff *diff, const struct tactic_layer *layer,
                               struct string_builder *ret)
{
    SCOPED_STRING(algorithm);
    size_t count = 0;

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
    return count;
}

/* Polygraphy's output: all tactics that no good build has. */
static void show_only_in_bad(const struct tactic_diff *diff, struct log *log)
{
    SCOPED_STRING(algorithms);
    size_t found = 0;

    for (size_t i = 0; i < diff->layers.count; i++) {
        string_clear(&algorithms);
        if (list_only_in_bad(diff, &diff->layers.items[i], &algorithms) == 0)
            continue;
        if (found == 0)
            log_message(log, LOG_INFO, "Found potentially bad tactics:");
        log_message(log, found++ < LISTED ? LOG_INFO : LOG_VERBOSE, "Layer: %s\n    Algorithms: %s",
                    diff->layers.items[i].name, algorithms.data);
    }
    if (found > LISTED && !log_shows(log, LOG_VERBOSE))
        log_message(log, LOG_INFO, "And %zu more layer(s); -v shows them.", found - LISTED);
    if (found == 0)
        log_message(log, LOG_INFO,
                    "Could not determine potentially bad tactics. Try generating more tactic replay files?");
}

/* ---- The ranking ---- */

#define LEADING_SUSPECTS 5       /* maximum number of suspects that are shown without -v */
#define LEADING_PROBABILITY 0.01 /* minimum probability of those, except the first */

/* "43 %"; "0.3 %" and "99.7 %" near the ends, and never beyond. */
static const char *format_percent(double probability, char ret[16])
{
    if (probability < 0.0005)
        return "under 0.1 %";
    if (probability > 0.9995)
        return "over 99.9 %";
    snprintf(ret, 16, "%.*f %%", probability < 0.095 || probability > 0.905 ? 1 : 0, 100 * probability);
    return ret;
}

/* A difference in whole percent; 0 without a minus sign. */
static double whole_percent(double difference)
{
    return round(100 * difference) + 0.0;
}

static void add_tactic(struct string_builder *text, const struct tactic_diff *diff, const struct seen_tactic *tactic)
{
    string_add_format(text, "\n   Layer: %s\n       Algorithm: ", diff->layers.items[tactic->layer].name);
    tactic_algorithm_text(tactic->algorithm, text);
    if (tactic->algorithm->name)
        string_add_format(text, "\n       Name: %s", tactic->algorithm->name);
}

/* A kernel, with the layers that use it. */
static void add_pool(struct string_builder *text, const struct tactic_diff *diff, const struct tactic_pool *pool,
                     bool all)
{
    static const char *const scopes[] = {
        [POOL_IMPLEMENTATION] = "", [POOL_TACTIC] = " as one tactic", [POOL_TENSORS] = " with the same tensors"};
    size_t count = pool->layers.count, listed = all || count <= LISTED ? count : LISTED;

    string_add(text, "\n   Kernel: ");
    tactic_pool_name(diff, pool, text);
    string_add_format(text, ", in %zu layer%s%s:", count, count == 1 ? "" : "s", scopes[pool->scope]);
    for (size_t i = 0; i < listed; i++)
        string_add_format(text, "\n       %s", diff->layers.items[pool->layers.items[i]].name);
    if (listed < count)
        string_add_format(text, "\n       and %zu more; -v shows them.", count - listed);
}

/* "2 tactics"; "1 kernel and 2 tactics". */
static void add_count(struct string_builder *text, size_t tactics, size_t pools)
{
    if (pools > 0)
        string_add_format(text, "%zu kernel%s", pools, pools == 1 ? "" : "s");
    if (pools > 0 && tactics > 0)
        string_add(text, " and ");
    if (tactics > 0)
        string_add_format(text, "%zu tactic%s", tactics, tactics == 1 ? "" : "s");
}

/* Kernels first, which follow the tactics in the table; with -v also their tactics. */
static void add_columns(struct string_builder *text, const struct tactic_diff *diff,
                        const struct blame_suspect *suspect, bool all)
{
    size_t count = suspect->column_count, tactics = 0;
    size_t listed = all || count <= LISTED ? count : LISTED;

    while (tactics < count && tactic_diff_pool(diff, suspect->columns[tactics]) == NULL)
        tactics++;
    if (!all && tactics < count && count - tactics < listed)
        listed = count - tactics;
    if (count > 1) {
        string_add(text, "\n   ");
        add_count(text, tactics, count - tactics);
        string_add(text, " that always occurred together and cannot be distinguished:");
    }
    for (size_t i = 0; i < listed; i++) {
        size_t column = suspect->columns[(tactics + i) % count];
        const struct tactic_pool *pool = tactic_diff_pool(diff, column);

        if (pool)
            add_pool(text, diff, pool, all);
        else
            add_tactic(text, diff, &diff->tactics.items[column]);
    }
    if (listed < count)
        string_add_format(text, "\n   %zu more; -v shows them.", count - listed);
}

static void log_suspect(const struct tactic_diff *diff, size_t rank, enum log_level level, struct log *log)
{
    const struct blame_suspect *suspect = &diff->blame.items[rank];
    const struct association *builds = &suspect->association;
    SCOPED_STRING(text);
    char buffer[16];

    string_add_format(&text, "%zu. Probability: %s | Bad: %zu of %zu builds with it, %zu of %zu without", rank + 1,
                      format_percent(suspect->probability, buffer), builds->failed_with,
                      builds->failed_with + builds->passed_with, builds->failed_without,
                      builds->failed_without + builds->passed_without);
    add_columns(&text, diff, suspect, log_shows(log, LOG_VERBOSE));
    string_add_format(&text, "\n   Difference of failure rates: %+.0f %% (95 %% interval: %+.0f to %+.0f %%)",
                      whole_percent(suspect->difference.value), whole_percent(suspect->difference.low),
                      whole_percent(suspect->difference.high));
    string_add_format(&text, "\n   Ochiai: %.2f | Fisher: p = %.2g, with Holm's correction p = %.2g", suspect->ochiai,
                      suspect->fisher, suspect->holm);
    log_text(log, level, (struct text){text.data, text.size});
}

static void log_suspects(const struct tactic_diff *diff, struct log *log)
{
    const struct blame *blame = &diff->blame;
    size_t shown = 0;
    char buffer[16];

    for (size_t i = 0; i < blame->count; i++) {
        bool leading = i < LEADING_SUSPECTS && (i == 0 || blame->items[i].probability >= LEADING_PROBABILITY);

        log_suspect(diff, i, leading ? LOG_INFO : LOG_VERBOSE, log);
        shown += leading;
    }
    if (shown < blame->count && !log_shows(log, LOG_VERBOSE))
        log_message(log, LOG_INFO, "%zu more, the likeliest at %s; -v shows them.", blame->count - shown,
                    format_percent(blame->items[shown].probability, buffer));
}

static void log_more_builds(const struct blame *blame, struct log *log)
{
    if (blame->more_builds > 0)
        log_message(log, LOG_INFO, "If 1. is the culprit, about %ld more build(s) should confirm it.",
                    blame->more_builds);
    else if (blame->more_builds == 0)
        log_message(log, LOG_INFO, "More builds cannot improve this ranking.");
    else
        log_message(log, LOG_INFO, "There are too few builds to estimate how many more would confirm it.");
}

/* The command that proves the first suspect. Replays contain neither the model nor the check of the builds. */
static void log_next(const struct tactic_diff *diff, struct log *log)
{
    static const struct shell_quotes none;
    struct tactic_pair pair;
    SCOPED_STRING(text);

    if (tactic_pair_choose_for(diff, diff->blame.items[0].columns[0], &pair, NULL) < 0)
        return; /* builds in different precisions prove nothing */
    string_add(&text, "polygraphy debug tactics MODEL --good ");
    shell_add_word(&text, pair.good->path, &none);
    string_add(&text, " --bad ");
    shell_add_word(&text, pair.bad->path, &none);
    log_message(log, LOG_INFO, "Proof, with the model and the check of these builds:\n    %s --check ...", text.data);
}

static void tactic_ranking_log(const struct tactic_diff *diff, struct log *log)
{
    const struct blame *blame = &diff->blame;
    char buffer[16];

    log_message(log, LOG_INFO, "Ranked by evidence: %zu bad and %zu good build(s), %zu tactic(s) that vary",
                diff->bad.count, diff->good.count, blame->varying_count);
    log_indent(log, 1);
    if (blame->fixed_layer_count > 0)
        log_message(log, LOG_INFO, "%zu of %zu layer(s) have the same tactic in all builds and cannot be ranked.",
                    blame->fixed_layer_count, blame->layer_count);
    if (blame->count == 0) {
        log_message(log, LOG_INFO, "No tactic occurred more often in bad builds than in good ones.");
    } else {
        log_suspects(diff, log);
        log_message(log, LOG_INFO, "Probability that no tactic is to blame: %s",
                    format_percent(blame->no_culprit, buffer));
        log_more_builds(blame, log);
        log_next(diff, log);
    }
    log_indent(log, -1);
}

/* The name of a suspect: its first kernel, or its first tactic if it has no kernel. */
static size_t leading_column(const struct tactic_diff *diff, const struct blame_suspect *suspect)
{
    for (size_t i = 0; i < suspect->column_count; i++)
        if (tactic_diff_pool(diff, suspect->columns[i]) != NULL)
            return suspect->columns[i];
    return suspect->columns[0];
}

/* The ranking as an HTML page. */
static int write_page(const struct tactic_diff *diff, const struct command_context *context,
                      const struct diff_tactics_settings *settings, struct error *err)
{
    struct report *report = report_begin(context, &settings->report, "inspect diff-tactics", NULL);
    const struct blame *blame = &diff->blame;
    SCOPED_STRING(name);
    SCOPED_STRING(layers);
    char buffer[16];

    if (report == NULL)
        return 0;
    for (size_t i = 0; i < blame->count; i++) {
        const struct blame_suspect *suspect = &blame->items[i];
        const struct association *builds = &suspect->association;
        size_t column = leading_column(diff, suspect);
        const struct tactic_pool *pool = tactic_diff_pool(diff, column);

        string_clear(&layers);
        string_clear(&name);
        if (pool != NULL) {
            tactic_pool_name(diff, pool, &name);
            for (size_t k = 0; k < pool->layers.count; k++)
                string_add_format(&layers, "%s%s", k > 0 ? ", " : "", diff->layers.items[pool->layers.items[k]].name);
        } else {
            const struct seen_tactic *tactic = &diff->tactics.items[column];

            string_add(&layers, diff->layers.items[tactic->layer].name);
            tactic_algorithm_kernel_text(tactic->algorithm, &name);
        }
        if (suspect->column_count > 1)
            string_add_format(&name, " (and %zu more that always occurred together with it)",
                              suspect->column_count - 1);
        report_add_evidence(report, &(struct report_evidence){.layer = layers.data,
                                                              .tactic = name.data,
                                                              .failed_with = builds->failed_with,
                                                              .passed_with = builds->passed_with,
                                                              .failed_without = builds->failed_without,
                                                              .passed_without = builds->passed_without,
                                                              .probability = suspect->probability});
        if (i == 0 && pool != NULL)
            report_set_verdict(report, REPORT_UNKNOWN, "With %s: %s in %zu layers; correlation, not proof",
                               format_percent(suspect->probability, buffer), name.data, pool->layers.count);
        else if (i == 0)
            report_set_verdict(report, REPORT_UNKNOWN, "With %s: %s in %s; correlation, not proof",
                               format_percent(suspect->probability, buffer), name.data, layers.data);
    }
    if (blame->count == 0)
        report_set_verdict(report, REPORT_UNKNOWN, "No tactic occurred more often in bad builds than in good ones");
    report_add_proof(report, "%zu bad and %zu good builds, %zu tactics that vary", diff->bad.count, diff->good.count,
                     blame->varying_count);
    return report_finish(context, &settings->report, report, err);
}

static int compare_builds(struct tactic_diff *diff, const struct command_context *context,
                          const struct diff_tactics_settings *values, struct error *err)
{
    const struct json_values *json = &values->json;
    struct log *log = context->log;
    int rc = load_builds(&diff->good, "good", values->good, values->dir, log, err);

    if (rc == 0)
        rc = load_builds(&diff->bad, "bad", values->bad, values->dir, log, err);
    if (rc < 0)
        return rc;
    if (diff->good.count + diff->bad.count == 0)
        log_message(log, LOG_WARNING,
                    "No tactic replay was found: --dir must name the parent of the folders `good` and `bad`");
    tactic_diff_compare(diff);
    if (tactic_diff_is_ranked(diff))
        tactic_ranking_log(diff, log);
    show_only_in_bad(diff, log);
    rc = write_page(diff, context, values, err);
    if (rc < 0)
        return rc;
    return json->path ? tactic_diff_save(diff, json->path, err) : 0;
}

static int diff_tactics_run(const struct command_context *context, const struct diff_tactics_settings *settings,
                            struct error *err)
{
    struct tactic_diff diff SCOPED(tactic_diff_release) = {0};

    tactic_diff_init(&diff);
    return compare_builds(&diff, context, settings, err);
}

DEFINE_COMMAND_RUN(diff_tactics_run, struct diff_tactics_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct diff_tactics_settings, common.logging, logging_options),
    {&diff_tactics_options, 0},
    COMMAND_GROUP(struct diff_tactics_settings, json, json_options),
    COMMAND_GROUP(struct diff_tactics_settings, report, report_options),
};

const struct command cmd_inspect_diff_tactics = {
    .name = "diff-tactics",
    .summary = "rank the tactics that may cause failing builds",
    .description =
        "Compares the tactic replays of good and bad builds that `debug build` or `debug repeat` have sorted. Tactics "
        "are ranked by the posterior probability that the tactic, or a kernel in all layers that use it, causes the "
        "failures, with the probability that none does; docs/diff-tactics.md describes the statistical model. A high "
        "probability is not a proof: the line below the ranking is a command that tests it.\n\nPolygraphy's result "
        "follows: tactics of bad builds that no good build has. It is exact if every verdict is right, and misses a "
        "tactic that fails only sometimes.\n\n--json writes the paths of the replays (\"good\", \"bad\"), the tactics "
        "of only bad builds (\"only_in_bad\") and the \"ranking\" with all suspects.",
    .example = "# builds whose outputs are sometimes wrong\npolygraphy debug repeat --until 20 --artifacts replay.json "
               "--art-dir replays --check ./build_and_test.sh\npolygraphy inspect diff-tactics --dir replays",
    COMMAND_GROUPS(groups),
    COMMAND_RUN(diff_tactics_run),
};
