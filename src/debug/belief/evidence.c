/* debug/belief/evidence.c: see evidence.h. */
#include "debug/belief/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "debug/check/report.h"

#define LONGEST_LINE 300 /* bytes of a line that are reported */

void check_evidence_release(struct check_evidence *evidence)
{
    free(evidence->line);
    free(evidence->hidden);
}

/* ---- Apart from times ---- */

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool is_word(char character)
{
    return is_digit(character) || (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           character == '_';
}

/* Length of the unit of time that begins at `at`, with or without a blank before it; 0 if there is none. */
static size_t unit_length(struct text text, size_t at)
{
    static const char *const units[] = {"seconds", "second", "sec", "min", "ms", "us", "ns", "s"};
    size_t blank = at < text.size && text.data[at] == ' ' ? 1 : 0;

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        size_t end = at + blank + strlen(units[i]);

        if (end <= text.size && memcmp(text.data + at + blank, units[i], strlen(units[i])) == 0 &&
            (end == text.size || !is_word(text.data[end])))
            return end - at;
    }
    return 0;
}

/* Length of the duration, time of day, date or memory address that begins at `at`; 0 if there is none. */
static size_t time_length(struct text text, size_t at)
{
    size_t end = at, colons = 0, dashes = 0;

    if (!is_digit(text.data[at]) || (at > 0 && (is_word(text.data[at - 1]) || text.data[at - 1] == '.')))
        return 0;
    if (text.data[at] == '0' && at + 1 < text.size && text.data[at + 1] == 'x') {
        for (end = at + 2; end < text.size && is_word(text.data[end]); end++) {
        }
        return end - at;
    }
    for (; end < text.size; end++) {
        bool joins = end + 1 < text.size && is_digit(text.data[end + 1]);

        if (!is_digit(text.data[end]) && !(joins && memchr(".:-", text.data[end], 3) != NULL))
            break;
        colons += text.data[end] == ':' ? 1 : 0;
        dashes += text.data[end] == '-' ? 1 : 0;
    }
    if (colons > 0 || dashes == 2)
        return end - at;
    return dashes == 0 && unit_length(text, end) > 0 ? end - at : 0;
}

static void add_without_times(struct text text, struct string_builder *ret)
{
    for (size_t at = 0; at < text.size;) {
        size_t length = time_length(text, at);

        string_add_char(ret, length > 0 ? '#' : text.data[at]);
        at += length > 0 ? length : 1;
    }
    string_add_char(ret, '\0'); /* separates the two streams */
}

static struct hash hash_without_times(int code, struct text out, struct text error_out)
{
    SCOPED_STRING(text);

    string_add_format(&text, "%d:", code);
    add_without_times(out, &text);
    add_without_times(error_out, &text);
    return hash_bytes(text.data, text.size);
}

/* ---- The most informative line ---- */

static struct text next_line(struct text *rest)
{
    const char *end = memchr(rest->data, '\n', rest->size);
    size_t size = end != NULL ? (size_t)(end - rest->data) : rest->size;
    struct text line = {rest->data, size};

    rest->data += end != NULL ? size + 1 : size;
    rest->size -= end != NULL ? size + 1 : size;
    while (line.size > 0 && strchr(" \t\r", line.data[line.size - 1]) != NULL)
        line.size--;
    while (line.size > 0 && (*line.data == ' ' || *line.data == '\t')) {
        line.data++;
        line.size--;
    }
    return line;
}

/* The first line; in logs of this program and of Polygraphy the first error, and in a Python traceback the last line.
 * */
static struct text find_informative_line(struct text output)
{
    struct text rest = output, first = {0}, last = {0}, error = {0};

    while (rest.size > 0) {
        struct text line = next_line(&rest);

        if (line.size == 0)
            continue;
        if (first.size == 0)
            first = line;
        if (error.size == 0 && (text_begins_with(line, "[!]") || text_begins_with(line, "[E]")))
            error = line;
        last = line;
    }
    if (error.size > 0)
        return error;
    return text_begins_with(first, "Traceback (most recent call last)") ? last : first;
}

static char *line_of(struct text out, struct text error_out)
{
    struct text line = find_informative_line(error_out);
    struct string_builder ret;

    if (line.size == 0)
        line = find_informative_line(out);
    string_init(&ret);
    if (line.size > LONGEST_LINE)
        line.size = LONGEST_LINE;
    string_add_visible(&ret, line);
    return string_take(&ret);
}

/* ---- A run ---- */

static void add_stream(const char *name, const struct process_output *output, struct string_builder *ret)
{
    if (output->size == 0)
        return;
    string_add_format(ret, "%s========== CAPTURED %s ==========\n", ret->size > 0 ? "\n" : "", name);
    check_output_render(output, ret);
}

void check_evidence_add(struct check_evidence *evidence, const struct process_result *result, bool shown)
{
    const struct text out = {result->out.data, result->out.size};
    const struct text error_out = {result->error_out.data, result->error_out.size};
    int code = check_exit_code(result);
    struct hash said = hash_without_times(code, out, error_out);
    bool all_kept = result->out.left_out + result->error_out.left_out == 0; /* else the middle is unknown */
    struct string_builder hidden;

    check_evidence_release(evidence);
    string_init(&hidden);
    if (!shown) {
        add_stream("STDOUT", &result->out, &hidden);
        add_stream("STDERR", &result->error_out, &hidden);
    }
    *evidence = (struct check_evidence){
        .runs = evidence->runs + 1,
        .alike = evidence->runs == 0 || (evidence->alike && all_kept && hash_equal(said, evidence->said)),
        .said = said,
        .silent = out.size + error_out.size == 0,
        .timed_out = result->end == PROCESS_TIMED_OUT,
        .code = code,
        .seconds = result->seconds,
        .line = line_of(out, error_out),
        .hidden = hidden.size > 0 ? string_take(&hidden) : NULL,
    };
}

void check_evidence_leave_out(struct check_evidence *evidence, const struct check_evidence *before)
{
    evidence->runs = before->runs;
    evidence->alike = before->alike;
    evidence->said = before->said;
}

void check_evidence_describe(const struct check_evidence *evidence, struct string_builder *ret)
{
    if (evidence->line == NULL) {
        string_add(ret, "in an earlier session, whose output is not kept");
        return;
    }
    if (evidence->timed_out)
        string_add_format(ret, "timed out after %.1f s", evidence->seconds);
    else if (evidence->code < 0)
        string_add_format(ret, "killed by signal %d", -evidence->code);
    else
        string_add_format(ret, "exit code %d", evidence->code);
    if (evidence->line[0] == '\0')
        string_add(ret, ", no output");
    else
        string_add_format(ret, ", output: %s", evidence->line);
}
