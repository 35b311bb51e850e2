/* debug/accuracy/part.c: see part.h. */
#include "debug/accuracy/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "debug/accuracy/values.h"
#include "onnx/edit/model.h"

/* Of a part that grows. Engines fuse a node with what stands next to it. */
#define MOST_STEPS 6
#define MOST_NODES 24

int parts_open(struct parts *ret, struct investigation *investigation, struct error *err)
{
    int rc;

    *ret = (struct parts){.investigation = investigation};
    rc = model_open(investigation->settings->model, NULL, &ret->model, err);
    if (rc == 0)
        rc = model_lower_constants(ret->model, err);
    if (rc < 0) {
        model_free(ret->model);
        ret->model = NULL;
        return rc;
    }
    subgraph_init_whole(&ret->whole, ret->model);
    return 0;
}

void parts_close(struct parts *parts)
{
    if (parts->model == NULL)
        return;
    subgraph_release(&parts->whole);
    model_free(parts->model);
    parts->model = NULL;
}

/* ---- Names ---- */

const char *parts_tensor(struct parts *parts, uint32_t value)
{
    return investigation_text(parts->investigation, TEXT_FORMAT, TEXT_ARGS(parts->model->values.items[value].name));
}

static bool name_is_shared(const struct model *model, uint32_t node)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (i != node && text_equal(model->nodes.items[i].name, model->nodes.items[node].name))
            return true;
    return false;
}

const char *parts_node(struct parts *parts, uint32_t node)
{
    const struct node *item = &parts->model->nodes.items[node];

    if (item->name.size == 0 || name_is_shared(parts->model, node))
        for (size_t i = 0; i < item->outputs.count; i++)
            if (model_edge(parts->model, item->outputs, i) != VALUE_NONE)
                return parts_tensor(parts, model_edge(parts->model, item->outputs, i));
    return investigation_text(parts->investigation, TEXT_FORMAT, TEXT_ARGS(item->name));
}

const char *parts_describe(struct parts *parts, const struct bitset *nodes)
{
    struct call operators;

    call_begin_words(&operators, parts->investigation);
    for (size_t i = bitset_next(nodes, 0); i < nodes->size; i = bitset_next(nodes, i + 1))
        call_add(&operators, arena_text(&parts->investigation->arena, parts->model->nodes.items[i].op_type), NULL);
    return investigation_list(parts->investigation, parts_names(parts, nodes), call_keep(&operators));
}

struct words parts_names(struct parts *parts, const struct bitset *nodes)
{
    struct call call;

    call_begin_words(&call, parts->investigation);
    for (size_t i = bitset_next(nodes, 0); i < nodes->size; i = bitset_next(nodes, i + 1))
        call_add(&call, parts_node(parts, (uint32_t)i), NULL);
    return call_keep(&call);
}

/* ---- One part ---- */

int part_extract(struct parts *parts, const struct subgraph *part, const char *path, const char *why, const char **ret,
                 struct error *err)
{
    struct investigation *investigation = parts->investigation;
    struct experiment *experiment;
    struct call call;
    int rc;

    *ret = NULL;
    if (part->outputs.count == 0)
        return 0;
    call_begin(&call, investigation, "extract", why);
    call.has_result = false;
    if (path == NULL)
        path = investigation_text(investigation, "%s/part.onnx", call_folder(&call));
    call_add(&call, "surgeon", "extract", investigation->settings->model, "-o", path, "--load-inputs",
             investigation->whole.inputs, NULL);
    call_add_words(&call, investigation->settings->loading);
    if (part->inputs.count > 0)
        call_add(&call, "--inputs", NULL);
    for (size_t i = 0; i < part->inputs.count; i++)
        call_add(&call, investigation_text(investigation, "%s:auto:auto", parts_tensor(parts, part->inputs.items[i])),
                 NULL);
    call_add(&call, "--outputs", NULL);
    for (size_t i = 0; i < part->outputs.count; i++)
        call_add(&call, investigation_text(investigation, "%s:auto", parts_tensor(parts, part->outputs.items[i])),
                 NULL);
    rc = call_run(&call, &experiment, err);
    if (rc < 0)
        return rc;
    experiment->outcome = experiment->exit_status == 0 ? "cut out" : "cannot be cut out";
    if (experiment->exit_status == 0)
        *ret = path;
    return 0;
}

void part_begin_comparison(struct call *ret, struct parts *parts, const char *model, struct words tolerance,
                           const char *name, const char *why)
{
    struct investigation *investigation = parts->investigation;
    const struct failing_case subject = {
        .model = model, .inputs = investigation->layerwise, .golden = investigation->values, .tolerance = tolerance};

    call_begin_comparison(ret, investigation, &subject, name, why);
}

int part_judge(struct call *call, struct experiment **ret, enum agreement *ret_agreement, struct error *err)
{
    int rc;

    *ret = NULL;
    rc = call_judge(call, ret, err);
    *ret_agreement = rc == 0 ? (*ret)->agreement : REFUSES;
    if (rc != ERR_BACKEND)
        return rc;
    if (err != NULL)
        *err = (struct error){0};
    return 0;
}

