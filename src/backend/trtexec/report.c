/* backend/trtexec/report.c: see report.h. */
#include "backend/trtexec/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"

#define LONGEST_ERRORS 1200 /* bytes of what goes into a message */
#define MOST_ERROR_LINES 60 /* that are shown */

/* ---- Pieces of a line ---- */

/* Takes `beginning` off. */
static bool skip(struct text *text, const char *beginning)
{
    size_t size = strlen(beginning);

    if (text->size < size || memcmp(text->data, beginning, size) != 0)
        return false;
    *text = (struct text){text->data + size, text->size - size};
    return true;
}

static bool skip_end(struct text *text, const char *end)
{
    size_t size = strlen(end);

    if (text->size < size || memcmp(text->data + text->size - size, end, size) != 0)
        return false;
    text->size -= size;
    return true;
}

/* Cuts at the last `separator`: names may hold anything, what follows them does not. */
static bool cut_at_last(struct text text, const char *separator, struct text *ret_before, struct text *ret_after)
{
    size_t size = strlen(separator);

    for (size_t end = text.size; end >= size; end--)
        if (memcmp(text.data + end - size, separator, size) == 0) {
            *ret_before = (struct text){text.data, end - size};
            *ret_after = (struct text){text.data + end, text.size - end};
            return true;
        }
    return false;
}

/* "1x3x224" or, by dots, "1.3.224"; nothing is a scalar. */
static bool parse_shape(struct text text, char separator, struct shape *ret)
{
    *ret = (struct shape){0};
    if (text_equal_string(text, "scalar"))
        return true;
    for (size_t begin = 0, end; begin < text.size; begin = end + 1) {
        const char *found = memchr(text.data + begin, separator, text.size - begin);
        int64_t size;

        end = found != NULL ? (size_t)(found - text.data) : text.size;
        if (ret->rank == TENSOR_MAX_RANK ||
            !number_parse_integer((struct text){text.data + begin, end - begin}, &size) || size < -1)
            return false;
        ret->dims[ret->rank++] = size;
    }
    return text.size == 0 || text.data[text.size - 1] != separator;
}

enum data_type trtexec_type(struct text word)
{
    static const struct {
        const char *word;
        enum data_type type;
    } types[] = {
        {"fp32", DATA_FLOAT32}, {"fp16", DATA_FLOAT16},   {"bf16", DATA_BFLOAT16},    {"int8", DATA_INT8},
        {"int32", DATA_INT32},  {"int64", DATA_INT64},    {"bool", DATA_BOOL},        {"uint8", DATA_UINT8},
        {"int4", DATA_INT4},    {"fp4", DATA_FLOAT4E2M1}, {"fp8", DATA_FLOAT8E4M3FN},
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (text_equal_string(word, types[i].word))
            return types[i].type;
    return DATA_UNDEFINED;
}

/* ---- Lines ---- */

struct line {
    char level;      /* 'V', 'I', 'W', 'E', 'F'; 0: not a line of its own */
    bool of_library; /* TensorRT's words */
    struct text text;
};

static bool is_stamp(struct text text)
{
    static const char form[] = "[00/00/0000-00:00:00] [";

    if (text.size < sizeof(form) + 2)
        return false;
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        bool is_digit = text.data[i] >= '0' && text.data[i] <= '9';

        if (form[i] == '0' ? !is_digit : text.data[i] != form[i])
            return false;
    }
    return text.data[sizeof(form)] == ']' && strchr("VIWEF", text.data[sizeof(form) - 1]) != NULL;
}

