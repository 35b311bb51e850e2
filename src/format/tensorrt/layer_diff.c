/* format/tensorrt/layer_diff.c: matching and comparing layers of two engines. */
#include "format/tensorrt/layer_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/name_map.h"
#include "base/memory.h"

/* Layers of both engines by one number: those of the second come after those of the first. */
struct matching {
    const struct layer_info *a, *b;
    size_t count;
    size_t *group;    /* of each layer, a number of a layer in the same group: union-find */
    char **signature; /* of each layer, its nodes in order of their names, or its own name; malloc'd */
    bool *matched;
};

static const struct layer_info_layer *layer_at(const struct matching *matching, size_t index)
{
    size_t first = matching->a->layers.count;

    return index < first ? &matching->a->layers.items[index] : &matching->b->layers.items[index - first];
}

static size_t root_of(struct matching *matching, size_t index)
{
    while (matching->group[index] != index) {
        matching->group[index] = matching->group[matching->group[index]];
        index = matching->group[index];
    }
    return index;
}

/* The smaller number becomes the root: groups are known by their first layer. */
static void join_layers(struct matching *matching, size_t x, size_t y)
{
    x = root_of(matching, x);
    y = root_of(matching, y);
    if (x < y)
        matching->group[y] = x;
    else
        matching->group[x] = y;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Two layers have the same one exactly when they have the same nodes, or no nodes and the same name. */
static char *signature_of(const struct layer_info_layer *layer)
{
    size_t count = layer->nodes.count;
    struct string_builder text;
    const char **names;

    string_init(&text);
    if (count == 0) {
        string_add_format(&text, "\x1e%s", layer->name);
        return string_take(&text);
    }
    names = memory_resize(NULL, count, sizeof(*names));
    memcpy(names, layer->nodes.items, count * sizeof(*names));
    qsort(names, count, sizeof(*names), compare_names);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            string_add_format(&text, "%s\x1f", names[i]);
    free(names);
    return string_take(&text);
}

static void make_groups(struct matching *matching)
{
    SCOPED_NAME_MAP(nodes);

    for (size_t i = 0; i < matching->count; i++) {
        const struct layer_info_layer *layer = layer_at(matching, i);

        matching->group[i] = i;
        matching->signature[i] = signature_of(layer);
        for (size_t k = 0; k < layer->nodes.count; k++)
            join_layers(matching, i, name_map_add(&nodes, text_of(layer->nodes.items[k]), (uint32_t)i));
    }
}

/* ---- Pairs ---- */

/* Tensors that one engine does not have make no difference of types: fusing decides about them. */
static void compare_tensors(const struct layer_info_tensors *a, const struct layer_info_tensors *b,
                            struct layer_pair *pair)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (a->items[i].type != b->items[i].type)
            pair->typed = true;
        else if (!string_equal(a->items[i].format, b->items[i].format))
            pair->stored = true;
    }
}

static bool same_implementation(const struct layer_info_layer *a, const struct layer_info_layer *b)
{
    if (!string_equal(a->type, b->type) || a->has_tactic != b->has_tactic)
        return false;
    if (a->has_tactic && a->tactic != b->tactic)
        return false;
    return string_equal(a->tactic_name, b->tactic_name);
}

static struct layer_pair compare_layers(const struct layer_info_layer *a, const struct layer_info_layer *b)
{
    struct layer_pair pair = {.compared = a->type && b->type};

    if (!pair.compared)
        return pair;
    pair.typed = !string_equal(layer_info_precision(a, NULL), layer_info_precision(b, NULL));
    compare_tensors(&a->inputs, &b->inputs, &pair);
    compare_tensors(&a->outputs, &b->outputs, &pair);
    pair.implemented = !same_implementation(a, b);
    return pair;
}

