/* onnx/inputs/cache_pairs.c: see cache_pairs.h. */
#include "onnx/inputs/cache_pairs.h"

#include <string.h>

#include "base/memory.h"
#include "onnx/model/subgraph.h"

struct cache_search {
    const struct model *model;
    const struct value_type *types; /* of the inputs */
    struct cache_pair *pairs;       /* of the inputs */
};

static struct text name_in(const struct model *model, const struct value_list *list, size_t place)
{
    return model->values.items[list->items[place]].name;
}

/* ---- One pair ---- */

/* Whether both are tensors of one type, with equal sizes but for open ones. Entries are appended along the axis whose
 * size has another name in the other tensor; of several the last one, since exporters also rename that of the batch. */
static bool is_cache_pair(const struct value_type *past, const struct value_type *present, size_t *ret_axis)
{
    *ret_axis = SIZE_MAX;
    if (past->not_a_tensor != NULL || present->not_a_tensor != NULL || past->element != present->element ||
        !past->has_shape || !present->has_shape || present->shape.rank != past->shape.rank)
        return false;
    for (size_t k = 0; k < past->shape.rank; k++) {
        int64_t from = past->shape.dims[k], to = present->shape.dims[k];

        if (from == to && (from >= 0 || text_equal(past->symbols[k], present->symbols[k])))
            continue;
        if (from >= 0)
            return false;
        *ret_axis = k;
    }
    return true;
}

static bool pair_fits(const struct cache_search *search, size_t input, size_t output, size_t *ret_axis)
{
    struct value_type present;

    value_info_decode(search->model->values.items[search->model->outputs.items[output]].info, &present);
    return is_cache_pair(&search->types[input], &present, ret_axis);
}

static int set_pair(struct cache_search *search, size_t input, size_t output, enum cache_rule rule, struct error *err)
{
    const struct model *model = search->model;
    size_t axis;

    if (!pair_fits(search, input, output, &axis))
        return error_set(err, ERR_UNSUPPORTED,
                         "input '" TEXT_FORMAT "' cannot get output '" TEXT_FORMAT
                         "': types and shapes must be equal except for the number of entries; pass the pairs to "
                         "--cache, as in --cache PAST:PRESENT",
                         TEXT_ARGS(name_in(model, &model->inputs, input)),
                         TEXT_ARGS(name_in(model, &model->outputs, output)));
    search->pairs[input] = (struct cache_pair){.rule = rule, .output = output, .axis = axis, .other_source = SIZE_MAX};
    return 0;
}

static bool is_paired(const struct cache_search *search, size_t output)
{
    for (size_t i = 0; i < search->model->inputs.count; i++)
        if (search->pairs[i].rule != CACHE_NOT_PAIRED && search->pairs[i].output == output)
            return true;
    return false;
}

/* ---- Given pairs ---- */

