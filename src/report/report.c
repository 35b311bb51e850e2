/* report/report.c: the document, section by section: each is JSON text of its own until they are put together. */
#include "report/report.h"

#include <stdlib.h>

#include "base/memory.h"
#include "format/json/writer.h"
#include "report/model.h"
#include "report/page.h"

/* The members of the document that grow item by item, in the order in which it has them. */
enum section {
    SECTION_STEPS,
    SECTION_LAYERS,
    SECTION_TENSORS,
    SECTION_EVIDENCE,
    SECTION_CANDIDATES,
    SECTION_TABLES,
    SECTION_HISTOGRAMS,
    SECTION_PICTURES,
    SECTION_CULPRITS,
    SECTION_COUNT,
};

static const char *const section_names[SECTION_COUNT] = {
    "steps", "layers", "tensors", "evidence", "candidates", "tables", "histograms", "pictures", "culprits",
};

static const char *const verdict_names[] = {"unknown", "passed", "failed", "cause"};
static const char *const verdict_labels[] = {"", "passes", "fails", "cause proven"};
static const char *const outcome_names[] = {"not compared", "matches", "differs"};

struct report {
    char *title;
    enum report_verdict verdict;
    struct string_builder sentence; /* of the verdict */
    struct arena texts;
    struct word_list proof;
    struct page_entries commands, environment;
    char *search;                               /* NULL: there is none */
    struct json_writer sections[SECTION_COUNT]; /* begun arrays */
    size_t columns;                             /* of the table that was begun last; 0: there is none */
    struct json_writer network;                 /* empty: there is none */
    struct error unreadable;                    /* why it is not complete */
};

static void begin_section(struct json_writer *writer)
{
    json_writer_init(writer);
    writer->compact = true;
    json_writer_begin_array(writer);
}

struct report *report_new(const char *title)
{
    struct report *report = memory_alloc_zero(1, sizeof(*report));

    report->title = memory_strdup(title);
    string_init(&report->sentence);
    arena_init(&report->texts);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        begin_section(&report->sections[i]);
    json_writer_init(&report->network);
    report->network.compact = true;
    report->network.strict = true;
    return report;
}

void report_free(struct report *report)
{
    if (report == NULL)
        return;
    free(report->title);
    free(report->search);
    string_release(&report->sentence);
    arena_release(&report->texts);
    free(report->proof.items);
    free(report->commands.items);
    free(report->environment.items);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        json_writer_release(&report->sections[i]);
    json_writer_release(&report->network);
    free(report);
}

/* ---- Members ---- */

/* What is not known is not there. */
static void add_known_text(struct json_writer *writer, const char *key, const char *value)
{
    if (value == NULL)
        return;
    json_writer_add_string(writer, key, value);
}

/* JSON has numbers for finite values alone. */
static void add_finite_value(struct json_writer *writer, double value)
{
    if (isnan(value))
        json_writer_string(writer, "NaN");
    else if (isinf(value))
        json_writer_string(writer, value > 0 ? "Infinity" : "-Infinity");
    else
        json_writer_number(writer, value);
}

/* A number that NAN says is not known. */
static void add_known_number(struct json_writer *writer, const char *key, double value)
{
    if (isnan(value))
        return;
    json_writer_key(writer, key);
    add_finite_value(writer, value);
}

static struct json_writer *begin_item(struct report *report, enum section section)
{
    json_writer_begin_object(&report->sections[section]);
    return &report->sections[section];
}

/* ---- What stands first ---- */

void report_set_verdict(struct report *report, enum report_verdict verdict, const char *format, ...)
{
    va_list args;

    if (report == NULL)
        return;
    report->verdict = verdict;
    string_clear(&report->sentence);
    va_start(args, format);
    string_add_format_list(&report->sentence, format, args);
    va_end(args);
}

enum report_verdict report_verdict(const struct report *report)
{
    return report->verdict;
}

const char *report_sentence(const struct report *report)
{
    return report->sentence.size > 0 ? report->sentence.data : "";
}

void report_add_proof(struct report *report, const char *format, ...)
{
    SCOPED_STRING(line);
    va_list args;

    if (report == NULL)
        return;
    va_start(args, format);
    string_add_format_list(&line, format, args);
    va_end(args);
    *VECTOR_APPEND(&report->proof) = arena_strdup(&report->texts, line.size > 0 ? line.data : "");
}

struct words report_proof(const struct report *report)
{
    return (struct words){report->proof.items, report->proof.count};
}

static void add_entry(struct report *report, struct page_entries *entries, const char *name, const char *text)
{
    *VECTOR_APPEND(entries) = (struct page_entry){name != NULL ? arena_strdup(&report->texts, name) : NULL,
                                                  arena_strdup(&report->texts, text != NULL ? text : "")};
}

void report_add_command(struct report *report, const char *what, const char *line)
{
    if (report != NULL)
        add_entry(report, &report->commands, what, line);
}

void report_add_environment(struct report *report, const char *name, const char *value)
{
    if (report != NULL)
        add_entry(report, &report->environment, name, value);
}

