/* engine/run/profile.c: logs the time of each layer. See executor.h. */
#include "engine/run/executor.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text/number.h"

struct row {
    size_t layer;
    double seconds; /* of one run */
};

static int compare_layer_times(const void *a, const void *b)
{
    const struct row *left = a, *right = b;

    if (left->seconds != right->seconds)
        return left->seconds > right->seconds ? -1 : 1;
    return left->layer < right->layer ? -1 : 1;
}

static void add_profile_row(const struct engine *engine, const struct row *row, double total,
                            struct string_builder *text)
{
    const struct engine_layer *choice = &engine->layers[row->layer];

    string_add_format(text, "\n%9.3f  %5.1f  %-9s  %s: %s:%s", row->seconds * 1e3,
                      total > 0 ? 100 * row->seconds / total : 0, precision_name(choice->precision.precision),
                      engine->network->layers.items[row->layer].name, choice->tactic.provider->name,
                      choice->tactic.name);
}

void executor_log_profile(const struct executor *executor, const struct engine *engine, struct log *log)
{
    size_t runs, without_reuse, memory = executor_memory(executor, &without_reuse);
    const double *seconds = executor_layer_seconds(executor, &runs);
    size_t count = engine->network->layers.count;
    SCOPED_STRING(text);
    char number[NUMBER_TEXT_SIZE];
    double total = 0;
    struct row *rows SCOPED_FREE = NULL;

    if (runs == 0 || !log_shows(log, LOG_INFO))
        return;
    rows = memory_alloc_zero(count, sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct row){i, seconds[i] / (double)runs};
        total += rows[i].seconds;
    }
    if (count > 0)
        qsort(rows, count, sizeof(*rows), compare_layer_times);
    string_add_format(&text,
                      "Profile of %zu layers over %zu run%s: %s ms a run, %zu bytes of activations (%zu "
                      "without reuse)\n",
                      count, runs, runs == 1 ? "" : "s", number_to_text_short(total * 1e3, number), memory,
                      without_reuse);
    string_add(&text, "       ms      %  precision  layer: tactic");
    for (size_t i = 0; i < count; i++)
        add_profile_row(engine, &rows[i], total, &text);
    log_text(log, LOG_INFO, (struct text){text.data, text.size});
}
