/* report/graphviz.c: see graphviz.h. */
#include "report/graphviz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/process.h"
#include "base/text/number.h"
#include "base/text/string_builder.h"

#define POINTS_PER_INCH 72
#define SECONDS 20              /* that dot may take: what is drawn has some hundred boxes, which is a second's work */
#define MOST_INCHES 1e6         /* of a coordinate that is believed */
#define MOST_POINTS 100000      /* of one line */
#define MOST_ANSWER (64u << 20) /* bytes */

void drawing_release(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->lines.count; i++)
        free(drawing->lines.items[i].points);
    free(drawing->lines.items);
    free(drawing->boxes.items);
    *drawing = (struct drawing){0};
}

/* ---- The question ---- */

static void add_points(struct string_builder *out, const char *name, double points)
{
    char number[NUMBER_TEXT_SIZE];

    string_add_format(out, " %s=%s", name, number_to_text_rounded(points / POINTS_PER_INCH, 'f', 4, number));
}

static void add_box(struct string_builder *out, const struct drawing_box *box, size_t number)
{
    string_add_format(out, "%zu [", number);
    add_points(out, "width", box->width);
    add_points(out, "height", box->height);
    string_add(out, "];\n");
}

static int compare_places(const void *a, const void *b)
{
    const uint64_t *first = a, *second = b;

    return (*first > *second) - (*first < *second);
}

static void add_graph(struct string_builder *out, struct drawing *drawing)
{
    /* Cluster and index as one number: boxes in the order of clusters, so that each of these is written at once. */
    uint64_t *order = memory_alloc(drawing->boxes.count * sizeof(*order));
    uint32_t open = CLUSTER_NONE;

    string_add(out, "digraph {\ngraph [ranksep=0.35, nodesep=0.3];\n"
                    "node [shape=box, fixedsize=true, label=\"\"];\nedge [arrowhead=none];\n");
    for (uint32_t i = 0; i < drawing->boxes.count; i++)
        order[i] = (uint64_t)drawing->boxes.items[i].cluster << 32 | i;
    qsort(order, drawing->boxes.count, sizeof(*order), compare_places);
    for (size_t i = 0; i < drawing->boxes.count; i++) {
        const struct drawing_box *box = &drawing->boxes.items[(uint32_t)order[i]];

        if (box->cluster != open)
            string_add(out, open != CLUSTER_NONE ? "}\n" : "");
        if (box->cluster != open && box->cluster != CLUSTER_NONE) /* the label makes room for one in the page */
            string_add_format(out, "subgraph cluster_%u {\nlabel=\" \"; fontsize=10; margin=10;\n", box->cluster);
        open = box->cluster;
        add_box(out, box, (uint32_t)order[i]);
    }
    string_add(out, open != CLUSTER_NONE ? "}\n" : "");
    for (size_t i = 0; i < drawing->lines.count; i++)
        string_add_format(out, "%u -> %u;\n", drawing->lines.items[i].from, drawing->lines.items[i].to);
    string_add(out, "}\n");
    free(order);
}

/* ---- The answer ---- */

struct dot_reader {
    struct text rest; /* of the line */
    bool failed;
};

/* The next word of the line, without quotes. */
static struct text next_word(struct dot_reader *reader)
{
    struct text word;
    size_t size = 0;

    while (reader->rest.size > 0 && reader->rest.data[0] == ' ')
        reader->rest = (struct text){reader->rest.data + 1, reader->rest.size - 1};
    while (size < reader->rest.size && reader->rest.data[size] != ' ')
        size++;
    word = (struct text){reader->rest.data, size};
    reader->rest = (struct text){reader->rest.data + size, reader->rest.size - size};
    reader->failed |= size == 0;
    return word;
}

static double next_length(struct dot_reader *reader)
{
    double value = 0;

    reader->failed |= !number_parse_float(next_word(reader), &value) || !(fabs(value) <= MOST_INCHES);
    return reader->failed ? 0 : value * POINTS_PER_INCH;
}

static size_t next_number(struct dot_reader *reader, size_t limit)
{
    int64_t value = 0;

    reader->failed |= !number_parse_integer(next_word(reader), &value) || value < 0 || (uint64_t)value >= limit;
    return reader->failed ? 0 : (size_t)value;
}

/* "x y" from the lower left corner. */
static struct drawing_point next_point(struct dot_reader *reader, const struct drawing *drawing)
{
    double x = next_length(reader);

    return (struct drawing_point){x, drawing->height - next_length(reader)};
}

static int by_ends(const void *a, const void *b)
{
    const struct drawing_line *first = a, *second = b;

    if (first->from != second->from)
        return first->from < second->from ? -1 : 1;
    return (first->to > second->to) - (first->to < second->to);
}

