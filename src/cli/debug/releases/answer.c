/* cli/debug/releases/answer.c: see answer.h. */
#include "cli/debug/releases/answer.h"

#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "cli/debug/releases/explanation.h"
#include "cli/options/groups.h"
#include "debug/check/words.h"

#define MOST_NAMES 12 /* in a line */

static const struct result_column columns[] = {
    {"release", "Release", RESULT_TEXT, false},
    {"verdict", "Verdict", RESULT_TEXT, false},
    {"how", "Check", RESULT_TEXT, false},
};

static const struct result_table table = {
    .key = "releases",
    .title = "Releases",
    .line = "Releases that were tested:",
    .log_rows = 40,
    .columns = columns,
    .column_count = ARRAY_LEN(columns),
};

static const char *describe_state(enum release_state state)
{
    return state == RELEASE_PASSES ? "passes" : state == RELEASE_FAILS ? "fails" : "untestable";
}

static void add_table(const struct release_answer *answer, struct result *ret)
{
    result_begin_table(ret, &table);
    VECTOR_EACH (const struct release, release, *answer->releases) {
        const struct result_cell cells[] = {
            {.text = release->name},
            {.text = describe_state(release->state)},
            {.text = release->state == RELEASE_UNTESTABLE ? release->why : release->how},
        };

        if (release->state != RELEASE_NOT_TESTED)
            result_add_row(ret, cells);
    }
}

/* Lists the releases from `first` on, before `end`, in this state. */
static size_t list_names(const struct release_answer *answer, size_t first, size_t end, enum release_state state,
                         struct string_builder *ret)
{
    struct short_list list = {.text = ret, .most = MOST_NAMES};

    for (size_t i = first; i < end; i++)
        if (answer->releases->items[i].state == state && short_list_next(&list))
            string_add(ret, answer->releases->items[i].name);
    short_list_end(&list);
    return list.count;
}

static void add_untested(const struct release_answer *answer, struct result *ret)
{
    const struct releases_result *found = answer->found;
    size_t count = answer->releases->count, untested;
    bool has_found = found->outcome == RELEASES_FOUND;
    SCOPED_STRING(between);
    SCOPED_STRING(names);

    if (has_found && list_names(answer, found->before + 1, found->after, RELEASE_UNTESTABLE, &between) > 0)
        result_add_line(ret, RESULT_NOT_TESTED, "the verdict changes between %s and %s; untestable between them: %s",
                        answer->releases->items[found->before].name, answer->releases->items[found->after].name,
                        between.data);
    untested = list_names(answer, 0, count, RELEASE_NOT_TESTED, &names);
    if (untested > 0)
        result_add_line(ret, RESULT_NOT_TESTED, "%zu of %zu releases%s: %s", untested, count,
                        has_found ? ", in which the verdict may change more than once" : "", names.data);
}

static void set_release_verdict(const struct release_answer *answer, struct result *ret)
{
    const struct releases_result *found = answer->found;
    const struct release *items = answer->releases->items;
    SCOPED_STRING(names);

    switch (found->outcome) {
    case RELEASES_FOUND:
        result_set_verdict(ret, REPORT_CAUSE, "Cause: ONNX Runtime %s is the first release that %s; %s %s",
                           items[found->after].name, describe_state(items[found->after].state),
                           items[found->before].name, describe_state(items[found->before].state));
        break;
    case RELEASES_ALL_FAIL:
        list_names(answer, 0, answer->releases->count, RELEASE_FAILS, &names);
        result_set_verdict(ret, REPORT_FAILED, "Fails in all releases of ONNX Runtime that were tested: %s",
                           names.data);
        break;
    case RELEASES_ALL_PASS:
        list_names(answer, 0, answer->releases->count, RELEASE_PASSES, &names);
        result_set_verdict(ret, REPORT_PASSED, "Passes in all releases of ONNX Runtime that were tested: %s",
                           names.data);
        break;
    case RELEASES_NONE_TESTED:
        result_set_verdict(ret, REPORT_UNKNOWN, "The check is inconclusive in all releases of ONNX Runtime");
        break;
    }
}

void release_answer_fill(const struct release_answer *answer, struct result *ret)
{
    const struct releases_result *found = answer->found;
    const struct release *items = answer->releases->items;

    set_release_verdict(answer, ret);
    if (found->outcome == RELEASES_FOUND) {
        const struct release *failing =
            &items[items[found->after].state == RELEASE_FAILS ? found->after : found->before];

        result_add_line(ret, RESULT_EVIDENCE, "the check of %s: %s", failing->name,
                        failing->how != NULL ? failing->how : "fails");
        if (answer->is_confirmed)
            result_add_line(ret, RESULT_EVIDENCE, "both verdicts were repeated in fresh processes");
    }
    if (answer->has_own_reference)
        result_add_line(ret, RESULT_NOTE, "Outputs were compared with those of %s without optimizations",
                        items[answer->oldest].name);
    add_untested(answer, ret);
    add_table(answer, ret);
    result_add_text(ret, "outcome",
                    (const char *const[]){"found", "all_pass", "all_fail", "none_tested"}[found->outcome]);
    result_add_text(ret, "before", found->outcome == RELEASES_FOUND ? items[found->before].name : NULL);
    result_add_text(ret, "after", found->outcome == RELEASES_FOUND ? items[found->after].name : NULL);
}

/* ---- Optimizer and nodes ---- */

static void add_two(const char *option, const char *value, struct word_list *ret)
{
    *VECTOR_APPEND(ret) = option;
    *VECTOR_APPEND(ret) = value;
}

