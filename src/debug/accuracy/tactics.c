/* debug/accuracy/tactics.c: which tactic is it? Builds of the built-in engine draw their tactics by lot; what
 * distinguishes those that fail is tried, on the case where it was found from both sides, and on the whole model by
 * leaving the kernel out.
 */
#include "base/memory.h"
#include "base/text/shell_line.h"
#include "base/text/string_builder.h"
#include "debug/accuracy/exploration.h"
#include "debug/accuracy/questions.h"
#include "debug/accuracy/repetition.h"

/* So many kernels at fault are found one after the other, in as many rounds of builds. */
#define MOST_KERNELS 4

/* For --explore-within: all tactics that there are. */
#define ALL_TACTICS "1000"

/* Of layers and tactics the names alone are listed. */
static const struct words no_operators;

/* Widens the choice until builds of both kinds are there. */
static int explore_until_both(struct investigation *investigation, struct exploration *exploration, struct error *err)
{
    static const char *const factors[] = {NULL, "8", ALL_TACTICS};
    int rc = 0;

    for (size_t i = 0; i < ARRAY_LEN(factors) && rc == 0; i++) {
        exploration->within = factors[i];
        rc = accuracy_explore(investigation, exploration, err);
        if (rc < 0 || (exploration->passed > 0 && exploration->failed > 0))
            return rc;
    }
    return rc;
}

/* ---- Leaving kernels out ---- */

struct cure {
    struct words excluded; /* with the suspect's own */
    int64_t builds, runs;  /* that were seen to pass without them; 0: it is no cure */
};

/* What always fails needs one run to be seen to pass. What comes and goes needs many, of builds that are as different
 * as those that failed. `ret` keeps the builds, for the next round, where some of them fail. */
static int try_without(struct investigation *investigation, const struct failing_case *whole, struct cure *cure,
                       struct exploration *ret, struct error *err)
{
    int rc;

    *ret = (struct exploration){
        .subject = whole, .excluded = cure->excluded, .builds = investigation->settings->explored_builds};
    if (investigation->occurrence == OCCURS_ALWAYS) {
        struct experiment *experiment;
        struct call call;

        call_begin_comparison(&call, investigation, whole, "without",
                              investigation_text(investigation, "The whole model without '%s'",
                                                 cure->excluded.items[cure->excluded.count - 1]));
        call_add_words(&call, investigation->settings->suspect);
        call_add_excluded(&call, cure->excluded);
        rc = call_judge(&call, &experiment, err);
        if (rc < 0)
            return rc;
        cure->builds = cure->runs = experiment->agreement == AGREES;
        if (cure->builds > 0 || experiment->agreement == REFUSES)
            return 0;
    }
    rc = accuracy_explore(investigation, ret, err);
    if (rc == 0 && ret->failed == 0) {
        cure->builds = ret->passed;
        cure->runs = ret->passed * failing_case_runs(whole);
    }
    return rc;
}

/* Leaves out one kernel after the other until the whole model passes. */
static int find_cure(struct investigation *investigation, const struct tactic_culprits *first, struct cure *ret,
                     struct error *err)
{
    struct failing_case whole = accuracy_repeated_whole(investigation);
    struct tactic_culprits culprits = *first;

