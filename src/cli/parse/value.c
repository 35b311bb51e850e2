/* cli/parse/value.c: parsers of option values. */
#include "cli/parse/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "cli/parse/parse.h"
#include "onnx/external/data.h"

/* ---- Building blocks ---- */

static const char blanks[] = " \t\n\v\f\r";

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* `text` without the characters of `set` at both ends. */
static struct text strip_text(struct text text, const char *set)
{
    while (text.size > 0 && is_one_of(text.data[0], set)) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && is_one_of(text.data[text.size - 1], set))
        text.size--;
    return text;
}

void split_name(const char *word, struct text *ret_name, struct text *ret_value)
{
    const char *colon = strrchr(word, ':');

    *ret_name = colon ? (struct text){word, (size_t)(colon - word)} : (struct text){word, 0};
    *ret_value = text_of(colon ? colon + 1 : word);
}

static bool is_list(struct text stripped)
{
    return strip_text(stripped, "[]").size != stripped.size;
}

static void cast_scalar(struct text stripped, struct cast_value *ret)
{
    *ret = (struct cast_value){.text = strip_text(stripped, "'\"")};
    if (number_parse_integer(stripped, &ret->integer)) {
        ret->kind = CAST_INTEGER;
        ret->number = (double)ret->integer;
    } else if (number_parse_float(stripped, &ret->number)) {
        ret->kind = CAST_FLOAT;
    } else {
        ret->kind = CAST_TEXT;
    }
}

static void cast_list(struct parse *parse, struct text inside, struct cast_value *ret)
{
    struct cast_value *items;
    size_t count = 1;

    for (size_t i = 0; i < inside.size; i++)
        count += inside.data[i] == ',';
    items = arena_alloc_zero(parse_arena(parse), count, sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        const char *comma = inside.size > 0 ? memchr(inside.data, ',', inside.size) : NULL;
        size_t size = comma ? (size_t)(comma - inside.data) : inside.size;
        struct text element = strip_text((struct text){inside.data, size}, blanks);

        if (is_list(element))
            items[i] = (struct cast_value){.kind = CAST_LIST, .text = element};
        else
            cast_scalar(element, &items[i]);
        if (comma)
            inside = (struct text){comma + 1, inside.size - size - 1};
    }
    *ret = (struct cast_value){.kind = CAST_LIST, .items = items, .count = count};
}

void cast_word(struct parse *parse, struct text word, struct cast_value *ret)
{
    struct text stripped = strip_text(word, blanks);

    if (is_list(stripped))
        cast_list(parse, strip_text(stripped, "[]"), ret);
    else
        cast_scalar(stripped, ret);
}

/* The item for `name` in a list of structs whose first member is a name: an existing one, or a new one. */
static void *place_for_name(void *items, size_t *count, size_t item_size, const char *name)
{
    char *item = items;

    for (size_t i = 0; i < *count; i++, item += item_size)
        if (strcmp(*(const char **)(void *)item, name) == 0)
            return item;
    (*count)++;
    return item;
}

/* Splits a word and casts its value. Returns the name, or NULL if the value is not a number of an accepted kind. */
static const char *split_number_pair(struct parse *parse, const char *word, bool integer, struct cast_value *ret)
{
    struct text name, value;

    split_name(word, &name, &value);
    cast_word(parse, value, ret);
    if (ret->kind != CAST_INTEGER && (integer || ret->kind != CAST_FLOAT || isnan(ret->number)))
        return NULL;
    return arena_text(parse_arena(parse), name);
}

/* ---- Pairs of a name and a number ---- */

static int convert_number_rules(struct parse *parse, const char *spelling, struct words words, bool are_shares,
                                struct named_numbers *ret, struct error *err)
{
    struct named_number *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        struct named_number *item;
        struct cast_value value;
        const char *name = split_number_pair(parse, words.items[i], false, &value);

        if (!name)
            return error_set(err, ERR_INVALID, "%s: '%s' is not a number; write 1e-3, or NAME:1e-3 for one output",
                             spelling, words.items[i]);
        if (are_shares && (value.number < 0 || value.number > 1))
            return error_set(err, ERR_INVALID, "%s: '%s' is not in 0 .. 1", spelling, words.items[i]);
        item = place_for_name(items, &count, sizeof(*items), name);
        *item = (struct named_number){name, value.number, value.kind == CAST_INTEGER};
    }
    *ret = (struct named_numbers){items, count};
    return 0;
}

int convert_named_numbers(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    return convert_number_rules(parse, spelling, words, false, field, err);
}

