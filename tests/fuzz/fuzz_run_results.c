/* tests/fuzz/fuzz_run_results.c: results files. */
#include "format/polygraphy/run_results.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_results results = {0};
    struct error error = {0};

    run_results_parse(&results, data, size, "fuzz", &error);
    run_results_release(&results);
    return 0;
}
