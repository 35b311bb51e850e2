/* format/json/reader.c: shortens a file for jansson and resolves references. */
#include "format/json/reader.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/text/string_builder.h"

#define LONGEST_INLINE_STRING 256 /* bytes; longer ones become references */
#define LONGEST_JSON INT_MAX      /* bytes of shortened text; jansson counts positions with an int */
#define REFERENCE_MARK '@'

static const struct {
    struct text word;
    double value;
} bare_words[] = {
    {{"NaN", 3}, NAN},
    {{"Infinity", 8}, INFINITY},
    {{"-Infinity", 9}, -INFINITY},
};

static void add_reference(struct json_reader *reader, const char *token, size_t size, struct string_builder *shortened)
{
    struct json_token *added = VECTOR_APPEND(&reader->tokens);

    string_add_format(shortened, "\"%c%zu\"", REFERENCE_MARK, reader->tokens.count - 1);
    *added = (struct json_token){(size_t)(token - reader->text.data), size, shortened->size};
}

/* The length of NaN, Infinity or -Infinity at `at`, or 0. */
static size_t bare_word_length(const char *at, const char *end)
{
    for (size_t i = 0; i < ARRAY_LEN(bare_words); i++) {
        struct text word = bare_words[i].word;

        if ((size_t)(end - at) >= word.size && memcmp(at, word.data, word.size) == 0)
            return word.size;
    }
    return 0;
}

/* Adds the text between two strings, with words replaced. An invalid token that contains such a word stays invalid. */
static void shorten_between(struct json_reader *reader, const char *at, const char *end,
                            struct string_builder *shortened)
{
    const char *copied = at;

    while (at < end) {
        size_t word = *at == 'N' || *at == 'I' || *at == '-' ? bare_word_length(at, end) : 0;

        if (word > 0) {
            string_add_bytes(shortened, copied, (size_t)(at - copied));
            add_reference(reader, at, word, shortened);
            copied = at + word;
        }
        at += word > 0 ? word : 1;
    }
    string_add_bytes(shortened, copied, (size_t)(end - copied));
}

/* The closing quote of the string whose text begins at `start`, or NULL. A quote after an odd number of backslashes is
 * part of the text. */
static const char *closing_quote(const char *start, const char *end)
{
    const char *at = start;

    while (at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
        const char *escape = at;

        while (escape > start && escape[-1] == '\\')
            escape--;
        if ((at - escape) % 2 == 0)
            return at;
        at++;
    }
    return NULL;
}

static bool is_member_name(const char *behind, const char *end)
{
    while (behind < end && (*behind == ' ' || *behind == '\t' || *behind == '\n' || *behind == '\r'))
        behind++;
    return behind < end && *behind == ':';
}

/* Adds a string, or a reference to it; `quote` and `close` are its quotes. */
static void shorten_string(struct json_reader *reader, const char *quote, const char *close, const char *end,
                           struct string_builder *shortened)
{
    const char *start = quote + 1;
    size_t size = (size_t)(close - start);
    bool by_reference = size > LONGEST_INLINE_STRING || *start == REFERENCE_MARK || memchr(start, '\\', size) != NULL;

    if (by_reference && !is_member_name(close + 1, end))
        add_reference(reader, quote, size + 2, shortened);
    else
        string_add_bytes(shortened, quote, size + 2);
}

static int shorten_strings(struct json_reader *reader, struct string_builder *shortened, struct error *err)
{
    const char *at = reader->text.data;
    const char *end = at + reader->text.size;

    while (at < end && shortened->size <= LONGEST_JSON) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        const char *close;

        shorten_between(reader, at, quote ? quote : end, shortened);
        if (!quote)
            break;
        close = closing_quote(quote + 1, end);
        if (!close)
            return error_set(err, ERR_CORRUPT, "'%s': the string at byte %zu is not terminated", reader->name,
                             (size_t)(quote - reader->text.data));
        shorten_string(reader, quote, close, end, shortened);
        at = close + 1;
    }
    if (shortened->size > LONGEST_JSON)
        return error_set(err, ERR_UNSUPPORTED, "'%s' contains more than 2 GB of JSON besides its arrays", reader->name);
    return 0;
}

/* Converts a position in the shortened text to an offset in the file. */
static size_t position_in_file(const struct json_reader *reader, size_t shortened)
{
    size_t position = shortened;

    for (size_t i = 0; i < reader->tokens.count && reader->tokens.items[i].shortened_end <= shortened; i++) {
        const struct json_token *token = &reader->tokens.items[i];

        position = token->offset + token->size + (shortened - token->shortened_end);
    }
    return position;
}

/* Refuses files that are not JSON by their first byte, so that an engine of gigabytes is not searched for strings. */
static int check_beginning(const struct json_reader *reader, struct error *err)
{
    size_t at = 0;
    size_t line = 1;

    while (at < reader->text.size && memchr(" \t\r\n", reader->text.data[at], 4)) {
        line += reader->text.data[at] == '\n';
        at++;
    }
    if (at == reader->text.size || reader->text.data[at] == '{' || reader->text.data[at] == '[')
        return 0;
    return error_set(err, ERR_CORRUPT, "'%s': byte %zu, line %zu: '[' or '{' expected", reader->name, at, line);
}

