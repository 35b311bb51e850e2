/* tests/fuzz/fuzz_npz.c: .npz archives. */
#include "format/numpy/npz.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor_list tensors = {0};

    npz_parse((struct span){data, size}, &tensors, NULL);
    tensor_list_release(&tensors);
    return 0;
}
