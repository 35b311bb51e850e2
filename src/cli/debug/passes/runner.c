/* cli/debug/passes/runner.c: see runner.h. */
#include "cli/debug/passes/runner.h"

#include <stdarg.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "debug/check/words.h"

static void add_once(struct decisions *decisions, const char *name, struct word_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return;
    *VECTOR_APPEND(list) = arena_strdup(decisions->arena, name);
}

void decisions_add(struct decisions *decisions, const char *name)
{
    add_once(decisions, name, strpbrk(name, ";\n\r") == NULL ? &decisions->names : &decisions->unfit);
}

void decisions_leave_out(struct decisions *decisions, const char *shown)
{
    add_once(decisions, shown, &decisions->unfit);
}

void remedies_add(struct remedies *remedies, enum remedy_form form, const char *format, ...)
{
    SCOPED_STRING(line);
    va_list arguments;

    va_start(arguments, format);
    string_add_format_list(&line, format, arguments);
    va_end(arguments);
    *VECTOR_APPEND(remedies) = (struct remedy){.form = form, .line = arena_strdup(remedies->arena, line.data)};
}

/* ---- What is tried ---- */

/* The source of this name; NULL: none of the runner's. */
static const struct decision_source *find_source(const struct passes_runner *runner, const char *decision)
{
    for (const struct decision_source *const *source = runner->sources; *source != NULL; source++)
        if ((*source)->owns(decision))
            return *source;
    return NULL;
}

/* The source of the kind, or NULL. */
static const struct decision_source *find_kind(const struct passes_runner *runner, const char *kind)
{
    const struct decision_source *const *source = runner->sources;

    while (*source != NULL && strcmp((*source)->name, kind) != 0)
        source++;
    return *source;
}

static bool is_among(const struct decision_source *source, const struct words *kinds)
{
    return text_is_one_of(text_of(source->name), kinds->items, kinds->count) ||
           (kinds->count == 0 && !source->on_request);
}

static int refuse_kind(const struct passes_runner *runner, const char *kind, struct error *err)
{
    SCOPED_STRING(known);
    int rc;

    for (const struct decision_source *const *source = runner->sources; *source != NULL; source++)
        string_add_format(&known, "%s%s", known.size > 0 ? ", " : "", (*source)->name);
    rc = error_set(err, ERR_INVALID, "--among: unknown kind '%s' for %s; its kinds are %s", kind, runner->name,
                   known.data);
    return rc;
}

/* Checks that the runner has these kinds. */
static int check_kinds(const struct passes_runner *runner, const struct words *kinds, struct error *err)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (find_kind(runner, kinds->items[i]) == NULL)
            return refuse_kind(runner, kinds->items[i], err);
    return 0;
}

static int add_given(const struct passes_subject *subject, const struct passes_runner *runner,
                     const struct decision_wishes *wishes, struct decisions *ret, struct error *err)
{
    for (size_t i = 0; i < wishes->names.count; i++) {
        const char *name = wishes->names.items[i];
        const struct decision_source *kind = find_kind(runner, name), *source = find_source(runner, name);
        int rc = kind != NULL ? kind->find(subject, ret, err) : 0;

        if (rc < 0)
            return rc;
        if (kind != NULL)
            continue;
        if (source == NULL && !wishes->check_is_given)
            return error_set(err, ERR_INVALID, "--decisions: %s has no optimization with the name '%s'", runner->name,
                             name);
        if (source != NULL && source->doubt != NULL && !wishes->check_is_given)
            source->doubt(name, subject->context->log);
        decisions_add(ret, name);
    }
    return 0;
}

static int add_found(const struct passes_subject *subject, const struct passes_runner *runner,
                     const struct words *kinds, struct decisions *ret, struct error *err)
{
    int rc = 0;

    for (const struct decision_source *const *source = runner->sources; rc == 0 && *source != NULL; source++)
        if (is_among(*source, kinds))
            rc = (*source)->find(subject, ret, err);
    return rc;
}

int passes_find_decisions(const struct passes_subject *subject, const struct passes_runner *runner,
                          const struct decision_wishes *wishes, struct decisions *ret, struct error *err)
{
    const struct word_list *unfit = &ret->unfit;
    int rc = check_kinds(runner, &wishes->kinds, err);

    if (rc == 0)
        rc = wishes->names.count > 0 ? add_given(subject, runner, wishes, ret, err)
                                     : add_found(subject, runner, &wishes->kinds, ret, err);
    if (rc < 0)
        return rc;
    if (unfit->count > 0)
        log_message(subject->context->log, LOG_WARNING,
                    "%zu optimization%s not tried, because the name contains ';', a line break or a NUL byte: '%s'%s",
                    unfit->count, unfit->count == 1 ? " is" : "s are", unfit->items[0],
                    unfit->count > 1 ? " and others" : "");
    return ret->names.count > 0 ? 0
                                : error_set(err, ERR_UNSUPPORTED,
                                            "%s has no known optimization of '%s' that can be disabled. Pass "
                                            "--decisions to name some, or --among for other kinds",
                                            runner->name, subject->model);
}

void passes_find_remedies(const struct passes_runner *runner, struct words off, struct remedies *ret)
{
    const char **items SCOPED_FREE = memory_alloc_zero(off.count + 1, sizeof(*items));

    for (const struct decision_source *const *source = runner->sources; *source != NULL; source++) {
        struct words own = {.items = items};

        for (size_t i = 0; i < off.count; i++)
            if (find_source(runner, off.items[i]) == *source)
                items[own.count++] = off.items[i];
        if (own.count > 0 && (*source)->add_remedies != NULL)
            (*source)->add_remedies(own, ret);
    }
}

/* ---- Commands of this program ---- */

void passes_add_run(const struct passes_subject *subject, const struct passes_runner *runner, const char *model,
                    bool for_reference, struct word_list *ret)
{
    const char *const *in_place_of = for_reference ? runner->reference_option : NULL;

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
    SCOPED_STRING(lines);

    string_add(&lines, "");
    for (size_t i = 0; i < names.count; i++)
        if (left_out == NULL || !bitset_has(left_out, i))
            string_add_format(&lines, "%s\n", names.items[i]);
    return file_write(path, lines.data, lines.size, FILE_DURABLE, err);
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
