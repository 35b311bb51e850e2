/* debug/accuracy/places.c: what fails in one place, and elsewhere, too. The same operators, connected in the same way,
 * are tried first: an engine that compiles a pattern wrongly does so wherever it occurs. What still fails without all
 * of these is reduced in turn. Each place has evidence of its own.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "debug/accuracy/exact_value.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"
#include "onnx/model/occurrence.h"

#define MOST_REDUCTIONS 16
#define MOST_OCCURRENCES 100 /* of one pattern, that are run alone */
#define MOST_LISTED_PLACES 20

struct failing_place {
    struct bitset nodes;
    struct exact_judgement judgement;
    const char *made; /* the file with what they make alone in the suspect; NULL: they were not seen to fail so */
};

struct place_search {
    struct study *study;
    struct words tolerance;
    struct bitset nodes; /* of all places */
    VECTOR(struct failing_place) places;
    enum agreement agreement; /* of the rest of the model */
    const char *rest;         /* that was run */
    size_t harmless;          /* places that fail alone, which the outputs of the model do not show */
    bool all_show;            /* the outputs show any one of them */
};

/* ---- Places ---- */

static void release_places(struct place_search *search)
{
    for (size_t i = 0; i < search->places.count; i++)
        bitset_release(&search->places.items[i].nodes);
    free(search->places.items);
    bitset_release(&search->nodes);
}

/* Runs them alone, which judges them. Whether they fail; always true of what was reduced from something that fails. */
static bool add_place(struct place_search *search, const struct bitset *nodes, bool is_reduced)
{
    struct study *study = search->study;
    struct failing_place place = {.judgement = {.why_not = "it was not seen to fail alone"}};

    if (study->pattern == FAILS_ALWAYS && !study->refused) {
        struct lone_run run = study_compare_nodes(study, nodes, study->layerwise, search->tolerance);
        struct failing_case part = study_values_case(study, run.model, search->tolerance);

        part.golden = run.golden;
        if (run.agreement == DIFFERS && study_suspect_returns_outputs(study, nodes, run.model)) {
            study_judge(study, &part, run.outputs, &place.judgement);
            place.made = run.outputs;
        } else if (!is_reduced) {
            return false;
        }
    }
    bitset_init_copy(&place.nodes, nodes);
    bitset_unite(&search->nodes, nodes);
    *VECTOR_APPEND(&search->places) = place;
    return true;
}

/* The same operators elsewhere. What fails only now and then, or is refused, says nothing when it is run once. */
static void add_occurrences(struct place_search *search, const struct bitset *nodes)
{
    struct study *study = search->study;
    uint32_t next = 0;
    size_t tried = 0;
    SCOPED_BITSET(taken);
    SCOPED_BITSET(place);

    if (study->pattern != FAILS_ALWAYS || study->refused)
        return;
    bitset_init(&place, nodes->size);
    bitset_init_copy(&taken, &search->nodes);
    while (tried < MOST_OCCURRENCES && !study_has_failed(study) &&
           model_find_occurrence(study->model, nodes, &taken, &next, &place)) {
        tried++;
        if (add_place(search, &place, false))
            bitset_unite(&taken, &place);
    }
}

/* Adds the nodes of the model that a part was cut out of, which make the same tensors. False where there are none. */
static bool find_nodes_of_part(struct study *study, const char *path, struct bitset *ret)
{
    struct model *part = NULL;

    if (study_has_failed(study) || model_open(path, study->settings->external_data_dir, &part, &study->error) < 0)
        return false;
    for (uint32_t i = 0; i < part->nodes.count; i++) {
        uint32_t made = node_output(part, &part->nodes.items[i], 0);
        uint32_t value =
            made != VALUE_NONE ? model_find_value(study->model, part->values.items[made].name) : VALUE_NONE;

        if (model_producer(study->model, value) != NULL)
            bitset_add(ret, study->model->values.items[value].producer);
    }
    model_free(part);
    return bitset_count(ret) > 0;
}

/* Reduces the rest, which still fails, to one more place. */
static bool reduce_rest(struct place_search *search, struct bitset *ret)
{
    struct study *study = search->study;
    const char *why = study->refused ? "What else does not run" : "What else fails", *output;
    struct study_step *step;

    output = study_text(study, "%s.reduced.onnx", search->rest);
    return study_reduce(study, search->rest, why, search->tolerance, output, &step) &&
           find_nodes_of_part(study, output, ret) && bitset_count_common(ret, &search->nodes) < bitset_count(ret);
}

/* What happens now and then is compared with the outputs of the whole, so often that it is not by chance. */
static void compare_rest(struct place_search *search)
{
    struct study *study = search->study;

    search->agreement = study->pattern == FAILS_ALWAYS
                            ? study_compare_rest(study, &search->nodes, search->tolerance, &search->rest)
                            : study_replace_nodes(study, &search->nodes, NULL, &search->rest);
}

