/* debug/accuracy/study.c: what is known, and the words for it. See study.h; its experiments are in step.c. */
#include "debug/accuracy/study.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process/fork_server.h"
#include "base/process/guard.h"
#include "base/process/staying.h"
#include "onnx/edit/model.h"

#define MOST_LISTED 20 /* names in a sentence */

/* ---- Words ---- */

const char *study_text(struct study *study, const char *format, ...)
{
    SCOPED_STRING(text);
    va_list args;

    va_start(args, format);
    string_add_format_list(&text, format, args);
    va_end(args);
    return arena_strdup(&study->arena, text.data);
}

const char *study_path(struct study *study, const char *name)
{
    return arena_printf(&study->arena, "%s/%s", study->settings->folder, name);
}

const char *study_list(struct study *study, struct words names, struct words operators)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < names.count && i < MOST_LISTED; i++) {
        string_add(&text, i == 0 ? "" : i + 1 == names.count ? " and " : ", ");
        string_add_quoted(&text, names.items[i]);
        if (i < operators.count)
            string_add_format(&text, " (%s)", operators.items[i]);
    }
    if (names.count > MOST_LISTED)
        string_add_format(&text, " and %zu more", names.count - MOST_LISTED);
    return arena_strdup(&study->arena, text.data);
}

struct words study_keep(struct study *study, struct word_list *list)
{
    const char **items = arena_alloc_zero(&study->arena, list->count + 1, sizeof(*items));
    size_t count = list->count;

    for (size_t i = 0; i < count; i++)
        items[i] = list->items[i];
    free(list->items);
    *list = (struct word_list){0};
    return (struct words){.items = items, .count = count};
}

struct words study_words(struct study *study, const char *first, ...)
{
    struct word_list list = {0};
    va_list rest;

    va_start(rest, first);
    for (const char *word = first; word != NULL; word = va_arg(rest, const char *))
        *VECTOR_APPEND(&list) = arena_strdup(&study->arena, word);
    va_end(rest);
    return study_keep(study, &list);
}

struct words study_add_words(struct study *study, struct words words, struct words more)
{
    struct word_list list = {0};

    for (size_t i = 0; i < words.count; i++)
        *VECTOR_APPEND(&list) = words.items[i];
    for (size_t i = 0; i < more.count; i++)
        *VECTOR_APPEND(&list) = more.items[i];
    return study_keep(study, &list);
}

bool has_word(struct words words, const char *word)
{
    return text_is_one_of(text_of(word), words.items, words.count);
}

/* ---- The study ---- */

bool study_has_failed(const struct study *study)
{
    return study->error.code != 0;
}

bool study_open_model(struct study *study)
{
    if (study_has_failed(study) || study->model != NULL)
        return !study_has_failed(study);
    if (model_open(study->settings->model, study->settings->external_data_dir, &study->model, &study->error) < 0 ||
        model_lower_constants(study->model, &study->error) < 0)
        return false;
    subgraph_init_whole(&study->graph, study->model);
    bitset_init(&study->node, study->model->nodes.count);
    return true;
}

void study_begin_hypothesis(struct study *study, const char *title)
{
    study->hypothesis = title;
    log_message(study->log, LOG_START, "%s", title);
}

void study_log_text(struct study *study, const char *text)
{
    if (!study_has_failed(study))
        log_message(study->log, LOG_INFO, "    %s", text);
}

int64_t study_checks(const struct study *study)
{
    int64_t ret = 0;

    for (size_t i = 0; i < study->steps.count; i++)
        ret += study->steps.items[i]->checks;
    return ret;
}

int64_t study_builds(const struct study *study)
{
    int64_t ret = 0;

    for (size_t i = 0; i < study->steps.count; i++)
        ret += study->steps.items[i]->builds;
    return ret;
}

size_t study_kept_steps(const struct study *study)
{
    size_t ret = 0;

    for (size_t i = 0; i < study->steps.count; i++)
        ret += study->steps.items[i]->is_kept;
    return ret;
}

void study_conclude_text(struct study *study, enum study_outcome outcome, const char *text)
{
    if (study_has_failed(study))
        return;
    study->verdict = text;
    study->outcome = outcome;
}

void study_add_evidence_text(struct study *study, const char *text)
{
    if (study_has_failed(study))
        return;
    *VECTOR_APPEND(&study->cause.evidence) = text;
    log_message(study->log, LOG_VERBOSE, "    Evidence: %s", text);
}

void study_add_once(struct study *study, struct word_list *list, const char *title, const char *text)
{
    if (study_has_failed(study))
        return;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return;
    *VECTOR_APPEND(list) = text;
    log_message(study->log, LOG_VERBOSE, "    %s: %s", title, text);
}

const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[] = {
        [CAUSE_UNKNOWN] = "unknown",
        [CAUSE_NAN] = "nan",
        [CAUSE_NODE] = "node",
        [CAUSE_OVERFLOW] = "overflow",
        [CAUSE_UNDERFLOW] = "underflow",
        [CAUSE_PRECISION] = "precision",
        [CAUSE_TACTIC] = "tactic",
        [CAUSE_FUSION] = "fusion",
        [CAUSE_RACE] = "race",
        [CAUSE_REFUSED] = "refused",
        [CAUSE_PART] = "part",
        [CAUSE_REFERENCE] = "reference",
        [CAUSE_SATURATION] = "saturation",
        [CAUSE_CONDITION] = "condition",
    };

    return names[kind];
}

void study_close_model(struct study *study)
{
    if (study->model == NULL)
        return;
    bitset_release(&study->node);
    subgraph_release(&study->graph);
    model_free(study->model);
    study->model = NULL;
}

void study_free(struct study *study)
{
    if (study == NULL)
        return;
    for (size_t i = 0; i < study->steps.count; i++)
        json_reader_release(&study->steps.items[i]->result);
    free(study->steps.items);
    free(study->cause.evidence.items);
    free(study->not_tested.items);
    free(study->notes.items);
    study_close_model(study);
    fork_server_stop(study->server);
    staying_host_stop(study->host);
    process_guard_stop();
    session_lock_release(&study->lock);
    watched_files_release(&study->inputs);
    if (study->family_lock >= 0)
        close(study->family_lock);
    arena_release(&study->arena);
    free(study);
}
