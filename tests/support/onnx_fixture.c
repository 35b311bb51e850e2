/* support/onnx_fixture.c: see onnx_fixture.h. */
#include "support/onnx_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "base/process/process.h"
#include "onnx/edit/model.h"
#include "support/unit_test.h"

/* Returns one of four static texts in turn. */
static struct string_builder *next_text(void)
{
    static struct string_builder texts[4];
    static size_t next;
    struct string_builder *text = &texts[next++ % ARRAY_LEN(texts)];

    if (text->data == NULL)
        string_init(text);
    string_clear(text);
    return text;
}

static const char *path_in_tests(const char *folder, const char *file)
{
    const char *root = getenv("POLYGRAPHY_ROOT");
    struct string_builder *text = next_text();

    string_add_format(text, "%s/tests/%s/%s", root != NULL ? root : ".", folder, file);
    return text->data;
}

const char *fixture_path(const char *file)
{
    return path_in_tests("models", file);
}

struct model *fixture_open(const char *name)
{
    char file[128];
    struct model *model;
    struct error err = {0};

    snprintf(file, sizeof(file), "%s.onnx", name);
    if (model_open(fixture_path(file), NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    return model;
}

struct model *fixture_open_lowered(const char *name)
{
    struct model *model = fixture_open(name);
    struct error err = {0};

    if (model_lower_constants(model, &err) < 0)
        fail_msg("%s", err.message);
    return model;
}

uint32_t fixture_node(const struct model *model, const char *name)
{
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].name, name))
            return i;
    fail_msg("%s has no node '%s'", model->display_name, name);
    return NODE_NONE;
}

uint32_t fixture_value(const struct model *model, const char *name)
{
    uint32_t value = model_find_value(model, text_of(name));

    if (value == VALUE_NONE)
        fail_msg("%s has no tensor '%s'", model->display_name, name);
    return value;
}

static void add_name(struct string_builder *text, struct text name)
{
    if (text->size > 0)
        string_add(text, " ");
    string_add_text(text, name);
}

const char *names_of_operators(const struct model *model)
{
    struct string_builder *text = next_text();

    for (size_t i = 0; i < model->nodes.count; i++)
        add_name(text, model->nodes.items[i].op_type);
    return text->data;
}

const char *names_of_nodes(const struct subgraph *subgraph)
{
    struct string_builder *text = next_text();

    for (size_t i = bitset_next(&subgraph->nodes, 0); i < subgraph->nodes.size;
         i = bitset_next(&subgraph->nodes, i + 1))
        add_name(text, subgraph->model->nodes.items[i].name);
    return text->data;
}

static const char *names_of(const struct model *model, const uint32_t *values, size_t count)
{
    struct string_builder *text = next_text();

    for (size_t i = 0; i < count; i++)
        add_name(text, values[i] == VALUE_NONE ? TEXT("-") : model->values.items[values[i]].name);
    return text->data;
}

const char *names_of_values(const struct model *model, const struct value_list *values)
{
    return names_of(model, values->items, values->count);
}

const char *names_of_edges(const struct model *model, struct edge_range range)
{
    return names_of(model, range.count > 0 ? &model->edges.items[range.first] : NULL, range.count);
}

const char *names_of_initializers(const struct model *model)
{
    struct string_builder *text = next_text();

    for (size_t i = 0; i < model->initializers.count; i++)
        add_name(text, model->values.items[model->initializers.items[i].value].name);
    return text->data;
}

void rewritten_init(struct rewritten *rewritten, const struct subgraph *subgraph)
{
    struct error err = {0};

    if (model_write_memory(subgraph, &rewritten->bytes, &rewritten->size, &err) < 0)
        fail_msg("%s", err.message);
    if (model_parse((struct span){(const uint8_t *)rewritten->bytes, rewritten->size}, "rewritten", &rewritten->model,
                    &err) < 0)
        fail_msg("%s", err.message);
}

void rewritten_release(struct rewritten *rewritten)
{
    model_free(rewritten->model);
    free(rewritten->bytes);
}

void run_python(const char *script, const char *first, const char *second)
{
    const char *const arguments[] = {"/usr/bin/python3", path_in_tests("support", script), first, second, NULL};
    const struct process_request request = {.arguments = arguments, .timeout = 120};
    struct process_result result;
    struct error err = {0};
    int rc = process_run(&request, &result, &err);

    if (rc == ERR_MISSING) {
        print_message("%s\n", err.message);
        skip();
    }
    if (rc < 0)
        fail_msg("%s", err.message);
    if (result.end != PROCESS_EXITED || result.code != 0) {
        print_message("%.*s%.*s", (int)result.out.size, result.out.data, (int)result.error_out.size,
                      result.error_out.data);
        if (result.end == PROCESS_EXITED && result.code == 77)
            skip();
        fail_msg("%s %s %s failed", script, first, second != NULL ? second : "");
    }
    process_result_release(&result);
}

void require_onnxruntime(void)
{
    const struct onnxrt *runtime;
    struct error err;

    if (onnxrt_load(NULL, &runtime, &err) == ERR_MISSING) {
        print_message("%s\n", err.message);
        skip();
    }
}
