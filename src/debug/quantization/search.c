/* debug/quantization/search.c: see search.h. */
#include "debug/quantization/search.h"

#include "debug/belief/belief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/cut/external.h"
#include "onnx/quantizer/bypass.h"
#include "onnx/write/model.h"

static const struct precision_words words = {
    .kind = "model",
    .all = "all quantizers disabled",
    .none = "all quantizers enabled",
    .with_all = "with all quantizers disabled",
    .with_none = "with all quantizers enabled",
    .choosing = "Disabling",
    .chosen = "quantizer(s)",
    .found = "the model with the found quantizers disabled",
    .unchanged = "The model with all quantizers",
    .all_fail = "The check fails with all quantizers disabled: they are not the cause, or the check does not read the "
                "candidate",
    .none_needed = "The check passes with all quantizers enabled: nothing to find",
    .no_choice = "No quantizer can be disabled: nothing to search",
    .not_found = "The check passes with no tested set of quantizers disabled",
    .advice = "The check passes with these disabled:",
    .advised = "quantizer(s)",
};

struct quantization_lab {
    const struct quantization_search_settings *settings;
    const struct quantization_subject *subject;
    struct debug_session *session;
    struct model *model; /* the candidate */
    struct candidate_files files;
};

/* ---- Candidates of the search ---- */

static const char *quantizer_name(void *data, size_t quantizer)
{
    return ((const struct quantization_lab *)data)->subject->quantizers.items[quantizer].name;
}

static bool can_be_left_out(void *data, size_t quantizer)
{
    const struct quantization_lab *lab = data;

    return quantizer_why_it_stays(&lab->subject->quantizers.items[quantizer],
                                  quantization_twin(lab->subject, quantizer)) == NULL;
}

static int copy_scores(void *data, double *ret, struct error *err)
{
    const struct quantization_lab *lab = data;

    (void)err;
    memcpy(ret, lab->settings->scores, lab->subject->quantizers.count * sizeof(*ret));
    return 0;
}

static int prepare_changes(struct quantization_lab *lab, const struct quantizer_changes *changes, struct error *err)
{
    model_free(lab->model);
    lab->model = NULL;
    return quantizer_changes_apply(lab->subject, lab->settings->ranges, changes, &lab->model, NULL, err);
}

static int leave_quantizers_out(void *data, const struct bitset *chosen, struct error *err)
{
    struct quantization_lab *lab = data;
    struct quantizer_changes changes SCOPED(quantizer_changes_release) = {0};

    quantizer_changes_init(&changes, chosen->size);
    bitset_assign(&changes.off, chosen);
    return prepare_changes(lab, &changes, err);
}

static int write_candidate_model(void *data, const char *path, struct error *err)
{
    const struct quantization_lab *lab = data;
    struct subgraph whole SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&whole, lab->model);
    return model_write(&whole, path, NULL, FILE_INTERMEDIATE, NULL, err);
}

/* ---- Candidates apart from it ---- */

/* The changes to check, and the lab that creates the model. */
struct given_changes {
    struct quantization_lab *lab;
    const struct quantizer_changes *changes;
};

static int identify_changes(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    (void)search, (void)err;
    ret->has_identity = true;
    ret->identity = quantizer_changes_hash(((const struct given_changes *)data)->changes);
    return 0;
}

static int write_changes(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                         struct error *err)
{
    const struct given_changes *given = data;
    int rc = prepare_changes(given->lab, given->changes, err);

    (void)candidate;
    return rc == 0 ? write_candidate_model(given->lab, paths->items[CANDIDATE_ARTIFACT], err) : rc;
}

/* Checks the model with these changes. A pass from a debug replay or a verdict cache is confirmed by a run, because the
 * answer depends on it. */
