/* Columns of a detector's outputs: words, shapes, orders that values allow, and the detections that are read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/tensor_fixture.h"
#include "tensor/compare/detection_columns.h"

static struct detection_columns columns_of(const char *words)
{
    struct detection_columns ret;
    struct error error;

    if (detection_columns_parse(words, &ret, &error) < 0)
        fail_msg("%s", error.message);
    return ret;
}

static void refuse_words(const char *words, const char *part)
{
    struct detection_columns columns;
    struct error error;

    assert_int_equal(detection_columns_parse(words, &columns, &error), ERR_INVALID);
    assert_non_null(strstr(error.message, part));
}

static void words_are_columns(void **state)
{
    struct detection_columns columns = columns_of("image,cx,cy,w,h,_,_,score");
    SCOPED_STRING(text);

    assert_int_equal(columns.count, 8);
    assert_true(detection_columns_have_box(&columns));
    assert_false(detection_columns_have(&columns, DETECTION_LABEL));
    detection_columns_to_text(&columns, &text);
    assert_string_equal(text.data, "image,cx,cy,w,h,_,_,score");
    refuse_words("x1,y3", "'y3' is not a column");
    refuse_words("", "'' is not a column");
    refuse_words("score,score", "repeated");
    refuse_words("score,scores", "cannot be combined");
    refuse_words("_,_,_,_,_,_,_,_,_,_,_,_,_,_,_,_,_", "more than 16");
}

static bool have_box(const char *words)
{
    struct detection_columns columns = columns_of(words);

    return detection_columns_have_box(&columns);
}

static void a_box_is_two_ends_or_one_and_a_size(void **state)
{
    assert_true(have_box("x1,y1,x2,y2"));
    assert_true(have_box("x1,y1,w,h"));
    assert_true(have_box("y1,x1,y2,x2,score"));
    assert_false(have_box("x1,y1,cx,cy"));
    assert_false(have_box("x1,x2,w,score"));
}

static void assert_layout(struct shape shape, const char *words, size_t images, size_t rows, size_t width)
{
    struct detection_columns columns = columns_of(words);
    const float values[64] = {0};
    struct tensor tensor = tensor_of(DATA_FLOAT32, shape, values);
    struct detection_layout layout;

    assert_true(detection_layout_find(&tensor, &columns, &layout));
    assert_int_equal(layout.images, images);
    assert_int_equal(layout.rows, rows);
    assert_int_equal(layout.width, width);
}

static void shapes_are_rows_of_images(void **state)
{
    struct detection_columns columns = columns_of("x1,y1,x2,y2");
    const float values[16] = {0};
    struct tensor wrong = tensor_of(DATA_FLOAT32, SHAPE(2, 5), values);
    struct detection_layout layout;

    assert_layout(SHAPE(3, 4), "x1,y1,x2,y2", 1, 3, 4);
    assert_layout(SHAPE(2, 3, 4), "x1,y1,x2,y2", 2, 3, 4);
    assert_layout(SHAPE(1, 1, 2, 7), "image,label,score,x1,y1,x2,y2", 1, 2, 7);
    assert_layout(SHAPE(2, 3, 1, 4), "x1,y1,x2,y2", 2, 3, 4);
    assert_layout(SHAPE(3), "score", 1, 3, 1);
    assert_layout(SHAPE(2, 3), "score", 2, 3, 1);
    assert_layout(SHAPE(2, 3, 1), "score", 2, 3, 1);
    assert_layout(SHAPE(2, 3, 5), "scores", 2, 3, 5);
    assert_layout(SHAPE(2, 5, 3), "class_scores", 2, 3, 5);
    assert_layout(SHAPE(2, 1), "count", 2, 1, 1);
    assert_layout(SHAPE(6, 3), "selected", 1, 6, 3);
    assert_false(detection_layout_find(&wrong, &columns, &layout));
}

static void assert_order(const float *values, size_t width, const char *expected)
{
    struct tensor tensor = tensor_of(DATA_FLOAT32, SHAPE(2, (int64_t)width), values);
    struct detection_columns columns;
    SCOPED_STRING(text);

    assert_true(detection_columns_derive(&tensor, width, &columns));
    detection_columns_to_text(&columns, &text);
    assert_string_equal(text.data, expected);
}

static void values_tell_the_order_of_columns(void **state)
{
    assert_order((float[]){1, 2, 3, 4, 0, 0, 9, 9}, 4, "x1,y1,x2,y2");
    assert_order((float[]){1, 2, 3, 4, 50, 50, 9, 9}, 4, "cx,cy,w,h");
    assert_order((float[]){1, 2, 3, 4, 0.5F, 0, 0, 9, 9, 0.2F}, 5, "x1,y1,x2,y2,score");
    assert_order((float[]){1, 2, 3, 4, 0.5F, 7, 0, 0, 9, 9, 0.2F, 1}, 6, "x1,y1,x2,y2,score,label");
    assert_order((float[]){1, 2, 3, 4, 7, 0.5F, 0, 0, 9, 9, 1, 0.2F}, 6, "x1,y1,x2,y2,label,score");
    assert_order((float[]){50, 50, 3, 4, 0.5F, 7, 0, 0, 9, 9, 0.2F, 1}, 6, "cx,cy,w,h,score,label");
    assert_order((float[]){0, 1, 2, 3, 4, 7, 0.5F, 1, 0, 0, 9, 9, 1, 0.2F}, 7, "image,x1,y1,x2,y2,label,score");
    assert_order((float[]){0, 7, 0.5F, 1, 2, 3, 4, -1, 1, 0.2F, 0, 0, 9, 9}, 7, "image,label,score,x1,y1,x2,y2");
}

static void values_that_fit_no_order_are_not_a_table(void **state)
{
    const float negative[] = {5, 5, -1, -1};
    struct tensor tensor = tensor_of(DATA_FLOAT32, SHAPE(1, 4), negative), none;
    struct detection_columns columns;

    assert_false(detection_columns_derive(&tensor, 4, &columns));
    none = tensor_of(DATA_FLOAT32, SHAPE(0, 6), negative);
    assert_true(detection_columns_derive(&none, 6, &columns));
    assert_false(detection_columns_derive(&tensor, 8, &columns));
}

/* ---- Reading ---- */

