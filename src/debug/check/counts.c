/* debug/check/counts.c: see counts.h. */
#include "debug/check/counts.h"

#include <inttypes.h>

#include "base/text/string_builder.h"

void check_counts_add(struct check_counts *counts, enum process_end end, enum verdict verdict, bool other_failure)
{
    counts->failed += verdict == VERDICT_FAIL ? 1 : 0;
    counts->passed += verdict == VERDICT_PASS ? 1 : 0;
    counts->other_failure += verdict == VERDICT_SKIP && other_failure ? 1 : 0;
    counts->skipped += verdict == VERDICT_SKIP && !other_failure ? 1 : 0;
    counts->timed_out += end == PROCESS_TIMED_OUT ? 1 : 0;
    counts->signaled += end == PROCESS_SIGNALED ? 1 : 0;
}

int64_t check_counts_runs(const struct check_counts *counts)
{
    return counts->failed + counts->other_failure + counts->passed + counts->skipped;
}

static void add_count(struct string_builder *line, const char *separator, int64_t count, const char *what)
{
    if (count > 0)
        string_add_format(line, "%s%" PRId64 " %s", separator, count, what);
}

void check_counts_log(const struct check_counts *counts, struct log *log)
{
    struct string_builder line;

    if (counts->other_failure + counts->skipped + counts->timed_out + counts->signaled == 0)
        return;
    string_init(&line);
    string_add_format(&line, "Checks: %" PRId64 " with the failure, %" PRId64 " passed", counts->failed,
                      counts->passed);
    add_count(&line, ", ", counts->other_failure, "with another failure");
    add_count(&line, ", ", counts->skipped, "skipped");
    add_count(&line, "; of them ", counts->timed_out, "timed out");
    add_count(&line, counts->timed_out > 0 ? ", " : "; of them ", counts->signaled, "ended by a signal");
    log_message(log, LOG_INFO, "%s", line.data);
    string_release(&line);
}
