/* tests/fuzz/fuzz_safetensors.c: files of tensors, and the results and input data in them. */
#include "format/polygraphy/array_archive.h"
#include "target.h"

/* Adds up all data, so that a tensor that leaves the file is noticed. */
static unsigned touch(const struct tensor_list *tensors)
{
    unsigned sum = 0;

    for (size_t i = 0; i < tensors->count; i++)
        for (size_t k = 0; k < tensors->items[i].tensor.size; k++)
            sum += ((const unsigned char *)tensors->items[i].tensor.data)[k];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct array_archive archive;
    volatile unsigned sum = 0;

    if (array_archive_open_memory((struct span){data, size}, "fuzz", &archive, NULL) < 0)
        return 0;
    for (size_t i = 0; i < archive.count && i < 1000; i++) {
        struct tensor_list tensors = {0};

        array_archive_read(&archive, i, &tensors, NULL);
        sum += touch(&tensors);
        tensor_list_release(&tensors);
    }
    (void)sum;
    array_archive_close(&archive);
    return 0;
}
