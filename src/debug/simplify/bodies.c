/* debug/simplify/bodies.c: bodies of nodes and local functions: see kind.h. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/simplify/kind.h"
#include "onnx/edit/rebuild.h"
#include "onnx/shrink/bodies.h"

/* Parts: the `If` nodes of the main graph, which a branch can replace; then nodes in subgraphs and functions. */
struct bodies {
    struct value_list decisions; /* nodes */
    struct inner_node_list inner;
};

static int survey_bodies(struct model *model, struct simplify_parts *ret, struct error *err)
{
    struct bodies *bodies = memory_alloc_zero(1, sizeof(*bodies));
    int rc;

    ret->data = bodies;
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (node_is(&model->nodes.items[i], "If"))
            *VECTOR_APPEND(&bodies->decisions) = i;
    rc = inner_nodes_list(model, &bodies->inner, err);
    ret->count = bodies->decisions.count + bodies->inner.count;
    ret->alternatives = memory_alloc_zero(ret->count + 1, 1);
    memset(ret->alternatives, 2, bodies->decisions.count);
    for (size_t i = 0; i < bodies->inner.count; i++)
        ret->alternatives[bodies->decisions.count + i] = bodies->inner.items[i].bypasses;
    return rc;
}

static void release_bodies(struct simplify_parts *parts)
{
    struct bodies *bodies = parts->data;

    if (bodies != NULL) {
        free(bodies->decisions.items);
        free(bodies->inner.items);
    }
    free(bodies);
    free(parts->alternatives);
}

static int apply_bodies(const struct simplify_parts *parts, struct model *model, const uint8_t *choices,
                        struct error *err)
{
    const struct bodies *bodies = parts->data;
    uint8_t *branches = memory_alloc_zero(model->nodes.count + 1, 1);
    size_t inlined = 0;
    int rc;

    for (size_t i = 0; i < bodies->decisions.count; i++)
        branches[bodies->decisions.items[i]] = choices[i];
    rc = inner_nodes_bypass(model, choices + bodies->decisions.count, err);
    if (rc == 0)
        rc = branches_take(model, branches, &inlined, err);
    if (rc == 0)
        rc = model_remove_unneeded_nodes(model, err);
    free(branches);
    return rc;
}

static const char *choice_name(unsigned choice)
{
    return choice == 1 ? "the first branch or input instead" : "the second branch or input instead";
}

static void add_body_name(const struct simplify_parts *parts, const struct model *model, size_t index,
                          struct string_builder *out)
{
    const struct bodies *bodies = parts->data;
    struct text label;

    if (index < bodies->decisions.count) {
        const struct node *node = &model->nodes.items[bodies->decisions.items[index]];

        label = node->name.size > 0 ? node->name : node->op_type;
    } else {
        const struct inner_node *node = &bodies->inner.items[index - bodies->decisions.count];

        label = node->name.size > 0 ? node->name : node->op_type;
    }
    string_add_text(out, label);
}

static void report_bodies(const struct simplify_parts *parts, const struct model *model, const uint8_t *choices,
                          struct string_builder *out)
{
    const struct bodies *bodies = parts->data;
    struct inner_node_list left SCOPED_ITEMS = {0};
    size_t taken = 0;

    for (size_t i = 0; i < bodies->decisions.count; i++)
        taken += choices[i] != 0;
    inner_nodes_list(model, &left, NULL);
    if (bodies->decisions.count > 0)
        string_add_format(out, "Replaced %zu of %zu If node(s) with one of their branches. ", taken,
                          bodies->decisions.count);
    string_add_format(out, "Bodies and functions have %zu of %zu node(s) left", left.count, bodies->inner.count);
}

const struct simplify_kind simplify_bodies = {
    .suffix = "bodies",
    .title = "Removing nodes from subgraphs and functions",
    .parts = "branch(es) and inner node(s)",
    .changes_types = true,
    .survey = survey_bodies,
    .release = release_bodies,
    .apply = apply_bodies,
    .choice_name = choice_name,
    .name = add_body_name,
    .report = report_bodies,
};
