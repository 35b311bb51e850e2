/* report/report.h: what a command found out, as one page that a browser shows.
 *
 * The module report/ makes a document of results that its caller has: a verdict with its proof, commands, the network
 * with the errors of its tensors, tables, pictures, a search, steps. The document (JSON; docs/report.md has every
 * member) goes into a page of its own, which needs no network and no other file: the files of report/page/ are its
 * templates, and the script among them draws the document. Nothing is computed here. It uses format/json/ to write and
 * onnx/ for networks.
 *
 *   struct report *report = report_new("light_resnet50.onnx: is float16 good enough?");
 *   report_set_verdict(report, REPORT_CAUSE, "'n39' overflows float16");
 *   report_add_proof(report, "in the reference it reaches 72489; float16 ends at 65504");
 *   report_add_network(report, model);
 *   report_add_tensor(report, &tensor);
 *   rc = report_write(report, &(struct report_files){.page = "report.html"}, log, err);
 *   report_free(report);
 *
 * Sections may be filled in any order, and what is never added does not show; within a section the order is kept. All
 * text is copied, may be anything (names in models are hostile), and may be NULL where it is not known. All functions
 * do nothing when `report` is NULL, so that a command needs not ask at every step whether a report is wanted.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <math.h>

#include "base/log.h"
#include "onnx/model/model.h"

struct report;

/* `title` is what the page is about in a few words: the command and the model. */
struct report *report_new(const char *title);
void report_free(struct report *report);

/* ---- What stands first ---- */

enum report_verdict {
    REPORT_UNKNOWN, /* nothing was decided, or the report only shows something */
    REPORT_PASSED,
    REPORT_FAILED, /* it fails, and why is not known */
    REPORT_CAUSE,  /* it fails, and the cause was seen */
};