static struct detections read_all(const struct detection_source *sources, size_t count)
{
    struct detections ret = {0};
    struct error error;

    if (detections_read(sources, count, &ret, &error) < 0)
        fail_msg("%s", error.message);
    return ret;
}

static void assert_detection(const struct detection *detection, int64_t image, double label, double score, double x1,
                             double x2)
{
    assert_int_equal(detection->image, image);
    assert_true(detection->label == label);
    assert_true(fabs(detection->score - score) < 1e-6);
    assert_true(detection->x1 == x1);
    assert_true(detection->x2 == x2);
}

static void separate_outputs_are_read_up_to_the_count(void **state)
{
    const float boxes[] = {0, 0, 8, 8, 1, 1, 9, 9, 2, 2, 10, 10, 3, 3, 11, 11}, scores[] = {0.9F, 0.8F, 0.7F, 0.6F};
    const int64_t labels[] = {5, 6, 7, 8};
    const int32_t counts[] = {1, 2};
    struct tensor tensors[] = {tensor_of(DATA_FLOAT32, SHAPE(2, 2, 4), boxes),
                               tensor_of(DATA_FLOAT32, SHAPE(2, 2), scores), tensor_of(DATA_INT64, SHAPE(2, 2), labels),
                               tensor_of(DATA_INT32, SHAPE(2, 1), counts)};
    const struct detection_source sources[] = {{&tensors[0], columns_of("x1,y1,x2,y2")},
                                               {&tensors[1], columns_of("score")},
                                               {&tensors[2], columns_of("label")},
                                               {&tensors[3], columns_of("count")}};
    struct detections read = read_all(sources, 4);

    assert_int_equal(read.count, 3);
    assert_detection(&read.items[0], 0, 5, 0.9, 0, 8);
    assert_detection(&read.items[1], 1, 7, 0.7, 2, 10);
    assert_detection(&read.items[2], 1, 8, 0.6, 3, 11);
    assert_int_equal(read.items[2].row, 3);
    free(read.items);
}

static void centers_and_sizes_are_boxes_too(void **state)
{
    const float centers[] = {5, 5, 4, 4}, corners[] = {3, 3, 4, 4};
    struct tensor center = tensor_of(DATA_FLOAT32, SHAPE(1, 4), centers);
    struct tensor corner = tensor_of(DATA_FLOAT32, SHAPE(1, 4), corners);
    struct detections read = read_all(&(struct detection_source){&center, columns_of("cx,cy,w,h")}, 1);

    assert_detection(&read.items[0], 0, 0, 0, 3, 7);
    free(read.items);
    read = read_all(&(struct detection_source){&corner, columns_of("x1,y1,w,h")}, 1);
    assert_detection(&read.items[0], 0, 0, 0, 3, 7);
    free(read.items);
}

