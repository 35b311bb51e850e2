/* tests/fuzz/fuzz_failed_runs.c: what an experiment's run says of its comparisons. */
#include <assert.h>

#include "debug/accuracy/hypotheses.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct study study = {0};
    struct study_step step = {.study = &study, .name = "fuzz"};
    struct error error = {0};
    int64_t failed;

    arena_init(&study.arena);
    if (json_reader_open_memory(&step.result, data, size, "fuzz", &error) == 0)
        for (int64_t times = 1; times <= 3; times++) {
            study.error.code = 0;
            failed = study_count_failed_runs(&step, times);
            assert(failed >= 0 && failed <= times && (study_has_failed(&study) || step.checks == times));
        }
    json_reader_release(&step.result);
    arena_release(&study.arena);
    return 0;
}
