/* Memory of a process that soon ends. */
#include "support/unit_test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/roomy_heap.h"
#include "support/in_child.h"

static bool is_filled(const uint8_t *bytes, size_t size, uint8_t with)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != with)
            return false;
    return true;
}

/* More than the heap grows by at once, in blocks around every limit. */
static int use_memory(void)
{
    static const size_t sizes[] = {
        24, 4096, (size_t)1 << 17, (size_t)1 << 20, (size_t)20 << 20, ((size_t)32 << 20) + 1};
    uint8_t *blocks[4][ARRAY_LEN(sizes)];
    uint8_t *before = memory_alloc(1000);

    memset(before, 1, 1000);
    roomy_heap_choose();
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            blocks[i][k] = memory_alloc(sizes[k]);
            memset(blocks[i][k], (int)(i * 10 + k), sizes[k]);
            if (i == 2) { /* a hole to be used again */
                free(blocks[1][k]);
                blocks[1][k] = NULL;
            }
        }
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            CHECK_OR_FAIL(i == 1 || is_filled(blocks[i][k], sizes[k], (uint8_t)(i * 10 + k)));
            free(blocks[i][k]);
        }
    CHECK_OR_FAIL(is_filled(before, 1000, 1));
    free(before);
    return 0;
}

static void blocks_of_every_size_hold_what_was_put_there(void **state)
{
    (void)state;
    assert_int_equal(in_child(use_memory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_every_size_hold_what_was_put_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
