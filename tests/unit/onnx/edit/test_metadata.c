/* Notes on nodes. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include "onnx/edit/model.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

static struct rewritten with_notes(struct model *model, const char *prefix, const struct node_note *notes, size_t count)
{
    struct rewritten rewritten;
    struct subgraph whole;
    struct error err = {0};

    if (model_set_notes(model, prefix, notes, count, &err) < 0)
        fail_msg("%s", err.message);
    subgraph_init_whole(&whole, model);
    rewritten_init(&rewritten, &whole);
    subgraph_release(&whole);
    return rewritten;
}

/* "key=value" of all notes of a node, with blanks between them. */
static const char *notes_of(const struct model *model, uint32_t node)
{
    static struct string_builder text;
    struct wire_reader reader = wire_reader_of(model->nodes.items[node].message), entry;
    struct wire_field field, part;

    string_release(&text);
    string_init(&text);
    while (wire_next(&reader, &field)) {
        if (field.number != NODE_METADATA)
            continue;
        entry = wire_reader_of(field.bytes);
        string_add(&text, text.size > 0 ? " " : "");
        while (wire_next(&entry, &part)) {
            string_add(&text, part.number == ENTRY_VALUE ? "=" : "");
            string_add_bytes(&text, part.bytes.data, part.bytes.size);
        }
    }
    return text.data;
}

static void notes_are_replaced_by_their_prefix_and_others_stay(void **state)
{
    struct model *model = fixture_open("identity_identity");
    const struct node_note first[] = {{0, "mine.error", "1"}, {0, "other", "x"}, {1, "mine.error", "2"}};
    const struct node_note second[] = {{1, "mine.error", "3"}, {1, "mine.range", "0 .. 1"}};
    struct rewritten once = with_notes(model, "mine.", first, 3), twice;

    assert_true(once.model->ir_version >= 10);
    assert_string_equal(notes_of(once.model, 0), "mine.error=1 other=x");
    assert_string_equal(notes_of(once.model, 1), "mine.error=2");
    twice = with_notes(once.model, "mine.", second, 2);
    assert_string_equal(notes_of(twice.model, 0), "other=x");
    assert_string_equal(notes_of(twice.model, 1), "mine.error=3 mine.range=0 .. 1");
    assert_int_equal(twice.model->nodes.count, 2);
    rewritten_release(&twice);
    rewritten_release(&once);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_are_replaced_by_their_prefix_and_others_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
