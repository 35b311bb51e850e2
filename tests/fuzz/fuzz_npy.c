/* tests/fuzz/fuzz_npy.c: .npy files. What was read is written, and has to read as the same tensor again. */
#include <stdlib.h>

#include "format/numpy/npy.h"
#include "target.h"

static int add_to_builder(void *context, const void *data, size_t size, struct error *err)
{
    (void)err;
    string_add_bytes(context, data, size);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor tensor, again;
    struct string_builder file;
    struct npy_sink sink = {add_to_builder, &file};

    if (npy_read((struct span){data, size}, &tensor, NULL) < 0)
        return 0;
    string_init(&file);
    if (npy_write(&tensor, &sink, NULL) < 0)
        abort();
    if (npy_read((struct span){(const uint8_t *)file.data, file.size}, &again, NULL) < 0)
        abort();
    if (!tensor_identical(&tensor, &again))
        abort();
    tensor_release(&again);
    tensor_release(&tensor);
    string_release(&file);
    return 0;
}