int part_run_alone(struct parts *parts, const struct bitset *nodes, struct words tolerance, struct lone_run *ret,
                   struct error *err)
{
    struct investigation *investigation = parts->investigation;
    const char *described = parts_describe(parts, nodes);
    struct experiment *control;
    enum agreement agreement;
    struct subgraph part;
    struct call call;
    int rc;

    *ret = (struct lone_run){.agreement = REFUSES};
    subgraph_init_nodes(&part, &parts->whole, nodes);
    rc =
        part_extract(parts, &part, NULL, investigation_text(investigation, "%s, cut out", described), &ret->model, err);
    subgraph_release(&part);
    if (rc < 0 || ret->model == NULL)
        return rc;
    part_begin_comparison(&call, parts, ret->model, tolerance, "alone", "The same alone in the suspect");
    call_add_words(&call, investigation->settings->suspect);
    ret->outputs =
        investigation_text(investigation, "%s/outputs%s", call_folder(&call), strrchr(investigation->values, '.'));
    call_add(&call, "--save-outputs", ret->outputs, NULL);
    rc = part_judge(&call, &ret->experiment, &ret->agreement, err);
    if (rc < 0 || ret->agreement != DIFFERS)
        return rc;
    part_begin_comparison(&call, parts, ret->model, tolerance, "alone-in-reference", "The same alone in the reference");
    call_add_words(&call, investigation->settings->reference);
    rc = part_judge(&call, &control, &agreement, err);
    if (rc < 0)
        return rc;
    if (control != NULL)
        control->checks = control->builds = 0; /* not of the suspect */
    if (agreement != AGREES)
        ret->agreement = REFUSES;
    return 0;
}

/* ---- Parts that grow ---- */

/* Adds what reads tensors of the nodes, or what makes tensors for them. False: that is too much. */
static bool add_neighbours(const struct model *model, bool readers, struct bitset *nodes)
{
    struct bitset before;
    size_t count;

    bitset_init_copy(&before, nodes);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        for (size_t k = 0; k < node_read_count(node); k++) {
            uint32_t value = node_read(model, node, k);
            uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

            if (producer != NODE_NONE && bitset_has(&before, readers ? producer : i))
                bitset_add(nodes, readers ? i : producer);
        }
    }
    count = bitset_count(nodes);
    if (count > MOST_NODES)
        bitset_assign(nodes, &before);
    bitset_release(&before);
    return count <= MOST_NODES;
}

/* Leaves out one node after the other until none can be spared. The nodes fail; `ret` is the last run that did. */
static int shrink(struct parts *parts, struct bitset *nodes, struct words tolerance, struct lone_run *ret,
                  struct error *err)
{
    size_t last = nodes->size, needed = 0;

    while (needed < bitset_count(nodes) && bitset_count(nodes) > 1) {
        struct lone_run run;
        int rc;

        last = bitset_previous(nodes, last);
        if (last == nodes->size)
            last = bitset_previous(nodes, nodes->size);
        bitset_remove(nodes, last);
        rc = part_run_alone(parts, nodes, tolerance, &run, err);
        if (rc < 0)
            return rc;
        needed = run.agreement == DIFFERS ? 0 : needed + 1;
        if (run.agreement == DIFFERS)
            *ret = run;
        else
            bitset_add(nodes, last);
    }
    return 0;
}

int part_grow(struct parts *parts, struct bitset *nodes, struct words tolerance, struct lone_run *ret,
              struct error *err)
{
    *ret = (struct lone_run){.agreement = REFUSES};
    for (int step = 0; step <= MOST_STEPS; step++) {
        size_t before = bitset_count(nodes);
        int rc;

        /* What is fused to a node is more often behind it: sums, activations. */
        if (step > 0 && (!add_neighbours(parts->model, step % 2 == 1, nodes) || bitset_count(nodes) == before))
            continue;
        rc = part_run_alone(parts, nodes, tolerance, ret, err);
        if (rc < 0)
            return rc;
        if (ret->agreement == DIFFERS)
            return shrink(parts, nodes, tolerance, ret, err);
    }
    return 0;
}

int part_make_minimal(struct parts *parts, const struct bitset *nodes, struct words tolerance, struct error *err)
{
    struct investigation *investigation = parts->investigation;
    const char *path = investigation_path(investigation, "minimal.onnx"), *model;
    struct subgraph part;
    int rc;

    subgraph_init_nodes(&part, &parts->whole, nodes);
    rc = part_extract(parts, &part, path, "The minimal case", &model, err);
    subgraph_release(&part);
    if (rc < 0 || model == NULL)
        return rc;
    rc = accuracy_make_case(investigation, model, "minimal", &investigation->minimal, err);
    investigation->minimal.tolerance = tolerance;
    return rc;
}
