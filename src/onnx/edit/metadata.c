/* onnx/edit/metadata.c: see metadata.h. */
#include "onnx/edit/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

enum { FIRST_IR_VERSION = 10 }; /* with metadata of nodes */

static bool entry_has_prefix(struct span entry, const char *prefix)
{
    struct wire_reader reader = wire_reader_of(entry);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number == ENTRY_KEY && field.type == WIRE_BYTES && field.bytes.size >= strlen(prefix) &&
            memcmp(field.bytes.data, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

static void add_node_note(struct string_builder *node, const struct node_note *note)
{
    SCOPED_STRING(entry);

    wire_write_text(&entry, ENTRY_KEY, text_of(note->key));
    wire_write_text(&entry, ENTRY_VALUE, text_of(note->value));
    wire_write_bytes(node, NODE_METADATA, entry.data, entry.size);
}

/* The node without its old notes and with `count` new ones, as the field that it is in a graph. */
static struct span rewrite_node_notes(struct arena *arena, const struct node *node, const char *prefix,
                                      const struct node_note *notes, size_t count)
{
    struct wire_reader reader = wire_reader_of(node->message);
    SCOPED_STRING(message);
    struct wire_field field;

    while (wire_next(&reader, &field))
        if (field.number != NODE_METADATA || field.type != WIRE_BYTES || !entry_has_prefix(field.bytes, prefix))
            string_add_bytes(&message, field.whole.data, field.whole.size);
    for (size_t i = 0; i < count; i++)
        add_node_note(&message, &notes[i]);
    return wire_make_field(arena, GRAPH_NODE, &message);
}

static void raise_version(struct model *model)
{
    struct span_list *fields = &model->fields_before_graph;
    SCOPED_STRING(version);
    struct wire_field field;
    struct span made;

    if (model->ir_version >= FIRST_IR_VERSION)
        return;
    wire_write_integer(&version, MODEL_IR_VERSION, FIRST_IR_VERSION);
    made = wire_keep(&model->arena, &version);
    for (size_t i = 0; i < fields->count; i++) {
        struct wire_reader reader = wire_reader_of(fields->items[i]);

        if (!wire_next(&reader, &field) || field.number != MODEL_IR_VERSION)
            continue;
        fields->items[i] = made;
        return;
    }
    *VECTOR_APPEND(&model->fields_after_graph) = made; /* of two the last one counts */
}

int model_set_notes(struct model *model, const char *prefix, const struct node_note *notes, size_t count,
                    struct error *err)
{
    struct span_list fields = {0};
    size_t next = 0;
    int rc;

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        size_t first = next;

        while (next < count && notes[next].node == i)
            next++;
        *VECTOR_APPEND(&fields) =
            rewrite_node_notes(&model->arena, &model->nodes.items[i], prefix, notes + first, next - first);
    }
    rc = model_set_nodes(model, &fields, err);
    free(fields.items);
    if (rc == 0)
        raise_version(model);
    return rc;
}
