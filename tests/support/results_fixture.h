/* support/results_fixture.h: inputs, feed dicts and results for tests. */
#ifndef SUPPORT_RESULTS_FIXTURE_H
#define SUPPORT_RESULTS_FIXTURE_H

#include "backend/backend.h"
#include "format/polygraphy/run_results.h"
#include "support/captured_log.h"
#include "support/tensor_fixture.h"

struct backend_io input_of(const char *name, enum data_type type, struct shape shape);

/* Adds a copy of `data`. */
void add_tensor(struct tensor_list *list, const char *name, enum data_type type, struct shape shape, const void *data);

#define ADD_FLOATS(list, name, ...)                                                                                    \
    add_tensor(list, name, DATA_FLOAT32, SHAPE(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), (float[]){__VA_ARGS__})

/* Adds an iteration to the last runner of `results`; returns its outputs. */
struct tensor_list *add_iteration(struct run_results *results);

/* Adds a runner with one iteration; returns its outputs. */
struct tensor_list *add_runner(struct run_results *results, const char *name);

void assert_logged(const struct captured_log *captured, const char *part);
void assert_not_logged(const struct captured_log *captured, const char *part);

#endif