/* Takes the next line off `rest`; false at the end. */
static bool next_line(struct text *rest, struct line *ret)
{
    const char *end;
    size_t size;

    if (rest->size == 0)
        return false;
    end = memchr(rest->data, '\n', rest->size);
    size = end != NULL ? (size_t)(end - rest->data) : rest->size;
    *ret = (struct line){.text = {rest->data, size}};
    *rest = (struct text){rest->data + size + (end != NULL), rest->size - size - (end != NULL)};
    if (size > 0 && ret->text.data[size - 1] == '\r')
        ret->text.size--;
    if (!is_stamp(ret->text))
        return true;
    ret->level = ret->text.data[23];
    ret->text = (struct text){ret->text.data + 25, ret->text.size - 25};
    skip(&ret->text, " ");
    ret->of_library = skip(&ret->text, "[TRT] ");
    return true;
}

/* ---- What they say ---- */

struct reading {
    struct trtexec_report *report;
    struct arena *arena;
    struct log *log;
    size_t shown; /* lines of errors */
};

static void read_binding(const struct reading *reading, struct text text)
{
    struct trtexec_binding binding = {.is_output = text.data[0] == 'O'};
    struct text name, rest, shape, type;

    if (!skip(&text, "Input binding for ") && !skip(&text, "Output binding for "))
        return;
    if (skip_end(&text, " is dynamic and will be created during execution using OutputAllocator.")) {
        binding.by_allocator = true;
        binding.name = arena_text(reading->arena, text);
        *VECTOR_APPEND(&reading->report->bindings) = binding;
        return;
    }
    if ((!skip_end(&text, " is created.") && !skip_end(&text, " is created")) ||
        !cut_at_last(text, " with dimensions ", &name, &rest))
        return;
    shape = rest;
    if (cut_at_last(rest, " and type ", &shape, &type))
        binding.type = trtexec_type(type);
    else if (skip(&rest, "and type ")) /* the dimensions of a scalar are empty */
        shape.size = 0, binding.type = trtexec_type(rest);
    if (!parse_shape(shape, 'x', &binding.shape))
        return;
    binding.name = arena_text(reading->arena, name);
    *VECTOR_APPEND(&reading->report->bindings) = binding;
}

/* "... NAME (with datatype fp32 and dimensions 2.3) to FILE" */
static void read_dump(const struct reading *reading, struct text text, bool is_output)
{
    struct trtexec_dump dump = {.is_output = is_output};
    struct text name, file, rest, type, shape;

    if (!cut_at_last(text, ") to ", &rest, &file) || !cut_at_last(rest, " (with datatype ", &name, &rest) ||
        !cut_at_last(rest, " and dimensions ", &type, &shape) || !parse_shape(shape, '.', &dump.shape))
        return;
    if (file.size == 0 || memchr(file.data, '/', file.size) != NULL || memchr(file.data, '\0', file.size) != NULL)
        return;
    dump.name = arena_text(reading->arena, name);
    dump.file = arena_text(reading->arena, file);
    dump.type = trtexec_type(type);
    *VECTOR_APPEND(&reading->report->dumps) = dump;
}

static void read_own(const struct reading *reading, struct text text)
{
    struct trtexec_report *report = reading->report;
    struct text before, after;

    if (skip(&text, "Writing file for output binding ")) {
        read_dump(reading, text, true);
    } else if (skip(&text, "Writing file for input binding ")) {
        read_dump(reading, text, false);
    } else if (skip(&text, "Using values loaded from ")) {
        if (cut_at_last(text, " for input ", &before, &after))
            *VECTOR_APPEND(&report->loaded) = arena_text(reading->arena, after);
    } else if (skip(&text, "Shape missing for input with dynamic shape: ")) {
        if (cut_at_last(text, "Automatically setting shape to: ", &before, &after))
            *VECTOR_APPEND(&report->open_inputs) = arena_text(reading->arena, before);
    } else if (skip(&text, "Total Host Walltime: ")) {
        if (!skip_end(&text, " s") || !number_parse_float(text, &report->host_seconds))
            report->host_seconds = -1;
    } else if (skip(&text, "Set layer ")) {
        if (cut_at_last(text, " to precision ", &before, &after))
            *VECTOR_APPEND(&report->set_layers) = arena_text(reading->arena, before);
    } else if (text.size > 0) {
        read_binding(reading, text);
    }
}

