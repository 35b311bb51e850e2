/* cli/debug/passes/barriers.c: see barriers.h. */
#include "cli/debug/passes/barriers.h"

#include <string.h>

#include "base/text/shell_line.h"
#include "base/text/string_builder.h"
#include "onnx/model/mark_outputs.h"
#include "onnx/write/model.h"

#define MOST_BARRIERS 4000 /* limit of the default list: runtimes do not support more outputs */

bool barriers_own(const char *decision)
{
    return strncmp(decision, BARRIER_PREFIX, sizeof(BARRIER_PREFIX) - 1) == 0;
}

/* Whether a tensor is an output of a node, has a consumer, and is not constant. */
static bool is_inside(const struct subgraph *whole, const struct bitset *used, const struct bitset *outputs,
                      uint32_t value)
{
    const struct value *v = &whole->model->values.items[value];
    struct value_type type;

    if (v->producer == NODE_NONE || !bitset_has(used, value) || bitset_has(outputs, value) ||
        node_is(&whole->model->nodes.items[v->producer], "Constant"))
        return false;
    subgraph_type(whole, value, &type);
    return type.not_a_tensor == NULL;
}

/* Marks values with consumers among nodes and their subgraphs. */
static void find_used(const struct model *model, struct bitset *ret)
{
    bitset_init(ret, model->values.count);
    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE)
                bitset_add(ret, value);
        }
}

static bool is_made(const struct model *model, struct text name)
{
    uint32_t value = model != NULL ? model_find_value(model, name) : VALUE_NONE;

    return value != VALUE_NONE && model->values.items[value].producer != NODE_NONE;
}

static void add_barrier(const struct passes_subject *subject, struct text name, struct decisions *ret)
{
    SCOPED_STRING(shown);

    if (memchr(name.data, '\0', name.size) == NULL) {
        decisions_add(ret, arena_printf(subject->arena, BARRIER_PREFIX TEXT_FORMAT, TEXT_ARGS(name)));
        return;
    }
    string_add(&shown, BARRIER_PREFIX);
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] == '\0')
            string_add(&shown, "\\x00");
        else
            string_add_char(&shown, name.data[i]);
    decisions_leave_out(ret, shown.data);
}

static void add_all(const struct passes_subject *subject, const struct model *model, const struct model *rewritten,
                    struct decisions *ret)
{
    SCOPED_BITSET(used);
    SCOPED_BITSET(outputs);
    struct subgraph whole;
    size_t count = 0, left = 0;

    subgraph_init_whole(&whole, model);
    find_used(model, &used);
    value_list_to_set(&model->outputs, model->values.count, &outputs);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++) {
            uint32_t value = model_edge(model, model->nodes.items[i].outputs, k);
            struct text name;

            if (value == VALUE_NONE || !is_inside(&whole, &used, &outputs, value))
                continue;
            name = model->values.items[value].name;
            if (is_made(rewritten, name))
                left++;
            else if (count++ < MOST_BARRIERS)
                add_barrier(subject, name, ret);
        }
    subgraph_release(&whole);
    if (left > 0)
        log_message(subject->context->log, LOG_INFO,
                    "%zu inner tensors of the model still exist in the rewritten model and are not tried as barriers; "
                    "%zu do not exist there",
                    left, count);
    if (count > MOST_BARRIERS)
        log_message(subject->context->log, LOG_WARNING,
                    "Only the first %d of %zu inner tensors of the model are tried as barriers: to try others, pass "
                    "--decisions " BARRIER_PREFIX "TENSOR ...",
                    MOST_BARRIERS, count);
}

int barriers_find(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    return barriers_find_hidden(subject, NULL, ret, err);
}

int barriers_find_hidden(const struct passes_subject *subject, const struct model *rewritten, struct decisions *ret,
                         struct error *err)
{
    struct model *model;
    int rc = model_open(subject->model, NULL, &model, err);

    if (rc < 0)
        return rc;
    add_all(subject, model, rewritten, ret);
    model_free(model);
    return 0;
}

struct words barriers_of(struct arena *arena, struct words off)
{
    const char **items = arena_alloc_zero(arena, off.count + 1, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < off.count; i++)
        if (barriers_own(off.items[i]))
            items[count++] = off.items[i] + sizeof(BARRIER_PREFIX) - 1;
    return (struct words){.items = items, .count = count};
}

void barriers_add_option(const char *option, struct words off, struct remedies *ret)
{
    SCOPED_STRING(tensors);

    for (size_t i = 0; i < off.count; i++)
        shell_add_argument(&tensors, off.items[i] + sizeof(BARRIER_PREFIX) - 1);
    remedies_add(ret, REMEDY_OPTION, "%s OUTPUTS %s (with the model's own outputs in place of OUTPUTS)", option,
                 tensors.data);
}

int barriers_write(const struct passes_subject *subject, struct words off, char **ret, size_t *ret_size,
                   struct error *err)
{
    struct words barriers = barriers_of(subject->arena, off);
    struct subgraph whole;
    struct model *model;
    int rc;

    *ret = NULL;
    if (barriers.count == 0)
        return 0;
    rc = model_open(subject->model, NULL, &model, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    rc = outputs_add_barriers(&whole, barriers, NULL, err);
    if (rc == 0)
        rc = model_write_memory(&whole, ret, ret_size, err);
    subgraph_release(&whole);
    model_free(model);
    return rc;
}
