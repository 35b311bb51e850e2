/* cli/debug/quantization/answer.c: what the search has found, as log lines, on the page and as JSON, see search.h. */
#include "base/memory.h"
#include "base/text/names.h"
#include "cli/debug/quantization/search.h"

#define MOST_NAMES 8 /* that are listed in a line of the log */

/* ---- The log ---- */

static void add_quantizer_names(const struct quantization_session *session, const struct bitset *set,
                                struct string_builder *ret)
{
    struct short_list names = {.text = ret, .most = MOST_NAMES};

    for (size_t i = bitset_next(set, 0); i < set->size; i = bitset_next(set, i + 1))
        short_list_add(&names, session->subject->quantizers.items[i].name);
    short_list_end(&names);
}

static void log_set(const struct quantization_session *session, const char *what, const struct bitset *set)
{
    SCOPED_STRING(names);

    if (bitset_count(set) == 0)
        return;
    add_quantizer_names(session, set, &names);
    log_message(session->context->log, LOG_FINISH, "    %s: %s", what, names.data);
}

static const char *failure_of(const struct quantization_session *session)
{
    if (session->answer.search.none_needed)
        return "With all quantizers in place the check passes: none has to be left out";
    return session->answer.search.outcome == PRECISION_FOUND
               ? NULL
               : "No choice of quantizers to leave out was seen to pass the check";
}

static const struct {
    const char *words, *key;
} refinements[] = {
    [REFINE_FIT] = {"8 bits, with scales that fit the values seen", "other_scales"},
    [REFINE_PER_CHANNEL] = {"8 bits, with a scale for each channel", "per_channel"},
    [REFINE_16_BITS] = {"16 bits", "16_bits"},
};

static struct bitset refined_so(const struct quantization_session *session, enum quantizer_refinement how)
{
    struct bitset ret;

    bitset_init(&ret, session->subject->quantizers.count);
    for (size_t i = 0; i < ret.size; i++)
        if (session->answer.repair.how[i] == how)
            bitset_add(&ret, i);
    return ret;
}

static void log_repair(const struct quantization_session *session)
{
    const struct quantization_answer *answer = &session->answer;
    struct log *log = session->context->log;

    if (session->repaired == NULL)
        return;
    log_message(log, LOG_FINISH, "Repaired model: %s. Seen: with it the check passes", session->repaired);
    log_set(session, "left out", &answer->repair.off);
    for (size_t i = REFINE_FIT; i < REFINEMENTS; i++) {
        struct bitset set = refined_so(session, (enum quantizer_refinement)i);

        log_set(session, refinements[i].words, &set);
        bitset_release(&set);
    }
    if (answer->has_microsoft)
        log_message(log, LOG_FINISH,
                    "    16 bits are com.microsoft's there, which only ONNX Runtime has: ONNX has them from operator "
                    "set 21 on");
    if (answer->refining_failed)
        log_message(log, LOG_FINISH, "    Seen: other scales, and 16 bits, are not enough in place of that");
    if (answer->why_not_refined != NULL)
        log_message(log, LOG_FINISH, "    Neither other scales nor 16 bits were tried in place of that: %s",
                    answer->why_not_refined);
}

static void add_proof(const struct quantization_session *session, enum exclusion_style style,
                      struct string_builder *ret)
{
    const struct quantizer_exclusion *exclusion = &session->answer.exclusions[style];
    SCOPED_BITSET(more);

    bitset_init_copy(&more, &exclusion->left_out);
    bitset_subtract(&more, &session->answer.search.chosen);
    if (bitset_count(&more) > 0) {
        string_add_format(ret, "With these nodes %zu more go: ", bitset_count(&more));
        add_quantizer_names(session, &more, ret);
        string_add(ret, ". ");
    }
    switch (exclusion->proof) {
    case EXCLUSION_EXACT:
        string_add(ret, "Exactly what was found goes with these nodes");
        break;
    case EXCLUSION_PASSES:
        string_add(ret, "Seen: without all of these the check passes");
        break;
    case EXCLUSION_FAILS:
        string_add(ret, "Seen: without all of these the check FAILS, so this list is no remedy");
        break;
    case EXCLUSION_UNSEEN:
        string_add(ret, "Not seen: some of these cannot be left out here, or the check says nothing");
        break;
    }
    if (!exclusion->leaves_out_enough)
        string_add(ret, ". Some of what was found no node asks for, and stays");
    if (exclusion->unnamed > 0)
        string_add_format(ret, ". %zu of the nodes have no name, and are missing", exclusion->unnamed);
    if (exclusion->unknown > 0)
        string_add_format(ret, ". %zu of the names are not in the float model", exclusion->unknown);
}

static void log_lists(const struct quantization_session *session)
{
    struct log *log = session->context->log;
    SCOPED_STRING(proof);

    log_message(log, LOG_FINISH, "To quantize anew without what was found (also in %s):", session->lists_path);
    for (size_t i = 0; i < QUANTIZER_PROGRAMS; i++) {
        string_clear(&proof);
        add_proof(session, session->lists.programs[i].style, &proof);
        log_message(log, LOG_FINISH, "    %s: %s", session->lists.programs[i].name, session->lists.programs[i].call);
        if (session->lists.programs[i].words != NULL)
            log_message(log, LOG_FINISH, "        or: %s", session->lists.programs[i].words);
        log_message(log, LOG_FINISH, "        %s", proof.data);
    }
    if (session->lists.overrides != NULL)
        log_message(log, LOG_FINISH, "    ONNX Runtime, as the repaired model has it: extra_options=%s",
                    session->lists.overrides);
    log_message(log, LOG_FINISH, "    What these programs then make was not seen: check it");
}

