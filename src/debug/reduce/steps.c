/* debug/reduce/steps.c: see steps.h. */
#include "debug/reduce/steps.h"

#include <stdio.h>

#include "debug/belief/belief.h"
#include "debug/reduce/part.h"

/* A check of the original with the inputs of this step. */
static int check_step(const struct step_checks *checks, size_t step, enum verdict *ret, struct error *err)
{
    struct hash data = hash_bytes(&step, sizeof(step));
    struct candidate_maker maker;
    struct given_part given = {.maker = &maker, .session = checks->session, .part = &maker.whole, .data = &data};
    char key[64], what[64];
    int rc;

    data_loader_replace(checks->candidates->loader, &checks->steps->items[step]);
    candidate_maker_init(&maker, checks->model, checks->candidates, checks->log);
    snprintf(key, sizeof(key), "_step_%zu", step);
    snprintf(what, sizeof(what), "the original model in step %zu%s", step, step == 0 ? ", the prefill" : "");
    rc = given_part_check(&given, (struct check_request){ROLE_CANDIDATE, key, what}, ret, err);
    candidate_maker_release(&maker);
    return rc;
}

int reduce_find_step(const struct step_checks *checks, size_t *ret, struct error *err)
{
    size_t count = checks->steps->count, skipped = 0;

    *ret = SIZE_MAX;
    for (size_t step = 0; step < count; step++) {
        enum verdict verdict;

        if (check_step(checks, step, &verdict, err) < 0)
            return err->code;
        skipped += verdict == VERDICT_SKIP;
        if (verdict != VERDICT_FAIL)
            continue;
        log_message(checks->log, LOG_INFO,
                    "Step %zu of the decoder fails: candidates get the values of this step, with the caches of the "
                    "recorded run",
                    step);
        *ret = step;
        return 0;
    }
    if (skipped > 0)
        return belief_refuse_check(checks->session, err,
                                   "no step of the decoder fails, and the check is inconclusive for the original model "
                                   "in some. Last run");
    log_message(checks->log, LOG_INFO,
                "No step of the decoder fails: %zu were checked, each with the caches of the recorded run. Whether a "
                "difference accumulates in a runner's own caches shows `polygraphy run --steps`",
                count);
    return 0;
}

void reduce_report_step(size_t step, struct log *log)
{
    log_message(log, LOG_FINISH,
                "First failing step: %zu of the decoder, with the caches of ONNX Runtime. Not tested: later steps, and "
                "differences that accumulate in a runner's own caches",
                step);
}