static int check_changes(struct quantization_lab *lab, struct quantizer_changes *changes, const char *key,
                         const char *what, enum verdict *ret, struct error *err)
{
    struct given_changes given = {lab, changes};
    const struct session_subject subject = {
        .data = &given, .kind = "model", .identify = identify_changes, .write = write_changes};
    int rc = session_check(lab->session, &subject, (struct check_request){ROLE_REPETITION, key, what}, ret, err);

    if (rc == 0 && *ret == VERDICT_PASS && !session_has_run(lab->session, quantizer_changes_hash(changes)))
        rc = belief_confirm(lab->session, &subject, what, VERDICT_PASS, err);
    return rc;
}

/* ---- Other scales, more of them, more bits ---- */

/* The first applicable refinement, from this one on; REFINEMENTS: none. */
static enum quantizer_refinement next_refinement(const struct quantization_lab *lab, size_t quantizer,
                                                 enum quantizer_refinement from)
{
    struct quantizer_knowledge knowledge = quantization_knowledge(lab->subject, lab->settings->ranges);

    while (from < REFINEMENTS && quantizer_why_not_refined(&knowledge, quantizer, from) != NULL)
        from++;
    return from;
}

static void keep_with(struct quantizer_changes *changes, size_t quantizer, enum quantizer_refinement how)
{
    bitset_remove(&changes->off, quantizer);
    changes->how[quantizer] = how;
}

/* Keeps the changes if the check passes with them; else releases them. */
static int try_changes(struct quantization_lab *lab, struct quantization_answer *answer,
                       struct quantizer_changes *changes, const char *key, const char *what, struct error *err)
{
    enum verdict verdict;
    int rc = check_changes(lab, changes, key, what, &verdict, err);

    if (rc == 0 && verdict == VERDICT_PASS) {
        quantizer_changes_release(&answer->repair);
        answer->repair = *changes;
    } else {
        quantizer_changes_release(changes);
    }
    return rc;
}

/* Refines all at once, each with its first applicable refinement. */
static int refine_all(struct quantization_lab *lab, struct quantization_answer *answer, struct error *err)
{
    const struct bitset *found = &answer->search.chosen;
    struct quantizer_changes changes;

    quantizer_changes_init_copy(&changes, &answer->repair);
    BITSET_EACH (i, found) {
        enum quantizer_refinement how = next_refinement(lab, i, REFINE_FIT);

        if (how < REFINEMENTS)
            keep_with(&changes, i, how);
    }
    if (bitset_equal(&changes.off, found)) {
        struct quantizer_knowledge knowledge = quantization_knowledge(lab->subject, lab->settings->ranges);

        answer->why_not_refined = quantizer_why_not_refined(&knowledge, bitset_next(found, 0), REFINE_FIT);
        quantizer_changes_release(&changes);
        return 0;
    }
    return try_changes(lab, answer, &changes, "_refined", "other scales instead of disabling", err);
}

/* Refines one in addition to those refined so far. */
static int refine_one(struct quantization_lab *lab, struct quantization_answer *answer, size_t quantizer,
                      enum quantizer_refinement how, struct error *err)
{
    static const char *const ways[] = {[REFINE_FIT] = "with scales that fit its values",
                                       [REFINE_PER_CHANNEL] = "with a scale for each channel",
                                       [REFINE_16_BITS] = "in 16 bits"};
    struct quantizer_changes changes;
    struct string_builder what SCOPED(string_release) = {0};
    char key[64];

    snprintf(key, sizeof(key), "_refined_%d_%zu", (int)how, quantizer);
    string_init(&what);
    string_add_quoted(&what, quantizer_name(lab, quantizer));
    string_add_format(&what, " %s instead of being disabled", ways[how]);
    quantizer_changes_init_copy(&changes, &answer->repair);
    keep_with(&changes, quantizer, how);
    return try_changes(lab, answer, &changes, key, what.data, err);
}