int convert_named_quantiles(struct parse *parse, const char *spelling, struct words words, void *field,
                            struct error *err)
{
    return convert_number_rules(parse, spelling, words, true, field, err);
}

int convert_named_counts(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct named_integer *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        struct named_integer *item;
        struct cast_value value;
        const char *name = split_number_pair(parse, words.items[i], true, &value);

        if (!name || value.integer < 0)
            return error_set(err, ERR_INVALID,
                             "%s: '%s' is not a number of 0 or more; write 3, or NAME:3 for one tensor", spelling,
                             words.items[i]);
        item = place_for_name(items, &count, sizeof(*items), name);
        *item = (struct named_integer){name, value.integer};
    }
    *(struct named_integers *)field = (struct named_integers){items, count};
    return 0;
}

/* ---- Pairs of a name and a word ---- */

int convert_named_words(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct named_word *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        struct named_word *item;
        struct text name, value;

        split_name(words.items[i], &name, &value);
        if (value.size == 0)
            return error_set(err, ERR_INVALID, "%s: '%s' has no value; write NAME:VALUE", spelling, words.items[i]);
        item = place_for_name(items, &count, sizeof(*items), arena_text(parse_arena(parse), name));
        *item = (struct named_word){arena_text(parse_arena(parse), name), arena_text(parse_arena(parse), value)};
    }
    *(struct named_words *)field = (struct named_words){items, count};
    return 0;
}

int convert_named_statistics(struct parse *parse, const char *spelling, struct words words, void *field,
                             struct error *err)
{
    static const char *const statistics[] = {"max", "mean", "median", "elemwise", "quantile"};

    for (size_t i = 0; i < words.count; i++) {
        struct text name, value;

        split_name(words.items[i], &name, &value);
        if (!text_is_one_of(value, statistics, ARRAY_LEN(statistics)))
            return error_set(err, ERR_INVALID,
                             "%s: Invalid choice for check_error_stat: '" TEXT_FORMAT
                             "'; there are max, mean, median, elemwise, quantile",
                             spelling, TEXT_ARGS(value));
    }
    return convert_named_words(parse, spelling, words, field, err);
}

/* ---- Shapes ---- */

static int refuse_shape_word(const char *spelling, const char *word, struct text name, struct text value,
                             struct error *err)
{
    if (name.size == 0)
        return error_set(err, ERR_INVALID, "%s: '%s' does not name an input; write NAME:[1,3,224,224]", spelling, word);
    if (text_equal_string(value, "auto"))
        return error_set(err, ERR_INVALID, "%s: '%s' has no shape; write the dimensions, or leave out the input",
                         spelling, word);
    return error_set(err, ERR_INVALID, "%s: '%s' is not a shape in brackets; write " TEXT_FORMAT ":[1,3]", spelling,
                     word, TEXT_ARGS(name));
}

int cast_shape(struct parse *parse, const char *spelling, const char *word, const struct cast_value *list,
               struct input_shape *ret, struct error *err)
{
    const char **symbols = arena_alloc_zero(parse_arena(parse), list->count, sizeof(*symbols));
    size_t rank = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct cast_value *item = &list->items[i];

        if (item->kind == CAST_TEXT && item->text.size == 0)
            continue;
        if (rank == TENSOR_MAX_RANK)
            return error_set(err, ERR_INVALID, "%s: '%s' has more than %d dimensions", spelling, word, TENSOR_MAX_RANK);
        if (item->kind == CAST_FLOAT || item->kind == CAST_LIST || (item->kind == CAST_INTEGER && item->integer < -1))
            return error_set(err, ERR_INVALID,
                             "%s: '%s': dimension %zu is not valid; write a number of 0 or more, or -1 or a name for a "
                             "dynamic dimension",
                             spelling, word, i + 1);
        symbols[rank] = item->kind == CAST_TEXT ? arena_text(parse_arena(parse), item->text) : NULL;
        ret->shape.dims[rank] = item->kind == CAST_INTEGER ? item->integer : -1;
        rank++;
    }
    ret->shape.rank = rank;
    ret->symbols = symbols;
    return 0;
}

/* Whether the next word continues a shape, which may not have begun. */
static bool shape_goes_on(struct text word)
{
    size_t at = word.size, open = 0, closed = 0;

    if (at > 0 && word.data[at - 1] == ':')
        return true;
    for (; at > 0 && word.data[at - 1] != ':'; at--) {
        open += word.data[at - 1] == '[';
        closed += word.data[at - 1] == ']';
    }
    return at > 0 && open > closed;
}

