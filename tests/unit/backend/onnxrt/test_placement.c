/* What ONNX Runtime says of where nodes go, in lines that releases 1.16, 1.22 and 1.30 have written. */
#include "support/unit_test.h"

#include <stdlib.h>

#include "backend/onnxrt/placement.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

/* "" when there is nothing to say. */
static void assert_says(const char *wanted, const char *const *messages, const char *expected)
{
    struct onnxrt_placement placement = {.wanted = wanted};
    struct string_builder text;

    arena_init(&placement.arena);
    string_init(&text);
    for (size_t i = 0; messages[i] != NULL; i++)
        onnxrt_placement_read(&placement, messages[i]);
    assert_int_equal(onnxrt_placement_to_text(&placement, &text), expected[0] != '\0');
    assert_string_equal(text.size > 0 ? text.data : "", expected);
    string_release(&text);
    free(placement.providers.items);
    free(placement.elsewhere.items);
    arena_release(&placement.arena);
}

static void nodes_elsewhere_are_counted_without_copies(void **state)
{
    static const char *const messages[] = {
        "GraphTransformer ConstantFolding modified: 0 with status: OK",
        "Node placements",
        " Node(s) placed on [CPUExecutionProvider]. Number of nodes: 2",
        "  DynamicQuantizeLinear (quantize)",
        "  MatMulInteger (matmul)",
        " Node(s) placed on [WebGpuExecutionProvider]. Number of nodes: 6",
        "  Neg (neg)",
        "  Cast (cast)",
        "  Mul (mul)",
        "  MemcpyFromHost (Memcpy)",
        "  MemcpyFromHost (Memcpy_token_0)",
        "  MemcpyToHost (Memcpy_token_1)",
        "SaveMLValueNameIndexMapping",
        NULL,
    };

    (void)state;
    assert_says("WebGpuExecutionProvider", messages,
                "2 of 5 nodes run on CPUExecutionProvider instead: DynamicQuantizeLinear (quantize), MatMulInteger "
                "(matmul)");
    assert_says(
        "TensorrtExecutionProvider", messages,
        "5 of 5 nodes run on CPUExecutionProvider (2) and WebGpuExecutionProvider (3) instead (a part of the "
        "model that a provider has compiled counts as one node): DynamicQuantizeLinear (quantize), MatMulInteger "
        "(matmul), Neg (neg), Cast (cast), Mul (mul)");
}

static void all_in_one_place_is_one_line(void **state)
{
    static const char *const messages[] = {"Node placements",
                                           " All nodes placed on [CPUExecutionProvider]. Number of nodes: 6", NULL};

    (void)state;
    assert_says("CPUExecutionProvider", messages, "");
    assert_says("CUDAExecutionProvider", messages, "6 of 6 nodes run on CPUExecutionProvider instead");
}

static void names_of_nodes_and_broken_lines_count_nothing(void **state)
{
    static const char *const messages[] = {
        "  Split (All nodes placed on [CPUExecutionProvider]. Number of nodes: 7)",
        "   Node(s) placed on [CPUExecutionProvider]. Number of nodes: 7",
        " Node(s) placed on [CPUExecutionProvider. Number of nodes: 7",
        " Node(s) placed on [CPUExecutionProvider]. Number of nodes: many",
        " Node(s) placed on ]CPUExecutionProvider[. Number of nodes: 7",
        " Node(s) placed on [",
        "  MemcpyToHost (nobody's)",
        " Node(s) placed on [CPUExecutionProvider]. Number of nodes: 0",
        "  MemcpyToHost (one too many)",
        "",
        NULL,
    };

    (void)state;
    assert_says("CUDAExecutionProvider", messages, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_elsewhere_are_counted_without_copies),
        cmocka_unit_test(all_in_one_place_is_one_line),
        cmocka_unit_test(names_of_nodes_and_broken_lines_count_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
