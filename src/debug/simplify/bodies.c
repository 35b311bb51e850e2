/* debug/simplify/bodies.c: bodies of nodes and local functions: see kind.h. */
#include <string.h>

#include "base/memory.h"
#include "debug/simplify/kind.h"
#include "onnx/edit/rebuild.h"

static int survey_bodies(struct model *model, struct simplify_parts *ret, struct error *err)
{
    int rc;

    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (node_is(&model->nodes.items[i], "If"))
            *VECTOR_APPEND(&ret->decisions) = i;
    rc = inner_nodes_list(model, &ret->inner, err);
    ret->count = ret->decisions.count + ret->inner.count;
    ret->alternatives = memory_alloc_zero(ret->count + 1, 1);
    memset(ret->alternatives, 2, ret->decisions.count);
    for (size_t i = 0; i < ret->inner.count; i++)
        ret->alternatives[ret->decisions.count + i] = ret->inner.items[i].bypasses;
    return rc;
}

static int apply_bodies(const struct simplify_parts *parts, struct model *model, const uint8_t *choices,
                        struct error *err)
{
    uint8_t *branches SCOPED_FREE = memory_alloc_zero(model->nodes.count + 1, 1);
    size_t inlined = 0;
    int rc;

    for (size_t i = 0; i < parts->decisions.count; i++)
        branches[parts->decisions.items[i]] = choices[i];
    rc = inner_nodes_bypass(model, choices + parts->decisions.count, err);
    if (rc == 0)
        rc = branches_take(model, branches, &inlined, err);
    if (rc == 0)
        rc = model_remove_unneeded_nodes(model, err);
    return rc;
}

static const char *choice_name(unsigned choice)
{
    return choice == 1 ? "the first branch or input instead" : "the second branch or input instead";
}

static void add_body_name(const struct simplify_parts *parts, const struct model *model, size_t index,
                          struct string_builder *out)
{
    struct text label;

    if (index < parts->decisions.count) {
        const struct node *node = &model->nodes.items[parts->decisions.items[index]];

        label = node->name.size > 0 ? node->name : node->op_type;
    } else {
        const struct inner_node *node = &parts->inner.items[index - parts->decisions.count];

        label = node->name.size > 0 ? node->name : node->op_type;
    }
    string_add_text(out, label);
}

static void report_bodies(const struct simplify_parts *parts, const struct model *model, const uint8_t *choices,
                          struct string_builder *out)
{
    struct inner_node_list left SCOPED_ITEMS = {0};
    size_t taken = 0;

    for (size_t i = 0; i < parts->decisions.count; i++)
        taken += choices[i] != 0;
    inner_nodes_list(model, &left, NULL);
    if (parts->decisions.count > 0)
        string_add_format(out, "Replaced %zu of %zu If node(s) with one of their branches. ", taken,
                          parts->decisions.count);
    string_add_format(out, "Bodies and functions have %zu of %zu node(s) left", left.count, parts->inner.count);
}

const struct simplify_kind simplify_bodies = {
    .suffix = "bodies",
    .title = "Removing nodes from subgraphs and functions",
    .parts = "branch(es) and inner node(s)",
    .changes_types = true,
    .survey = survey_bodies,
    .apply = apply_bodies,
    .choice_name = choice_name,
    .name = add_body_name,
    .report = report_bodies,
};
