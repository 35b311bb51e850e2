/* debug/accuracy/exploration.c: see exploration.h. */
#include "debug/accuracy/exploration.h"

#include <string.h>

#include "format/trtexec/layer_info.h"

/* ---- Words ---- */

static bool has_word(struct words words, const char *word)
{
    for (size_t i = 0; i < words.count; i++)
        if (strcmp(words.items[i], word) == 0)
            return true;
    return false;
}

struct words accuracy_add_word(struct investigation *investigation, struct words words, const char *word)
{
    struct call call;

    if (has_word(words, word))
        return words;
    call_begin_words(&call, investigation);
    call_add_words(&call, words);
    call_add(&call, word, NULL);
    return call_keep(&call);
}

void call_add_excluded(struct call *call, struct words excluded)
{
    if (excluded.count == 0)
        return;
    call_add(call, "--exclude-tactics", NULL);
    call_add_words(call, excluded);
}

/* ---- Builds ---- */

/* Tactics are timed once, whatever builds come later: only what is drawn differs then. */
static void add_timing_cache(struct call *call)
{
    const char *cache = investigation_path(call->investigation, "timing.cache");

    if (!has_word(call->investigation->settings->explored, "--load-timing-cache"))
        call_add(call, "--load-timing-cache", cache, "--save-timing-cache", cache, NULL);
}

/* The engine against the golden outputs of its model. */
static void add_check(struct call *call, const struct failing_case *subject, const char *engine)
{
    call_add(call, "--check", "polygraphy", "run", engine, "--trt", NULL);
    call_add_words(call, call->investigation->settings->serving);
    call_add_case(call, subject);
}

int accuracy_explore(struct investigation *investigation, struct exploration *exploration, struct error *err)
{
    const struct failing_case *subject = exploration->subject;
    struct call call;
    struct experiment *experiment;
    const char *folder, *engine, *replay;
    int rc;

    call_begin(&call, investigation, "explore",
               exploration->excluded.count > investigation->settings->excluded.count
                   ? investigation_text(investigation, "Builds with tactics drawn by lot, without '%s'",
                                        exploration->excluded.items[exploration->excluded.count - 1])
                   : "Builds with tactics drawn by lot");
    folder = call_folder(&call);
    engine = investigation_text(investigation, "%s/candidate.engine", folder);
    replay = investigation_text(investigation, "%s/replay.json", folder);
    exploration->replays = investigation_text(investigation, "%s/replays", folder);
    exploration->layers = investigation_text(investigation, "%s/layers.json", folder);
    call_add(&call, "debug", "build", subject->model, NULL);
    call_add_words(&call, investigation->settings->loading);
    call_add_words(&call, investigation->settings->explored);
    call_add_excluded(&call, exploration->excluded);
    add_timing_cache(&call);
    call_add(&call, "--load-inputs", subject->inputs, "--explore", NULL);
    if (exploration->within != NULL)
        call_add(&call, "--explore-within", exploration->within, NULL);
    call_add(&call, "--until", investigation_text(investigation, "%lld", (long long)exploration->builds),
             "--iter-artifact", engine, "--save-tactics", replay, "--save-layer-info", exploration->layers,
             "--artifacts", replay, "--artifacts-dir", exploration->replays, "--hide-fail-output", NULL);
    add_check(&call, subject, engine);
    rc = call_run(&call, &experiment, err);
    if (rc < 0)
        return rc;
    exploration->passed = result_count(experiment, experiment->result.root, "passed");
    exploration->failed = result_count(experiment, experiment->result.root, "failed");
    experiment->builds = exploration->passed + exploration->failed;
    experiment->checks = experiment->builds * failing_case_runs(subject);
    experiment->outcome = investigation_text(investigation, "%lld of %lld builds fail", (long long)exploration->failed,
                                             (long long)experiment->builds);
    log_message(investigation->log, LOG_INFO, "        %s", experiment->outcome);
    if (experiment->builds == 0 && experiment->complaint != NULL)
        log_message(investigation->log, LOG_INFO, "        %s", experiment->complaint);
    return 0;
}

/* ---- What tells them apart ---- */

