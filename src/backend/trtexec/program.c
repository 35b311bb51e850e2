/* backend/trtexec/program.c: see program.h. */
#include "backend/trtexec/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MOST_OPTIONS 10000 /* that are believed to be options of one program */

/* ---- What the help says ---- */

/* The rest of `text` behind the next line, which goes to `ret`, without its end. */
static struct text next_line(struct text text, struct text *ret)
{
    const char *end = memchr(text.data, '\n', text.size);
    size_t size = end != NULL ? (size_t)(end - text.data) : text.size, gone = end != NULL ? size + 1 : size;

    *ret = (struct text){text.data, size > 0 && text.data[size - 1] == '\r' ? size - 1 : size};
    return (struct text){text.data + gone, text.size - gone};
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "--name" when the line begins with blanks and that; empty otherwise. */
static struct text find_option(struct text line)
{
    size_t begin = 0, end;

    while (begin < line.size && line.data[begin] == ' ')
        begin++;
    if (begin == 0 || line.size - begin < 3 || memcmp(line.data + begin, "--", 2) != 0)
        return (struct text){0};
    for (end = begin + 2; end < line.size && is_name_character(line.data[end]); end++)
        ;
    return end > begin + 2 ? (struct text){line.data + begin, end - begin} : (struct text){0};
}

/* "&&&& RUNNING TensorRT.trtexec [TensorRT v101600] ...": until TensorRT 9 thousands of the number are the major
 * version, from 10 on ten thousands. */
static bool parse_version(struct text line, struct trtexec *ret)
{
    static const char beginning[] = "&&&& RUNNING TensorRT.trtexec [TensorRT v";
    size_t size = sizeof(beginning) - 1, digits = 0;
    int number = 0;

    if (line.size < size || memcmp(line.data, beginning, size) != 0)
        return false;
    for (;
         digits < 8 && size + digits < line.size && line.data[size + digits] >= '0' && line.data[size + digits] <= '9';
         digits++)
        number = number * 10 + (line.data[size + digits] - '0');
    if (digits < 4 || size + digits == line.size || line.data[size + digits] != ']')
        return false;
    ret->major = number < 10000 ? number / 1000 : number / 10000;
    ret->minor = number < 10000 ? number / 100 % 10 : number / 100 % 100;
    ret->patch = number % 100;
    return true;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int trtexec_parse_help(const char *path, struct text help, struct trtexec *ret, struct error *err)
{
    struct trtexec found = {0}, *program = &found;
    struct {
        const char **items;
        size_t count, capacity;
    } options = {0};
    struct text rest = help, line;
    bool has_version = false;
    size_t count = 0;

    arena_init(&program->arena);
    program->path = arena_strdup(&program->arena, path);
    while (rest.size > 0 && options.count < MOST_OPTIONS) {
        struct text option;

        rest = next_line(rest, &line);
        has_version = has_version || parse_version(line, program);
        option = find_option(line);
        if (option.size > 0)
            *VECTOR_APPEND(&options) = arena_text(&program->arena, option);
    }
    if (options.count > 0)
        qsort(options.items, options.count, sizeof(*options.items), compare_words);
    for (size_t i = 0; i < options.count; i++)
        if (count == 0 || strcmp(options.items[count - 1], options.items[i]) != 0)
            options.items[count++] = options.items[i];
    program->options.items = arena_copy(&program->arena, options.items, count * sizeof(*options.items));
    program->options.count = count;
    free(options.items);
    if (has_version && trtexec_has(program, "--onnx") && trtexec_has(program, "--loadEngine")) {
        *ret = found;
        return 0;
    }
    arena_release(&found.arena);
    return error_set(err, ERR_BACKEND,
                     "'%s --help' does not answer as NVIDIA's trtexec does: let POLYGRAPHY_TRTEXEC name the one that "
                     "belongs to your TensorRT",
                     path);
}

/* ---- What a version has ---- */

/* NULL: since before 8.6, still there in 11.1. What stands in one of several versions that were looked at, and not in
 * the one before, is said to be of the later one. */
static const struct {
    const char *option, *since, *until;
} lifetimes[] = {
    {"--best", NULL, "10"},
    {"--bf16", "9", "10"},
    {"--calib", NULL, "10"},
    {"--fp16", NULL, "10"},
    {"--fp8", NULL, "10"},
    {"--int8", NULL, "10"},
    {"--layerOutputTypes", NULL, "10"},
    {"--layerPrecisions", NULL, "10"},
    {"--precisionConstraints", NULL, "10"},
    {"--restricted", NULL, "10"},
    {"--errorOnTimingCacheMiss", "9", NULL},
    {"--noCompilationCache", "9", NULL},
    {"--profile", "9", NULL},
    {"--stronglyTyped", "9", NULL},
    {"--useProfile", "9", NULL},
    {"--allocationStrategy", "10.0", NULL},
    {"--allowWeightStreaming", "10.0", NULL},
    {"--markDebug", "10.0", NULL},
    {"--pluginInstanceNorm", "10.0", NULL},
    {"--saveDebugTensors", "10.0", NULL},
    {"--stripWeights", "10.0", NULL},
    {"--weightStreamingBudget", "10.0", NULL},
    {"--runtimePlatform", "10.3", NULL},
    {"--tilingOptimizationLevel", "10.8", NULL},
    {"--markUnfusedTensorsAsDebugTensors", "10.12", NULL},
    {"--saveAllDebugTensors", "10.12", NULL},
    {"--helpBuildRoute", "11.1", NULL},
    {"--setBuildRoute", "11.1", NULL},
};

bool trtexec_has(const struct trtexec *program, const char *option)
{
    return program->options.count > 0 && bsearch(&option, program->options.items, program->options.count,
                                                 sizeof(*program->options.items), compare_words) != NULL;
}

int trtexec_require(const struct trtexec *program, const char *option, const char *wish, const char *instead,
                    struct error *err)
{
    const char *since = NULL, *until = NULL;
    SCOPED_STRING(text);

    if (trtexec_has(program, option))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(lifetimes); i++)
        if (strcmp(lifetimes[i].option, option) == 0) {
            since = lifetimes[i].since;
            until = lifetimes[i].until;
        }
    string_add_format(&text, "%s: ", wish);
    trtexec_describe(program, &text);
    string_add_format(&text, " has no %s", option);
    if (since != NULL)
        string_add_format(&text, ", which is there since TensorRT %s", since);
    if (until != NULL)
        string_add_format(&text, "%s until TensorRT %s", since != NULL ? " and" : ", which was there", until);
    if (instead != NULL)
        string_add_format(&text, "; %s", instead);
    return error_set(err, ERR_UNSUPPORTED, "%s", text.data);
}

void trtexec_describe(const struct trtexec *program, struct string_builder *ret)
{
    string_add_format(ret, "trtexec %d.%d.%d ('%s')", program->major, program->minor, program->patch, program->path);
}