static void padding_is_no_detection(void **state)
{
    const float rows[] = {0,  1, 0.5F, 0, 0, 9, 9, /* image, label, score, box */
                          -1, 1, 0.5F, 0, 0, 9, 9, 0, -1, 0.5F, 0, 0, 9, 9, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 9};
    struct tensor tensor = tensor_of(DATA_FLOAT32, SHAPE(1, 1, 5, 7), rows);
    struct detections read =
        read_all(&(struct detection_source){&tensor, columns_of("image,label,score,x1,y1,x2,y2")}, 1);

    assert_int_equal(read.count, 2); /* the last one has an area */
    assert_int_equal(read.items[1].row, 4);
    free(read.items);
}

static void the_greatest_of_class_scores_is_label_and_score(void **state)
{
    const float boxes[] = {0, 0, 8, 8, 1, 1, 9, 9}, by_row[] = {0.1F, 0.9F, 0.3F, 0.4F, 0.2F, NAN};
    const float by_class[] = {0.1F, 0.4F, 0.9F, 0.2F, 0.3F, NAN};
    struct tensor box = tensor_of(DATA_FLOAT32, SHAPE(2, 4), boxes);
    struct tensor scores = tensor_of(DATA_FLOAT32, SHAPE(2, 3), by_row);
    struct tensor exchanged = tensor_of(DATA_FLOAT32, SHAPE(3, 2), by_class);
    const char *const words[] = {"scores", "class_scores"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const struct detection_source sources[] = {{&box, columns_of("x1,y1,x2,y2")},
                                                   {i == 0 ? &scores : &exchanged, columns_of(words[i])}};
        struct detections read = read_all(sources, 2);

        assert_int_equal(read.count, 2);
        assert_detection(&read.items[0], 0, 1, 0.9, 0, 8);
        assert_true(isnan(read.items[1].score));
        free(read.items);
    }
}

static void selected_rows_are_read_with_their_scores(void **state)
{
    const float boxes[] = {8, 8, 0, 0, 1, 1, 9, 9}, scores[] = {0.1F, 0.2F, 0.3F, 0.4F};
    const int64_t selected[] = {0, 1, 0, 0, 0, 1, 0, 0, 2, 3, 0, 0, 0, 9, 0, -1, 0, 0};
    struct tensor tensors[] = {tensor_of(DATA_FLOAT32, SHAPE(1, 2, 4), boxes),
                               tensor_of(DATA_FLOAT32, SHAPE(1, 2, 2), scores),
                               tensor_of(DATA_INT64, SHAPE(6, 3), selected)};
    const struct detection_source sources[] = {{&tensors[0], columns_of("x1,y1,x2,y2")},
                                               {&tensors[1], columns_of("class_scores")},
                                               {&tensors[2], columns_of("selected")}};
    struct detections read = read_all(sources, 3);

    assert_int_equal(read.count, 6);
    assert_detection(&read.items[0], 0, 1, 0.3, 0, 8); /* any opposite corners */
    assert_detection(&read.items[1], 0, 0, 0.2, 1, 9);
    for (size_t i = 2; i < read.count; i++) /* row, image, label, image out of range */
        assert_true(isnan(read.items[i].score));
    free(read.items);
}

static void rows_that_differ_are_refused(void **state)
{
    const float boxes[] = {0, 0, 8, 8, 1, 1, 9, 9}, scores[] = {0.9F, 0.8F, 0.7F};
    struct tensor box = tensor_of(DATA_FLOAT32, SHAPE(2, 4), boxes), score = VECTOR_OF(DATA_FLOAT32, scores);
    const struct detection_source sources[] = {{&box, columns_of("x1,y1,x2,y2")}, {&score, columns_of("score")}};
    struct detections read = {0};
    struct error error;

    assert_int_equal(detections_read(sources, 2, &read, &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "2 boxes in 1 image(s), but 3 row(s)"));
    free(read.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_columns),
        cmocka_unit_test(a_box_is_two_ends_or_one_and_a_size),
        cmocka_unit_test(shapes_are_rows_of_images),
        cmocka_unit_test(values_tell_the_order_of_columns),
        cmocka_unit_test(values_that_fit_no_order_are_not_a_table),
        cmocka_unit_test(separate_outputs_are_read_up_to_the_count),
        cmocka_unit_test(centers_and_sizes_are_boxes_too),
        cmocka_unit_test(padding_is_no_detection),
        cmocka_unit_test(the_greatest_of_class_scores_is_label_and_score),
        cmocka_unit_test(selected_rows_are_read_with_their_scores),
        cmocka_unit_test(rows_that_differ_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
