/* tests/fuzz/fuzz_safetensors.c: files of tensors, and the results and input data in them. */
#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"
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
    struct safetensors file;
    struct run_results results = {0};
    struct feed_dicts feeds = {0};
    struct error error = {0};
    volatile unsigned sum;

    if (safetensors_parse((struct span){data, size}, "fuzz", &file, &error) == 0) {
        sum = touch(&file.tensors);
        (void)sum;
        run_results_take_safetensors(&results, &file, "fuzz", &error);
        safetensors_release(&file);
    }
    if (safetensors_parse((struct span){data, size}, "fuzz", &file, &error) == 0) {
        feed_dicts_take_safetensors(&feeds, &file, "fuzz", &error);
        safetensors_release(&file);
    }
    run_results_release(&results);
    feed_dicts_release(&feeds);
    return 0;
}
