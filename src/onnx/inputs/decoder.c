/* onnx/inputs/decoder.c: see decoder.h. */
#include "onnx/inputs/decoder.h"

#include <string.h>

#include "base/memory.h"
#include "onnx/inputs/derived_inputs.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/value_info.h"

#define ROLES "tokens, mask, positions, past-length, total-length or constant"

static const char *const role_names[] = {
    [DECODER_UNKNOWN] = "unknown",
    [DECODER_CACHE] = "cache",
    [DECODER_TOKENS] = "tokens",
    [DECODER_MASK] = "mask",
    [DECODER_POSITIONS] = "positions",
    [DECODER_PAST_LENGTH] = "past-length",
    [DECODER_TOTAL_LENGTH] = "total-length",
    [DECODER_CONSTANT] = "constant",
};

const char *decoder_role_name(enum decoder_role role)
{
    return role_names[role];
}

struct role_search {
    const struct model *model;
    struct decoder *decoder;
    struct value_type *types; /* of the inputs */
    /* With 5 entries in the caches and 3 tokens; one entry more; one token more. */
    struct derived_inputs base, longer_past, longer_sequence;
};

/* ---- Roles ---- */

static int read_given_role(struct role_search *search, const char *word, struct error *err)
{
    const struct model *model = search->model;
    const char *colon = strrchr(word, ':');
    const struct text name = {word, colon != NULL ? (size_t)(colon - word) : 0};
    uint32_t value = model_find_value(model, name);
    size_t input = value_list_place(&model->inputs, value);

    if (colon != NULL && strcmp(colon + 1, "logits") == 0 && value_list_has(&model->outputs, value)) {
        search->decoder->logits = arena_text(&search->decoder->arena, name);
        return 0;
    }
    for (int role = DECODER_TOKENS; input != SIZE_MAX && role <= DECODER_CONSTANT; role++)
        if (strcmp(colon + 1, role_names[role]) == 0) {
            search->decoder->inputs[input].role = (enum decoder_role)role;
            return 0;
        }
    return error_set(err, ERR_INVALID,
                     "--step-roles: '%s' is not INPUT:ROLE with an input of the model and a role, which is " ROLES
                     ", nor OUTPUT:logits",
                     word);
}

static bool is_whole_number(const struct value_type *type)
{
    return type->not_a_tensor == NULL && (data_type_is_integer(type->element) || type->element == DATA_BOOL);
}

/* The input of tokens: the only one with indices, of several the one that is called so. SIZE_MAX: it is not known. */
static size_t find_tokens(const struct role_search *search, const struct derived_inputs *derived, bool *ret_by_name)
{
    size_t found = SIZE_MAX, named = SIZE_MAX, count = 0, named_count = 0;

    *ret_by_name = false;
    for (size_t i = 0; i < derived->count; i++) {
        enum decoder_role role = search->decoder->inputs[i].role;

        if (role == DECODER_TOKENS)
            return i;
        if (role != DECODER_UNKNOWN || derived->items[i].values != DERIVED_INTEGERS || !derived->items[i].has_shape ||
            derived->items[i].shape.rank == 0)
            continue;
        count++;
        found = i;
        if (text_contains(text_of(derived->items[i].name), TEXT("input_ids"))) {
            named_count++;
            named = i;
        }
    }
    *ret_by_name = count > 1;
    return count == 1 ? found : named_count == 1 ? named : SIZE_MAX;
}

/* The first axis by whose size two derivations differ by one; SIZE_MAX: none. */
static size_t find_growing_axis(const struct derived_input *before, const struct derived_input *after)
{
    for (size_t k = 0; before->has_shape && k < before->shape.rank; k++)
        if (after->shape.dims[k] == before->shape.dims[k] + 1)
            return k;
    return SIZE_MAX;
}

/* Derives with these lengths of all caches and of the sequence. */
static void derive_with(const struct role_search *search, size_t tokens, int64_t entries, int64_t sequence,
                        struct derived_inputs *ret)
{
    struct derivation_shape *given SCOPED_FREE = memory_alloc_zero(search->decoder->count, sizeof(*given));
    size_t count = 0;

    for (size_t i = 0; i < search->decoder->count; i++) {
        const struct decoder_input *input = &search->decoder->inputs[i];
        const struct value_type *type = &search->types[i];
        size_t axis = input->role == DECODER_CACHE ? input->axis : i == tokens ? type->shape.rank - 1 : SIZE_MAX;
        struct derivation_shape *item = &given[count];

        if (axis == SIZE_MAX || type->shape.dims[axis] >= 0)
            continue;
        item->input = (uint32_t)i;
        item->shape.rank = type->shape.rank;
        for (size_t k = 0; k < type->shape.rank; k++)
            item->shape.dims[k] = -1;
        item->shape.dims[axis] = i == tokens ? sequence : entries;
        count++;
    }
    derived_inputs_init(ret, search->model, given, count);
}

