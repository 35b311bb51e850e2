/* library/reduce_graph.c: polygraphy_reduce_graph(). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "library/checked_search.h"

/* Context of ask_about_graph(). */
struct graph_run {
    const struct polygraphy_graph_request *request;
    uint32_t *elements; /* buffer for all elements */
};

static size_t list_elements(const struct bitset *set, uint32_t *ret)
{
    size_t count = 0;

    BITSET_EACH (i, set)
        ret[count++] = (uint32_t)i;
    return count;
}

static int ask_about_graph(void *data, const struct bitset *set, const struct polygraphy_progress *progress,
                           int32_t *ret_answer, bool *ret_asked, struct error *err)
{
    struct graph_run *run = data;
    size_t count = list_elements(set, run->elements);

    (void)err;
    *ret_answer = run->request->oracle(run->request->context, run->elements, count, progress);
    *ret_asked = true;
    return 0;
}

/* Ascending indices along every edge exclude cycles. */
static int check_edge(const struct polygraphy_graph_request *request, size_t i, struct error *err)
{
    struct polygraphy_edge edge = request->edges[i];

    if (edge.source >= request->element_count || edge.target >= request->element_count)
        return error_set(err, ERR_INVALID,
                         "edge %zu goes from %" PRIu32 " to %" PRIu32 ", but there are %" PRIu32 " elements", i,
                         edge.source, edge.target, request->element_count);
    if (edge.source >= edge.target)
        return error_set(err, ERR_INVALID,
                         "edge %zu goes from %" PRIu32 " to %" PRIu32
                         ": number the elements in topological order, so that every edge goes up; a graph with a cycle "
                         "has no such order",
                         i, edge.source, edge.target);
    return 0;
}

static int check_graph_request(const struct polygraphy_graph_request *request, struct error *err)
{
    int rc = 0;

    if (request->oracle == NULL)
        return error_set(err, ERR_INVALID, "the request has no oracle");
    if (request->element_count == 0)
        return error_set(err, ERR_INVALID, "the graph has no elements: nothing to reduce");
    if (request->element_count > POLYGRAPHY_MAX_ELEMENTS)
        return error_set(err, ERR_UNSUPPORTED, "the graph has %" PRIu32 " elements, the maximum is %u",
                         request->element_count, POLYGRAPHY_MAX_ELEMENTS);
    if (request->edge_count > 0 && request->edges == NULL)
        return error_set(err, ERR_INVALID, "`edge_count` is %zu, but `edges` is NULL", request->edge_count);
    for (size_t i = 0; rc == 0 && i < request->edge_count; i++)
        rc = check_edge(request, i, err);
    return rc;
}

/* ERR_MEMORY if the edges do not fit in memory. */
static int make_dag(const struct polygraphy_graph_request *request, struct dag *ret, struct error *err)
{
    struct dag_edge *edges SCOPED_FREE = calloc(request->edge_count + 1, sizeof(*edges));

    if (edges == NULL)
        return error_set(err, ERR_MEMORY, "not enough memory for %zu edges", request->edge_count);
    for (size_t i = 0; i < request->edge_count; i++)
        edges[i] = (struct dag_edge){request->edges[i].source, request->edges[i].target};
    dag_init(ret, request->element_count, edges, request->edge_count);
    return 0;
}

static void fill_result(const struct checked_result *found, struct polygraphy_graph_result *ret)
{
    *ret = (struct polygraphy_graph_result){
        .outcome = found->outcome, .checks = found->checks, .element_count = bitset_count(&found->smallest)};
    if (ret->element_count == 0)
        return;
    ret->elements = memory_alloc_zero(ret->element_count, sizeof(*ret->elements));
    list_elements(&found->smallest, ret->elements);
}

static int reduce_checked_graph(const struct polygraphy_graph_request *request, struct polygraphy_graph_result *ret,
                                struct error *err)
{
    struct graph_run run = {.request = request};
    struct checked_result found;
    struct dag dag SCOPED(dag_release) = {0};
    int rc = check_graph_request(request, err);

    if (rc == 0)
        rc = make_dag(request, &dag, err);
    if (rc < 0)
        return rc;
    run.elements = memory_alloc_zero(request->element_count, sizeof(*run.elements));
    rc = checked_search_run(
        &(struct checked_search){.dag = &dag, .max_checks = request->max_checks, .ask = ask_about_graph, .data = &run},
        &found, err);
    fill_result(&found, ret);
    bitset_release(&found.smallest);
    free(run.elements);
    return rc;
}

int32_t polygraphy_reduce_graph(const struct polygraphy_graph_request *request, struct polygraphy_graph_result *result,
                                struct polygraphy_error *error)
{
    struct error err = {0};

    *result = (struct polygraphy_graph_result){.outcome = POLYGRAPHY_STOPPED};
    return library_return(reduce_checked_graph(request, result, &err), &err, error);
}

void polygraphy_graph_result_release(struct polygraphy_graph_result *result)
{
    free(result->elements);
    *result = (struct polygraphy_graph_result){0};
}
