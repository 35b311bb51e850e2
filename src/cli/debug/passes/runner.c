/* cli/debug/passes/runner.c: see runner.h. */
#include "cli/debug/passes/runner.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "debug/check/words.h"

void decisions_add(struct decisions *decisions, const char *name)
{
    struct word_list *list = strpbrk(name, ";\n\r") == NULL ? &decisions->names : &decisions->unfit;

    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return;
    *VECTOR_APPEND(list) = arena_strdup(decisions->arena, name);
}

const struct decision_source *decision_source_find(const struct passes_runner *runner, const char *decision)
{
    for (const struct decision_source *const *source = runner->sources; *source != NULL; source++)
        if ((*source)->owns(decision))
            return *source;
    return NULL;
}

void remedies_add(struct remedies *remedies, enum remedy_form form, const char *format, ...)
{
    struct string_builder line;
    va_list arguments;

    string_init(&line);
    va_start(arguments, format);
    string_add_format_list(&line, format, arguments);
    va_end(arguments);
    *VECTOR_APPEND(remedies) = (struct remedy){.form = form, .line = arena_strdup(remedies->arena, line.data)};
    string_release(&line);
}

/* ---- Commands of this program ---- */

void passes_add_run(const struct passes_subject *subject, const struct passes_runner *runner, const char *model,
                    bool undecided, struct word_list *ret)
{
    const char *const *in_place_of = undecided ? runner->undecided : NULL;

    *VECTOR_APPEND(ret) = "polygraphy";
    *VECTOR_APPEND(ret) = "run";
    *VECTOR_APPEND(ret) = model;
    *VECTOR_APPEND(ret) = runner->option;
    for (const char *const *word = runner->fixed; word != NULL && *word != NULL; word++)
        *VECTOR_APPEND(ret) = *word;
    for (const char *const *word = in_place_of; word != NULL && *word != NULL; word++)
        *VECTOR_APPEND(ret) = *word;
    for (const struct option_group *const *group = runner->groups; *group != NULL; group++)
        parse_add_given_of_group(subject->context->parse, *group, in_place_of, ret);
}

int decisions_write(struct words names, const struct bitset *left_out, const char *path, struct error *err)
{
    struct string_builder lines;
    int rc;

    string_init(&lines);
    string_add(&lines, "");
    for (size_t i = 0; i < names.count; i++)
        if (left_out == NULL || !bitset_has(left_out, i))
            string_add_format(&lines, "%s\n", names.items[i]);
    rc = file_write(path, lines.data, lines.size, FILE_DURABLE, err);
    string_release(&lines);
    return rc;
}

int passes_run_command(const struct passes_subject *subject, struct word_list *words, const char *list,
                       struct process_result *ret, struct error *err)
{
    const char *const environment[] = {"POLYGRAPHY_ITERATION=0",
                                       arena_printf(subject->arena, CHECK_DISABLED_VARIABLE "=@%s", list), NULL};

    *VECTOR_APPEND(words) = NULL;
    words->count--;
    return process_run(&(struct process_request){.arguments = words->items,
                                                 .program = subject->context->program,
                                                 .environment = environment,
                                                 .without_input = true},
                       ret, err);
}