static void find_places(struct place_search *search, const struct bitset *first)
{
    const enum agreement fails = search->study->refused ? REFUSES : DIFFERS;
    bool goes_on = true;
    SCOPED_BITSET(place);

    bitset_init_copy(&place, first);
    for (int reductions = 0; goes_on; reductions++) {
        add_place(search, &place, true);
        compare_rest(search);
        if (search->agreement == fails) {
            add_occurrences(search, &place);
            compare_rest(search);
        }
        bitset_clear(&place);
        goes_on = search->agreement == fails && search->rest != NULL && reductions < MOST_REDUCTIONS &&
                  reduce_rest(search, &place);
    }
}

/* What the suspect makes in one of the places, put into the reference, shows in the outputs, or it is no cause. */
static void drop_harmless_places(struct place_search *search)
{
    struct study *study = search->study;
    size_t kept = 0, count = search->places.count;
    double explained = 0;
    bool all_measured = true;

    search->all_show = count > 1;
    for (size_t i = 0; i < count; i++) {
        struct failing_place place = search->places.items[i];
        bool is_tested = place.judgement.side == SUSPECT_IS_WRONG && place.made != NULL;
        double error = 0;
        enum agreement agreement = study_measure_injection(study, &place.nodes, is_tested ? place.made : NULL, &error);

        all_measured &= agreement == AGREES || agreement == DIFFERS;
        explained += error;
        search->all_show &= agreement == DIFFERS;
        if (agreement == AGREES && (kept > 0 || i + 1 < count)) {
            study_add_note(study,
                           "%s fail%s alone, too, but the outputs of the model agree with what the suspect makes there",
                           describe_nodes(study, &place.nodes), bitset_count(&place.nodes) == 1 ? "s" : "");
            bitset_subtract(&search->nodes, &place.nodes);
            bitset_release(&place.nodes);
            search->harmless++;
        } else {
            search->places.items[kept++] = place;
        }
    }
    search->places.count = kept;
    study->cause.explained_error = all_measured ? explained : 0;
}

/* ---- The answer ---- */

static bool has_same_operators(const struct model *model, const struct bitset *a, const struct bitset *b)
{
    size_t i = bitset_next(a, 0), k = bitset_next(b, 0);

    for (; i < a->size && k < b->size; i = bitset_next(a, i + 1), k = bitset_next(b, k + 1))
        if (!text_equal(model->nodes.items[i].op_type, model->nodes.items[k].op_type))
            return false;
    return i >= a->size && k >= b->size;
}

/* Operators of a pattern: "MatMul and Add together". */
static const char *describe_operators(struct study *study, const struct bitset *nodes)
{
    size_t count = bitset_count(nodes), listed = 0;
    SCOPED_STRING(text);

    BITSET_EACH (i, nodes)
        string_add_format(&text, "%s" TEXT_FORMAT,
                          listed == 0           ? ""
                          : listed + 1 == count ? " and "
                                                : ", ",
                          TEXT_ARGS(study->model->nodes.items[i].op_type)),
            listed++;
    string_add(&text, count > 1 ? " together" : "");
    return study_text(study, "%s", text.data);
}

/* "MatMul and Add together wrongly in 4 places: 'a' and 'b'; 'c' and 'd'; ..." of the places that `side` is said of;
 * NULL where there are none. */
static const char *describe_places(const struct place_search *search, enum wrong_side side, const char *how)
{
    struct study *study = search->study;
    const struct failing_place *first = NULL;
    size_t count = 0;
    bool is_pattern = true;
    SCOPED_STRING(list);

    VECTOR_EACH (const struct failing_place, place, search->places) {
        if (place->judgement.side != side)
            continue;
        first = first != NULL ? first : place;
        is_pattern &= has_same_operators(study->model, &first->nodes, &place->nodes);
        if (count++ < MOST_LISTED_PLACES)
            string_add_format(&list, "%s%s", count > 1 ? "; " : "", describe_nodes(study, &place->nodes));
    }
    if (count > MOST_LISTED_PLACES)
        string_add_format(&list, "; and %zu more", count - MOST_LISTED_PLACES);
    if (count < 2)
        return count == 0 ? NULL : study_text(study, "%s %s", list.data, how);
    return is_pattern ? study_text(study, "%s %s in %zu places: %s", describe_operators(study, &first->nodes), how,
                                   count, list.data)
                      : study_text(study, "%zu parts %s, each on its own: %s", count, how, list.data);
}

static void add_clause(struct string_builder *sentence, const char *subject, const char *clause, const char *behind)
{
    if (clause != NULL)
        string_add_format(sentence, "%s%s%s%s", sentence->size > 0 ? "; and " : "", subject, clause, behind);
}