static enum decoder_role role_of_number(const struct role_search *search, size_t input)
{
    int64_t base = search->base.items[input].low;
    bool with_past = search->longer_past.items[input].low != base;
    bool with_sequence = search->longer_sequence.items[input].low != base;

    if (with_past)
        return with_sequence ? DECODER_TOTAL_LENGTH : DECODER_PAST_LENGTH;
    return with_sequence ? DECODER_UNKNOWN : DECODER_CONSTANT;
}

/* Whether the last size has the name of one of an input of floating-point numbers that is no cache, such as the output
 * of an encoder. */
static bool has_size_of_constant(const struct role_search *search, size_t input)
{
    const struct value_type *type = &search->types[input];
    const struct text *symbol = type->shape.rank > 1 ? &type->symbols[type->shape.rank - 1] : NULL;

    for (size_t i = 0; i < search->decoder->count && symbol != NULL && symbol->size > 0; i++) {
        const struct value_type *other = &search->types[i];

        if (search->decoder->inputs[i].role == DECODER_CACHE || !data_type_is_float(other->element))
            continue;
        for (size_t k = 0; k < other->shape.rank; k++)
            if (other->shape.dims[k] < 0 && text_equal(other->symbols[k], *symbol))
                return true;
    }
    return false;
}

/* Of an input without a size that depends on the cache or the sequence. */
static enum decoder_role role_of_fixed(const struct role_search *search, size_t input, size_t tokens)
{
    const struct value_type *type = &search->types[input];
    struct decoder_input *item = &search->decoder->inputs[input];
    const struct shape *of_tokens = &search->types[tokens].shape;
    bool sequence_is_open = of_tokens->dims[of_tokens->rank - 1] < 0;

    switch (search->base.items[input].values) {
    case DERIVED_NUMBER:
        return role_of_number(search, input);
    case DERIVED_MASK: /* one of the tokens whose size is fixed is not recognized */
        if (has_size_of_constant(search, input))
            return DECODER_CONSTANT;
        item->by_name =
            text_contains(text_of(item->name), TEXT("encoder")) || text_contains(text_of(item->name), TEXT("cross"));
        return item->by_name ? DECODER_CONSTANT : DECODER_UNKNOWN;
    case DERIVED_POSITIONS:
        return sequence_is_open ? DECODER_UNKNOWN : DECODER_POSITIONS;
    case DERIVED_INTEGERS:
        return sequence_is_open ? DECODER_CONSTANT : DECODER_UNKNOWN;
    case DERIVED_ANY:
        break;
    }
    return is_whole_number(type) ? DECODER_UNKNOWN : DECODER_CONSTANT;
}

static enum decoder_role derive_role(struct role_search *search, size_t input, size_t tokens, size_t past_axis)
{
    size_t sequence_axis = find_growing_axis(&search->base.items[input], &search->longer_sequence.items[input]);
    enum derived_values values = search->base.items[input].values;
    struct decoder_input *item = &search->decoder->inputs[input];

    if (past_axis == SIZE_MAX && sequence_axis == SIZE_MAX)
        return role_of_fixed(search, input, tokens);
    item->by_name = !item->has_rule && is_whole_number(&search->types[input]);
    if (past_axis == SIZE_MAX)
        return values == DERIVED_POSITIONS || (item->by_name && text_contains(text_of(item->name), TEXT("position")))
                   ? DECODER_POSITIONS
                   : DECODER_UNKNOWN;
    return values == DERIVED_MASK || (item->by_name && text_contains(text_of(item->name), TEXT("mask")))
               ? DECODER_MASK
               : DECODER_UNKNOWN;
}

/* Whether the role can be that of the input: what is advanced is whole numbers. */
static int check_role(const struct role_search *search, size_t input, struct error *err)
{
    const struct decoder_input *item = &search->decoder->inputs[input];
    const struct value_type *type = &search->types[input];

    if (item->role == DECODER_UNKNOWN)
        return error_set(err, ERR_UNSUPPORTED,
                         "input '%s': what it is in the steps of the decoder is not known. Pass its role, " ROLES
                         ", as in --step-roles %s:constant, or the pair of a cache to --cache",
                         item->name, item->name);
    if (item->role == DECODER_CACHE || item->role == DECODER_CONSTANT)
        return 0;
    if (!is_whole_number(type) || !type->has_shape || (type->shape.rank == 0 && item->role < DECODER_PAST_LENGTH))
        return error_set(err, ERR_UNSUPPORTED, "input '%s' cannot have the role '%s': it is no tensor of integers%s",
                         item->name, role_names[item->role],
                         type->shape.rank == 0 ? " with an axis to grow along" : "");
    return 0;
}