/* One sentence, without which nobody needs to read on. */
void report_set_verdict(struct report *report, enum report_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* That sentence, "" when there is none. */
enum report_verdict report_verdict(const struct report *report);
const char *report_sentence(const struct report *report);

/* What was seen that makes it true: one line each, in the order of an argument. */
void report_add_proof(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct words report_proof(const struct report *report);

/* A command that can be typed: of the run that is reported, or one that shows more. `what` says in some words what it
 * does; NULL: it is the command of this report. */
void report_add_command(struct report *report, const char *what, const char *line);

/* Something about where it ran: program, versions, processor, model. */
void report_add_environment(struct report *report, const char *name, const char *value);

/* A step of a diagnosis. */
struct report_step {
    const char *what;    /* "Does it fail, and how?" */
    const char *why;     /* what is learned from it; NULL: clear */
    const char *command; /* as it can be typed; NULL: none */
    const char *outcome; /* one sentence; NULL: it was not finished */
    double seconds;      /* NAN: not known */
};

void report_add_step(struct report *report, const struct report_step *step);

/* ---- The network ---- */

/* The model: its main graph is drawn, node by node or folded by scope, and bodies and functions open. At most once.
 * Tensors and layers that are added, before or after, belong to it by the names of tensors and nodes. If a part of the
 * model cannot be read, report_write() logs that, and the report has no network. */
void report_add_network(struct report *report, struct model *model);

/* The same for a caller that writes the one object itself, by report_model_write(). */
struct json_writer *report_begin_network(struct report *report);

/* Says which node the report is about: it is drawn at first, and has a thick frame. It may be called for several.
 * `node` is its name, or what model_node_label() calls it. Without any, the page takes the producer of the first tensor
 * that was added as failed. */
void report_add_culprit(struct report *report, const char *node);

/* A layer of an engine, drawn around the nodes that it computes. */
struct report_layer {
    const char *name;
    const char *kind;      /* "convolution" */
    const char *precision; /* "float16" */
    const char *tactic;
    double seconds; /* NAN: not measured */
    struct words nodes;
};

void report_add_layer(struct report *report, const struct report_layer *layer);

/* What the values of a tensor are in one of the two results. */
struct report_range {
    bool known;               /* else nothing below is */
    double minimum, maximum;  /* of finite values */
    double mean;              /* NAN: not known */
    uint64_t nan, infinities; /* how many there are */
};

enum report_outcome { REPORT_NOT_COMPARED, REPORT_MATCHES, REPORT_DIFFERS };

/* A tensor of the two results; topological order makes the curve of the error along the network. Errors that are not
 * known are NAN; infinite ones are what they are. */
struct report_tensor {
    const char *name;
    const char *type;      /* of its elements: "float32" */
    const char *precision; /* what the suspect may compute it in, where it is another type: "float16"; NULL: the same */
    const char *shape;     /* "(1, 64, 56, 56)" */
    struct report_range reference, suspect;
    double absolute_error, relative_error; /* the largest */
    double atol, rtol;                     /* that it was held to */
    double signal_to_noise;                /* dB */
    double cosine_similarity;
    enum report_outcome outcome;
    double mismatches, elements; /* numbers of elements; NAN: not counted */
    struct {
        const char *index; /* "(0, 3, 17, 2)"; NULL: there is none, or it is not known */
        double reference, suspect;
    } first_bad; /* element, in row-major order */
};

/* A tensor of which nothing but the name is known: for everything that a caller does not fill. */
#define REPORT_TENSOR_UNKNOWN                                                                                          \
    ((struct report_tensor){.absolute_error = NAN,                                                                     \
                            .relative_error = NAN,                                                                     \
                            .atol = NAN,                                                                               \
                            .rtol = NAN,                                                                               \
                            .signal_to_noise = NAN,                                                                    \
                            .cosine_similarity = NAN,                                                                  \
                            .mismatches = NAN,                                                                         \
                            .elements = NAN})

void report_add_tensor(struct report *report, const struct report_tensor *tensor);

/* ---- Tables, histograms, pictures ---- */

/* A table that the reader can sort by any column. Rows go to the table that was begun last. */
void report_begin_table(struct report *report, const char *title, const char *const *columns, size_t count);

/* Text, or a number when `text` is NULL; NAN is shown as nothing. */
struct report_cell {
    const char *text;
    double number;
};

/* As many cells as the table has columns. */
void report_add_row(struct report *report, const struct report_cell *cells);

/* How values, or errors, are spread: `bins` intervals of the same width from `from` to `to`. */
struct report_histogram {
    const char *title; /* "output 'y': absolute error" */
    double from, to;
    size_t bins;
    const uint64_t *reference, *suspect; /* how many values fall into each; one of them may be NULL */
};

void report_add_histogram(struct report *report, const struct report_histogram *histogram);

/* A picture that is shown as an image, so that nothing in it runs. */
void report_add_picture(struct report *report, const char *title, struct text svg);

/* ---- Searches ---- */

/* What is searched: "nodes", "layers in float32"; the unit of the candidates' sizes. At most once. */
void report_set_search(struct report *report, const char *what);

struct report_candidate {
    int64_t number;      /* as the log and artifacts call it */
    double size;         /* what is left, in the unit of the search */
    const char *verdict; /* "failed", "passed", "skipped", "timed out" ... */
    const char *note;    /* what it consists of; NULL: nothing to say */
    struct text log;     /* what the check printed; size 0: nothing */
    double seconds;      /* NAN: not known */
};

void report_add_candidate(struct report *report, const struct report_candidate *candidate);

/* A tactic under suspicion, the most suspicious first. Counts are builds. */
struct report_evidence {
    const char *layer;  /* or the layers, in words */
    const char *tactic; /* or kernel */
    size_t failed_with, passed_with, failed_without, passed_without;
    double probability;  /* that it is the culprit; NAN: not computed */
    const char *finding; /* "proven: fails when forced, passes without"; NULL: correlation is all there is */
};

void report_add_evidence(struct report *report, const struct report_evidence *evidence);

/* ---- The files ---- */

struct report_files {
    const char *page, *data; /* the page and the document; NULL: not wanted */
};

/* Writes the files, each atomically. To be called once, at the end. ERR_IO when one cannot be written. */
int report_write(struct report *report, const struct report_files *files, struct log *log, struct error *err);

#endif
