/* Tensors laid out as pictures: every element has a cell, and no picture is too large. */
#include <stdlib.h>

#include "base/memory.h"
#include "plot/picture.h"
#include "support/tensor_fixture.h"
#include "support/unit_test.h"

static struct picture_fold fold_of(struct shape shape)
{
    struct picture_fold fold;

    picture_fold_init(&fold, &shape);
    assert_in_range(fold.columns, 1, PICTURE_MOST_CELLS);
    assert_in_range(fold.rows, 1, PICTURE_MOST_CELLS);
    return fold;
}

/* Each element has a cell, and no cell more elements than it is said to have. */
static void check_cells(struct shape shape)
{
    struct picture_fold fold = fold_of(shape);
    size_t cells = fold.columns * fold.rows, per_cell = picture_fold_elements_per_cell(&fold);
    size_t *counts = memory_alloc_zero(cells, sizeof(*counts));

    for (size_t i = 0; i < shape_elements(&shape); i++) {
        size_t cell = picture_fold_cell(&fold, i);

        assert_true(cell < cells);
        assert_true(++counts[cell] <= per_cell);
    }
    free(counts);
}

static void small_matrices_have_a_cell_for_each_element(void **state)
{
    struct picture_fold fold = fold_of(SHAPE(3, 5));

    assert_int_equal(fold.rows, 3);
    assert_int_equal(fold.columns, 5);
    for (size_t i = 0; i < 15; i++)
        assert_int_equal(picture_fold_cell(&fold, i), i);
}

static void slices_stand_side_by_side(void **state)
{
    struct picture_fold fold = fold_of(SHAPE(1, 4, 10, 10));

    assert_int_equal(fold.slices, 4);
    assert_int_equal(fold.across, 2);
    assert_int_equal(fold.columns, 20);
    assert_int_equal(picture_fold_cell(&fold, 0), 0);
    assert_int_equal(picture_fold_cell(&fold, 100), 10);      /* the second one begins to the right */
    assert_int_equal(picture_fold_cell(&fold, 200), 10 * 20); /* the third one below */
}

static void long_rows_are_broken(void **state)
{
    struct picture_fold fold = fold_of(SHAPE(1, 1000));

    assert_true(fold.broken);
    assert_int_equal(fold.columns, 32);
    assert_int_equal(picture_fold_cell(&fold, 999), 999);
    assert_false(fold_of(SHAPE(10)).broken);
}

static void pictures_of_large_tensors_are_bounded(void **state)
{
    check_cells((struct shape){0});
    check_cells(SHAPE(1, 64, 112, 112));
    check_cells(SHAPE(1000000));
    check_cells(SHAPE(2, 300000));
    check_cells(SHAPE(300000, 2));
    check_cells(SHAPE(100000, 3, 2));
    check_cells(SHAPE(5000, 1, 1));
    check_cells(SHAPE(70, 257, 31));
    fold_of(SHAPE(1 << 20, 1 << 10, 1 << 10));
    fold_of(SHAPE(1 << 10, 1 << 20, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_matrices_have_a_cell_for_each_element),
        cmocka_unit_test(slices_stand_side_by_side),
        cmocka_unit_test(long_rows_are_broken),
        cmocka_unit_test(pictures_of_large_tensors_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
