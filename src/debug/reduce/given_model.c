/* debug/reduce/given_model.c: see given_model.h. */
#include "debug/reduce/given_model.h"

void given_models_init(struct given_models *given, struct candidate_maker *maker, struct loop *loop,
                       struct candidate_files *files)
{
    *given = (struct given_models){.maker = maker, .loop = loop, .files = files};
}

void given_models_release(struct given_models *given)
{
    if (given->has_candidate)
        subgraph_release(&given->candidate);
    given->has_candidate = false;
}

/* With external data it is another file than without. */
static struct hash identity_of(const struct given_model *model)
{
    struct hash identity = subgraph_identity(model->model);

    return model->external != NULL ? hash_combine(identity, hash_bytes("external", 8)) : identity;
}

/* ---- What the loop asks ---- */

static int describe(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                    struct error *err)
{
    struct given_models *given = data;
    uint32_t not_a_tensor;

    (void)search, (void)turn;
    given_models_release(given);
    subgraph_init_copy(&given->candidate, given->now->model);
    given->has_candidate = true;
    *ret = (struct loop_candidate){.action = CANDIDATE_CHECK,
                                   .num_nodes = (int64_t)bitset_count(&given->candidate.nodes),
                                   .has_identity = true,
                                   .identity = identity_of(given->now),
                                   .expectation = given->now->expectation};
    return candidate_complete(given->maker, &given->candidate, &not_a_tensor, err);
}

static int prepare(void *data, const void *search, const char *path, struct loop_candidate *candidate,
                   struct error *err)
{
    struct given_models *given = data;

    (void)search, (void)candidate;
    return candidate_prepare(given->maker, &given->candidate, path, err);
}

static int write_candidate(void *data, const void *search, enum candidate_turn turn,
                           const struct candidate_paths *paths, struct error *err)
{
    struct given_models *given = data;

    (void)search, (void)turn;
    return candidate_write(given->maker, &given->candidate, paths, given->now->external, err);
}

static struct loop_subject subject_of(struct given_models *given)
{
    return (struct loop_subject){
        .data = given, .may_be_kept = true, .describe = describe, .prepare = prepare, .write = write_candidate};
}

/* ---- Checks ---- */

/* What it returns is the model that is checked already: before its verdict counts the loop may want to see another. */
static const struct given_model *begin(struct given_models *given, const struct given_model *model)
{
    const struct given_model *before = given->now;

    given->now = model;
    return before;
}

int given_model_check(struct given_models *given, const struct given_model *model, const char *key, const char *what,
                      enum verdict *ret, struct error *err)
{
    struct loop_subject subject = subject_of(given);
    const struct given_model *before = begin(given, model);
    int rc;

    if (model->external != NULL)
        candidate_files_claim_own_data(given->files);
    rc = loop_check_apart(given->loop, &subject, key, what, ret, err);
    if (model->external != NULL)
        candidate_files_drop_own_data(given->files);
    given->now = before;
    return rc;
}

int given_model_check_control(struct given_models *given, const struct given_model *model, const char *key,
                              const char *what, enum verdict *ret, struct error *err)
{
    struct loop_subject subject = subject_of(given);
    const struct given_model *before = begin(given, model);
    int rc = loop_check_control(given->loop, &subject, key, what, ret, err);

    given->now = before;
    return rc;
}

int given_model_confirm(struct given_models *given, const struct given_model *model, const char *what,
                        enum verdict expected, struct error *err)
{
    struct loop_subject subject = subject_of(given);
    const struct given_model *before = begin(given, model);
    int rc;

    /* Nothing is written to a candidate's place behind this, but perhaps the result. */
    candidate_files_claim_own_data(given->files);
    rc = loop_confirm(given->loop, &subject, what, expected, err);
    candidate_files_drop_own_data(given->files);
    given->now = before;
    return rc;
}

int given_model_confirm_known(struct given_models *given, const struct given_model *model, const char *what,
                              enum verdict expected, struct error *err)
{
    return loop_has_run(given->loop, identity_of(model)) ? 0 : given_model_confirm(given, model, what, expected, err);
}
