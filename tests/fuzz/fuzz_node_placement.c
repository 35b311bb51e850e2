/* tests/fuzz/fuzz_node_placement.c: what ONNX Runtime logs of where nodes go, with names that come from the model. Each
 * line is a message. */
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/placement.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct onnxrt_placement placement = {.wanted = "CUDAExecutionProvider"};
    struct string_builder text;
    char *messages = memory_alloc(size + 1), *message;

    memcpy(messages, data, size);
    messages[size] = '\0';
    arena_init(&placement.arena);
    for (char *next = messages; next != NULL;) {
        message = next;
        next = strchr(message, '\n');
        if (next != NULL)
            *next++ = '\0';
        onnxrt_placement_read(&placement, message);
    }
    string_init(&text);
    onnxrt_placement_to_text(&placement, &text);
    string_release(&text);
    free(placement.providers.items);
    free(placement.elsewhere.items);
    arena_release(&placement.arena);
    free(messages);
    return 0;
}