static int refine_one_by_one(struct quantization_lab *lab, struct quantization_answer *answer, struct error *err)
{
    const struct bitset *found = &answer->search.chosen;

    BITSET_EACH (i, found)
        for (enum quantizer_refinement how = next_refinement(lab, i, REFINE_FIT);
             how < REFINEMENTS && bitset_has(&answer->repair.off, i); how = next_refinement(lab, i, how + 1)) {
            int rc = refine_one(lab, answer, i, how, err);

            if (rc < 0)
                return rc;
        }
    answer->refining_failed = bitset_equal(&answer->repair.off, found);
    return 0;
}

static int64_t axis_of_node(const struct quantizers *quantizers, uint32_t node)
{
    for (size_t i = 0; i < quantizers->count; i++)
        if (quantizers->items[i].quantize == node || value_list_has(&quantizers->items[i].dequantize, node))
            return quantizers->items[i].axis;
    return -1;
}

/* The axis of the scales of a quantizer of the subject in a model with changes: values keep their numbers. Quantizers
 * do not: two that share a constant may be merged. */
static int64_t axis_in(const struct quantization_subject *subject, size_t quantizer, const struct model *model,
                       const struct quantizers *quantizers)
{
    const struct node *node = &subject->model->nodes.items[subject->quantizers.items[quantizer].dequantize.items[0]];

    return axis_of_node(quantizers, model->values.items[model_edge(subject->model, node->outputs, 0)].producer);
}

/* Finds the axes of changed scales, and the domain of their operators. */
static int look_at_refined(struct quantization_lab *lab, struct quantization_answer *answer, struct error *err)
{
    size_t count = lab->subject->quantizers.count;
    struct quantizer_changes changes;
    struct quantizers after;
    struct model *model;
    int rc;

    quantizer_changes_init_copy(&changes, &answer->repair);
    bitset_clear(&changes.off);
    rc = quantizer_changes_apply(lab->subject, lab->settings->ranges, &changes, &model, &answer->has_microsoft, err);
    quantizer_changes_release(&changes);
    if (rc < 0)
        return rc;
    answer->axes = memory_alloc_zero(count, sizeof(*answer->axes));
    quantizers_find(model, NULL, &after);
    for (size_t i = 0; i < count; i++)
        answer->axes[i] = answer->repair.how[i] != REFINE_NOT ? axis_in(lab->subject, i, model, &after) : -1;
    quantizers_release(&after);
    model_free(model);
    return 0;
}

static int refine_answer(struct quantization_lab *lab, struct quantization_answer *answer, struct error *err)
{
    const struct bitset *found = &answer->search.chosen;
    int rc = refine_all(lab, answer, err);

    if (rc == 0 && answer->why_not_refined == NULL && bitset_equal(&answer->repair.off, found))
        rc = refine_one_by_one(lab, answer, err);
    return rc == 0 && !bitset_equal(&answer->repair.off, found) ? look_at_refined(lab, answer, err) : rc;
}

/* ---- Lists of nodes ---- */

/* Whether all quantizers omitted with these nodes can be disabled. */
static bool can_be_seen(struct quantization_lab *lab, const struct quantizer_exclusion *exclusion)
{
    BITSET_EACH (i, &exclusion->left_out)
        if (!can_be_left_out(lab, i))
            return false;
    return true;
}

static int prove_exclusion(struct quantization_lab *lab, struct quantization_answer *answer, enum exclusion_style style,
                           struct error *err)
{
    static const char *const keys[] = {"_around_both_sides", "_around_readers"};
    struct quantizer_exclusion *exclusion = &answer->exclusions[style];
    struct quantizer_changes changes SCOPED(quantizer_changes_release) = {0};
    struct string_builder what SCOPED(string_release) = {0};
    enum verdict verdict;
    int rc;