void report_add_step(struct report *report, const struct report_step *step)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = begin_item(report, SECTION_STEPS);
    add_known_text(writer, "what", step->what);
    add_known_text(writer, "why", step->why);
    add_known_text(writer, "command", step->command);
    add_known_text(writer, "outcome", step->outcome);
    add_known_number(writer, "seconds", step->seconds);
    json_writer_end_object(writer);
}

/* ---- The network ---- */

struct json_writer *report_begin_network(struct report *report)
{
    return &report->network;
}

void report_add_network(struct report *report, struct model *model)
{
    struct report_model_settings settings = {.types = true};

    if (report == NULL || report->network.text.size > 0)
        return;
    if (model->map.fd >= 0 && model->edition == 0)
        settings.path = model->display_name;
    report_model_write(model, &settings, report_begin_network(report), &report->unreadable);
}

void report_add_culprit(struct report *report, const char *node)
{
    if (report != NULL)
        json_writer_string(&report->sections[SECTION_CULPRITS], node);
}

void report_add_layer(struct report *report, const struct report_layer *layer)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = begin_item(report, SECTION_LAYERS);
    add_known_text(writer, "name", layer->name);
    add_known_text(writer, "kind", layer->kind);
    add_known_text(writer, "precision", layer->precision);
    add_known_text(writer, "tactic", layer->tactic);
    add_known_number(writer, "seconds", layer->seconds);
    json_writer_add_strings(writer, "nodes", layer->nodes.items, layer->nodes.count);
    json_writer_end_object(writer);
}

static void add_range(struct json_writer *writer, const char *key, const struct report_range *range)
{
    if (!range->known)
        return;
    json_writer_begin_object_member(writer, key);
    add_known_number(writer, "minimum", range->minimum);
    add_known_number(writer, "maximum", range->maximum);
    add_known_number(writer, "mean", range->mean);
    json_writer_add_count(writer, "nan", range->nan);
    json_writer_add_count(writer, "infinities", range->infinities);
    json_writer_end_object(writer);
}

void report_add_tensor(struct report *report, const struct report_tensor *tensor)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = begin_item(report, SECTION_TENSORS);
    add_known_text(writer, "name", tensor->name);
    add_known_text(writer, "outcome", outcome_names[tensor->outcome]);
    add_known_text(writer, "type", tensor->type);
    add_known_text(writer, "precision", tensor->precision);
    add_known_text(writer, "shape", tensor->shape);
    add_range(writer, "reference", &tensor->reference);
    add_range(writer, "suspect", &tensor->suspect);
    add_known_number(writer, "absolute_error", tensor->absolute_error);
    add_known_number(writer, "relative_error", tensor->relative_error);
    add_known_number(writer, "absolute_tolerance", tensor->atol);
    add_known_number(writer, "relative_tolerance", tensor->rtol);
    add_known_number(writer, "signal_to_noise", tensor->signal_to_noise);
    add_known_number(writer, "cosine_similarity", tensor->cosine_similarity);
    add_known_number(writer, "mismatches", tensor->mismatches);
    add_known_number(writer, "elements", tensor->elements);
    if (tensor->first_bad.index != NULL) {
        json_writer_begin_object_member(writer, "first_bad");
        add_known_text(writer, "index", tensor->first_bad.index);
        json_writer_key(writer, "reference");
        add_finite_value(writer, tensor->first_bad.reference);
        json_writer_key(writer, "suspect");
        add_finite_value(writer, tensor->first_bad.suspect);
        json_writer_end_object(writer);
    }
    json_writer_end_object(writer);
}

/* ---- Tables, histograms, pictures ---- */

static void end_table(struct report *report)
{
    if (report->columns == 0)
        return;
    json_writer_end_array(&report->sections[SECTION_TABLES]); /* rows */
    json_writer_end_object(&report->sections[SECTION_TABLES]);
    report->columns = 0;
}

void report_begin_table(struct report *report, const char *title, const char *const *columns, size_t count)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    end_table(report);
    writer = begin_item(report, SECTION_TABLES);
    add_known_text(writer, "title", title);
    json_writer_add_strings(writer, "columns", columns, count);
    json_writer_begin_array_member(writer, "rows");
    report->columns = count;
}

void report_add_row(struct report *report, const struct report_cell *cells)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = &report->sections[SECTION_TABLES];
    json_writer_begin_array(writer);
    for (size_t i = 0; i < report->columns; i++)
        if (cells[i].text != NULL)
            json_writer_string(writer, cells[i].text);
        else if (isnan(cells[i].number))
            json_writer_null(writer);
        else
            add_finite_value(writer, cells[i].number);
    json_writer_end_array(writer);
}

static void add_bins(struct json_writer *writer, const char *key, const uint64_t *counts, size_t bins)
{
    if (counts == NULL)
        return;
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < bins; i++)
        json_writer_integer(writer, (int64_t)counts[i]);
    json_writer_end_array(writer);
}

void report_add_histogram(struct report *report, const struct report_histogram *histogram)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = begin_item(report, SECTION_HISTOGRAMS);
    add_known_text(writer, "title", histogram->title);
    add_known_number(writer, "from", histogram->from);
    add_known_number(writer, "to", histogram->to);
    add_bins(writer, "reference", histogram->reference, histogram->bins);
    add_bins(writer, "suspect", histogram->suspect, histogram->bins);
    json_writer_end_object(writer);
}

