/* tests/fuzz/fuzz_npz.c: .npz archives. */
#include "format/numpy/npy.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor tensor;

    if (npz_read_first((struct span){data, size}, &tensor, NULL) == 0)
        tensor_release(&tensor);
    return 0;
}
