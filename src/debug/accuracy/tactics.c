/* debug/accuracy/tactics.c: which tactic is it? */
#include "debug/accuracy/questions.h"

int accuracy_explore(struct investigation *investigation, const struct failing_case *subject, int64_t builds,
                     struct exploration *ret, struct error *err)
{
    struct call call;
    struct experiment *experiment;
    const char *folder, *engine, *replay;
    int rc;

    call_begin(&call, investigation, "explore", "Builds with tactics drawn by lot");
    folder = call_folder(&call);
    engine = investigation_text(investigation, "%s/candidate.engine", folder);
    replay = investigation_text(investigation, "%s/replay.json", folder);
    ret->replays = investigation_text(investigation, "%s/replays", folder);
    call_add(&call, "debug", "build", subject->model, NULL);
    call_add_words(&call, investigation->settings->loading);
    call_add_words(&call, investigation->settings->engine);
    call_add(&call, "--explore", "--until", investigation_text(investigation, "%lld", (long long)builds),
             "--iter-artifact", engine, "--save-tactics", replay, "--artifacts", replay, "--artifacts-dir",
             ret->replays, "--check", "polygraphy", "run", engine, "--trt", "--load-inputs", subject->inputs,
             "--load-outputs", subject->golden, NULL);
    call_add_words(&call, subject->tolerance);
    rc = call_succeed(&call, &experiment, err);
    if (rc < 0)
        return rc;
    ret->passed = (int64_t)result_number(experiment, experiment->result.root, "passed", 0);
    ret->failed = (int64_t)result_number(experiment, experiment->result.root, "failed", 0);
    experiment->builds = experiment->checks = ret->passed + ret->failed;
    experiment->outcome = investigation_text(investigation, "%lld of %lld builds fail", (long long)ret->failed,
                                             (long long)experiment->builds);
    return 0;
}
