/* debug/accuracy/tactics.c: which tactic is it? The built-in engine is built with random tactics; what distinguishes
 * builds that fail is isolated, and confirmed on the case where it was found from both sides, and on the whole model by
 * excluding the kernel.
 */
#include <string.h>

#include "base/memory.h"
#include "base/text/shell_line.h"
#include "debug/accuracy/hypotheses.h"
#include "format/tensorrt/layer_info.h"

/* At most this many wrong kernels are found one after the other, in as many rounds of builds. */
#define MOST_KERNELS 4

/* For --explore-within: all tactics that there are. */
#define ALL_TACTICS "1000"

/* Of layers and tactics the names alone are listed. */
static const struct words no_operators;

/* ---- Builds ---- */

static void add_excluded_tactics(struct study_step *step, struct words excluded)
{
    if (excluded.count > 0)
        step_add(step, "--exclude-tactics", NULL);
    step_add_words(step, excluded);
}

/* The engine against the golden outputs of its model. */
static void add_engine_check(struct study_step *step, const struct failing_case *subject, const char *engine)
{
    step_add(step, "--hide-fail-output", "--check", "polygraphy", "run", engine, "--trt", NULL);
    step_add_words(step, step->study->settings->serving);
    step_add_case(step, subject);
}

struct tactic_exploration study_explore_tactics(struct study *study, const struct failing_case *subject,
                                                struct words excluded, const char *within)
{
    const struct accuracy_settings *settings = study->settings;
    const char *why =
        excluded.count > settings->excluded.count
            ? study_text(study, "Builds with random tactics, without '%s'", excluded.items[excluded.count - 1])
            : "Builds with random tactics";
    struct study_step *step = step_begin(study, "explore", why);
    const char *cache = study_path(study, "timing.cache"), *engine = step_path(step, "candidate.engine");
    const char *replay = step_path(step, "replay.json");
    struct tactic_exploration ret = {
        .subject = subject, .replays = step_path(step, "replays"), .layers = step_path(step, "layers.json")};

    step_add(step, "debug", "build", subject->model, NULL);
    step_add_words(step, settings->loading);
    step_add_words(step, settings->explored);
    add_excluded_tactics(step, excluded);
    /* Tactics are timed once, whatever builds come later: only what is random differs then. */
    if (!has_word(settings->explored, "--load-timing-cache"))
        step_add(step, "--load-timing-cache", cache, "--save-timing-cache", cache, NULL);
    step_add(step, "--load-inputs", subject->inputs, "--explore", NULL);
    if (within != NULL)
        step_add(step, "--explore-within", within, NULL);
    step_add(step, "--until", study_text(study, "%lld", (long long)settings->explored_builds), "--iter-artifact",
             engine, "--save-tactics", replay, "--save-layer-info", ret.layers, "--artifacts", replay,
             "--artifacts-dir", ret.replays, NULL);
    add_engine_check(step, subject, engine);
    step_run(step);
    ret.passed = step_count(step, "passed");
    ret.failed = step_count(step, "failed");
    step->builds = ret.passed + ret.failed;
    step->checks = step->builds * failing_case_runs(subject);
    step->outcome = study_text(study, "%lld of %lld builds fail", (long long)ret.failed, (long long)step->builds);
    study_log(study, "    %s", step->outcome);
    if (step->builds == 0 && step->complaint != NULL)
        study_log(study, "    %s", step->complaint);
    return ret;
}

/* ---- What distinguishes them ---- */

struct tactic_culprits {
    struct words layers;    /* whose tactics turn the verdict; empty: none were found */
    struct words bad, good; /* names of their tactics */
    struct words faulty;    /* layers in which the bad kernel is wrong */
    struct words nodes;     /* of the model, in `faulty` */
    const char *kernel;     /* for --exclude-tactics; NULL: it is not one kernel */
    const char *fixed;      /* a replay with the good tactics; NULL: there is none */
};

/* Names of the nodes that layers are made of, according to a file of layer information. */
static struct words find_nodes_of_layers(struct study *study, const char *layer_info, struct words layers)
{
    struct word_list nodes = {0};
    struct layer_info info;

    if (layer_info_open(&info, layer_info, &study->error) < 0)
        return (struct words){0};
    for (size_t i = 0; i < info.layers.count; i++)
        for (size_t k = 0; has_word(layers, info.layers.items[i].name) && k < info.layers.items[i].nodes.count; k++)
            *VECTOR_APPEND(&nodes) = arena_strdup(&study->arena, info.layers.items[i].nodes.items[k]);
    layer_info_release(&info);
    return study_keep(study, &nodes);
}

