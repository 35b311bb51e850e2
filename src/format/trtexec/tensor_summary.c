/* format/trtexec/tensor_summary.c: debug tensors, out of what need not be JSON. */
#include "format/trtexec/tensor_summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "format/trtexec/layer_info.h"
#include "format/trtexec/unescaped.h"

/* A list of integers at `at`: "[2, 3]". Returns where it ends; 0 when it is none. */
static size_t read_shape(struct output_summary *summary, struct text text, size_t at, struct debug_tensor *tensor)
{
    struct {
        int64_t *items;
        size_t count, capacity;
    } dims = {0};

    if (at >= text.size || text.data[at] != '[')
        return 0;
    at = unescaped_skip_blanks(text, at + 1);
    while (at < text.size && text.data[at] != ']') {
        size_t end = at;
        int64_t dim;

        while (end < text.size && text.data[end] != ',' && text.data[end] != ']')
            end++;
        if (!number_parse_integer((struct text){text.data + at, end - at}, &dim)) {
            free(dims.items);
            return 0;
        }
        *VECTOR_APPEND(&dims) = dim;
        at = end < text.size && text.data[end] == ',' ? end + 1 : end;
    }
    tensor->dims = arena_copy(&summary->arena, dims.items, dims.count * sizeof(*dims.items));
    tensor->rank = dims.count;
    free(dims.items);
    return at < text.size ? at + 1 : 0;
}

/* A text without quotes in it. Returns where it ends; 0 when it is none. */
static size_t read_plain(struct text text, size_t at, struct text *ret)
{
    const char *end;

    if (at >= text.size || text.data[at] != '"')
        return 0;
    end = memchr(text.data + at + 1, '"', text.size - at - 1);
    if (!end)
        return 0;
    *ret = (struct text){text.data + at + 1, (size_t)(end - text.data) - at - 1};
    return (size_t)(end - text.data) + 1;
}

static int read_file(struct output_summary *summary, struct text file, const char **ret, struct error *err)
{
    if (file.size == 0 || memchr(file.data, '/', file.size) || memchr(file.data, '\0', file.size))
        return error_set(err, ERR_CORRUPT, "tensor %zu: '" TEXT_FORMAT "' is no file beside it", summary->count - 1,
                         TEXT_ARGS(file));
    *ret = arena_text(&summary->arena, file);
    return 0;
}

/* Reads the members behind a tensor's name and moves `at` past them: to the end of its files, or to the next tensor
 * when it has none. */
static int read_members(struct output_summary *summary, struct text text, size_t *at, struct error *err)
{
    struct debug_tensor *tensor = &summary->items[summary->count - 1];
    struct text word;
    bool in_files = false;

    for (; *at < text.size && !(in_files && text.data[*at] == '}'); ++*at) {
        size_t value, end = 0;
        int rc = 0;

        if (text.data[*at] != '"')
            continue;
        if (unescaped_value_of(text, *at, "name") > 0)
            return 0;
        in_files |= unescaped_value_of(text, *at, "files") > 0;
        if ((value = unescaped_value_of(text, *at, "shape")) > 0) {
            end = read_shape(summary, text, value, tensor);
            if (end == 0)
                return error_set(err, ERR_CORRUPT, "tensor %zu: its shape is no list of integers", summary->count - 1);
        } else if ((value = unescaped_value_of(text, *at, "type")) > 0) {
            end = read_plain(text, value, &word);
            tensor->type = end > 0 ? layer_info_type_find(word) : DATA_UNDEFINED;
        } else if (in_files && (value = unescaped_value_of(text, *at, "raw")) > 0) {
            end = read_plain(text, value, &word);
            rc = end > 0 ? read_file(summary, word, &tensor->raw, err) : 0;
        } else if (in_files && (value = unescaped_value_of(text, *at, "numpy")) > 0) {
            end = read_plain(text, value, &word);
            rc = end > 0 ? read_file(summary, word, &tensor->numpy, err) : 0;
        }
        if (rc < 0)
            return rc;
        if (end > 0)
            *at = end - 1;
    }
    return 0;
}

static size_t find_tensors(struct text text)
{
    for (size_t at = 0; at < text.size; at++) {
        size_t value = text.data[at] == '"' ? unescaped_value_of(text, at, "tensors") : 0;

        if (value > 0 && value < text.size && text.data[value] == '[')
            return value + 1;
    }
    return 0;
}

static int parse(struct output_summary *summary, struct text text, struct error *err)
{
    size_t at = find_tensors(text);

    if (at == 0)
        return error_set(err, ERR_INVALID,
                         "it is no summary of tensors: it has no list 'tensors', which trtexec "
                         "--saveAllDebugTensors=summary writes");
    while (at < text.size) {
        size_t value = unescaped_value_of(text, at, "name");
        struct text name;

        if (value == 0) {
            at++;
            continue;
        }
        at = unescaped_text(text, value, "shape", &name);
        if (at == 0)
            return error_set(err, ERR_CORRUPT, "it ends within tensor %zu", summary->count);
        *VECTOR_APPEND(summary) = (struct debug_tensor){.name = arena_text(&summary->arena, name)};
        int rc = read_members(summary, text, &at, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int tensor_summary_parse(struct output_summary *ret, struct text text, const char *name, struct error *err)
{
    struct output_summary summary = {0};

    if (parse(&summary, text, err) < 0) {
        tensor_summary_release(&summary);
        return error_context(err, "'%s'", name);
    }
    *ret = summary;
    return 0;
}

void tensor_summary_release(struct output_summary *summary)
{
    free(summary->items);
    arena_release(&summary->arena);
    *summary = (struct output_summary){0};
}