    if (bitset_equal(&exclusion->left_out, &answer->search.chosen))
        return 0;
    exclusion->proof = EXCLUSION_UNSEEN;
    if (!can_be_seen(lab, exclusion))
        return 0;
    string_init(&what);
    string_add_format(&what, "all %zu quantizers of %zu nodes disabled", bitset_count(&exclusion->left_out),
                      exclusion->names.count + exclusion->unnamed);
    quantizer_changes_init(&changes, exclusion->left_out.size);
    bitset_assign(&changes.off, &exclusion->left_out);
    rc = check_changes(lab, &changes, keys[style], what.data, &verdict, err);
    if (rc == 0 && verdict != VERDICT_SKIP)
        exclusion->proof = verdict == VERDICT_PASS ? EXCLUSION_PASSES : EXCLUSION_FAILS;
    return rc;
}

static int find_exclusions(struct quantization_lab *lab, struct quantization_answer *answer, struct error *err)
{
    const struct quantizer_exclusion *first = &answer->exclusions[EXCLUSION_BOTH_SIDES];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < EXCLUSION_STYLES; i++) {
        struct quantizer_exclusion *exclusion = &answer->exclusions[i];

        quantizer_exclusion_find(lab->subject, &answer->search.chosen, (enum exclusion_style)i, exclusion);
        if (i > 0 && bitset_equal(&exclusion->left_out, &first->left_out))
            exclusion->proof = first->proof;
        else
            rc = prove_exclusion(lab, answer, (enum exclusion_style)i, err);
    }
    return rc;
}

/* ---- The search ---- */

static int open_lab(struct quantization_lab *lab, struct error *err)
{
    const struct quantization_search_settings *settings = lab->settings;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    size_t count = 0;
    int rc;

    rc = candidate_files_init(&lab->files, settings->artifact, settings->keep_artifact, settings->take_over, err);
    lab->files.copy = settings->copy_weights;
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < lab->subject->quantizers.count; i++)
        count += can_be_left_out(lab, i);
    if (count == 0)
        return error_set(err, ERR_INVALID, "none of %zu quantizers can be disabled, so there is nothing to search%s",
                         lab->subject->quantizers.count,
                         lab->subject->float_model == NULL ? "; pass the original float model with --float"
                                                           : "; the table has the reason for each");
    subgraph_init_whole(&whole, lab->subject->model);
    return candidate_files_provide(&lab->files, &whole, err);
}

static int search_quantizers(struct quantization_lab *lab, struct quantization_answer *ret, struct error *err)
{
    const struct precision_target target = {.data = lab,
                                            .count = lab->subject->quantizers.count,
                                            .name = quantizer_name,
                                            .is_lowered = can_be_left_out,
                                            .score = copy_scores,
                                            .prepare = leave_quantizers_out,
                                            .write = write_candidate_model,
                                            .saving = "Saving ONNX model to:",
                                            .words = &words};
    const struct precision_run_settings settings = {.mode = PRECISION_MINIMAL, .verify = true};
    int rc = precision_run(&target, &settings, lab->session, lab->settings->log, &ret->search, err);

    if (rc < 0 || ret->search.outcome != PRECISION_FOUND || ret->search.none_needed)
        return rc;
    bitset_assign(&ret->repair.off, &ret->search.chosen);
    if (lab->settings->refines)
        rc = refine_answer(lab, ret, err);
    return rc == 0 ? find_exclusions(lab, ret, err) : rc;
}

int quantization_search(const struct quantization_search_settings *settings, struct debug_session *session,
                        struct quantization_answer *ret, struct error *err)
{
    struct quantization_lab lab = {.settings = settings, .subject = settings->subject, .session = session};
    int rc;

    *ret = (struct quantization_answer){.has_microsoft = false};
    quantizer_changes_init(&ret->repair, settings->subject->quantizers.count);
    rc = open_lab(&lab, err);
    if (rc == 0)
        rc = search_quantizers(&lab, ret, err);
    model_free(lab.model);
    candidate_files_release(&lab.files);
    return rc;
}

void quantization_answer_release(struct quantization_answer *answer)
{
    precision_result_release(&answer->search);
    quantizer_changes_release(&answer->repair);
    free(answer->axes);
    for (size_t i = 0; i < EXCLUSION_STYLES; i++)
        quantizer_exclusion_release(&answer->exclusions[i]);
}