struct words join_shape_words(struct parse *parse, struct words words)
{
    const char **items = arena_alloc_zero(parse_arena(parse), words.count + 1, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        const char *word = words.items[i];

        while (i + 1 < words.count && (shape_goes_on(text_of(word)) || words.items[i + 1][0] == ':'))
            word = arena_printf(parse_arena(parse), "%s %s", word, words.items[++i]);
        items[count++] = word;
    }
    return (struct words){items, count};
}

int convert_shapes(struct parse *parse, const char *spelling, struct words given, void *field, struct error *err)
{
    struct words words = join_shape_words(parse, given);
    struct input_shape *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        struct input_shape shape = {0};
        struct cast_value list;
        struct text name, value;
        int rc;

        split_name(words.items[i], &name, &value);
        name = strip_text(name, blanks);
        cast_word(parse, value, &list);
        if (name.size == 0 || list.kind != CAST_LIST)
            return refuse_shape_word(spelling, words.items[i], name, value, err);
        shape.name = arena_text(parse_arena(parse), name);
        rc = cast_shape(parse, spelling, words.items[i], &list, &shape, err);
        if (rc < 0)
            return rc;
        *(struct input_shape *)place_for_name(items, &count, sizeof(*items), shape.name) = shape;
    }
    *(struct input_shapes *)field = (struct input_shapes){items, count};
    return 0;
}

/* ---- Ranges ---- */

static int read_range_word(struct parse *parse, const char *spelling, const char *word, struct data_loader_range *ret,
                           struct error *err)
{
    struct cast_value list;
    struct text name, value;

    split_name(word, &name, &value);
    cast_word(parse, value, &list);
    if (list.kind != CAST_LIST || list.count != 2)
        return error_set(err, ERR_INVALID,
                         "%s: '%s': expected to receive exactly 2 values in brackets; write [0,1], or NAME:[0,1]",
                         spelling, word);
    for (size_t i = 0; i < 2; i++)
        if ((list.items[i].kind != CAST_INTEGER && list.items[i].kind != CAST_FLOAT) || isnan(list.items[i].number))
            return error_set(err, ERR_INVALID, "%s: '%s': '" TEXT_FORMAT "' could not be parsed as a number", spelling,
                             word, TEXT_ARGS(list.items[i].text));
    if (list.items[0].number > list.items[1].number)
        return error_set(err, ERR_INVALID, "%s: '%s': the minimum is greater than the maximum", spelling, word);
    *ret = (struct data_loader_range){
        .name = arena_text(parse_arena(parse), name),
        .minimum = list.items[0].number,
        .maximum = list.items[1].number,
    };
    return 0;
}

int convert_ranges(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct data_loader_range *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        struct data_loader_range range;
        int rc = read_range_word(parse, spelling, words.items[i], &range, err);

        if (rc < 0)
            return rc;
        *(struct data_loader_range *)place_for_name(items, &count, sizeof(*items), range.name) = range;
    }
    *(struct data_loader_ranges *)field = (struct data_loader_ranges){items, count};
    return 0;
}

/* ---- Sizes ---- */

int convert_size(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    static const char suffixes[] = "kKmMgG";
    struct text number = text_of(words.items[words.count - 1]);
    const char *suffix = number.size > 0 ? memchr(suffixes, number.data[number.size - 1], 6) : NULL;
    double bytes;

    (void)parse;
    if (suffix)
        number.size--;
    if (!number_parse_float(number, &bytes) || !(bytes >= 0))
        bytes = INFINITY;
    if (suffix)
        bytes = ldexp(bytes, 10 * (int)(1 + (suffix - suffixes) / 2));
    if (bytes >= 0x1p63)
        return error_set(err, ERR_INVALID, "%s: Could not convert '%s' to a number of bytes; write 1024, 16M or 1.5G",
                         spelling, words.items[words.count - 1]);
    *(int64_t *)field = (int64_t)bytes;
    return 0;
}

/* ---- Output names ---- */

int convert_outputs(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct output_names *ret = field;

    (void)parse, (void)spelling, (void)err;
    if ((words.count == 2 && strcmp(words.items[0], "mark") == 0 && strcmp(words.items[1], "all") == 0) ||
        (words.count == 1 && strcmp(words.items[0], "*") == 0))
        *ret = (struct output_names){.mark_all = true};
    else
        *ret = (struct output_names){.names = words};
    return 0;
}

/* ---- Top K ---- */

