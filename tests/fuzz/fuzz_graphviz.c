/* tests/fuzz/fuzz_graphviz.c: what a program called `dot` answers. */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "report/graphviz.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct drawing drawing = {0};
    struct error error;

    for (int i = 0; i < 4; i++)
        *VECTOR_APPEND(&drawing.boxes) = (struct drawing_box){.width = 130, .height = 36, .cluster = CLUSTER_NONE};
    *VECTOR_APPEND(&drawing.lines) = (struct drawing_line){.from = 0, .to = 1};
    *VECTOR_APPEND(&drawing.lines) = (struct drawing_line){.from = 0, .to = 3};
    *VECTOR_APPEND(&drawing.lines) = (struct drawing_line){.from = 1, .to = 2};
    if (graphviz_read_plain((struct text){(const char *)data, size}, &drawing, &error) == 0)
        for (size_t i = 0; i < drawing.lines.count; i++) {
            assert(drawing.lines.items[i].point_count % 3 == 1);
            assert(isfinite(drawing.lines.items[i].points[0].x));
        }
    drawing_release(&drawing);
    return 0;
}