static void read_culprits(struct study_step *step, const char *fixed, struct tactic_culprits *ret)
{
    const json_t *tactics = result_find(step->result.root, "tactics");
    const char *excluded = step_text(step, "exclude_tactics");

    ret->layers = ret->faulty = result_words(step, tactics, "layer");
    ret->bad = result_words(step, tactics, "bad_name");
    ret->good = result_words(step, tactics, "good_name");
    /* One kernel may be wrong in more layers than the one that was found. */
    if (ret->layers.count > 0 && step_says(step, "kernel/proven") && step_says(step, "kernel/exact"))
        ret->faulty = result_words(step, result_find(step->result.root, "kernel/layers"), "");
    ret->kernel = *excluded != '\0' ? excluded : NULL;
    ret->fixed = *step_text(step, "load_tactics") != '\0' ? fixed : NULL;
}

/* Isolates the tactics that distinguish the good and bad builds of an exploration. False: there are none. */
static bool isolate_tactics(struct study *study, const struct tactic_exploration *exploration,
                            struct tactic_culprits *ret)
{
    const struct failing_case *subject = exploration->subject;
    struct study_step *step = step_begin(study, "tactics", "The tactic that changes the verdict");
    const char *engine = step_path(step, "candidate.engine"), *fixed = step_path(step, "fixed_tactics.json");

    *ret = (struct tactic_culprits){0};
    step_add(step, "debug", "tactics", subject->model, "--dir", exploration->replays, NULL);
    step_add_words(step, study->settings->loading);
    step_add_words(step, study->settings->explored);
    step_add(step, "--load-inputs", subject->inputs, "--iter-artifact", engine, "--save-debug-replay",
             step_path(step, "replay.json"), "--save-fixed-tactics", fixed, NULL);
    add_engine_check(step, subject, engine);
    step_run(step);
    step->builds = step_count(step, "builds");
    step->checks = step->builds * failing_case_runs(subject);
    step->outcome = step_text(step, "outcome");
    if (step->exit_status == 0 && strcmp(step->outcome, "found") == 0)
        read_culprits(step, fixed, ret);
    if (ret->layers.count > 0)
        ret->nodes = find_nodes_of_layers(study, exploration->layers, ret->faulty);
    return ret->layers.count > 0 && !study_has_failed(study);
}

/* ---- Excluding kernels ---- */

struct kernel_exclusion {
    struct words excluded; /* with the suspect's own */
    int64_t builds, runs;  /* that have passed without them; 0: it fails still */
};

/* What always fails needs one run that passes. What comes and goes needs many, of builds that are as different as those
 * that failed. `ret` keeps the builds, for the next round, where some of them fail. */
static void run_without_kernels(struct study *study, const struct failing_case *whole,
                                struct kernel_exclusion *exclusion, struct tactic_exploration *ret)
{
    *ret = (struct tactic_exploration){0};
    if (study->pattern == FAILS_ALWAYS) {
        const char *kernel = exclusion->excluded.items[exclusion->excluded.count - 1];
        struct study_step *step =
            step_begin_suspect(study, whole, "without", study_text(study, "The whole model without '%s'", kernel));

        add_excluded_tactics(step, exclusion->excluded);
        exclusion->builds = exclusion->runs = step_judge(step) == AGREES;
        if (step->agreement != DIFFERS)
            return;
    }
    *ret = study_explore_tactics(study, whole, exclusion->excluded, NULL);
    if (!study_has_failed(study) && ret->failed == 0) {
        exclusion->builds = ret->passed;
        exclusion->runs = ret->passed * failing_case_runs(whole);
    }
}

/* Excludes one kernel after the other until the whole model passes. */
static struct kernel_exclusion exclude_kernels(struct study *study, const struct tactic_culprits *first)
{
    struct kernel_exclusion ret = {.excluded = study->settings->excluded};
    struct failing_case whole = study_repeated_whole(study);
    struct tactic_culprits culprits = *first;

    for (int round = 0; round < MOST_KERNELS && culprits.kernel != NULL; round++) {
        struct tactic_exploration exploration;

        if (has_word(ret.excluded, culprits.kernel))
            break;
        ret.excluded = study_add_words(study, ret.excluded, study_words(study, culprits.kernel, NULL));
        run_without_kernels(study, &whole, &ret, &exploration);
        if (ret.builds > 0 || exploration.passed == 0 || exploration.failed == 0)
            break;
        isolate_tactics(study, &exploration, &culprits);
    }
    return ret;
}

