/* cli/debug/quantization/answer.c: what the search has found, see search.h. */
#include <math.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "cli/debug/quantization/search.h"

#define MOST_NAMES 8 /* in a line */

static void add_quantizer_names(const struct quantization_session *session, const struct bitset *set,
                                struct string_builder *ret)
{
    struct short_list names = {.text = ret, .most = MOST_NAMES};

    BITSET_EACH (i, set)
        short_list_add(&names, session->subject->quantizers.items[i].name);
    short_list_end(&names);
}

static void list_quantizers(const struct quantization_session *session, const struct bitset *set, struct word_list *ret)
{
    BITSET_EACH (i, set)
        *VECTOR_APPEND(ret) = session->subject->quantizers.items[i].name;
}

static void add_set_fact(const struct quantization_session *session, const char *key, const struct bitset *set,
                         struct result *ret)
{
    struct word_list names SCOPED_ITEMS = {0};

    list_quantizers(session, set, &names);
    result_add_names(ret, key, (struct words){names.items, names.count});
}

/* ---- The repaired model ---- */

static const struct {
    const char *words, *key;
} refinements[] = {
    [REFINE_FIT] = {"the same type, with scales that fit the observed values", "other_scales"},
    [REFINE_PER_CHANNEL] = {"8 bits, with a scale for each channel", "per_channel"},
    [REFINE_16_BITS] = {"16 bits", "16_bits"},
};

static struct bitset find_refined(const struct quantization_session *session, enum quantizer_refinement how)
{
    struct bitset ret;

    bitset_init(&ret, session->subject->quantizers.count);
    for (size_t i = 0; i < ret.size; i++)
        if (session->answer.repair.how[i] == how)
            bitset_add(&ret, i);
    return ret;
}

/* Adds a set of quantizers of the repaired model to JSON and to the line. */
static void add_repaired_set(const struct quantization_session *session, const char *key, const char *words,
                             const struct bitset *set, struct string_builder *line, struct result *ret)
{
    add_set_fact(session, key, set, ret);
    if (bitset_count(set) == 0)
        return;
    string_add_format(line, "; %s: ", words);
    add_quantizer_names(session, set, line);
}

static void add_repair(const struct quantization_session *session, struct result *ret)
{
    const struct quantization_answer *answer = &session->answer;
    SCOPED_STRING(line);

    if (session->repaired == NULL) {
        result_add_null(ret, "repaired");
        return;
    }
    result_begin_record(ret, "repaired");
    result_add_text(ret, "path", session->repaired);
    string_add_format(&line, "the repaired model '%s' passes the check", session->repaired);
    add_repaired_set(session, "left_out", "disabled", &answer->repair.off, &line, ret);
    for (size_t i = REFINE_FIT; i < REFINEMENTS; i++) {
        struct bitset set SCOPED(bitset_release) = find_refined(session, (enum quantizer_refinement)i);

        add_repaired_set(session, refinements[i].key, refinements[i].words, &set, &line, ret);
    }
    result_end_record(ret);
    result_add_line(ret, quantization_session_is_in_doubt(session) ? RESULT_NOTE : RESULT_FIX, "%s", line.data);
    if (answer->has_microsoft)
        result_add_line(ret, RESULT_NOTE,
                        "the repaired model's 16-bit quantizers are in the domain com.microsoft, which only ONNX "
                        "Runtime supports; ONNX has them from operator set 21 on");
    if (answer->refining_failed)
        result_add_line(ret, RESULT_EVIDENCE, "fails with other scales or 16 bits instead of disabled quantizers");
    if (answer->why_not_refined != NULL)
        result_add_line(ret, RESULT_NOT_TESTED, "other scales or 16 bits instead of disabling them: %s",
                        answer->why_not_refined);
}

static void add_ratio(const char *label, double ratio, struct string_builder *ret)
{
    string_add(ret, ret->size > 0 ? ", " : "");
    result_add_decibels(ratio, "%.1f dB", ret);
    string_add_format(ret, " %s", label);
}

static void add_ratio_facts(const char *key, const struct repair_ratios *ratios, struct result *ret)
{
    result_begin_record(ret, key);
    result_add_number(ret, "quantized", ratios->quantized);
    result_add_number(ret, "repaired", ratios->repaired);
    result_add_number(ret, "other_scales", ratios->rescaled);
    result_end_record(ret);
}

