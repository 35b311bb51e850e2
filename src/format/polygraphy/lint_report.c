/* format/polygraphy/lint_report.c: see lint_report.h. */
#include "format/polygraphy/lint_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/json/writer.h"

static const char *const levels[] = {"exception", "warning"};
static const char *const sources[] = {"onnx_loader", "onnx_checker", "onnx_graphsurgeon", "onnxruntime"};

static void release_names(struct lint_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

void lint_report_release(struct lint_report *report)
{
    for (size_t i = 0; i < report->entries.count; i++) {
        free(report->entries.items[i].message);
        free(report->entries.items[i].node);
    }
    free(report->entries.items);
    release_names(&report->passing);
    release_names(&report->failing);
}

const struct lint_entry *lint_report_add(struct lint_report *report, const struct lint_rule *rule, const char *node,
                                         struct text message)
{
    struct lint_entry *entry = VECTOR_APPEND(&report->entries);

    *entry = (struct lint_entry){
        .rule = rule,
        .message = memory_copy(message.data, message.size),
        .node = node != NULL ? memory_strdup(node) : NULL,
    };
    if (node != NULL && rule->level == LINT_EXCEPTION)
        *VECTOR_APPEND(&report->failing) = memory_strdup(node);
    return entry;
}

void lint_report_add_passing(struct lint_report *report, const char *node)
{
    *VECTOR_APPEND(&report->passing) = memory_strdup(node);
}

bool lint_report_has_exceptions(const struct lint_report *report)
{
    for (size_t i = 0; i < report->entries.count; i++)
        if (report->entries.items[i].rule->level == LINT_EXCEPTION)
            return true;
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_name(const struct lint_names *sorted, const char *name)
{
    return sorted->count > 0 &&
           bsearch(&name, sorted->items, sorted->count, sizeof(*sorted->items), compare_names) != NULL;
}

/* Sorts names; drops duplicates and names in `others`. */
static void sort_names(struct lint_names *names, const struct lint_names *others)
{
    size_t kept = 0;

    if (names->count > 0)
        qsort(names->items, names->count, sizeof(*names->items), compare_names);
    for (size_t i = 0; i < names->count; i++) {
        char *name = names->items[i];

        if ((kept > 0 && strcmp(name, names->items[kept - 1]) == 0) || (others != NULL && has_name(others, name)))
            free(name);
        else
            names->items[kept++] = name;
    }
    names->count = kept;
}

void lint_report_finish(struct lint_report *report)
{
    sort_names(&report->failing, NULL);
    sort_names(&report->passing, &report->failing);
}

static void write_entry(struct json_writer *writer, const struct lint_entry *entry)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "level", levels[entry->rule->level]);
    json_writer_add_string(writer, "source", sources[entry->rule->source]);
    json_writer_add_string(writer, "message", entry->message);
    if (entry->node != NULL) {
        json_writer_begin_array_member(writer, "nodes");
        json_writer_string(writer, entry->node);
        json_writer_end_array(writer);
    }
    json_writer_end_object(writer);
}

int lint_report_save(const struct lint_report *report, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_begin_object_member(&writer, "summary");
    json_writer_add_strings(&writer, "passing", (const char *const *)report->passing.items, report->passing.count);
    json_writer_add_strings(&writer, "failing", (const char *const *)report->failing.items, report->failing.count);
    json_writer_end_object(&writer);
    json_writer_begin_array_member(&writer, "lint_entries");
    for (size_t i = 0; i < report->entries.count; i++)
        write_entry(&writer, &report->entries.items[i]);
    json_writer_end_array(&writer);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}