/* What TensorRT says. */
static void read_library(const struct reading *reading, struct text text)
{
    struct text layer, rest;

    if (skip(&text, "For layer ")) {
        if (cut_at_last(text, " a non-conforming implementation was chosen than was requested", &layer, &rest))
            *VECTOR_APPEND(&reading->report->other_layers) = arena_text(reading->arena, layer);
    } else if (skip(&text, "Could not read cache from: ")) {
        reading->report->lost_timing_cache = true;
    }
}

static void note_error(struct reading *reading, struct text text)
{
    struct string_builder *errors = &reading->report->errors;

    if (errors->size + text.size > LONGEST_ERRORS || text.size == 0)
        return;
    if (errors->size > 0)
        string_add(errors, "; ");
    string_add_visible(errors, text);
}

/* Its name is one of ours, and that the first build has none is no news. */
static bool is_about_cache(const struct line *line)
{
    return text_contains(line->text, TEXT("Could not read cache from: "));
}

/* What trtexec itself warns of is about its timing, which nobody has asked for. */
static void show_line(struct reading *reading, const struct line *line)
{
    enum log_level level = LOG_ULTRA_VERBOSE;
    struct string_builder text;

    switch (line->level) {
    case 'I':
        level = LOG_EXTRA_VERBOSE;
        break;
    case 'W':
        level = line->of_library && !is_about_cache(line) ? LOG_WARNING : LOG_VERBOSE;
        break;
    case 'E':
    case 'F':
        level = reading->shown++ < MOST_ERROR_LINES ? LOG_ERROR : LOG_EXTRA_VERBOSE;
        break;
    default:
        break;
    }
    if (!log_shows(reading->log, level))
        return;
    string_init(&text);
    string_add(&text, line->of_library ? "TensorRT: " : "trtexec: ");
    string_add_visible(&text, line->text);
    log_text(reading->log, level, (struct text){text.data, text.size});
    string_release(&text);
}

static void read_line(struct reading *reading, const struct line *line)
{
    struct text text = line->text;

    if (line->level == 0) {
        if (text_contains(text, TEXT("&&&& PASSED TensorRT.trtexec")))
            reading->report->passed = true;
        if (skip(&text, "Uncaught exception detected: ") || text_contains(text, TEXT("Assertion failure")) ||
            text_contains(text, TEXT("Cuda failure")))
            note_error(reading, line->text);
        if (skip(&text, "Exception detected: ")) /* while the timing cache was read: trtexec goes on without */
            reading->report->lost_timing_cache = true;
        return;
    }
    show_line(reading, line);
    if (line->level == 'E' || line->level == 'F')
        note_error(reading, text);
    else if (line->of_library)
        read_library(reading, text);
    else
        read_own(reading, text);
}

void trtexec_report_read(struct text out, struct text error_out, struct arena *arena, struct log *log,
                         struct trtexec_report *ret)
{
    struct reading reading = {.report = ret, .arena = arena, .log = log};
    struct line line;

    *ret = (struct trtexec_report){.host_seconds = -1};
    string_init(&ret->errors);
    while (next_line(&error_out, &line))
        read_line(&reading, &line);
    while (next_line(&out, &line))
        read_line(&reading, &line);
}

void trtexec_report_release(struct trtexec_report *report)
{
    free(report->bindings.items);
    free(report->dumps.items);
    free(report->loaded.items);
    free(report->set_layers.items);
    free(report->other_layers.items);
    free(report->open_inputs.items);
    string_release(&report->errors);
}

const struct trtexec_binding *trtexec_find_binding(const struct trtexec_report *report, const char *name)
{
    for (size_t i = 0; i < report->bindings.count; i++)
        if (strcmp(report->bindings.items[i].name, name) == 0)
            return &report->bindings.items[i];
    return NULL;
}