static int derive_roles(struct role_search *search, struct error *err)
{
    struct decoder *decoder = search->decoder;
    struct derived_inputs plain;
    size_t tokens;
    bool by_name;

    derived_inputs_init(&plain, search->model, NULL, 0);
    tokens = find_tokens(search, &plain, &by_name);
    derived_inputs_release(&plain);
    if (tokens == SIZE_MAX)
        return error_set(err, ERR_UNSUPPORTED,
                         "which input has the tokens is not known: pass it, as in --step-roles input_ids:tokens");
    decoder->inputs[tokens].role = DECODER_TOKENS;
    decoder->inputs[tokens].by_name = by_name;
    if (check_role(search, tokens, err) < 0)
        return err->code;
    derive_with(search, tokens, 5, 3, &search->base);
    derive_with(search, tokens, 6, 3, &search->longer_past);
    derive_with(search, tokens, 5, 4, &search->longer_sequence);
    for (size_t i = 0; i < decoder->count; i++) {
        struct decoder_input *item = &decoder->inputs[i];
        size_t axis = find_growing_axis(&search->base.items[i], &search->longer_past.items[i]);

        item->has_rule = search->base.items[i].values != DERIVED_ANY;
        if (item->role == DECODER_UNKNOWN)
            item->role = derive_role(search, i, tokens, axis);
        if (check_role(search, i, err) < 0)
            return err->code;
        if (item->role == DECODER_MASK)
            item->axis = axis != SIZE_MAX ? axis : search->types[i].shape.rank - 1;
    }
    return 0;
}

/* ---- Logits ---- */

static bool is_present(const struct decoder *decoder, const char *output)
{
    for (size_t i = 0; i < decoder->count; i++)
        if (decoder->inputs[i].present != NULL && strcmp(decoder->inputs[i].present, output) == 0)
            return true;
    return false;
}

/* The only output of floating-point numbers that is no cache; of several the one that is called so. */
static int find_logits(struct role_search *search, struct error *err)
{
    const struct model *model = search->model;
    struct decoder *decoder = search->decoder;
    const char *found = NULL, *named = NULL;
    size_t count = 0;

    if (decoder->logits != NULL) /* given */
        return 0;
    for (size_t i = 0; i < model->outputs.count; i++) {
        const char *name = arena_text(&decoder->arena, model->values.items[model->outputs.items[i]].name);
        struct value_type type;

        value_info_decode(model->values.items[model->outputs.items[i]].info, &type);
        if (type.not_a_tensor != NULL || !data_type_is_float(type.element) || is_present(decoder, name))
            continue;
        count++;
        found = name;
        named = strcmp(name, "logits") == 0 ? name : named;
    }
    decoder->logits = count == 1 ? found : named;
    decoder->logits_by_name = count > 1;
    if (decoder->logits == NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "which output has the logits is not known: pass it, as in --step-roles logits:logits");
    return 0;
}

/* ---- The result ---- */

static int find_caches(struct role_search *search, const struct words *given, struct error *err)
{
    const struct model *model = search->model;
    struct decoder *decoder = search->decoder;
    struct cache_pair *pairs SCOPED_FREE = memory_alloc_zero(decoder->count + 1, sizeof(*pairs));
    int rc = cache_pairs_find(model, given, search->types, pairs, err);

    for (size_t i = 0; i < decoder->count && rc == 0; i++) {
        struct decoder_input *item = &decoder->inputs[i];

        if (pairs[i].rule == CACHE_NOT_PAIRED)
            continue;
        item->role = DECODER_CACHE;
        item->rule = pairs[i].rule;
        item->axis = pairs[i].axis;
        item->present = arena_text(&decoder->arena, model->values.items[model->outputs.items[pairs[i].output]].name);
        item->other_source = pairs[i].other_source != SIZE_MAX ? decoder->inputs[pairs[i].other_source].name : NULL;
    }
    return rc;
}

int decoder_find(const struct model *model, const struct decoder_words *words, struct decoder *ret, struct error *err)
{
    struct role_search search = {.model = model, .decoder = ret};
    struct decoder_input *inputs;
    int rc;

    *ret = (struct decoder){.count = model->inputs.count};
    ret->inputs = inputs = arena_alloc_zero(&ret->arena, ret->count + 1, sizeof(*ret->inputs));
    search.types = arena_alloc_zero(&ret->arena, ret->count + 1, sizeof(*search.types));
    for (size_t i = 0; i < ret->count; i++) {
        inputs[i].name = arena_text(&ret->arena, model->values.items[model->inputs.items[i]].name);
        inputs[i].axis = SIZE_MAX;
        value_info_decode(model->values.items[model->inputs.items[i]].info, &search.types[i]);
    }
    rc = find_caches(&search, &words->caches, err);
    for (size_t i = 0; i < words->roles.count && rc == 0; i++)
        rc = read_given_role(&search, words->roles.items[i], err);
    if (rc < 0)
        return rc;
    rc = derive_roles(&search, err);
    if (rc == 0)
        rc = find_logits(&search, err);
    derived_inputs_release(&search.base);
    derived_inputs_release(&search.longer_past);
    derived_inputs_release(&search.longer_sequence);
    return rc;
}

void decoder_release(struct decoder *decoder)
{
    arena_release(&decoder->arena);
    *decoder = (struct decoder){0};
}

const struct decoder_input *decoder_find_role(const struct decoder *decoder, enum decoder_role role)
{
    ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
        if (input->role == role)
            return input;
    return NULL;
}
