/* debug/accuracy/proof.c: is it true? What was found is seen once more, each time in a process of its own. */
#include "debug/accuracy/questions.h"
#include "debug/accuracy/repetition.h"

/* The minimal case fails anew. */
static int run_minimal_case(struct investigation *investigation, bool *ret_fails, struct error *err)
{
    struct experiment *experiment;
    struct call call;
    int rc;

    call_begin_comparison(&call, investigation, &investigation->minimal, "minimal", "The minimal case, anew");
    call.is_fresh = true;
    call_add_blamed(&call);
    rc = call_judge(&call, &experiment, err);
    if (rc < 0)
        return rc;
    if (investigation->cause.kind == CAUSE_NAN) /* not of the suspect */
        experiment->checks = experiment->builds = 0;
    *ret_fails = experiment->agreement == (investigation->cause.kind == CAUSE_REFUSED ? REFUSES : DIFFERS);
    if (*ret_fails)
        cause_add_proof(investigation, "the minimal case fails in a fresh process");
    return 0;
}

/* With what was changed the whole model passes: not by chance, where it fails only now and then. */
static int run_mended(struct investigation *investigation, struct error *err)
{
    struct mend *mend = &investigation->cause.mend;
    struct failing_case mended = accuracy_repeated_whole(investigation);
    struct experiment *experiment;
    const char *how_sure;
    struct call call;

    if (mend->model != NULL)
        mended.model = mend->model;
    do {
        int rc;

        call_begin_comparison(&call, investigation, &mended, "mended",
                              investigation_text(investigation, "The whole model with %s", mend->what));
        call.is_fresh = true;
        call_add_words(&call, investigation->settings->suspect);
        call_add_words(&call, mend->options);
        rc = call_judge(&call, &experiment, err);
        if (rc < 0)
            return rc;
        if (experiment->agreement != AGREES)
            return 0;
        mend->comparisons++;
    } while (mend->comparisons < accuracy_enough_comparisons(investigation));
    mend->holds = accuracy_how_sure(investigation, mend->comparisons, &how_sure);
    cause_add_proof(investigation, "with %s the whole model passes%s", mend->what, how_sure);
    return 0;
}

int accuracy_prove(struct investigation *investigation, struct error *err)
{
    struct cause *cause = &investigation->cause;
    bool fails = investigation->minimal.model == NULL;
    int rc = 0;

    investigation_begin_step(investigation, "Is it true?");
    if (investigation->minimal.model != NULL)
        rc = run_minimal_case(investigation, &fails, err);
    if (rc == 0 && cause->mend.what != NULL)
        rc = run_mended(investigation, err);
    if (rc < 0)
        return rc;
    cause->proven = fails && cause->proof.count > 0 &&
                    (cause->mend.holds || cause->whole_agrees || cause->kind == CAUSE_NAN || /* of the model itself */
                     cause->kind == CAUSE_REFERENCE);
    if (cause->proven)
        investigation_conclude(investigation, OUTCOME_CAUSE, "Cause: %s", cause->sentence);
    else
        investigation_conclude(investigation, OUTCOME_NO_CAUSE, "Not proven: %s", cause->sentence);
    return 0;
}
