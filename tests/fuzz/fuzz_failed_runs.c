/* tests/fuzz/fuzz_failed_runs.c: what an experiment's run says of its comparisons. */
#include <assert.h>

#include "debug/accuracy/repetition.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct investigation investigation = {0};
    struct experiment experiment = {.name = "fuzz"};
    struct error error = {0};
    int64_t failed;

    arena_init(&investigation.arena);
    if (json_reader_open_memory(&experiment.result, data, size, "fuzz", &error) == 0)
        for (int64_t times = 1; times <= 3; times++)
            if (accuracy_count_failed_runs(&investigation, &experiment, times, &failed, &error) == 0)
                assert(failed >= 0 && failed <= times && experiment.checks == times);
    json_reader_release(&experiment.result);
    arena_release(&investigation.arena);
    return 0;
}