/* "edge from to n x1 y1 ... xn yn ..." */
static bool read_line_between(struct dot_reader *reader, struct drawing *drawing)
{
    uint32_t from = (uint32_t)next_number(reader, drawing->boxes.count);
    struct drawing_line wanted = {.from = from, .to = (uint32_t)next_number(reader, drawing->boxes.count)};
    size_t count = next_number(reader, MOST_POINTS);
    struct drawing_line *line;

    if (reader->failed || count < 4 || count % 3 != 1 || count > reader->rest.size / 2 || drawing->lines.count == 0)
        return false;
    line = bsearch(&wanted, drawing->lines.items, drawing->lines.count, sizeof(wanted), by_ends);
    if (line == NULL || line->points != NULL)
        return false;
    line->points = memory_alloc(count * sizeof(*line->points));
    line->point_count = count;
    for (size_t i = 0; i < count; i++)
        line->points[i] = next_point(reader, drawing);
    return !reader->failed;
}

/* One line of the answer; false when it makes no sense. `placed` counts the boxes. */
static bool read_statement(struct dot_reader *reader, struct drawing *drawing, bool *seen, size_t *placed)
{
    struct text word = next_word(reader);
    size_t box;

    if (text_equal_string(word, "graph")) { /* scale width height */
        next_length(reader);
        drawing->width = next_length(reader);
        drawing->height = next_length(reader);
        return !reader->failed;
    }
    if (text_equal_string(word, "node")) { /* name x y ... */
        box = next_number(reader, drawing->boxes.count);
        if (reader->failed || seen[box])
            return false;
        seen[box] = true;
        ++*placed;
        drawing->boxes.items[box].center = next_point(reader, drawing);
        return !reader->failed;
    }
    return text_equal_string(word, "edge") && read_line_between(reader, drawing);
}

int graphviz_read_plain(struct text answer, struct drawing *drawing, struct error *err)
{
    bool *seen = memory_alloc_zero(drawing->boxes.count + 1, sizeof(*seen));
    size_t placed = 0, number = 1;
    bool ended = false, good = true;

    while (good && !ended && answer.size > 0) {
        const char *end = memchr(answer.data, '\n', answer.size);
        size_t size = end != NULL ? (size_t)(end - answer.data) : answer.size;
        struct dot_reader reader = {.rest = {answer.data, size}};

        ended = text_equal_string(reader.rest, "stop");
        good = ended || read_statement(&reader, drawing, seen, &placed);
        size += end != NULL;
        answer = (struct text){answer.data + size, answer.size - size};
        number += good;
    }
    free(seen);
    if (!good)
        return error_set(err, ERR_CORRUPT, "line %zu of what dot has written makes no sense", number);
    good = ended && placed == drawing->boxes.count;
    for (size_t i = 0; i < drawing->lines.count; i++)
        good = good && drawing->lines.items[i].points != NULL;
    return good ? 0 : error_set(err, ERR_CORRUPT, "dot has not placed all %zu boxes", drawing->boxes.count);
}

/* ---- The program ---- */

/* Why it gave no answer. */
static int describe_failure(const struct process_result *result, struct error *err)
{
    const char *end = result->error_out.size > 0 ? memchr(result->error_out.data, '\n', result->error_out.size) : NULL;
    struct text complaint = {result->error_out.data, end ? (size_t)(end - result->error_out.data) : 0};

    if (result->end == PROCESS_TIMED_OUT)
        return error_set(err, ERR_BACKEND, "dot (Graphviz) has not laid out the network in %d s", SECONDS);
    if (result->end == PROCESS_SIGNALED)
        return error_set(err, ERR_BACKEND, "dot (Graphviz) was ended by signal %d", result->code);
    return error_set(err, ERR_BACKEND, "dot (Graphviz) ended with exit code %d: " TEXT_FORMAT, result->code,
                     TEXT_ARGS(complaint));
}

static int ask_graphviz(const char *question, struct drawing *drawing, struct error *err)
{
    struct process_request request = {
        .arguments = (const char *const[]){"dot", "-Tplain", question, NULL},
        .timeout = SECONDS,
        .without_input = true,
    };
    struct process_result result;
    int rc = process_run(&request, &result, err);

    if (rc == ERR_MISSING)
        return error_set(err, ERR_MISSING, "Graphviz is not installed: there is no program 'dot'");
    if (rc < 0)
        return rc;
    if (result.end != PROCESS_EXITED || result.code != 0)
        rc = describe_failure(&result, err);
    else if (result.out.truncated || result.out.left_out > 0 || result.out.size > MOST_ANSWER)
        rc = error_set(err, ERR_CORRUPT, "dot has written more than %u bytes", MOST_ANSWER);
    else
        rc = graphviz_read_plain((struct text){result.out.data, result.out.size}, drawing, err);
    process_result_release(&result);
    return rc;
}

int graphviz_lay_out(struct drawing *drawing, struct error *err)
{
    SCOPED_STRING(graph);
    struct error ignored;
    char *folder, *question;
    int rc = file_make_temporary_folder("report", &folder, err);

    if (rc < 0)
        return rc;
    question = file_join(folder, "network.gv");
    add_graph(&graph, drawing);
    rc = file_write(question, graph.data, graph.size, FILE_INTERMEDIATE, err);
    if (rc == 0)
        rc = ask_graphviz(question, drawing, err);
    file_remove_tree(folder, &ignored);
    free(question);
    free(folder);
    return rc;
}