/* "PAST:PRESENT"; names may contain colons. */
static int pair_given(struct cache_search *search, const char *word, struct error *err)
{
    const struct model *model = search->model;

    for (const char *colon = strchr(word, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        const struct text past = {word, (size_t)(colon - word)};
        size_t input = value_list_place(&model->inputs, model_find_value(model, past));
        size_t output = value_list_place(&model->outputs, model_find_value(model, text_of(colon + 1)));

        if (input != SIZE_MAX && output != SIZE_MAX)
            return set_pair(search, input, output, CACHE_GIVEN, err);
    }
    return error_set(err, ERR_INVALID, "--cache: '%s' is not INPUT:OUTPUT with an input and an output of the model",
                     word);
}

/* ---- Names ---- */

/* What follows the first of these prefixes; size SIZE_MAX: none does. */
static struct text text_after(struct text name, const char *const *prefixes)
{
    for (size_t i = 0; prefixes[i] != NULL; i++)
        if (text_begins_with(name, prefixes[i]))
            return (struct text){name.data + strlen(prefixes[i]), name.size - strlen(prefixes[i])};
    return (struct text){NULL, SIZE_MAX};
}

static int pair_by_names(struct cache_search *search, struct error *err)
{
    static const char *const pasts[] = {"past_key_values", "past_key_value", "past", NULL};
    static const char *const presents[] = {"present_key_values", "present_key_value", "present", NULL};
    const struct model *model = search->model;

    for (size_t i = 0; i < model->inputs.count; i++) {
        struct text past = text_after(name_in(model, &model->inputs, i), pasts);
        int rc = 0;

        if (past.size == SIZE_MAX || search->pairs[i].rule != CACHE_NOT_PAIRED)
            continue;
        for (size_t k = 0; k < model->outputs.count && rc == 0; k++) {
            struct text present = text_after(name_in(model, &model->outputs, k), presents);

            if (present.size != SIZE_MAX && text_equal(present, past))
                rc = set_pair(search, i, k, CACHE_BY_NAME, err);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- The graph ---- */

/* Operators with an output that consists of an input and new entries, or of elements of the input in another form. The
 * slots of attention are those of ONNX's operator set 24 and of ONNX Runtime's documentation of its own operators. */
static const struct carrier {
    const char *op_type;
    uint8_t output, input;
} carriers[] = {
    {"Concat", 0, 0},
    {"ScatterND", 0, 0},
    {"ScatterElements", 0, 0},
    {"TensorScatter", 0, 0},
    {"Slice", 0, 0},
    {"Identity", 0, 0},
    {"Cast", 0, 0},
    {"Transpose", 0, 0},
    {"Reshape", 0, 0},
    {"Squeeze", 0, 0},
    {"Unsqueeze", 0, 0},
    {"Attention", 1, 4},
    {"Attention", 2, 5},
    {"GroupQueryAttention", 1, 3},
    {"GroupQueryAttention", 2, 4},
    {"SparseAttention", 1, 3},
    {"SparseAttention", 2, 4},
    {"MultiHeadAttention", 1, 6},
    {"MultiHeadAttention", 2, 7},
    {"DecoderMaskedMultiHeadAttention", 1, 5},
    {"DecoderMaskedMultiHeadAttention", 2, 6},
    {"DecoderMaskedSelfAttention", 1, 4},
    {"LSTM", 1, 5},
    {"LSTM", 2, 6},
    {"GRU", 1, 5},
    {"RNN", 1, 5},
};

/* The input of its producer from which a value is carried on; VALUE_NONE: none. */
static uint32_t carried_from(const struct model *model, uint32_t value)
{
    const struct node *node = model_producer(model, value);

    for (size_t i = 0; node != NULL && i < ARRAY_LEN(carriers); i++)
        if (text_equal_string(node->op_type, carriers[i].op_type) &&
            node_output(model, node, carriers[i].output) == value)
            return node_input(model, node, carriers[i].input);
    return VALUE_NONE;
}

/* The input of the model from which an output is carried on, by its place; SIZE_MAX: none. */
static size_t find_source(const struct model *model, size_t output)
{
    uint32_t value = model->outputs.items[output];

    for (size_t i = 0; i <= model->nodes.count && value != VALUE_NONE; i++) { /* damaged models may have cycles */
        size_t input = value_list_place(&model->inputs, value);

        if (input != SIZE_MAX)
            return input;
        value = carried_from(model, value);
    }
    return SIZE_MAX;
}

/* An input from which several outputs are carried on is left to the user. */
static void pair_by_graph(struct cache_search *search, const size_t *sources)
{
    const struct model *model = search->model;

    for (size_t i = 0; i < model->inputs.count; i++) {
        size_t found = SIZE_MAX, count = 0, axis, found_axis = SIZE_MAX;

        if (search->pairs[i].rule != CACHE_NOT_PAIRED)
            continue;
        for (size_t k = 0; k < model->outputs.count; k++) {
            if (sources[k] != i || is_paired(search, k) || !pair_fits(search, i, k, &axis))
                continue;
            found = k;
            found_axis = axis;
            count++;
        }
        if (count == 1)
            search->pairs[i] = (struct cache_pair){
                .rule = CACHE_BY_GRAPH, .output = found, .axis = found_axis, .other_source = SIZE_MAX};
    }
}

static void compare_names_with_graph(struct cache_search *search, const size_t *sources)
{
    for (size_t i = 0; i < search->model->inputs.count; i++) {
        struct cache_pair *item = &search->pairs[i];

        if (item->rule == CACHE_BY_NAME && sources[item->output] != i)
            item->other_source = sources[item->output];
    }
}

/* ---- The result ---- */

/* The pairs must be one to one, and there must be one. */
static int check_pairs(const struct cache_search *search, struct error *err)
{
    const struct model *model = search->model;
    size_t count = 0;

    for (size_t i = 0; i < model->inputs.count; i++) {
        if (search->pairs[i].rule == CACHE_NOT_PAIRED)
            continue;
        for (size_t k = 0; k < i; k++)
            if (search->pairs[k].rule != CACHE_NOT_PAIRED && search->pairs[k].output == search->pairs[i].output)
                return error_set(err, ERR_INVALID,
                                 "inputs '" TEXT_FORMAT "' and '" TEXT_FORMAT
                                 "' are both paired with output '" TEXT_FORMAT "': pass the pairs to --cache",
                                 TEXT_ARGS(name_in(model, &model->inputs, k)),
                                 TEXT_ARGS(name_in(model, &model->inputs, i)),
                                 TEXT_ARGS(name_in(model, &model->outputs, search->pairs[i].output)));
        count++;
    }
    if (count == 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "no input 'past...' has an output 'present...', and no output consists of an input and new "
                         "entries: pass the pairs of the cache to --cache, as in --cache "
                         "past_key_values.0.key:present.0.key");
    return 0;
}

int cache_pairs_find(const struct model *model, const struct words *given, const struct value_type *types,
                     struct cache_pair *ret, struct error *err)
{
    struct cache_search search = {.model = model, .types = types, .pairs = ret};
    size_t *sources SCOPED_FREE = memory_alloc_zero(model->outputs.count + 1, sizeof(*sources));

    for (size_t i = 0; i < model->inputs.count; i++)
        ret[i] = (struct cache_pair){.axis = SIZE_MAX, .other_source = SIZE_MAX};
    for (size_t i = 0; i < given->count; i++)
        if (pair_given(&search, given->items[i], err) < 0)
            return err->code;
    if (pair_by_names(&search, err) < 0)
        return err->code;
    for (size_t i = 0; i < model->outputs.count; i++)
        sources[i] = find_source(model, i);
    pair_by_graph(&search, sources);
    compare_names_with_graph(&search, sources);
    return check_pairs(&search, err);
}

const char *cache_rule_name(enum cache_rule rule)
{
    static const char *const names[] = {[CACHE_NOT_PAIRED] = "",
                                        [CACHE_GIVEN] = "given",
                                        [CACHE_BY_NAME] = "by name",
                                        [CACHE_BY_GRAPH] = "by the graph"};

    return names[rule];
}
