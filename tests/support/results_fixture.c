/* support/results_fixture.c: see results_fixture.h. */
#include "support/results_fixture.h"

#include "base/memory.h"

struct backend_io input_of(const char *name, enum data_type type, struct shape shape)
{
    return (struct backend_io){.name = (char *)name, .type = type, .has_shape = true, .shape = shape};
}

void add_tensor(struct tensor_list *list, const char *name, enum data_type type, struct shape shape, const void *data)
{
    struct tensor borrowed = tensor_of(type, shape, data), copy;

    assert_int_equal(tensor_copy(&borrowed, &copy, NULL), 0);
    tensor_list_add(list, text_of(name), &copy);
}

struct tensor_list *add_iteration(struct run_results *results)
{
    return &runner_results_add_iteration(&results->items[results->count - 1], 0.5)->outputs;
}

struct tensor_list *add_runner(struct run_results *results, const char *name)
{
    run_results_add_runner(results, text_of(name));
    return add_iteration(results);
}

void assert_logged(const struct captured_log *captured, const char *part)
{
    if (!captured_log_has(captured, part))
        fail_msg("'%s' is not in:\n%s", part, captured->text.data);
}

void assert_not_logged(const struct captured_log *captured, const char *part)
{
    if (captured_log_has(captured, part))
        fail_msg("'%s' is in:\n%s", part, captured->text.data);
}
