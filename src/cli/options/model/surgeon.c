/* cli/options/model/surgeon.c: options of `surgeon` tools: tensors at which a model is cut, the inserted node, weights
 * that are kept.
 */
#include <string.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "cli/options/groups.h"

/* ---- Tensors: NAME:SHAPE:TYPE and NAME:TYPE ---- */

static bool is_auto_word(struct text text)
{
    return text.size == 4 && text_contains_ignoring_case(text, TEXT("auto"));
}

/* The type, UNDEFINED for `auto`. */
static int read_metadata_type(const char *spelling, const char *word, struct text text, enum data_type *ret,
                              struct error *err)
{
    *ret = text_equal_string(text, "float4") ? DATA_FLOAT4E2M1 : data_type_parse(text);
    if (*ret == DATA_UNDEFINED && !is_auto_word(text))
        return error_set(err, ERR_INVALID,
                         "%s: '%s': '" TEXT_FORMAT "' is not a data type; write float32, int64, ..., or auto", spelling,
                         word, TEXT_ARGS(text));
    return 0;
}

static int read_metadata_shape(struct parse *parse, const char *spelling, const char *word, struct text text,
                               struct tensor_metadata *ret, struct error *err)
{
    struct input_shape shape = {0};
    struct cast_value list;
    int rc;

    if (is_auto_word(text))
        return 0;
    cast_word(parse, text, &list);
    if (list.kind != CAST_LIST)
        return error_set(err, ERR_INVALID, "%s: '%s': '" TEXT_FORMAT "' is not a shape; write [1,3], or auto", spelling,
                         word, TEXT_ARGS(text));
    rc = cast_shape(parse, spelling, word, &list, &shape, err);
    if (rc < 0)
        return rc;
    ret->has_shape = true;
    ret->shape = shape.shape;
    ret->symbols = shape.symbols;
    return 0;
}

/* Splits the part after the last colon off `text`. Returns false without a colon. */
static bool take_last_part(struct text *text, struct text *ret)
{
    size_t at = text->size;

    while (at > 0 && text->data[at - 1] != ':')
        at--;
    if (at == 0)
        return false;
    *ret = (struct text){text->data + at, text->size - at};
    text->size = at - 1;
    return true;
}

static int check_tensor_names(const char *spelling, const struct tensor_metadata_list *list, struct error *err)
{
    SCOPED_NAME_MAP(names);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->count; i++)
        if (name_map_add(&names, text_of(list->items[i].name), (uint32_t)i) != i)
            rc = error_set(err, ERR_INVALID, "%s: '%s' is named twice", spelling, list->items[i].name);
    return rc;
}

static int convert_metadata(struct parse *parse, const char *spelling, struct words given, bool with_shapes,
                            struct tensor_metadata_list *ret, struct error *err)
{
    struct words words = with_shapes ? join_shape_words(parse, given) : given;
    struct tensor_metadata *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));

    for (size_t i = 0; i < words.count; i++) {
        struct text name = text_of(words.items[i]), shape = {"", 0}, type;
        int rc = 0;

        if (!take_last_part(&name, &type) || (with_shapes && !take_last_part(&name, &shape)) || name.size == 0)
            return error_set(err, ERR_INVALID, "%s: '%s' is not of the form %s", spelling, words.items[i],
                             with_shapes ? "NAME:SHAPE:TYPE; write x:[1,3]:float32, or x:auto:auto"
                                         : "NAME:TYPE; write y:float32, or y:auto");
        rc = read_metadata_type(spelling, words.items[i], type, &items[i].type, err);
        if (rc == 0 && with_shapes)
            rc = read_metadata_shape(parse, spelling, words.items[i], shape, &items[i], err);
        if (rc < 0)
            return rc;
        items[i].name = arena_text(parse_arena(parse), name);
    }
    *ret = (struct tensor_metadata_list){items, words.count};
    return check_tensor_names(spelling, ret, err);
}

static int convert_input_metadata(struct parse *parse, const char *spelling, struct words words, void *field,
                                  struct error *err)
{
    return convert_metadata(parse, spelling, words, true, field, err);
}

static int convert_output_metadata(struct parse *parse, const char *spelling, struct words words, void *field,
                                   struct error *err)
{
    return convert_metadata(parse, spelling, words, false, field, err);
}

static const struct option extract_rows[] = {
    OPTION_ROW(struct extract_values, inputs, .names = {"--inputs"}, .kind = OPTION_ANY,
               .value_name = "NAME:SHAPE:TYPE", .convert = convert_input_metadata, .naming = OPTION_TENSOR_NAMES,
               .hints = (const char *const[]){"auto:auto", NULL},
               .help = "inputs of the subgraph, with shape and type, or `auto` for those in the model: x:[1,3]:float32 "
                       "or x:auto:auto (default: the model's inputs). Without names: a subgraph of constants alone"),
    OPTION_ROW(
        struct extract_values, outputs, .names = {"--outputs"}, .kind = OPTION_MANY, .value_name = "NAME:TYPE",
        .convert = convert_output_metadata, .naming = OPTION_TENSOR_NAMES, .hints = (const char *const[]){"auto", NULL},
        .help = "outputs of the subgraph, with type, or `auto`: y:float32 or y:auto (default: the model's outputs)"),
};

static int finish_extract(struct parse *parse, void *given, struct error *err)
{
    struct extract_values *values = given;

    (void)err;
    values->has_no_inputs = parse_given(parse, "--inputs") != NULL && values->inputs.count == 0;
    return 0;
}

const struct option_group extract_options = {
    .title = "Subgraph to extract",
    OPTION_ROWS(extract_rows),
    .finish = finish_extract,
};

