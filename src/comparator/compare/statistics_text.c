/* comparator/compare/statistics_text.c: see statistics_text.h. */
#include "comparator/compare/statistics_text.h"

#include "tensor/values/text.h"

enum { MOST_VALUES = 100 };

static void log_values(struct log *log, enum log_level level, const struct tensor *tensor)
{
    struct string_builder text;

    string_init(&text);
    string_add(&text, "---- Values ----\n");
    tensor_to_text(tensor, &TENSOR_TEXT_DEFAULTS, &text);
    log_text(log, level, (struct text){text.data, text.size});
    string_release(&text);
}

static void log_histogram(struct log *log, enum log_level level, const struct tensor *tensor, double minimum,
                          double maximum)
{
    struct histogram histogram;
    struct string_builder text;

    if (tensor->type == DATA_BOOL)
        return;
    histogram_compute(tensor, minimum, maximum, &histogram);
    string_init(&text);
    histogram_to_text(&histogram, &text);
    if (text.size > 0)
        log_message(log, level, "---- Histogram ----\n%s", text.data);
    string_release(&text);
}

int statistics_log(struct log *log, const char *label, const struct tensor *tensor, enum log_level details,
                   double minimum, double maximum, struct error *err)
{
    struct statistics statistics;
    struct string_builder text;
    int rc;

    if (log_shows(log, LOG_INFO)) {
        rc = statistics_compute(tensor, &statistics, err);
        if (rc < 0)
            return rc;
        string_init(&text);
        statistics_to_text(&statistics, &tensor->shape, &text);
        log_message(log, LOG_INFO, "%s | Stats: %s", label, text.data);
        string_release(&text);
    }
    if (log_shows(log, details)) {
        log_indent(log, 1);
        if (tensor_elements(tensor) <= MOST_VALUES)
            log_values(log, details, tensor);
        log_histogram(log, details, tensor, minimum, maximum);
        log_indent(log, -1);
    }
    return 0;
}