/* Text of known size: the writer's strings end at a NUL. */
static void add_long_text(struct json_writer *writer, const char *key, struct text text)
{
    char *copy SCOPED_FREE = NULL;

    if (text.size == 0)
        return;
    copy = memory_copy(text.data, text.size);
    add_known_text(writer, key, copy);
}

void report_add_picture(struct report *report, const char *title, struct text svg)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = begin_item(report, SECTION_PICTURES);
    add_known_text(writer, "title", title);
    add_long_text(writer, "svg", svg);
    json_writer_end_object(writer);
}

/* ---- Searches ---- */

void report_set_search(struct report *report, const char *what)
{
    if (report == NULL)
        return;
    free(report->search);
    report->search = memory_strdup(what);
}

void report_add_candidate(struct report *report, const struct report_candidate *candidate)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = begin_item(report, SECTION_CANDIDATES);
    json_writer_add_integer(writer, "number", candidate->number);
    add_known_number(writer, "size", candidate->size);
    add_known_text(writer, "verdict", candidate->verdict);
    add_known_text(writer, "note", candidate->note);
    add_long_text(writer, "log", candidate->log);
    add_known_number(writer, "seconds", candidate->seconds);
    json_writer_end_object(writer);
}

void report_add_evidence(struct report *report, const struct report_evidence *evidence)
{
    struct json_writer *writer;

    if (report == NULL)
        return;
    writer = begin_item(report, SECTION_EVIDENCE);
    add_known_text(writer, "layer", evidence->layer);
    add_known_text(writer, "tactic", evidence->tactic);
    json_writer_add_count(writer, "failed_with", evidence->failed_with);
    json_writer_add_count(writer, "passed_with", evidence->passed_with);
    json_writer_add_count(writer, "failed_without", evidence->failed_without);
    json_writer_add_count(writer, "passed_without", evidence->passed_without);
    add_known_number(writer, "probability", evidence->probability);
    add_known_text(writer, "finding", evidence->finding);
    json_writer_end_object(writer);
}

/* ---- The files ---- */

static void end_section(struct json_writer *document, const char *key, struct json_writer *list)
{
    json_writer_end_array(list);
    json_writer_key(document, key);
    json_writer_fragment(document, list);
}

/* Nothing for an empty list. */
static void write_entries(struct json_writer *document, const char *key, const struct page_entries *entries,
                          const char *name, const char *text)
{
    if (entries->count == 0)
        return;
    json_writer_begin_array_member(document, key);
    for (size_t i = 0; i < entries->count; i++) {
        json_writer_begin_object(document);
        add_known_text(document, name, entries->items[i].name);
        json_writer_add_string(document, text, entries->items[i].text);
        json_writer_end_object(document);
    }
    json_writer_end_array(document);
}

static void write_document(struct report *report, struct json_writer *document, struct log *log)
{
    json_writer_begin_object(document);
    add_known_text(document, "title", report->title);
    json_writer_begin_object_member(document, "verdict");
    add_known_text(document, "kind", verdict_names[report->verdict]);
    add_known_text(document, "text", report_sentence(report));
    json_writer_add_strings(document, "proof", report->proof.items, report->proof.count);
    json_writer_end_object(document);
    write_entries(document, "commands", &report->commands, "what", "line");
    write_entries(document, "environment", &report->environment, "name", "value");
    add_known_text(document, "search", report->search);
    end_table(report);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (!report->sections[i].empty) /* a section without items is left out */
            end_section(document, section_names[i], &report->sections[i]);
    if (report->unreadable.code != 0) {
        log_message(log, LOG_WARNING, "The report has no network: %s", report->unreadable.message);
    } else if (report->network.text.size > 0) {
        json_writer_key(document, "network");
        json_writer_fragment(document, &report->network);
    }
    json_writer_end_object(document);
}

static struct page describe_page(const struct report *report, const struct json_writer *document)
{
    return (struct page){.title = report->title,
                         .verdict = verdict_names[report->verdict],
                         .label = verdict_labels[report->verdict],
                         .sentence = report_sentence(report),
                         .proof = report_proof(report),
                         .commands = report->commands,
                         .environment = report->environment,
                         .document = {document->text.data, document->text.size}};
}

int report_write(struct report *report, const struct report_files *files, struct log *log, struct error *err)
{
    struct json_writer document;
    SCOPED_STRING(text);
    int rc = 0;

    if (report == NULL || (files->page == NULL && files->data == NULL))
        return 0;
    json_writer_init(&document);
    document.compact = true;
    write_document(report, &document, log);
    if (files->data != NULL)
        rc = file_write(files->data, document.text.data, document.text.size, FILE_DURABLE, err);
    if (rc == 0 && files->page != NULL) {
        struct page page = describe_page(report, &document);

        page_make(&page, &text);
        rc = file_write(files->page, text.data, text.size, FILE_DURABLE, err);
    }
    json_writer_release(&document);
    return rc;
}