/* The repaired model against what it repairs. */
static void add_improvement(const struct quantization_session *session, struct result *ret)
{
    const struct repair_measures *repair = &session->repair;
    const char *reference =
        session->float_path != NULL ? "the float model" : "the model with all possible quantizers disabled";
    SCOPED_STRING(ratios);
    SCOPED_STRING(others);

    add_ratio_facts("improvement", &repair->reference, ret);
    add_ratio_facts("improvement_with_other_scales", &repair->other, ret);
    if (!repair->is_known) {
        result_add_line(ret, RESULT_NOT_TESTED, "whether the repaired model is nearer to %s than the quantized one: %s",
                        reference, repair->why_not);
        return;
    }
    add_ratio("quantized", repair->reference.quantized, &ratios);
    add_ratio("repaired", repair->reference.repaired, &ratios);
    result_add_line(ret, repair_is_worse(&repair->reference) ? RESULT_CAUTION : RESULT_EVIDENCE,
                    "signal to noise of the worst output against %s: %s%s", reference, ratios.data,
                    repair_is_worse(&repair->reference) ? ": not an improvement" : "");
    if (isnan(repair->other.repaired))
        return;
    add_ratio("quantized", repair->other.quantized, &others);
    add_ratio("repaired", repair->other.repaired, &others);
    add_ratio("quantized, with only these scales changed", repair->other.rescaled, &others);
    result_add_line(ret, RESULT_EVIDENCE,
                    "the same, if outlying scales are wrong and the median of their constant is right: %s",
                    others.data);
}

/* ---- What to exclude ---- */

static const struct result_column exclusion_columns[] = {
    {"program", "program", RESULT_TEXT, false},      {"call", "call", RESULT_TEXT, false},
    {"command", "command", RESULT_TEXT, false},      {"nodes", NULL, RESULT_NAMES, false},
    {"quantizers", "left out", RESULT_NAMES, false}, {"proof", "proof", RESULT_TEXT, false},
    {"complete", "complete", RESULT_FLAG, false},
};

static const struct result_table exclusion_table = {.key = "exclusions",
                                                    .title = "To quantize again without them",
                                                    .columns = exclusion_columns,
                                                    .column_count = ARRAY_LEN(exclusion_columns)};

static void add_proof(const struct quantization_session *session, const struct quantizer_exclusion *exclusion,
                      struct string_builder *ret)
{
    static const char *const proofs[] = {
        [EXCLUSION_EXACT] = "excludes exactly the quantizers found",
        [EXCLUSION_PASSES] = "the check passes with all of these excluded",
        [EXCLUSION_FAILS] = "the check FAILS with all of these excluded, so this list is not a fix",
        [EXCLUSION_UNSEEN] = "not tested: some of these cannot be disabled here, or the check is inconclusive",
    };
    SCOPED_BITSET(more);

    bitset_init_copy(&more, &exclusion->left_out);
    bitset_subtract(&more, &session->answer.search.chosen);
    if (bitset_count(&more) > 0) {
        string_add_format(ret, "excludes %zu more: ", bitset_count(&more));
        add_quantizer_names(session, &more, ret);
        string_add(ret, "; ");
    }
    string_add(ret, proofs[exclusion->proof]);
    if (!exclusion->leaves_out_enough)
        string_add(ret, "; some of the quantizers found belong to no node and are not excluded");
    if (exclusion->unnamed > 0)
        string_add_format(ret, "; %zu of the nodes are missing, because they have no name", exclusion->unnamed);
    if (exclusion->unknown > 0)
        string_add_format(ret, "; %zu of the names are not in the float model", exclusion->unknown);
}

/* Only a list with which the check passes is a fix. */
static enum result_line_kind kind_of_exclusion(const struct quantization_session *session,
                                               const struct quantizer_exclusion *exclusion)
{
    if (quantization_session_is_in_doubt(session) || exclusion->proof == EXCLUSION_FAILS)
        return RESULT_NOTE;
    return exclusion->proof == EXCLUSION_UNSEEN ? RESULT_NOT_TESTED : RESULT_FIX;
}

