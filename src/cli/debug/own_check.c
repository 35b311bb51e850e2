/* cli/debug/own_check.c: see own_check.h. */
#include "cli/debug/own_check.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/process/process.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"
#include "cli/options/groups.h"
#include "comparator/infer/driver.h"
#include "format/data/file.h"
#include "onnx/model/model.h"
#include "tensor/compare/validate.h"

#define MOST_OUTPUTS 8 /* in an error */

/* Files in the folder. */
#define INPUTS "inputs.json"
#define REFERENCE "golden.json"

static void add_two(struct word_list *words, const char *option, const char *value)
{
    *VECTOR_APPEND(words) = option;
    *VECTOR_APPEND(words) = value;
}

const char *own_check_path(const struct own_check *check, const char *name)
{
    return arena_printf(parse_arena((struct parse *)check->context->parse), "%s/%s", check->folder, name);
}

int own_check_begin(const struct command_context *context, const char *folder, struct own_check *ret, struct error *err)
{
    *ret = (struct own_check){.context = context, .folder = folder, .lock = {.fd = -1}, .has_begun = true};
    return own_check_needs_reference(ret) ? session_lock_take(&ret->lock, own_check_path(ret, REFERENCE),
                                                              "uses the reference", "-o", context->log, err)
                                          : 0;
}

bool own_check_list_results(const struct parse *parse, struct word_list *ret)
{
    bool makes_reference = parse_given(parse, "--check") == NULL && parse_given(parse, "--load-outputs") == NULL;

    if (makes_reference) {
        *VECTOR_APPEND(ret) = INPUTS;
        *VECTOR_APPEND(ret) = REFERENCE;
        *VECTOR_APPEND(ret) = OTHER_DATA_INPUTS;
        *VECTOR_APPEND(ret) = OTHER_DATA_REFERENCE;
    }
    return makes_reference;
}

bool own_check_is_asked_for(const struct parse *parse)
{
    SCOPED_STRING(given);

    parse_list_given_of_group(parse, &comparison_options, &given);
    return given.size > 0;
}

int own_check_refuse(const struct command_context *context, struct error *err)
{
    SCOPED_STRING(given);
    int rc = 0;

    parse_list_given_of_group(context->parse, &comparison_options, &given);
    if (given.size > 0)
        rc =
            error_set(err, ERR_INVALID,
                      "%s: with --check, only the check compares outputs; move these options to the check", given.data);
    return rc;
}

/* ---- Outputs by name ---- */

/* The outputs that the check compares; in the arena. */
static struct words list_outputs(const struct command_context *context, const struct model *model)
{
    struct arena *arena = parse_arena((struct parse *)context->parse);
    bool all = parse_given(context->parse, "--first-divergence") || parse_given(context->parse, "--trt-outputs");
    size_t count = all ? model->values.count : model->outputs.count;
    const char **items = arena_alloc_zero(arena, count + 1, sizeof(*items));

    for (size_t i = 0; i < count; i++)
        items[i] = arena_text(arena, model->values.items[all ? i : model->outputs.items[i]].name);
    return (struct words){.items = items, .count = count};
}

static bool covers_any(const char *rule, const struct words *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (name_rule_covers(rule, outputs->items[i]))
            return true;
    return rule[0] == '\0';
}

static int refuse_output(const char *option, const char *name, const char *path, const struct words *outputs,
                         struct error *err)
{
    SCOPED_STRING(message);
    struct short_list list = {.text = &message, .most = MOST_OUTPUTS};
    struct close_names close;

    string_add_quoted(&message, name);
    string_add(&message, " is not an output of ");
    string_add_quoted(&message, path);
    close_names_start(&close, text_of(name));
    for (size_t i = 0; i < outputs->count; i++)
        close_names_offer(&close, text_of(outputs->items[i]));
    close_names_add_to(&close, &message);
    string_add(&message, close.count > 0 ? " It has " : ". It has ");
    for (size_t i = 0; i < outputs->count; i++)
        short_list_add(&list, outputs->items[i]);
    short_list_end(&list);
    return error_set(err, ERR_INVALID, "%s: %s", option, message.data);
}

int own_check_refuse_unknown_outputs(const struct command_context *context, const struct comparison_values *comparison,
                                     const char *path, struct error *err)
{
    struct output_rules rules[COMPARISON_RULES];
    struct words outputs;
    struct model *model;
    struct error unread;
    int rc = 0;

    if (parse_given(context->parse, "--check") || model_open(path, NULL, &model, &unread) < 0)
        return 0;
    outputs = list_outputs(context, model);
    model_free(model);
    comparison_list_rules(comparison, rules);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        for (size_t k = 0; rc == 0 && k < rules[i].count; k++) {
            const char *name = *(const char *const *)((const char *)rules[i].items + k * rules[i].item_size);

            if (!covers_any(name, &outputs))
                rc = refuse_output(rules[i].option, name, path, &outputs, err);
        }
    return rc;
}