void quantization_session_log(const struct quantization_session *session)
{
    const struct precision_result *result = &session->answer.search;
    struct log *log = session->context->log;
    SCOPED_STRING(names);

    if (!quantization_session_has_found(session)) {
        log_message(log, LOG_FINISH, "%s", failure_of(session));
        return;
    }
    add_quantizer_names(session, &result->chosen, &names);
    log_message(log, LOG_FINISH, "Cause: %s", names.data);
    log_message(log, LOG_FINISH, "    Seen: without %s the check passes; with all quantizers in place it fails",
                bitset_count(&result->chosen) == 1 ? "it" : "these");
    if (result->is_minimal && bitset_count(&result->chosen) > 1)
        log_message(log, LOG_FINISH, "    Seen: with any single one of them in place again it fails");
    log_repair(session);
    log_lists(session);
}

void quantization_session_tell(const struct quantization_session *session, struct report *page)
{
    const struct precision_result *result = &session->answer.search;
    SCOPED_STRING(names);

    if (page == NULL)
        return;
    if (!quantization_session_has_found(session)) {
        report_set_verdict(page, result->none_needed ? REPORT_PASSED : REPORT_UNKNOWN, "%s", failure_of(session));
        return;
    }
    add_quantizer_names(session, &result->chosen, &names);
    report_set_verdict(page, REPORT_CAUSE, "Cause: %zu of %zu quantizers: %s", bitset_count(&result->chosen),
                       session->subject->quantizers.count, names.data);
    report_add_proof(page, "without these the check passes, with all quantizers in place it fails");
    if (result->is_minimal && bitset_count(&result->chosen) > 1)
        report_add_proof(page, "with any single one of them in place again it fails");
}

/* ---- JSON ---- */

static void write_set(const struct quantization_session *session, const char *key, const struct bitset *set,
                      struct json_writer *writer)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = bitset_next(set, 0); i < set->size; i = bitset_next(set, i + 1))
        json_writer_string(writer, session->subject->quantizers.items[i].name);
    json_writer_end_array(writer);
}

static void write_exclusion(const struct quantization_session *session, size_t program, struct json_writer *writer)
{
    static const char *const proofs[] = {[EXCLUSION_EXACT] = "exact",
                                         [EXCLUSION_PASSES] = "passes",
                                         [EXCLUSION_FAILS] = "fails",
                                         [EXCLUSION_UNSEEN] = "not-seen"};
    const struct quantizer_exclusion *exclusion = &session->answer.exclusions[session->lists.programs[program].style];

    json_writer_begin_object_member(writer, session->lists.programs[program].key);
    json_writer_begin_array_member(writer, "nodes");
    for (size_t i = 0; i < exclusion->names.count; i++)
        json_writer_text(writer, exclusion->names.items[i]);
    json_writer_end_array(writer);
    write_set(session, "quantizers", &exclusion->left_out, writer);
    json_writer_add_string(writer, "proof", proofs[exclusion->proof]);
    json_writer_add_boolean(writer, "complete",
                            exclusion->leaves_out_enough && exclusion->unnamed == 0 && exclusion->unknown == 0);
    json_writer_add_string(writer, "call", session->lists.programs[program].call);
    json_writer_end_object(writer);
}

/* null where none was written. */
static void write_repaired(const struct quantization_session *session, struct json_writer *writer)
{
    const struct quantization_answer *answer = &session->answer;

    if (!json_writer_begin_object_or_null(writer, "repaired", session->repaired != NULL))
        return;
    json_writer_add_string(writer, "path", session->repaired);
    write_set(session, "left_out", &answer->repair.off, writer);
    for (size_t i = REFINE_FIT; i < REFINEMENTS; i++) {
        struct bitset set = refined_so(session, (enum quantizer_refinement)i);

        write_set(session, refinements[i].key, &set, writer);
        bitset_release(&set);
    }
    json_writer_end_object(writer);
}

static void write_findings(const struct quantization_session *session, struct json_writer *writer)
{
    write_repaired(session, writer);
    json_writer_begin_object_member(writer, "exclusions");
    for (size_t i = 0; i < QUANTIZER_PROGRAMS; i++)
        write_exclusion(session, i, writer);
    json_writer_end_object(writer);
    json_writer_add_string(writer, "extra_options", session->lists.overrides);
}

void quantization_session_write(const struct quantization_session *session, struct json_writer *writer)
{
    const struct precision_result *result = &session->answer.search;
    bool found = quantization_session_has_found(session);

    json_writer_begin_object(writer);
    json_writer_add_string(writer, "outcome", found ? "found" : result->none_needed ? "none-needed" : "not-found");
    write_set(session, "left_out", &result->chosen, writer);
    json_writer_add_boolean(writer, "minimal", found && result->is_minimal);
    if (found)
        write_findings(session, writer);
    json_writer_end_object(writer);
}
