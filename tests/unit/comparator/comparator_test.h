/* tests/unit/comparator/comparator_test.h: inputs, feed dicts and results made by hand. */
#ifndef COMPARATOR_TEST_H
#define COMPARATOR_TEST_H

#include "backend/backend.h"
#include "base/memory.h"
#include "format/polygraphy/run_results.h"
#include "support/captured_log.h"
#include "unit/tensor/tensor_test.h"

static inline struct backend_io input_of(const char *name, enum data_type type, struct shape shape)
{
    return (struct backend_io){.name = (char *)name, .type = type, .has_shape = true, .shape = shape};
}

/* Adds a copy of `data`. */
static inline void add_tensor(struct tensor_list *list, const char *name, enum data_type type, struct shape shape,
                              const void *data)
{
    struct tensor borrowed = tensor_of(type, shape, data), copy;

    assert_int_equal(tensor_copy(&borrowed, &copy, NULL), 0);
    tensor_list_add(list, text_of(name), &copy);
}

#define ADD_FLOATS(list, name, ...)                                                                                    \
    add_tensor(list, name, DATA_FLOAT32, SHAPE(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), (float[]){__VA_ARGS__})

/* Adds an iteration to the last runner of `results`; returns its outputs. */
static inline struct tensor_list *add_iteration(struct run_results *results)
{
    return &runner_results_add_iteration(&results->items[results->count - 1], 0.5)->outputs;
}

/* Adds a runner with one iteration; returns its outputs. */
static inline struct tensor_list *add_runner(struct run_results *results, const char *name)
{
    run_results_add_runner(results, text_of(name));
    return add_iteration(results);
}

static inline void assert_logged(const struct captured_log *captured, const char *part)
{
    if (!captured_log_has(captured, part))
        fail_msg("'%s' is not in:\n%s", part, captured->text.data);
}

static inline void assert_not_logged(const struct captured_log *captured, const char *part)
{
    if (captured_log_has(captured, part))
        fail_msg("'%s' is in:\n%s", part, captured->text.data);
}

#endif