/* ---- The check ---- */

bool own_check_needs_reference(const struct own_check *check)
{
    return parse_given(check->context->parse, "--load-outputs") == NULL;
}

int own_check_make_reference(struct own_check *check, struct word_list *words, const char *const *environment,
                             const char *model, struct error *err)
{
    struct process_result result;
    int rc;

    check->inputs = own_check_path(check, INPUTS);
    data_loader_add_words(check->context->parse, words);
    add_two(words, "--save-inputs", check->inputs);
    add_two(words, "--save-outputs", own_check_path(check, REFERENCE));
    *VECTOR_APPEND(words) = NULL;
    rc = process_run(&(struct process_request){.arguments = words->items,
                                               .program = check->context->program,
                                               .environment = environment,
                                               .without_input = true},
                     &result, err);
    if (rc < 0)
        return rc;
    if (result.end != PROCESS_EXITED || result.code != 0)
        rc = error_set(err, ERR_BACKEND, "cannot compute the reference: `polygraphy run` of %s failed:\n%s", model,
                       result.error_out.size > 0 ? result.error_out.data : "nothing");
    process_result_release(&result);
    return rc;
}

void own_check_add_equalities(const struct parse *parse, struct word_list *words)
{
    static const char *const options[] = {"--infinities-compare-equal", "--nans-compare-equal"};

    for (size_t i = 0; comparison_is_of_values(parse) && i < ARRAY_LEN(options); i++)
        if (parse_given(parse, options[i]) == NULL)
            *VECTOR_APPEND(words) = options[i];
}

void own_check_finish(struct own_check *check, struct check_settings *settings)
{
    const struct parse *parse = check->context->parse;
    struct word_list *words = &check->words;

    if (check->inputs != NULL) {
        add_two(words, "--load-inputs", check->inputs);
        add_two(words, "--load-outputs", own_check_path(check, REFERENCE));
    } else {
        data_loader_add_words(check->context->parse, words);
    }
    parse_add_given_of_group(parse, &comparison_options, NULL, words);
    own_check_add_equalities(parse, words);
    check->timeout = settings->rules.timeout;
    settings->command.count = words->count;
    *VECTOR_APPEND(words) = NULL;
    settings->command.items = words->items;
}

/* ---- What it does not show ---- */

static void add_nans(const struct named_tensor *output, const struct words *ignored, struct short_list *list)
{
    struct validation validation;

    for (size_t i = 0; i < ignored->count; i++)
        if (name_rule_covers(ignored->items[i], output->name))
            return;
    tensor_validate(&output->tensor, &validation);
    if (validation.nans > 0 && short_list_next(list))
        string_add_format(list->text, "%zu of %zu elements of '%s'", validation.nans, tensor_elements(&output->tensor),
                          output->name);
}

static void list_nans(const struct run_results *results, const struct words *ignored, struct short_list *list)
{
    for (size_t i = 0; i < results->count; i++)
        for (size_t k = 0; k < results->items[i].count; k++)
            for (size_t n = 0; n < results->items[i].items[k].outputs.count; n++)
                add_nans(&results->items[i].items[k].outputs.items[n], ignored, list);
    short_list_end(list);
}

void own_check_add_not_tested(const struct own_check *check, const struct comparison_values *comparison,
                              struct result *ret)
{
    const struct words *ignored = &comparison->settings.ignored, *given = &comparison->load_outputs;
    struct run_results results = {0};
    SCOPED_STRING(names);
    SCOPED_STRING(nans);
    struct error unread;

    if (!check->has_begun)
        return;
    if (check->inputs != NULL)
        data_file_add_results(&results, own_check_path(check, REFERENCE), &unread);
    for (size_t i = 0; i < given->count; i++)
        data_file_add_results(&results, given->items[i], &unread);
    if (comparison_is_of_values(check->context->parse))
        list_nans(&results, ignored, &(struct short_list){.text = &nans, .most = MOST_OUTPUTS});
    run_results_release(&results);
    for (size_t i = 0; i < ignored->count; i++)
        name_list_add(&names, ignored->items[i]);
    if (nans.size > 0)
        result_add_line(ret, RESULT_NOT_TESTED, "%s: NaN in the reference, too, which count as equal", nans.data);
    if (names.size > 0)
        result_add_line(ret, RESULT_NOT_TESTED, "outputs that are not compared (--ignore-outputs): %s", names.data);
}

void own_check_release(struct own_check *check)
{
    free(check->words.items);
    if (check->has_begun)
        session_lock_release(&check->lock);
}
