/* tests/fuzz/fuzz_npz.c: .npz archives. */
#include "format/numpy/npz.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npz npz;

    if (npz_open_memory((struct span){data, size}, &npz, NULL) < 0)
        return 0;
    for (size_t i = 0; i < npz.count; i++) {
        struct tensor tensor;

        if (npz_read(&npz, i, &tensor, NULL) == 0)
            tensor_release(&tensor);
    }
    npz_close(&npz);
    return 0;
}