static void add_evidence_of_place(struct study *study, const struct failing_place *place)
{
    const char *described = describe_nodes(study, &place->nodes);
    bool is_judged = place->judgement.side != SIDE_NOT_KNOWN;

    if (place->made != NULL)
        study_add_evidence(study, "%s alone: the two differ%s%s", described, is_judged ? "; " : "",
                           is_judged ? describe_judgement(study, &place->judgement) : "");
    if (!is_judged)
        study_add_judgement(study, described, &place->judgement);
}

/* What is wrong on which side. */
static void conclude_judged_places(struct place_search *search)
{
    struct study *study = search->study;
    struct cause *cause = &study->cause;
    const char *reference = describe_places(search, REFERENCE_IS_WRONG, "wrongly");
    SCOPED_STRING(sentence);

    add_clause(&sentence, "the reference computes ", reference, "");
    add_clause(&sentence, "the suspect computes ", describe_places(search, SUSPECT_IS_WRONG, "wrongly"), "");
    add_clause(&sentence, "both sides compute ", describe_places(search, BOTH_ARE_WRONG, "wrongly"), "");
    add_clause(&sentence, "the two round ", describe_places(search, BOTH_ROUND, "differently"), "");
    add_clause(&sentence, "the suspect and the reference compute ",
               describe_places(search, SIDE_NOT_KNOWN, "differently"),
               "; which of the two is wrong there is not known");
    cause->sentence = study_text(study, "%s", sentence.data);
    cause->is_judged = true;
    if (reference != NULL)
        cause->kind = CAUSE_REFERENCE;
    for (size_t i = 0; i < search->places.count; i++)
        add_evidence_of_place(study, &search->places.items[i]);
}

/* What was seen to fail only now and then, or not to run. */
static void conclude_unjudged_places(struct place_search *search)
{
    struct study *study = search->study;
    size_t others = search->places.count - 1;

    for (size_t i = 1; i < search->places.count; i++)
        study_add_evidence(study, study->refused ? "neither does it run %s" : "so do those of %s, reduced on their own",
                           describe_nodes(study, &search->places.items[i].nodes));
    study->cause.sentence = study_text(study, "%s, %s %zu other part%s", study->cause.sentence,
                                       study->refused ? "nor" : "and so do those of", others, others == 1 ? "" : "s");
}

/* That what is left of the model is right. */
static void add_evidence_of_rest(struct place_search *search)
{
    struct study *study = search->study;
    size_t count = search->places.count + search->harmless;
    const char *what = count == 1 ? "this part makes" : study_text(study, "these %zu parts make", count),
               *how_sure = "";

    if (study->refused) {
        study_add_evidence(study, "with the reference's values for what %s the rest runs", what);
        study->cause.whole_agrees = true;
        return;
    }
    study->cause.whole_agrees = study_is_sure(study, study_enough_comparisons(study), &how_sure);
    study_add_evidence(study, "with the reference's values for what %s, %s%s", what,
                       study->pattern == FAILS_ALWAYS ? "the two agree in all the rest of the model"
                                                      : "the whole model agrees",
                       how_sure);
    if (search->all_show)
        study_add_evidence(study,
                           "what the suspect makes in any one of them, put into the reference, has the outputs of "
                           "the model differ");
}

static void conclude_places(struct place_search *search)
{
    struct study *study = search->study;
    bool is_judged = study->pattern == FAILS_ALWAYS && !study->refused;

    if (is_judged)
        drop_harmless_places(search);
    study->cause.nodes = node_labels(study, &search->nodes);
    if (is_judged)
        conclude_judged_places(search);
    else if (search->places.count > 1)
        conclude_unjudged_places(search);
    if (study->refused ? search->agreement == AGREES || search->agreement == DIFFERS : search->agreement == AGREES)
        add_evidence_of_rest(search);
    else if (search->agreement == (study->refused ? REFUSES : DIFFERS))
        study_add_not_tested(study, "what else fails: the rest of the model still does, and was not reduced further");
    else
        study_add_not_tested(study, "whether anything else fails: the rest of the model could not be compared");
}

bool study_find_other_places(struct study *study, const struct bitset *nodes, struct words tolerance,
                             enum agreement whole)
{
    struct place_search search SCOPED(release_places) = {.study = study, .tolerance = tolerance};
    bool is_explained = study->refused ? whole != REFUSES : whole == AGREES;

    if (study->pattern != FAILS_ALWAYS && is_explained)
        return false;
    bitset_init(&search.nodes, nodes->size);
    find_places(&search, nodes);
    if (study_has_failed(study) || (is_explained && search.places.count == 1))
        return false;
    conclude_places(&search);
    study->cause.whole_agrees |= is_explained;
    return true;
}
