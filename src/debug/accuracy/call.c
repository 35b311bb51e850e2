/* debug/accuracy/call.c: calls of this program that are put together. See investigation.h. */
#include "debug/accuracy/investigation.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"

void call_begin(struct call *ret, struct investigation *investigation, const char *name, const char *why)
{
    *ret = (struct call){.investigation = investigation, .name = name, .why = why, .has_result = true};
}

void call_begin_words(struct call *ret, struct investigation *investigation)
{
    call_begin(ret, investigation, NULL, NULL);
}

void call_add(struct call *call, const char *first, ...)
{
    va_list rest;

    va_start(rest, first);
    for (const char *word = first; word != NULL; word = va_arg(rest, const char *))
        *VECTOR_APPEND(&call->words) = arena_strdup(&call->investigation->arena, word);
    va_end(rest);
}

void call_add_words(struct call *call, struct words more)
{
    for (size_t i = 0; i < more.count; i++)
        *VECTOR_APPEND(&call->words) = more.items[i];
}

int64_t failing_case_runs(const struct failing_case *subject)
{
    return subject->runs > 0 ? subject->runs : 1;
}

void call_add_case(struct call *call, const struct failing_case *subject)
{
    call_add(call, "--load-inputs", NULL);
    for (int64_t i = 0; i < failing_case_runs(subject); i++)
        call_add(call, subject->inputs, NULL);
    call_add(call, "--load-outputs", subject->golden, NULL);
    call_add_words(call, subject->tolerance);
}

void call_begin_comparison(struct call *ret, struct investigation *investigation, const struct failing_case *subject,
                           const char *name, const char *why)
{
    call_begin(ret, investigation, name, why);
    call_add(ret, "run", subject->model, NULL);
    call_add_words(ret, investigation->settings->loading);
    call_add_case(ret, subject);
}

void call_add_blamed(struct call *call)
{
    const struct accuracy_settings *settings = call->investigation->settings;
    bool is_the_model = call->investigation->cause.kind == CAUSE_NAN;

    call_add_words(call, is_the_model ? settings->reference : settings->suspect);
    if (is_the_model)
        call_add(call, "--validate", NULL);
}

void call_add_inputs(struct call *call, int64_t times)
{
    call_add(call, "--load-inputs", NULL);
    for (int64_t i = 0; i < times; i++)
        call_add(call, call->investigation->whole.inputs, NULL);
}

void call_add_budget(struct call *call)
{
    call->has_budget = true;
}

struct words call_keep(struct call *call)
{
    size_t count = call->words.count;
    const char **items = arena_alloc_zero(&call->investigation->arena, count + 1, sizeof(*items));

    for (size_t i = 0; i < count; i++)
        items[i] = call->words.items[i];
    free(call->words.items);
    call->words = (struct word_list){0};
    return (struct words){.items = items, .count = count};
}

const char *call_folder(struct call *call)
{
    struct investigation *investigation = call->investigation;
    const char *ret = investigation_text(investigation, "%s/steps/%02zu-%s", investigation->settings->folder,
                                         investigation->experiments.count + 1, call->name);

    file_make_folders(ret, NULL); /* who writes there says what is wrong */
    return ret;
}
