/* format/data/word.c: see word.h. */
#include "format/data/word.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/number.h"

/* "1x3x224x224", "1,3,224,224", with or without brackets; "[]" and "()" are the shape of a single number. */
static bool parse_shape(struct text text, struct shape *ret)
{
    const char *at = text.data, *end = text.data + text.size;
    bool has_brackets = text.size >= 2 && ((at[0] == '[' && end[-1] == ']') || (at[0] == '(' && end[-1] == ')'));

    *ret = (struct shape){0};
    if (has_brackets) {
        at++;
        end--;
        if (at == end)
            return true;
    }
    for (; ret->rank < TENSOR_MAX_RANK; at++) {
        const char *start = at;

        while (at < end && *at >= '0' && *at <= '9')
            at++;
        if (at == start || !number_parse_integer((struct text){start, (size_t)(at - start)}, &ret->dims[ret->rank++]))
            return false;
        if (at == end)
            return true;
        if (*at != 'x' && *at != ',')
            return false;
    }
    return false;
}

static bool is_plainly_a_path(const char *text)
{
    return text[0] == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
}

/* Counts colons followed by an existing path; only those that begin like paths, if there are any. */
static size_t count_paths(const char *rest, const char **ret_colon)
{
    size_t count = 0;
    bool plainly = false;

    for (const char *colon = strchr(rest, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        bool is_plain = is_plainly_a_path(colon + 1);

        if (colon == rest || colon[1] == '\0' || !file_exists(colon + 1) || (plainly && !is_plain))
            continue;
        count = plainly == is_plain ? count + 1 : 1;
        plainly = is_plain;
        *ret_colon = colon;
    }
    return count;
}

/* Whether the text, or its part after a colon, is an existing file. */
static bool names_file(struct text text)
{
    char *path SCOPED_FREE = memory_copy(text.data, text.size);
    const char *colon;
    return file_exists(path) || count_paths(path, &colon) > 0;
}

/* Removes ":TYPE:SHAPE" from the end of *rest, if it follows a file. */
static int take_raw(struct text *rest, struct data_word *word, struct error *err)
{
    size_t colon = text_find_last(*rest, TEXT(":"));
    size_t before = colon != SIZE_MAX ? text_find_last((struct text){rest->data, colon}, TEXT(":")) : SIZE_MAX;
    struct text file, type, shape;
    bool has_shape;

    if (before == SIZE_MAX)
        return 0;
    file = (struct text){rest->data, before};
    type = (struct text){rest->data + before + 1, colon - before - 1};
    shape = (struct text){rest->data + colon + 1, rest->size - colon - 1};
    word->type = data_type_parse(type);
    has_shape = parse_shape(shape, &word->shape);
    if ((word->type == DATA_UNDEFINED && !has_shape) || !names_file(file)) {
        word->type = DATA_UNDEFINED;
        return 0;
    }
    if (word->type == DATA_UNDEFINED)
        return error_set(err, ERR_INVALID,
                         "'" TEXT_FORMAT "' is not a type of raw data: use a name like float32, bfloat16, int64, bool",
                         TEXT_ARGS(type));
    if (!has_shape)
        return error_set(err, ERR_INVALID,
                         "'" TEXT_FORMAT
                         "' after the type %s is not a shape: write it like 1x3x224x224, or [] for a single number",
                         TEXT_ARGS(shape), data_type_name(word->type));
    if (word->type == DATA_STRING)
        return error_set(err, ERR_UNSUPPORTED, "raw data cannot contain strings: use a .npy file");
    *rest = file;
    return 0;
}

static int split_data_word(const char *word, const char *rest, struct data_word *ret, struct error *err)
{
    const char *colon = NULL;
    size_t count;

    if (file_exists(rest)) {
        ret->path = memory_strdup(rest);
        return 0;
    }
    count = count_paths(rest, &colon);
    if (count == 1) {
        ret->name = (struct text){word, (size_t)(colon - rest)};
        ret->path = memory_strdup(colon + 1);
        return 0;
    }
    if (count > 1)
        return error_set(
            err, ERR_INVALID,
            "'%s' is ambiguous: several colons separate a name from an existing file. Write ./ before the file", word);
    if (strchr(word, ':') != NULL)
        return error_set(err, ERR_MISSING,
                         "no file '%s', nor any part of it after a colon, exists: specify data as FILE, NAME:FILE, or "
                         "FILE:TYPE:SHAPE and NAME:FILE:TYPE:SHAPE for raw data, as in x:in.bin:float32:1x3x224x224",
                         word);
    ret->path = memory_strdup(rest);
    return 0;
}

int data_word_parse(const char *word, struct data_word *ret, struct error *err)
{
    struct text rest = text_of(word);
    char *copy SCOPED_FREE = NULL;
    int rc = 0;

    *ret = (struct data_word){0};
    if (!file_exists(word))
        rc = take_raw(&rest, ret, err);
    if (rc < 0)
        return error_context(err, "'%s'", word);
    copy = memory_copy(rest.data, rest.size);
    return split_data_word(word, copy, ret, err);
}

void data_word_list_files(const char *word, struct file_list *ret)
{
    struct file_list inside SCOPED(file_list_release) = {0};
    struct data_word parts SCOPED(data_word_release) = {0};

    if (data_word_parse(word, &parts, NULL) == 0) {
        if (file_is_folder(parts.path) && file_list_find(&inside, parts.path, NULL) == 0)
            for (size_t i = 0; i < inside.count; i++)
                *VECTOR_APPEND(ret) = memory_strdup(inside.items[i]);
        *VECTOR_APPEND(ret) = memory_strdup(parts.path);
    }
}

void data_word_release(struct data_word *word)
{
    free(word->path);
    *word = (struct data_word){0};
}
