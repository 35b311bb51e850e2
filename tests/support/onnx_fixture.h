/* support/onnx_fixture.h: models for tests, and parts of them as text. */
#ifndef SUPPORT_ONNX_FIXTURE_H
#define SUPPORT_ONNX_FIXTURE_H

#include "onnx/write/model.h"

/* The path of a file of tests/models, independent of the current folder. Valid until the fourth call after this one. */
const char *fixture_path(const char *file);

/* Opens tests/models/<name>.onnx; a failure fails the test. */
struct model *fixture_open(const char *name);
struct model *fixture_open_lowered(const char *name); /* with Constant nodes converted to initializers */

/* The node or tensor of that name; fails the test when there is none. */
uint32_t fixture_node(const struct model *model, const char *name);
uint32_t fixture_value(const struct model *model, const char *name);

/* Operators of all nodes, separated by blanks. Valid until the fourth call after this one. */
const char *names_of_operators(const struct model *model);

/* Names separated by blanks; "-" is an omitted tensor. Valid until the fourth call after this one. */
const char *names_of_nodes(const struct subgraph *subgraph);
const char *names_of_values(const struct model *model, const struct value_list *values);
const char *names_of_edges(const struct model *model, struct edge_range range);
const char *names_of_initializers(const struct model *model);

/* The model that a subgraph is written as, opened again. A failure fails the test. */
struct rewritten {
    char *bytes;
    size_t size;
    struct model *model;
};

void rewritten_init(struct rewritten *rewritten, const struct subgraph *subgraph);
void rewritten_release(struct rewritten *rewritten);

/* Skips the test if ONNX Runtime is not available. */
void require_onnxruntime(void);

/* Runs tests/support/<script> with python3 and up to two arguments. Skips the test if python3-onnx is not installed or
 * the script exits with status 77; fails it if the script fails. */
void run_python(const char *script, const char *first, const char *second);

#endif
