/* tests/tensorrt_stand_in/report.c: messages to the program's logger, errors to its recorder. */
#include <stdarg.h>
#include <stdio.h>

#include "tensorrt_stand_in/stand_in.h"

static void *logger, *recorder;

void report_set_logger(void *object)
{
    logger = object;
}

void *report_logger(void)
{
    return logger;
}

void report_set_recorder(void *object)
{
    recorder = object;
}

static void log_words(enum severity severity, const char *words)
{
    struct method_slot log = method_of_program(logger, "ILogger", "log");

    if (log.call != NULL)
        ((void (*)(void *, int32_t, const char *))log.call)(logger, (int32_t)severity, words);
}

void report(enum severity severity, const char *format, ...)
{
    SCOPED_STRING(text);
    va_list args;

    va_start(args, format);
    string_add_format_list(&text, format, args);
    va_end(args);
    log_words(severity, text.data);
}

void report_error(const char *code, const char *format, ...)
{
    SCOPED_STRING(text);
    struct method_slot reporter;
    va_list args;

    va_start(args, format);
    string_add_format_list(&text, format, args);
    va_end(args);
    log_words(SEVERITY_ERROR, text.data);
    if (recorder == NULL)
        return;
    reporter = method_of_program(recorder, "IErrorRecorder", "reportError");
    ((bool (*)(void *, int32_t, const char *))reporter.call)(recorder, enum_value("ErrorCode", code), text.data);
}