static void set_exclusion_as_fix(struct study *study, const struct kernel_exclusion *exclusion)
{
    const struct shell_quotes outside = {0};
    struct cause_fix *fix = &study->cause.fix;
    SCOPED_STRING(line);

    fix->options = study_add_words(study, study_words(study, "--exclude-tactics", NULL), exclusion->excluded);
    for (size_t i = 0; i < fix->options.count; i++) {
        string_add(&line, i > 0 ? " " : "");
        shell_add_word(&line, fix->options.items[i], &outside);
    }
    fix->what = study_text(study, "%s", line.data);
    fix->comparisons = exclusion->builds;
    if (exclusion->runs > 1)
        study_add_evidence(study,
                           "without it no run fails: %lld runs of %lld builds with random tactics; a failure in more "
                           "than %.2g %% of runs would have been observed with 95 %% confidence",
                           (long long)exclusion->runs, (long long)exclusion->builds,
                           100 * rate_excluded(exclusion->runs));
}

static void add_evidence_of_isolation(struct study *study, const char *what, const struct tactic_culprits *culprits)
{
    study_add_evidence(study, "%s fails with the tactic%s %s in %s, and passes with %s there", what,
                       culprits->bad.count == 1 ? "" : "s", study_list(study, culprits->bad, no_operators),
                       study_list(study, culprits->layers, no_operators),
                       study_list(study, culprits->good, no_operators));
}

/* ---- Some builds fail ---- */

static void blame_tactics(struct study *study, const struct tactic_culprits *culprits)
{
    struct cause *cause = &study->cause;
    struct kernel_exclusion exclusion;

    cause->kind = CAUSE_TACTIC;
    cause->tactic = culprits->bad.items[0];
    cause->nodes = culprits->nodes;
    cause->sentence = culprits->bad.count == 1
                          ? study_text(study, "the tactic '%s' is wrong in %s, where '%s' is right", cause->tactic,
                                       study_list(study, culprits->faulty, no_operators), culprits->good.items[0])
                          : study_text(study, "the tactics %s are wrong together, in %s",
                                       study_list(study, culprits->bad, no_operators),
                                       study_list(study, culprits->layers, no_operators));
    add_evidence_of_isolation(study, "a build of the whole model", culprits);
    exclusion = exclude_kernels(study, culprits);
    if (study_has_failed(study))
        return;
    if (exclusion.builds > 0)
        set_exclusion_as_fix(study, &exclusion);
    else if (culprits->fixed != NULL)
        cause->fix = (struct cause_fix){.what = study_text(study, "--load-tactics %s", culprits->fixed),
                                        .options = study_words(study, "--load-tactics", culprits->fixed, NULL)};
}

void accuracy_test_tactics(struct study *study)
{
    static const char *const widths[] = {NULL, "8", ALL_TACTICS};
    struct tactic_exploration exploration = {0};
    struct tactic_culprits culprits;

    /* The choice is widened until there are builds of both kinds. */
    for (size_t i = 0; i < ARRAY_LEN(widths) && (exploration.passed == 0 || exploration.failed == 0); i++)
        exploration = study_explore_tactics(study, &study->whole, study->settings->excluded, widths[i]);
    if (exploration.passed == 0 || exploration.failed == 0)
        study_log(study, "Builds that pass and builds that fail are needed to compare");
    else if (isolate_tactics(study, &exploration, &culprits))
        blame_tactics(study, &culprits);
    else
        study_log(study, "The choice of tactics alone is not the cause");
}

/* ---- A minimal case fails ---- */

/* What was blamed stays so unless the whole model passes without the kernel. */
static void blame_kernel(struct study *study, const struct tactic_culprits *culprits)
{
    struct cause *cause = &study->cause;
    struct kernel_exclusion exclusion;
    bool is_race = cause->kind == CAUSE_RACE;

    add_evidence_of_isolation(study, "the minimal case", culprits);
    exclusion = exclude_kernels(study, culprits);
    if (study_has_failed(study) || exclusion.builds == 0)
        return;
    set_exclusion_as_fix(study, &exclusion);
    cause->tactic = culprits->bad.items[0];
    cause->sentence =
        study_text(study, "the kernel '%s' computes %s %s", cause->tactic,
                   study_list(study, cause->nodes, no_operators), is_race ? "differently from run to run" : "wrongly");
    cause->kind = is_race ? CAUSE_RACE : CAUSE_TACTIC;
}

void accuracy_test_kernel(struct study *study)
{
    struct tactic_exploration exploration;
    struct tactic_culprits culprits;

    if (study->pattern == FAILS_BY_RUN)
        study_repeat_minimal(study);
    exploration = study_explore_tactics(study, &study->minimal, study->settings->excluded, ALL_TACTICS);
    if (exploration.passed == 0)
        study_log(study, "It fails with all tactics: the kernel is not the cause");
    else if (exploration.failed > 0 && isolate_tactics(study, &exploration, &culprits))
        blame_kernel(study, &culprits);
}