/* ---- The node to insert ---- */

static int refuse_attribute(const char *spelling, const char *word, const char *what, struct error *err)
{
    return error_set(err, ERR_INVALID, "%s: '%s' %s; write axis=1, alpha=0.5, mode=linear, perm=[0,2,1] or names=[a,b]",
                     spelling, word, what);
}

/* A list contains integers, numbers if any item is not an integer, or strings. */
static int read_attribute_list(struct parse *parse, const char *spelling, const char *word,
                               const struct cast_value *list, struct node_attribute *ret, struct error *err)
{
    struct arena *arena = parse_arena(parse);
    int64_t *integers = arena_alloc_zero(arena, list->count, sizeof(*integers));
    float *numbers = arena_alloc_zero(arena, list->count, sizeof(*numbers));
    struct text *texts = arena_alloc_zero(arena, list->count, sizeof(*texts));
    size_t counts[4] = {0};

    for (size_t i = 0; i < list->count; i++) {
        integers[i] = list->items[i].integer;
        numbers[i] = (float)list->items[i].number;
        texts[i] = list->items[i].text;
        counts[list->items[i].kind]++;
    }
    ret->count = list->count;
    if (counts[CAST_LIST] > 0)
        return refuse_attribute(spelling, word, "contains a nested list", err);
    if (list->count == 1 && counts[CAST_TEXT] == 1 && texts[0].size == 0)
        return refuse_attribute(spelling, word, "is an empty list, which has no type", err);
    if (counts[CAST_TEXT] > 0 && counts[CAST_TEXT] < list->count)
        return refuse_attribute(spelling, word, "mixes numbers and text", err);
    if (counts[CAST_TEXT] > 0) {
        ret->kind = ATTRIBUTE_KIND_STRINGS;
        ret->strings = texts;
    } else if (counts[CAST_FLOAT] > 0) {
        ret->kind = ATTRIBUTE_KIND_FLOATS;
        ret->numbers = numbers;
    } else {
        ret->kind = ATTRIBUTE_KIND_INTEGERS;
        ret->integers = integers;
    }
    return 0;
}

static int read_attribute(struct parse *parse, const char *spelling, const char *word, struct node_attribute *ret,
                          struct error *err)
{
    const char *equals = strrchr(word, '=');
    struct cast_value value;

    if (equals == NULL || equals == word)
        return refuse_attribute(spelling, word, "is not of the form NAME=VALUE", err);
    ret->name = (struct text){word, (size_t)(equals - word)};
    cast_word(parse, text_of(equals + 1), &value);
    if (value.kind == CAST_LIST)
        return read_attribute_list(parse, spelling, word, &value, ret, err);
    if (value.kind == CAST_INTEGER) {
        ret->kind = ATTRIBUTE_KIND_INTEGER;
        ret->integer = value.integer;
    } else if (value.kind == CAST_FLOAT) {
        ret->kind = ATTRIBUTE_KIND_FLOAT;
        ret->number = (float)value.number;
    } else {
        ret->kind = ATTRIBUTE_KIND_STRING;
        ret->string = value.text;
    }
    return 0;
}

static int convert_attributes(struct parse *parse, const char *spelling, struct words words, void *field,
                              struct error *err)
{
    struct node_attribute *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < words.count; i++) {
        struct node_attribute attribute = {.count = 0};
        size_t place = 0;
        int rc = read_attribute(parse, spelling, words.items[i], &attribute, err);

        if (rc < 0)
            return rc;
        while (place < count && !text_equal(items[place].name, attribute.name))
            place++;
        items[place] = attribute;
        count += place == count;
    }
    *(struct node_attribute_list *)field = (struct node_attribute_list){items, count};
    return 0;
}

static const struct option insert_rows[] = {
    OPTION_ROW(struct insert_values, inputs, .names = {"--inputs"}, .kind = OPTION_MANY, .value_name = "NAME",
               .required = true, .naming = OPTION_TENSOR_NAMES,
               .help = "input tensors of the node, in order; '' for an omitted one"),
    OPTION_ROW(struct insert_values, outputs, .names = {"--outputs"}, .kind = OPTION_MANY, .value_name = "NAME",
               .required = true, .naming = OPTION_TENSOR_NAMES,
               .help = "output tensors of the node. A tensor that is also an input is split: the node reads the old "
                       "tensor, and its consumers read the new one"),
    OPTION_ROW(struct insert_values, op, .names = {"--op"}, .kind = OPTION_ONE, .value_name = "TYPE", .required = true,
               .help = "operator of the node"),
    OPTION_ROW(struct insert_values, name, .names = {"--name"}, .kind = OPTION_ONE, .value_name = "NAME",
               .help = "name of the node"),
    OPTION_ROW(struct insert_values, attributes, .names = {"--attrs"}, .kind = OPTION_MANY, .value_name = "NAME=VALUE",
               .convert = convert_attributes,
               .help =
                   "attributes of the node: axis=1 alpha=0.5 mode=linear perm=[0,2,1]. A quoted number is a string: "
                   "mode='1'. In a list with integers and other numbers, all become floating-point numbers"),
};

const struct option_group insert_options = {
    .title = "Inserted node",
    OPTION_ROWS(insert_rows),
};

/* ---- Weights that are kept ---- */

static const struct option weight_strip_rows[] = {
    OPTION_ROW(struct weight_strip_values, exclude_list, .names = {"--exclude-list"}, .kind = OPTION_ONE,
               .value_name = "FILE", .file = OPTION_READS,
               .help = "text file with the names of weights to keep, one per line"),
};

const struct option_group weight_strip_options = {
    .title = "Weight stripping",
    OPTION_ROWS(weight_strip_rows),
};
