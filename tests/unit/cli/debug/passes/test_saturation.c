/* test_saturation.c: what `debug passes` tries and says on processors where products saturate, and on others. */
#include "support/command_line.h"
#include "support/made_model.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/debug/passes/result.h"
#include "cli/options/groups.h"
#include "debug/quantization/saturation.h"

static const struct command_group groups[] = {
    COMMAND_GROUP(struct debug_passes_settings, debug.common.logging, logging_options),
    COMMAND_GROUP(struct debug_passes_settings, runners, runner_options),
    COMMAND_GROUP(struct debug_passes_settings, file.onnxrt, onnxrt_options),
};
static const struct command root = {.name = "polygraphy",
                                    .groups = groups,
                                    .group_count = ARRAY_LEN(groups),
                                    .settings_size = sizeof(struct debug_passes_settings)};

/* A weight, and a product with it of what is quantized. */
static void write_model(const char *path)
{
    struct made_model made;
    struct error err = {0};
    struct span bytes;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 2));
    made_constant(&made, "w", MADE_SHAPE(2, 2), -1, 1);
    made_constant(&made, "s", MADE_SHAPE(1), 0.5F, 0.5F);
    made_node(&made, "", "QuantizeLinear", "x s", "q", NULL, 0);
    made_node(&made, "", "DequantizeLinear", "q s", "d", NULL, 0);
    made_node(&made, "", "MatMul", "d w", "y", NULL, 0);
    made_output(&made, "y");
    bytes = made_bytes(&made);
    assert_int_equal(file_write(path, bytes.data, bytes.size, FILE_INTERMEDIATE, &err), 0);
    made_release(&made);
}

static void assert_settings(bool saturates, const char *given, const char *expected)
{
    struct command_line line;
    struct arena arena;
    struct decisions found = {.arena = &arena};
    const char *kind = "settings";
    const struct decision_wishes wishes = {.kinds = {.items = &kind, .count = 1}};
    struct command_context context = {0};
    struct passes_subject subject = {
        .context = &context, .model = "model.onnx", .arena = &arena, .saturates = saturates};
    struct string_builder text;
    struct error err = {0};

    arena_init(&arena);
    string_init(&text);
    COMMAND_LINE(&line, &root, "--onnxrt", "--session-config", given);
    assert_int_equal(line.rc, 0);
    context.parse = &line.parse;
    subject.settings = line.parse.settings;
    context.log = &line.log.log;
    assert_int_equal(passes_find_decisions(&subject, &onnxrt_passes_runner, &wishes, &found, &err), 0);
    for (size_t i = 0; i < found.names.count; i++)
        string_add_format(&text, "%s;", found.names.items[i]);
    assert_string_equal(text.data, expected);
    string_release(&text);
    free(found.names.items);
    free(found.unfit.items);
    arena_release(&arena);
    command_line_release(&line);
}

static void setting_is_tried_where_products_saturate(void **state)
{
    write_model("model.onnx");
    assert_settings(true, "a=b", "session.disable_prepacking=1;" SATURATION_SETTING ";");
    assert_settings(false, "a=b", "session.disable_prepacking=1;");
    assert_settings(true, "session.x64quantprecision=0", "session.disable_prepacking=1;");
}

/* What the log says when the check passes with only decision `found` of two switched off. */
static bool is_explained(bool saturates, size_t found)
{
    const char *decisions[] = {"session.disable_prepacking=1", SATURATION_SETTING};
    struct passes_result result = {.outcome = PASSES_FOUND, .is_minimal = true};
    const struct passes_report report = {
        .decisions = {.items = decisions, .count = ARRAY_LEN(decisions)}, .result = &result, .saturates = saturates};
    struct result *answer = result_new("debug passes");
    struct captured_log log;
    bool ret;

    bitset_init(&result.off, ARRAY_LEN(decisions));
    bitset_init(&result.singles, ARRAY_LEN(decisions));
    bitset_add(&result.off, found);
    captured_log_init(&log);
    passes_result_fill(&report, answer);
    result_log(answer, &log.log);
    ret = captured_log_has(&log, "F     uint8 x int8 products saturate on this processor (no VNNI); fixes: 7-bit "
                                 "weights (reduce_range), uint8 weights, ONNX Runtime's session.x64quantprecision=1, "
                                 "or int8 activations with session.qdqisint8allowed=1\n");
    captured_log_release(&log);
    result_free(answer);
    bitset_release(&result.off);
    bitset_release(&result.singles);
    return ret;
}

static void cause_is_explained_where_the_setting_is_in_the_answer(void **state)
{
    assert_true(is_explained(true, 1));
    assert_false(is_explained(true, 0));
    assert_false(is_explained(false, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(setting_is_tried_where_products_saturate, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test(cause_is_explained_where_the_setting_is_in_the_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
