/* debug/check/failure_reason.c: see failure_reason.h. */
#include "debug/check/failure_reason.h"

#include <stdio.h>
#include <string.h>

#include "backend/failing_operator.h"

static void add_code(int code, struct string_builder *ret)
{
    if (code < 0)
        string_add_format(ret, "signal %d (%s)", -code, strsignal(-code));
    else if (code >= ERROR_OF_RUNNER)
        string_add_format(ret, "error %d of the runner", code - ERROR_OF_RUNNER);
    else if (code >= ERROR_OF_PARSER)
        string_add_format(ret, "error %d of the parser", code - ERROR_OF_PARSER);
    else if (code > 0)
        string_add_format(ret, "error %d of the runtime", code);
}

void failure_reason_of(const struct error *err, char ret[PROCESS_REASON_SIZE])
{
    struct text name;
    SCOPED_STRING(text);

    add_code(err->foreign_code, &text);
    if (failing_operator(err->message, &name))
        string_add_format(&text, "%s" TEXT_FORMAT, text.size > 0 ? ", " : "", TEXT_ARGS(name));
    if (failing_functions(err->message, &name))
        string_add_format(&text, " in " TEXT_FORMAT, TEXT_ARGS(name));
    if (text.size == 0) {
        string_add(&text, "message: ");
        string_add_without_names(&text, text_of(err->message));
    }
    snprintf(ret, PROCESS_REASON_SIZE, "%s", text.data);
}

void failure_reason_read(const struct error_file *file, char ret[PROCESS_REASON_SIZE])
{
    struct error_record record;

    ret[0] = '\0';
    for (size_t i = 0; error_file_read(file, i, &record); i++)
        if (record.kind == RECORD_ERROR && (record.error.code == ERR_BACKEND || record.error.code == ERR_MEMORY))
            failure_reason_of(&record.error, ret);
}