static int parse_root(struct json_reader *reader, struct error *err)
{
    SCOPED_STRING(shortened);
    json_error_t failure;
    int rc = check_beginning(reader, err);

    if (rc == 0)
        rc = shorten_strings(reader, &shortened, err);
    if (rc < 0)
        return rc;
    reader->root = json_loadb(shortened.size ? shortened.data : "", shortened.size, 0, &failure);
    if (!reader->root)
        rc = error_set(err, json_error_code(&failure) == json_error_out_of_memory ? ERR_MEMORY : ERR_CORRUPT,
                       "'%s': byte %zu, line %d: %s", reader->name, position_in_file(reader, (size_t)failure.position),
                       failure.line, failure.text);
    return rc;
}

static bool can_be_mapped(const char *path)
{
    struct stat info;

    /* Missing files and folders are passed to file_map_open(), which reports them. */
    return stat(path, &info) < 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
}

int json_reader_open(struct json_reader *ret, const char *path, struct error *err)
{
    struct json_reader reader = {.name = memory_strdup(path), .map = {.fd = -1}};
    int rc;

    if (can_be_mapped(path)) {
        rc = file_map_open(path, &reader.map, err);
        reader.text = (struct text){reader.map.data ? (const char *)reader.map.data : "", reader.map.size};
    } else {
        rc = file_read(path, memory_limit(), &reader.piped, &reader.text.size, err);
        reader.text.data = reader.piped;
    }
    if (rc == 0)
        rc = parse_root(&reader, err);
    if (rc == 0)
        *ret = reader;
    else
        json_reader_release(&reader);
    return rc;
}

int json_reader_open_memory(struct json_reader *ret, const void *data, size_t size, const char *name, struct error *err)
{
    struct json_reader reader = {.name = memory_strdup(name), .text = {data, size}, .map = {.fd = -1}};
    int rc = parse_root(&reader, err);

    if (rc == 0)
        *ret = reader;
    else
        json_reader_release(&reader);
    return rc;
}

void json_reader_release(struct json_reader *reader)
{
    if (!reader->name)
        return;
    json_decref(reader->root);
    json_decref(reader->unescaped);
    free(reader->tokens.items);
    free(reader->piped);
    free(reader->name);
    if (reader->map.fd >= 0)
        file_map_release(&reader->map);
    *reader = (struct json_reader){.map = {.fd = -1}};
}

/* The token that `value` refers to, or NULL if it is not a reference. */
static const struct json_token *referred_token(const struct json_reader *reader, const json_t *value)
{
    const char *string = json_string_value(value);

    if (!string || string[0] != REFERENCE_MARK)
        return NULL;
    return &reader->tokens.items[strtoull(string + 1, NULL, 10)];
}

bool json_reader_raw_text(const struct json_reader *reader, const json_t *value, struct text *ret)
{
    const struct json_token *token = referred_token(reader, value);
    const char *start = token ? reader->text.data + token->offset : NULL;

    if (!token || *start != '"')
        return false;
    *ret = (struct text){start + 1, token->size - 2};
    return true;
}

int json_reader_long_text(struct json_reader *reader, const json_t *value, struct text *ret, struct error *err)
{
    struct text raw;
    json_error_t failure;
    json_t *string;

    if (json_is_string(value) && !referred_token(reader, value)) {
        *ret = (struct text){json_string_value(value), json_string_length(value)};
        return 0;
    }
    if (!json_reader_raw_text(reader, value, &raw))
        return error_set(err, ERR_CORRUPT, "a string is missing");

    string = json_loadb(raw.data - 1, raw.size + 2, JSON_DECODE_ANY | JSON_ALLOW_NUL, &failure);
    if (!string)
        return error_set(err, json_error_code(&failure) == json_error_out_of_memory ? ERR_MEMORY : ERR_CORRUPT,
                         "the string at byte %zu: %s", (size_t)(raw.data - 1 - reader->text.data), failure.text);
    if (!reader->unescaped)
        reader->unescaped = json_array();
    *ret = (struct text){json_string_value(string), json_string_length(string)};
    if (json_array_append_new(reader->unescaped, string) < 0)
        return error_set(err, ERR_MEMORY, "not enough memory for a string of %zu bytes", raw.size);
    return 0;
}

int json_reader_text(struct json_reader *reader, const json_t *value, struct text *ret, struct error *err)
{
    struct text text;
    int rc = json_reader_long_text(reader, value, &text, err);

    if (rc == 0 && memchr(text.data, '\0', text.size))
        rc = error_set(err, ERR_CORRUPT, "the string '%s...' contains a NUL character", text.data);
    if (rc == 0)
        *ret = text;
    return rc;
}

bool json_reader_number(const struct json_reader *reader, const json_t *value, double *ret)
{
    const struct json_token *token = referred_token(reader, value);

    if (json_is_number(value)) {
        *ret = json_number_value(value);
        return true;
    }
    for (size_t i = 0; token && i < ARRAY_LEN(bare_words); i++) {
        struct text word = {reader->text.data + token->offset, token->size};

        if (text_equal(word, bare_words[i].word)) {
            *ret = bare_words[i].value;
            return true;
        }
    }
    return false;
}
