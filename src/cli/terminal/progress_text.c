/* cli/terminal/progress_text.c: see progress_text.h. */
#include "cli/terminal/progress_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define USUAL_BAR 20
#define LEAST_BAR 8
#define BAR_EXTRA (sizeof("[] ") - 1)

#define SECONDS_PER_HOUR 3600
#define SECONDS_PER_DAY (24.0 * SECONDS_PER_HOUR)

/* ---- Time ---- */

double progress_time_left(const struct session_progress *progress, double since)
{
    double each = progress->seconds_per_check, at_once = progress->running > 0 ? progress->running : 1;
    double expected = (double)progress->expected, waiting = fmax(expected - at_once, 0);

    if (progress->expected < 0 || !(each > 0) || !isfinite(each))
        return -1;
    return fmax(expected * each / at_once - fmax(since, 0), waiting * each / at_once);
}

static void add_time(struct string_builder *ret, double seconds)
{
    int64_t whole;

    if (seconds >= 2 * SECONDS_PER_DAY) {
        string_add_format(ret, ", about %.0f days left", fmin(seconds / SECONDS_PER_DAY, 1e6));
        return;
    }
    whole = (int64_t)(seconds + 0.5);
    string_add(ret, ", about ");
    if (whole >= SECONDS_PER_HOUR)
        string_add_format(ret, "%d:%02d:%02d left", (int)(whole / SECONDS_PER_HOUR), (int)(whole / 60 % 60),
                          (int)(whole % 60));
    else
        string_add_format(ret, "%d:%02d left", (int)(whole / 60), (int)(whole % 60));
}

/* ---- Counts ---- */

static void add_checks(struct string_builder *ret, const struct session_progress *progress)
{
    int64_t total = progress->done + (progress->expected > 0 ? progress->expected : 0);

    string_add_integer(ret, progress->done);
    if (progress->expected >= 0)
        string_add_format(ret, " of %s%" PRId64, progress->exact || progress->expected == 0 ? "" : "~", total);
    string_add(ret, total == 1 ? " check" : " checks");
}

static void add_node_counts(struct string_builder *ret, const struct session_progress *progress)
{
    if (progress->nodes_now >= 0 && progress->nodes_whole >= 0)
        string_add_format(ret, ", %" PRId64 " of %" PRId64 " nodes left", progress->nodes_now, progress->nodes_whole);
    else if (progress->nodes_now >= 0)
        string_add_format(ret, ", %" PRId64 " node%s left", progress->nodes_now, progress->nodes_now == 1 ? "" : "s");
}

/* ---- Bar ---- */

static void add_filled(struct string_builder *ret, double done, double total, size_t size)
{
    size_t filled = total > 0 ? (size_t)((double)size * (done / total)) : 0;

    for (size_t i = 0; i < size; i++)
        string_add_char(ret, i < filled ? '=' : i == filled ? '>' : ' ');
}

/* A mark that moves back and forth. */
static void add_wandering(struct string_builder *ret, unsigned step, size_t size)
{
    static const char mark[] = "<=>";
    size_t room = size - strlen(mark), at = room > 0 ? step % (2 * room) : 0;

    if (at > room)
        at = 2 * room - at;
    for (size_t i = 0; i < size; i++)
        string_add_char(ret, i < at || i >= at + strlen(mark) ? ' ' : mark[i - at]);
}

static void add_bar(struct string_builder *ret, const struct session_progress *progress, unsigned step, size_t size)
{
    string_add_char(ret, '[');
    if (progress->expected >= 0)
        add_filled(ret, (double)progress->done, (double)progress->done + (double)progress->expected, size);
    else
        add_wandering(ret, step, size);
    string_add(ret, "] ");
}

/* ---- The line ---- */

void progress_to_text(const struct session_progress *progress, double since, unsigned step, size_t width,
                      struct string_builder *ret)
{
    SCOPED_STRING(checks);
    SCOPED_STRING(nodes);
    SCOPED_STRING(time);
    double left = progress_time_left(progress, since);
    size_t size;

    add_checks(&checks, progress);
    add_node_counts(&nodes, progress);
    if (left >= 0.5) /* overdue: no estimate */
        add_time(&time, left);
    if (checks.size + nodes.size + time.size > width)
        string_clear(&nodes);
    if (checks.size + time.size > width)
        string_clear(&time);
    size = checks.size + nodes.size + time.size;
    if (size + BAR_EXTRA + LEAST_BAR <= width)
        add_bar(ret, progress, step, size + BAR_EXTRA + USUAL_BAR <= width ? USUAL_BAR : width - size - BAR_EXTRA);
    string_add_bytes(ret, checks.data, checks.size < width ? checks.size : width);
    string_add_bytes(ret, nodes.data, nodes.size);
    string_add_bytes(ret, time.data, time.size);
}

/* ---- Layers ---- */

/* Truncates at a character boundary. */
static void add_name(struct string_builder *ret, const char *name, size_t room)
{
    size_t size = strlen(name);

    if (size > room) {
        size = room;
        while (size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80)
            size--;
    }
    for (size_t i = 0; i < size; i++)
        string_add_char(ret, (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i]);
}

static const char *unit_of(const struct layer_progress *layer)
{
    return layer->unit != NULL ? layer->unit : "layer";
}

void layer_to_text(const struct layer_progress *layer, size_t width, struct string_builder *ret)
{
    SCOPED_STRING(count);

    string_add_format(&count, "%s %zu of %zu", unit_of(layer), layer->number, layer->count);
    if (BAR_EXTRA + USUAL_BAR + count.size <= width) {
        string_add_char(ret, '[');
        add_filled(ret, (double)layer->number - 1, (double)layer->count, USUAL_BAR);
        string_add(ret, "] ");
        width -= BAR_EXTRA + USUAL_BAR;
    }
    string_add_bytes(ret, count.data, count.size < width ? count.size : width);
    if (count.size + 2 < width) {
        string_add(ret, ": ");
        add_name(ret, layer->name, width - count.size - 2);
    }
}

void layer_add_to_text(const struct layer_progress *layer, size_t start, size_t width, struct string_builder *ret)
{
    size_t before = ret->size;

    string_add_format(ret, ", %s %zu of %zu", unit_of(layer), layer->number, layer->count);
    if (ret->size - start > width)
        string_truncate(ret, before);
}
