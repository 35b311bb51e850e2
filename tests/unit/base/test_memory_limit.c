/* What data may take whose size a model dictates. */
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory_limit.h"
#include "base/process/process.h"
#include "support/in_child.h"
#include "support/unit_test.h"
#include "tensor/values/tensor.h"

static void the_limit_that_was_set_counts_alone(void **state)
{
    memory_limit_set(1000);
    assert_true(memory_limit_is_set());
    assert_int_equal(memory_limit(), 1000);
    assert_true(memory_limit_allows(1000));
    assert_false(memory_limit_allows(1001));
    memory_limit_set(SIZE_MAX / 2);
    assert_true(memory_limit_allows(SIZE_MAX / 4)); /* whoever sets it may ask for what is not there */
    memory_limit_set(0);
}

static void without_one_it_is_what_the_system_has(void **state)
{
    assert_false(memory_limit_is_set());
    assert_true(memory_limit() > 0);
    assert_true(memory_limit_allows(1));
    if (memory_limit() < SIZE_MAX)
        assert_false(memory_limit_allows(SIZE_MAX / 4));
}

static void a_refusal_says_what_is_asked_for_and_what_would_be_allowed(void **state)
{
    struct error err;

    memory_limit_set((size_t)1 << 30);
    assert_int_equal(memory_limit_check((size_t)8 << 30, "output 'big'", &err), ERR_MEMORY);
    assert_string_equal(err.message,
                        "output 'big' would take 8.0 GiB, but --max-memory allows 1.0 GiB; --max-memory 9G "
                        "would let it");
    assert_int_equal(memory_limit_check((size_t)1 << 30, "output 'big'", &err), 0);
    memory_limit_set(0);
}

static void a_tensor_beyond_it_is_refused_with_its_type_and_shape(void **state)
{
    const struct shape shape = {.rank = 3, .dims = {1024, 1024, 2048}};
    struct tensor tensor;
    struct error err;

    memory_limit_set((size_t)1 << 30);
    assert_int_equal(tensor_allocate(DATA_FLOAT32, &shape, &tensor, &err), ERR_MEMORY);
    assert_non_null(strstr(err.message, "a float32 tensor of shape (1024, 1024, 2048) would take 8.0 GiB, but"));
    memory_limit_set(0);
}

static void small_sizes_are_told_in_their_own_units(void **state)
{
    struct error err;

    memory_limit_set(3);
    memory_limit_refuse((size_t)3 << 19, "it", &err);
    assert_string_equal(err.message,
                        "it would take 1.5 MiB, but --max-memory allows 3 bytes; --max-memory 2M would let it");
    memory_limit_set(0);
}

#ifdef __linux__
static rlim_t own_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_DATA, &limit) == 0 ? limit.rlim_cur : 0;
}

/* Once enforced it stays: hence in a child. */
static int enforce_and_run(void)
{
    const char *const arguments[] = {"sh", "-c", "ulimit -S -d", NULL};
    struct process_result before, after;

    CHECK_OR_FAIL(process_run(&(struct process_request){.arguments = arguments}, &before, NULL) == 0);
    rlim_t unbounded = own_limit();
    memory_limit_set((size_t)1 << 30);
    memory_limit_enforce();
    CHECK_OR_FAIL(own_limit() < unbounded && own_limit() >= (rlim_t)1 << 30);
    CHECK_OR_FAIL(process_run(&(struct process_request){.arguments = arguments}, &after, NULL) == 0);
    CHECK_OR_FAIL(before.out.size == after.out.size && memcmp(before.out.data, after.out.data, after.out.size) == 0);
    process_result_release(&before);
    process_result_release(&after);
    return 0;
}

static void what_the_system_refuses_to_this_process_it_allows_to_its_children(void **state)
{
    assert_int_equal(in_child(enforce_and_run), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_that_was_set_counts_alone),
        cmocka_unit_test(without_one_it_is_what_the_system_has),
        cmocka_unit_test(a_refusal_says_what_is_asked_for_and_what_would_be_allowed),
        cmocka_unit_test(a_tensor_beyond_it_is_refused_with_its_type_and_shape),
        cmocka_unit_test(small_sizes_are_told_in_their_own_units),
#ifdef __linux__
        cmocka_unit_test(what_the_system_refuses_to_this_process_it_allows_to_its_children),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