static bool read_top_k_word(struct text function, struct top_k_rule *ret)
{
    static const struct text prefix = {"top-", 4}, axis_prefix = {"axis=", 5};
    const char *comma = function.size > 0 ? memchr(function.data, ',', function.size) : NULL;
    struct text head = {function.data, comma ? (size_t)(comma - function.data) : function.size};
    struct text tail = comma ? (struct text){comma + 1, function.size - head.size - 1} : (struct text){"", 0};

    ret->axis = -1;
    head = (struct text){head.data + prefix.size, head.size - prefix.size};
    if (!number_parse_integer(head, &ret->k) || ret->k < 1)
        return false;
    if (!comma)
        return true;
    if (tail.size < axis_prefix.size || memcmp(tail.data, axis_prefix.data, axis_prefix.size) != 0)
        return false;
    tail = (struct text){tail.data + axis_prefix.size, tail.size - axis_prefix.size};
    return number_parse_integer(tail, &ret->axis);
}

int convert_top_k(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct top_k_rule *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        struct text name, value;
        struct top_k_rule top_k;

        split_name(words.items[i], &name, &value);
        if (value.size < 4 || memcmp(value.data, "top-", 4) != 0)
            return error_set(err, ERR_INVALID,
                             "%s: Invalid post-processing function: '" TEXT_FORMAT
                             "'; write top-5, or NAME:top-5,axis=1",
                             spelling, TEXT_ARGS(value));
        if (!read_top_k_word(value, &top_k))
            return error_set(
                err, ERR_INVALID,
                "%s: '%s': K must be a number of 1 or more, the axis a number; write top-5, or NAME:top-5,axis=1",
                spelling, words.items[i]);
        top_k.name = arena_text(parse_arena(parse), name);
        *(struct top_k_rule *)place_for_name(items, &count, sizeof(*items), top_k.name) = top_k;
    }
    *(struct top_ks *)field = (struct top_ks){items, count};
    return 0;
}

/* ---- External data ---- */

/* The folder of the command's output model. The caller frees it. */
static char *folder_of_output(const struct parse *parse)
{
    static const char *const names[] = {"-o", "--save-onnx", "--min-good", "--iter-artifact"};
    struct option_match match;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *path = parse_last_word(parse, names[i]);

        if (path != NULL && option_find(parse, text_of(names[i]), &match))
            return option_of(&match)->file == OPTION_WRITES_FOLDER ? memory_strdup(path) : file_folder(path);
    }
    return memory_strdup(".");
}

int convert_external_data(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct external_settings *external = field;
    char *folder, *location;
    struct error why = {0};
    int rc;

    external->save = true;
    if (words.items[0][0] == '\0')
        return 0;
    folder = folder_of_output(parse);
    rc = external_data_location(words.items[0], folder, &location, &why);
    if (rc == 0)
        external->file_name = arena_strdup(parse_arena(parse), location);
    else
        error_set(err, rc, "%s: %s", spelling, why.message);
    if (rc == 0)
        free(location);
    free(folder);
    return rc;
}

/* ---- A command line in a single word ---- */

/* Reads the word that begins at `*at`, up to the next blank. Returns false if a quote is not closed. */
static bool read_launcher_word(const char **at, struct string_builder *ret)
{
    char quote = '\0';
    const char *rest = *at;

    string_clear(ret);
    string_add(ret, "");
    for (; *rest != '\0' && (quote != '\0' || strchr(" \t\n", *rest) == NULL); rest++) {
        if (quote != '\0' && *rest == quote)
            quote = '\0';
        else if (quote == '\0' && (*rest == '\'' || *rest == '"'))
            quote = *rest;
        else if (*rest == '\\' && quote != '\'' && rest[1] != '\0')
            string_add_char(ret, *++rest);
        else
            string_add_char(ret, *rest);
    }
    *at = rest;
    return quote == '\0';
}

int convert_launcher(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    const char *line = words.items[0];
    const char **items = arena_alloc_zero(parse_arena(parse), strlen(line) / 2 + 2, sizeof(*items));
    SCOPED_STRING(word);
    size_t count = 0;
    bool closed = true;

    for (const char *at = line + strspn(line, " \t\n"); *at != '\0' && closed; at += strspn(at, " \t\n")) {
        closed = read_launcher_word(&at, &word);
        items[count++] = arena_strdup(parse_arena(parse), word.size > 0 ? word.data : "");
    }
    if (!closed)
        return error_set(err, ERR_INVALID, "%s: a quote is not closed: %s", spelling, line);
    if (count == 0)
        return error_set(err, ERR_INVALID, "%s: the command is empty", spelling);
    *(struct words *)field = (struct words){items, count};
    return 0;
}