static void add_exclusion(const struct quantization_session *session, size_t program, struct result *ret)
{
    static const char *const keys[] = {[EXCLUSION_EXACT] = "exact",
                                       [EXCLUSION_PASSES] = "passes",
                                       [EXCLUSION_FAILS] = "fails",
                                       [EXCLUSION_UNSEEN] = "not-seen"};
    const struct quantizer_exclusion *exclusion = &session->answer.exclusions[session->lists.programs[program].style];
    enum result_line_kind kind = kind_of_exclusion(session, exclusion);
    bool is_complete = exclusion->leaves_out_enough && exclusion->unnamed == 0 && exclusion->unknown == 0;
    struct word_list nodes SCOPED_ITEMS = {0}, quantizers SCOPED_ITEMS = {0};
    SCOPED_STRING(proof);
    SCOPED_ARENA(arena);

    for (size_t i = 0; i < exclusion->names.count; i++)
        *VECTOR_APPEND(&nodes) = arena_text(&arena, exclusion->names.items[i]);
    list_quantizers(session, &exclusion->left_out, &quantizers);
    add_proof(session, exclusion, &proof);
    result_add_line(ret, kind, "%s: %s: %s", session->lists.programs[program].name,
                    session->lists.programs[program].call, proof.data);
    if (session->lists.programs[program].words != NULL)
        result_add_line(ret, kind, "the same: %s", session->lists.programs[program].words);
    result_add_row(ret, (const struct result_cell[]){{.text = session->lists.programs[program].key},
                                                     {.text = session->lists.programs[program].call},
                                                     {.text = session->lists.programs[program].words},
                                                     {.names = {nodes.items, nodes.count}},
                                                     {.names = {quantizers.items, quantizers.count}},
                                                     {.text = keys[exclusion->proof]},
                                                     {.number = is_complete}});
}

static void add_exclusions(const struct quantization_session *session, struct result *ret)
{
    result_begin_table(ret, &exclusion_table);
    for (size_t i = 0; i < QUANTIZER_PROGRAMS; i++)
        add_exclusion(session, i, ret);
    if (session->lists.overrides != NULL)
        result_add_line(ret, quantization_session_is_in_doubt(session) ? RESULT_NOTE : RESULT_FIX,
                        "ONNX Runtime, as in the repaired model: extra_options=%s", session->lists.overrides);
    result_add_text(ret, "extra_options", session->lists.overrides);
    result_add_line(ret, RESULT_NOT_TESTED, "the models that these programs write with these lists (also in '%s')",
                    session->lists_path);
}

/* ---- The answer ---- */

static void add_cause(const struct quantization_session *session, struct result *ret)
{
    const struct precision_result *result = &session->answer.search;
    size_t count = bitset_count(&result->chosen);
    SCOPED_STRING(names);

    add_quantizer_names(session, &result->chosen, &names);
    if (other_data_contradicts(&session->other))
        result_set_verdict(ret, REPORT_UNKNOWN,
                           "Not reproducible: the repaired model, which changes %s, passes with some input data only",
                           names.data);
    else if (!quantization_session_is_in_doubt(session))
        result_set_verdict(ret, REPORT_CAUSE, "Cause: %s: %zu of %zu quantizers", names.data, count,
                           session->subject->quantizers.count);
    else
        result_set_verdict(ret, REPORT_UNKNOWN, "Not decided: %s: %zu of %zu quantizers, or %s", names.data, count,
                           session->subject->quantizers.count,
                           isnan(session->repair.other.repaired)
                               ? "another cause: without them the model is not nearer to the reference"
                               : "an outlying scale of a constant, which the reference shares; pass --float MODEL");
    result_add_line(ret, RESULT_EVIDENCE, "passes with %s disabled; fails with all quantizers enabled",
                    count == 1 ? "it" : "these");
    other_data_add_line(&session->other, "the repaired model", ret);
    if (result->is_minimal && count > 1)
        result_add_line(ret, RESULT_EVIDENCE, "fails if any single one of them is enabled again");
}

void quantization_session_fill(const struct quantization_session *session, struct result *ret)
{
    const struct precision_result *result = &session->answer.search;
    bool found = quantization_session_has_found(session);
    bool in_doubt = found && quantization_session_is_in_doubt(session);

    result_add_text(ret, "outcome",
                    in_doubt              ? "not-decided"
                    : found               ? "found"
                    : result->none_needed ? "none-needed"
                                          : "not-found");
    add_set_fact(session, "left_out", &result->chosen, ret);
    result_add_flag(ret, "minimal", found && result->is_minimal);
    if (found) {
        add_cause(session, ret);
        add_improvement(session, ret);
        add_repair(session, ret);
        add_exclusions(session, ret);
    } else if (result->none_needed) {
        result_set_verdict(ret, REPORT_PASSED, "The check passes with all quantizers enabled: nothing to find");
    } else {
        result_set_verdict(ret, REPORT_UNKNOWN, "The check fails with every tested set of quantizers disabled");
    }
}
