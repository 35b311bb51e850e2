/* cli/inspect/tactic_ranking.c: suspects as text. */
#include "cli/inspect/tactic_ranking.h"

#include <math.h>
#include <stdio.h>

#define LEADING_SUSPECTS 5       /* at the most so many are shown without being asked for */
#define LEADING_PROBABILITY 0.01 /* and only with at least this probability, but for the first */
#define LEADING_TACTICS 10       /* of one suspect, at the most */

/* "43 %"; "0.3 %" and "99.7 %" near the ends, and never more certain than that. */
static const char *percent(double probability, char ret[16])
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

static void log_suspect(const struct tactic_diff *diff, size_t rank, enum log_level level, struct log *log)
{
    const struct blame_suspect *suspect = &diff->blame.items[rank];
    const struct association *builds = &suspect->association;
    bool all = suspect->column_count <= LEADING_TACTICS || log_shows(log, LOG_VERBOSE);
    size_t listed = all ? suspect->column_count : LEADING_TACTICS;
    struct string_builder text;
    char buffer[16];

    string_init(&text);
    string_add_format(&text, "%zu. Probability: %s | Bad: %zu of %zu builds with it, %zu of %zu without", rank + 1,
                      percent(suspect->probability, buffer), builds->failed_with,
                      builds->failed_with + builds->passed_with, builds->failed_without,
                      builds->failed_without + builds->passed_without);
    if (suspect->column_count > 1)
        string_add_format(
            &text, "\n   %zu tactics that always occurred together and cannot be told apart:", suspect->column_count);
    for (size_t i = 0; i < listed; i++)
        add_tactic(&text, diff, &diff->tactics.items[suspect->columns[i]]);
    if (listed < suspect->column_count)
        string_add_format(&text, "\n   %zu more; -v shows them.", suspect->column_count - listed);
    string_add_format(&text, "\n   Difference of failure rates: %+.0f %% (95 %% interval: %+.0f to %+.0f %%)",
                      whole_percent(suspect->difference.value), whole_percent(suspect->difference.low),
                      whole_percent(suspect->difference.high));
    string_add_format(&text, "\n   Ochiai: %.2f | Fisher: p = %.2g, with Holm's correction p = %.2g", suspect->ochiai,
                      suspect->fisher, suspect->holm);
    log_text(log, level, (struct text){text.data, text.size});
    string_release(&text);
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
                    percent(blame->items[shown].probability, buffer));
}

static void log_more_builds(const struct blame *blame, struct log *log)
{
    if (blame->more_builds > 0)
        log_message(log, LOG_INFO, "If 1. is the culprit, about %ld more build(s) should settle it.",
                    blame->more_builds);
    else if (blame->more_builds == 0)
        log_message(log, LOG_INFO,
                    "That is as far as statistics go. For proof, make a build with this tactic forced, or replaced.");
    else
        log_message(log, LOG_INFO, "Too little is known to say how many more builds would settle it.");
}

void tactic_ranking_log(const struct tactic_diff *diff, struct log *log)
{
    const struct blame *blame = &diff->blame;
    char buffer[16];

    log_message(log, LOG_INFO, "Ranked by evidence: %zu bad and %zu good build(s), %zu tactic(s) that vary",
                diff->bad.count, diff->good.count, blame->varying_count);
    log_indent(log, 1);
    if (blame->fixed_layer_count > 0)
        log_message(log, LOG_INFO, "%zu of %zu layer(s) never varied: nothing can be said about them.",
                    blame->fixed_layer_count, blame->layer_count);
    if (blame->count == 0) {
        log_message(log, LOG_INFO, "No tactic occurred more often in bad builds than in good ones.");
    } else {
        log_suspects(diff, log);
        log_message(log, LOG_INFO, "Probability that no tactic is to blame: %s", percent(blame->no_culprit, buffer));
        log_more_builds(blame, log);
    }
    log_indent(log, -1);
}