/* Names of the nodes that layers are made of, according to a file of layer information. */
static int find_nodes(struct investigation *investigation, const char *layer_info, struct words layers,
                      struct words *ret, struct error *err)
{
    struct layer_info info;
    struct call call;
    int rc = layer_info_open(&info, layer_info, err);

    if (rc < 0)
        return rc;
    call_begin_words(&call, investigation);
    for (size_t i = 0; i < info.layers.count; i++)
        for (size_t k = 0; has_word(layers, info.layers.items[i].name) && k < info.layers.items[i].nodes.count; k++)
            call_add(&call, info.layers.items[i].nodes.items[k], NULL);
    *ret = call_keep(&call);
    layer_info_release(&info);
    return 0;
}

/* One kernel may be at fault in more layers than the one that was found. */
static void take_layers_of_kernel(struct investigation *investigation, struct experiment *experiment,
                                  struct tactic_culprits *ret)
{
    const json_t *root = experiment->result.root, *item;
    struct call layers;
    size_t i;

    if (!json_is_true(result_find(root, "kernel/proven")) || !json_is_true(result_find(root, "kernel/exact")))
        return;
    call_begin_words(&layers, investigation);
    json_array_foreach (result_find(root, "kernel/layers"), i, item)
        call_add(&layers, result_text(experiment, item, ""), NULL);
    ret->faulty = call_keep(&layers);
}

static void take_tactics(struct investigation *investigation, struct experiment *experiment,
                         struct tactic_culprits *ret)
{
    const json_t *tactics = result_find(experiment->result.root, "tactics"), *item;
    const char *excluded = result_text(experiment, experiment->result.root, "mend/exclude_tactics");
    struct call layers, bad, good;
    size_t i;

    call_begin_words(&layers, investigation);
    call_begin_words(&bad, investigation);
    call_begin_words(&good, investigation);
    json_array_foreach (tactics, i, item) {
        call_add(&layers, result_text(experiment, item, "layer"), NULL);
        call_add(&bad, result_text(experiment, item, "bad/name"), NULL);
        call_add(&good, result_text(experiment, item, "good/name"), NULL);
    }
    ret->layers = ret->faulty = call_keep(&layers);
    ret->bad = call_keep(&bad);
    ret->good = call_keep(&good);
    if (ret->layers.count == 0)
        return;
    take_layers_of_kernel(investigation, experiment, ret);
    ret->kernel = *excluded != '\0' ? excluded : NULL;
    ret->mended = *result_text(experiment, experiment->result.root, "mend/load_tactics") != '\0' ? ret->mended : NULL;
}

int accuracy_isolate_tactics(struct investigation *investigation, const struct exploration *exploration,
                             struct tactic_culprits *ret, struct error *err)
{
    const struct failing_case *subject = exploration->subject;
    struct call call;
    struct experiment *experiment;
    const char *folder, *engine;
    int rc;

    call_begin(&call, investigation, "tactics", "The one of their tactics that turns the verdict");
    folder = call_folder(&call);
    engine = investigation_text(investigation, "%s/candidate.engine", folder);
    *ret = (struct tactic_culprits){.mended = investigation_text(investigation, "%s/mended_tactics.json", folder)};
    call_add(&call, "debug", "tactics", subject->model, "--dir", exploration->replays, NULL);
    call_add_words(&call, investigation->settings->loading);
    call_add_words(&call, investigation->settings->explored);
    call_add(&call, "--load-inputs", subject->inputs, "--iter-artifact", engine, "--save-debug-replay",
             investigation_text(investigation, "%s/replay.json", folder), "--save-mended-tactics", ret->mended,
             "--hide-fail-output", NULL);
    add_check(&call, subject, engine);
    rc = call_run(&call, &experiment, err);
    if (rc < 0)
        return rc;
    experiment->builds = result_count(experiment, experiment->result.root, "builds");
    experiment->checks = experiment->builds * failing_case_runs(subject);
    experiment->outcome = result_text(experiment, experiment->result.root, "outcome");
    if (experiment->exit_status == 0 && strcmp(experiment->outcome, "found") == 0)
        take_tactics(investigation, experiment, ret);
    return ret->layers.count > 0 ? find_nodes(investigation, exploration->layers, ret->faulty, &ret->nodes, err) : 0;
}