    *ret = (struct cure){.excluded = investigation->settings->excluded};
    for (int round = 0; round < MOST_KERNELS && culprits.kernel != NULL; round++) {
        size_t count = ret->excluded.count;
        struct exploration exploration;
        int rc;

        ret->excluded = accuracy_add_word(investigation, ret->excluded, culprits.kernel);
        if (ret->excluded.count == count)
            return 0;
        rc = try_without(investigation, &whole, ret, &exploration, err);
        if (rc < 0 || ret->builds > 0 || exploration.passed == 0 || exploration.failed == 0)
            return rc;
        rc = accuracy_isolate_tactics(investigation, &exploration, &culprits, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- What is known then ---- */

static void take_cure(struct investigation *investigation, const struct cure *cure)
{
    const struct shell_quotes outside = {0};
    struct cause *cause = &investigation->cause;
    struct string_builder words;
    struct call call;

    call_begin_words(&call, investigation);
    call_add_excluded(&call, cure->excluded);
    cause->mend.options = call_keep(&call);
    string_init(&words);
    for (size_t i = 0; i < cause->mend.options.count; i++) {
        string_add(&words, i > 0 ? " " : "");
        shell_add_word(&words, cause->mend.options.items[i], &outside);
    }
    cause->mend.what = investigation_text(investigation, "%s", words.data);
    string_release(&words);
    cause->mend.comparisons = cure->builds;
    if (cure->runs > 1)
        cause_add_proof(investigation,
                        "without it no run fails: %lld runs of %lld builds with tactics drawn by lot; a failure in "
                        "more than %.2g %% of runs would have been seen with 95 %% confidence",
                        (long long)cure->runs, (long long)cure->builds, 100 * accuracy_rate_excluded(cure->runs));
}

static void add_proof_of_isolation(struct investigation *investigation, const char *what,
                                   const struct tactic_culprits *culprits)
{
    cause_add_proof(investigation, "%s fails with the tactic%s %s in %s, and passes with %s there", what,
                    culprits->bad.count == 1 ? "" : "s", investigation_list(investigation, culprits->bad, no_operators),
                    investigation_list(investigation, culprits->layers, no_operators),
                    investigation_list(investigation, culprits->good, no_operators));
}

/* ---- Some builds fail ---- */

static int blame_tactics(struct investigation *investigation, const struct tactic_culprits *culprits, struct error *err)
{
    struct cause *cause = &investigation->cause;
    struct cure cure;
    int rc;

    cause->kind = CAUSE_TACTIC;
    cause->tactic = culprits->bad.items[0];
    cause->nodes = culprits->nodes;
    cause->sentence =
        culprits->bad.count == 1
            ? investigation_text(investigation, "the tactic '%s' is wrong in %s, where '%s' is right", cause->tactic,
                                 investigation_list(investigation, culprits->faulty, no_operators),
                                 culprits->good.items[0])
            : investigation_text(investigation, "the tactics %s are wrong together, in %s",
                                 investigation_list(investigation, culprits->bad, no_operators),
                                 investigation_list(investigation, culprits->layers, no_operators));
    add_proof_of_isolation(investigation, "a build of the whole model", culprits);
    rc = find_cure(investigation, culprits, &cure, err);
    if (rc < 0)
        return rc;
    if (cure.builds > 0)
        take_cure(investigation, &cure);
    else if (culprits->mended != NULL)
        cause->mend =
            (struct mend){.what = investigation_text(investigation, "--load-tactics %s", culprits->mended),
                          .options = accuracy_add_word(
                              investigation, accuracy_add_word(investigation, (struct words){0}, "--load-tactics"),
                              culprits->mended)};
    return 0;
}

int accuracy_ask_tactics(struct investigation *investigation, struct error *err)
{
    struct exploration exploration = {.subject = &investigation->whole,
                                      .excluded = investigation->settings->excluded,
                                      .builds = investigation->settings->explored_builds};
    struct tactic_culprits culprits;
    int rc;

    investigation_begin_step(investigation, "Which tactic is it?");
    rc = explore_until_both(investigation, &exploration, err);
    if (rc < 0)
        return rc;
    if (exploration.passed == 0 || exploration.failed == 0) {
        log_message(investigation->log, LOG_INFO, "    Builds that pass and builds that fail are needed to compare");
        return 0;
    }
    rc = accuracy_isolate_tactics(investigation, &exploration, &culprits, err);
    if (rc < 0)
        return rc;
    if (culprits.layers.count > 0)
        return blame_tactics(investigation, &culprits, err);
    log_message(investigation->log, LOG_INFO, "    It is not the choice of tactics alone");
    return 0;
}

/* ---- A minimal case fails ---- */

/* What was blamed stays so unless the whole model passes without the kernel. */
static int blame_kernel(struct investigation *investigation, const struct tactic_culprits *culprits, struct error *err)
{
    struct cause *cause = &investigation->cause;
    struct cure cure;
    int rc;

    add_proof_of_isolation(investigation, "the minimal case", culprits);
    rc = find_cure(investigation, culprits, &cure, err);
    if (rc < 0 || cure.builds == 0)
        return rc;
    take_cure(investigation, &cure);
    cause->tactic = culprits->bad.items[0];
    if (cause->kind == CAUSE_RACE) {
        cause->sentence =
            investigation_text(investigation, "the kernel '%s' computes %s otherwise from run to run", cause->tactic,
                               investigation_list(investigation, cause->nodes, no_operators));
        return 0;
    }
    cause->kind = CAUSE_TACTIC;
    cause->sentence = investigation_text(investigation, "the kernel '%s' computes %s wrongly", cause->tactic,
                                         investigation_list(investigation, cause->nodes, no_operators));
    return 0;
}

int accuracy_ask_kernel(struct investigation *investigation, struct error *err)
{
    struct exploration exploration = {.subject = &investigation->minimal,
                                      .excluded = investigation->settings->excluded,
                                      .within = ALL_TACTICS,
                                      .builds = investigation->settings->explored_builds};
    struct tactic_culprits culprits;
    int rc = 0;

    investigation_begin_step(investigation, "Which kernel is it?");
    if (investigation->occurrence == OCCURS_BY_RUN)
        rc = accuracy_repeat_minimal(investigation, err);
    if (rc == 0)
        rc = accuracy_explore(investigation, &exploration, err);
    if (rc < 0)
        return rc;
    if (exploration.passed == 0)
        log_message(investigation->log, LOG_INFO, "    It fails with all tactics that there are: it is not the kernel");
    if (exploration.passed == 0 || exploration.failed == 0)
        return 0;
    rc = accuracy_isolate_tactics(investigation, &exploration, &culprits, err);
    return rc < 0 || culprits.layers.count == 0 ? rc : blame_kernel(investigation, &culprits, err);
}