/* The model, its data and tolerances, and the options of ONNX Runtime. */
static void add_common_words(const struct release_answer *answer, struct word_list *ret)
{
    static const char *const excepted[] = {"--onnxrt-library", NULL};
    static const char *const loaded[] = {"--load-outputs", NULL};
    const struct parse *parse = answer->context->parse;

    *VECTOR_APPEND(ret) = answer->model;
    parse_add_given_of_group(parse, &convert_model_options, NULL, ret);
    if (answer->inputs != NULL)
        add_two("--load-inputs", answer->inputs, ret);
    else
        data_loader_add_words(parse, ret);
    parse_add_given_of_group(parse, &comparison_options, loaded, ret);
    parse_add_given_of_group(parse, &onnxrt_options, excepted, ret);
}

static int add_explanation(const struct explanation_request *request, const char *what, struct result *ret,
                           struct error *err)
{
    struct explanation explanation;
    int rc = explanation_find(request, &explanation, err);

    if (rc < 0)
        return rc;
    if (explanation.answer == NULL)
        result_add_line(ret, RESULT_NOT_TESTED, "`debug %s` gave no answer: %s", request->tool, explanation.why_not);
    else
        result_add_line(ret, explanation.is_cause ? RESULT_EVIDENCE : RESULT_NOTE, "`debug %s` %s: %s", request->tool,
                        what, explanation.answer);
    if (explanation.fix != NULL)
        result_add_line(ret, RESULT_FIX, "%s", explanation.fix);
    result_add_line(ret, RESULT_REPRODUCE, "%s", explanation.command);
    result_begin_record(ret, request->tool);
    result_add_text(ret, "answer", explanation.answer);
    result_add_text(ret, "why_not", explanation.why_not);
    result_add_text(ret, "command", explanation.command);
    result_end_record(ret);
    return 0;
}

static bool names_candidate(const struct check_settings *check)
{
    const char *path = check->files.items[CANDIDATE_ARTIFACT];

    for (size_t i = 0; i < check->command.count; i++)
        if (strstr(check->command.items[i], check_words_placeholder(CANDIDATE_ARTIFACT)) != NULL ||
            strstr(check->command.items[i], path) != NULL ||
            strstr(check->command.items[i], CHECK_ARTIFACT_VARIABLE) != NULL)
            return true;
    return false;
}

/* The optimizations that make the release fail. */
static int explain_optimizer(const struct release_answer *answer, const struct release *failing, struct result *ret,
                             struct error *err)
{
    struct arena *arena = parse_arena((struct parse *)answer->context->parse);
    const struct check_settings *check = answer->check;
    const char *const option = "--check";
    struct word_list words SCOPED_ITEMS = {0}, last SCOPED_ITEMS = {0};
    struct explanation_request request = {
        .context = answer->context, .tool = "passes", .folder = answer->folder, .words = &words};

    if (!answer->has_own_check && names_candidate(check)) {
        result_add_line(ret, RESULT_NOT_TESTED,
                        "which optimizer fails: the check names the library itself; pass one "
                        "that finds it by POLYGRAPHY_ONNXRUNTIME");
        return 0;
    }
    if (answer->has_own_check) {
        add_common_words(answer, &words);
    } else {
        *VECTOR_APPEND(&words) = answer->model;
        *VECTOR_APPEND(&last) = option;
        for (size_t i = 0; i < check->command.count; i++)
            *VECTOR_APPEND(&last) = check->command.items[i];
        request.last = (struct words){last.items, last.count};
        request.variable = arena_printf(arena, "POLYGRAPHY_ONNXRUNTIME=%s", failing->library);
    }
    *VECTOR_APPEND(&words) = "--onnxrt";
    add_two("--onnxrt-library", failing->name, &words);
    add_two("--save-debug-replay", arena_printf(arena, "%s/passes_replay.json", answer->folder), &words);
    return add_explanation(&request, arena_printf(arena, "in %s", failing->name), ret, err);
}

/* The nodes in which two releases differ. */
static int explain_nodes(const struct release_answer *answer, const struct release *passing,
                         const struct release *failing, struct result *ret, struct error *err)
{
    struct arena *arena = parse_arena((struct parse *)answer->context->parse);
    struct word_list words SCOPED_ITEMS = {0};
    struct explanation_request request = {
        .context = answer->context, .tool = "accuracy", .folder = answer->folder, .words = &words};

    add_common_words(answer, &words);
    *VECTOR_APPEND(&words) = "--onnxrt";
    add_two("--onnxrt-library", passing->name, &words);
    *VECTOR_APPEND(&words) = "--onnxrt";
    add_two("--onnxrt-library", failing->name, &words);
    return add_explanation(&request, arena_printf(arena, "with %s as the suspect of %s", failing->name, passing->name),
                           ret, err);
}

int release_answer_explain(const struct release_answer *answer, struct result *ret, struct error *err)
{
    const struct releases_result *found = answer->found;
    const struct release *items = answer->releases->items, *failing = NULL, *passing = NULL;
    int rc;

    if (found->outcome == RELEASES_FOUND) {
        bool is_fixed = items[found->after].state == RELEASE_PASSES;

        failing = &items[is_fixed ? found->before : found->after];
        passing = &items[is_fixed ? found->after : found->before];
    }
    for (size_t i = answer->releases->count; found->outcome == RELEASES_ALL_FAIL && failing == NULL && i-- > 0;)
        failing = items[i].state == RELEASE_FAILS ? &items[i] : NULL;
    if (failing == NULL)
        return 0;
    rc = explain_optimizer(answer, failing, ret, err);
    return rc == 0 && passing != NULL ? explain_nodes(answer, passing, failing, ret, err) : rc;
}