/* Layers of one signature in the second engine wait in a row, so that the first of them is always at hand. */
static void match_layers(struct matching *matching, struct layer_diff *ret)
{
    size_t first = matching->a->layers.count;
    size_t *next = memory_resize(NULL, matching->count, sizeof(*next)); /* of the same signature; `count`: none */
    SCOPED_NAME_MAP(waiting);

    for (size_t i = matching->count; i-- > first;) {
        uint32_t other = name_map_find(&waiting, text_of(matching->signature[i]));

        next[i] = other == NAME_MAP_NONE ? matching->count : other;
        name_map_set(&waiting, text_of(matching->signature[i]), (uint32_t)i);
    }
    for (size_t i = 0; i < first; i++) {
        uint32_t other = name_map_find(&waiting, text_of(matching->signature[i]));
        struct layer_pair pair;

        if (other == NAME_MAP_NONE || other == matching->count)
            continue;
        name_map_set(&waiting, text_of(matching->signature[i]), (uint32_t)next[other]);
        pair = compare_layers(layer_at(matching, i), layer_at(matching, other));
        pair.a = i;
        pair.b = other - first;
        matching->matched[i] = matching->matched[other] = true;
        *VECTOR_APPEND(&ret->pairs) = pair;
        ret->compared += pair.compared;
        ret->typed += pair.typed;
        ret->stored += pair.stored;
        ret->implemented += pair.implemented;
    }
    free(next);
}

/* What is left of groups that both engines have layers in was fused differently. */
static void collect_rest(struct matching *matching, struct layer_diff *ret)
{
    size_t first = matching->a->layers.count;
    size_t *fusion = memory_resize(NULL, matching->count, sizeof(*fusion)); /* of each root; SIZE_MAX: none yet */
    bool *in_both = memory_alloc_zero(matching->count, sizeof(*in_both));   /* of each root */

    for (size_t i = 0; i < matching->count; i++) {
        fusion[i] = SIZE_MAX;
        /* A root is the first layer of its group. */
        if (i >= first && root_of(matching, i) < first)
            in_both[root_of(matching, i)] = true;
    }
    for (size_t i = 0; i < matching->count; i++) {
        bool in_a = i < first;
        size_t root = root_of(matching, i);

        if (matching->matched[i])
            continue;
        if (!in_both[root]) {
            *VECTOR_APPEND(in_a ? &ret->only_in_a : &ret->only_in_b) = in_a ? i : i - first;
            continue;
        }
        if (fusion[root] == SIZE_MAX) {
            fusion[root] = ret->fusions.count;
            *VECTOR_APPEND(&ret->fusions) = (struct layer_fusion){0};
        }
        if (in_a)
            *VECTOR_APPEND(&ret->fusions.items[fusion[root]].a) = i;
        else
            *VECTOR_APPEND(&ret->fusions.items[fusion[root]].b) = i - first;
    }
    free(in_both);
    free(fusion);
}

void layer_diff_make(const struct layer_info *a, const struct layer_info *b, struct layer_diff *ret)
{
    struct matching matching = {.a = a, .b = b, .count = a->layers.count + b->layers.count};

    *ret = (struct layer_diff){0};
    matching.group = memory_resize(NULL, matching.count, sizeof(*matching.group));
    matching.signature = memory_alloc_zero(matching.count, sizeof(*matching.signature));
    matching.matched = memory_alloc_zero(matching.count, sizeof(*matching.matched));
    make_groups(&matching);
    match_layers(&matching, ret);
    collect_rest(&matching, ret);
    for (size_t i = 0; i < matching.count; i++)
        free(matching.signature[i]);
    free(matching.signature);
    free(matching.matched);
    free(matching.group);
}

void layer_diff_release(struct layer_diff *diff)
{
    for (size_t i = 0; i < diff->fusions.count; i++) {
        free(diff->fusions.items[i].a.items);
        free(diff->fusions.items[i].b.items);
    }
    free(diff->fusions.items);
    free(diff->pairs.items);
    free(diff->only_in_a.items);
    free(diff->only_in_b.items);
    *diff = (struct layer_diff){0};
}

bool layer_diff_is_empty(const struct layer_diff *diff)
{
    return diff->fusions.count == 0 && diff->only_in_a.count == 0 && diff->only_in_b.count == 0 && diff->typed == 0 &&
           diff->stored == 0 && diff->implemented == 0;
}
