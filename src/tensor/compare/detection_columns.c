/* tensor/compare/detection_columns.c: see detection_columns.h. */
#include "tensor/compare/detection_columns.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "tensor/values/elements.h"

static const char *const names[DETECTION_COLUMNS] = {
    [DETECTION_UNUSED] = "_",
    [DETECTION_X1] = "x1",
    [DETECTION_Y1] = "y1",
    [DETECTION_X2] = "x2",
    [DETECTION_Y2] = "y2",
    [DETECTION_CENTER_X] = "cx",
    [DETECTION_CENTER_Y] = "cy",
    [DETECTION_WIDTH] = "w",
    [DETECTION_HEIGHT] = "h",
    [DETECTION_SCORE] = "score",
    [DETECTION_LABEL] = "label",
    [DETECTION_IMAGE] = "image",
    [DETECTION_CLASS_SCORES] = "scores",
    [DETECTION_COUNT] = "count",
};

/* Orders of columns that exporters write, the most frequent first. */
static const char *const known_orders[] = {
    "x1,y1,x2,y2",
    "cx,cy,w,h",
    "x1,y1,x2,y2,score",
    "cx,cy,w,h,score",
    "x1,y1,x2,y2,score,label",
    "x1,y1,x2,y2,label,score",
    "label,score,x1,y1,x2,y2",
    "cx,cy,w,h,score,label",
    "cx,cy,w,h,label,score",
    "image,x1,y1,x2,y2,label,score",
    "image,x1,y1,x2,y2,score,label",
    "image,label,score,x1,y1,x2,y2",
    "image,cx,cy,w,h,label,score",
    "image,cx,cy,w,h,score,label",
};

/* ---- Names ---- */

bool detection_columns_have(const struct detection_columns *columns, enum detection_column column)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->items[i] == column)
            return true;
    return false;
}

static int add_column(struct text word, struct detection_columns *ret, struct error *err)
{
    size_t column = 0;

    while (column < DETECTION_COLUMNS && !text_equal_string(word, names[column]))
        column++;
    if (column == DETECTION_COLUMNS)
        return error_set(err, ERR_INVALID,
                         "'" TEXT_FORMAT "' is not a column; there are x1, y1, x2, y2, cx, cy, w, h, score, label, "
                         "image, scores, count and _",
                         TEXT_ARGS(word));
    if (column != DETECTION_UNUSED && detection_columns_have(ret, (enum detection_column)column))
        return error_set(err, ERR_INVALID, "the column '%s' is repeated", names[column]);
    if (ret->count == DETECTION_MOST_COLUMNS)
        return error_set(err, ERR_INVALID, "there are more than %d columns", DETECTION_MOST_COLUMNS);
    ret->items[ret->count++] = (enum detection_column)column;
    return 0;
}

int detection_columns_parse(const char *words, struct detection_columns *ret, struct error *err)
{
    static const enum detection_column alone[] = {DETECTION_CLASS_SCORES, DETECTION_COUNT};
    int rc = 0;

    *ret = (struct detection_columns){0};
    for (const char *start = words, *end; rc == 0 && start != NULL; start = *end == ',' ? end + 1 : NULL) {
        end = start + strcspn(start, ",");
        rc = add_column((struct text){start, (size_t)(end - start)}, ret, err);
    }
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(alone); i++)
        if (ret->count > 1 && detection_columns_have(ret, alone[i]))
            rc = error_set(err, ERR_INVALID, "'%s' cannot be combined with other columns", names[alone[i]]);
    return rc;
}

void detection_columns_to_text(const struct detection_columns *columns, struct string_builder *ret)
{
    for (size_t i = 0; i < columns->count; i++)
        string_add_format(ret, "%s%s", i > 0 ? "," : "", names[columns->items[i]]);
}

/* Whether a range along an axis is known: two ends, or one and the size. */
static bool have_range(const struct detection_columns *columns, enum detection_column low, enum detection_column high,
                       enum detection_column center, enum detection_column size)
{
    return detection_columns_have(columns, low)
               ? detection_columns_have(columns, high) || detection_columns_have(columns, size)
               : detection_columns_have(columns, center) && detection_columns_have(columns, size);
}

bool detection_columns_have_box(const struct detection_columns *columns)
{
    return have_range(columns, DETECTION_X1, DETECTION_X2, DETECTION_CENTER_X, DETECTION_WIDTH) &&
           have_range(columns, DETECTION_Y1, DETECTION_Y2, DETECTION_CENTER_Y, DETECTION_HEIGHT);
}

/* ---- Shapes ---- */

/* The shape without axes of length 1 between the first and the last `inner` ones. */
static void drop_middle_axes(const struct shape *shape, size_t inner, struct shape *ret)
{
    size_t excess = shape->rank > inner + 1 ? shape->rank - inner - 1 : 0;

    *ret = (struct shape){0};
    for (size_t i = 0; i < shape->rank; i++) {
        bool is_middle = i > 0 && i + inner < shape->rank;

        if (is_middle && excess > 0 && shape->dims[i] == 1)
            excess--;
        else
            ret->dims[ret->rank++] = shape->dims[i];
    }
}

bool detection_layout_find(const struct tensor *tensor, const struct detection_columns *columns,
                           struct detection_layout *ret)
{
    bool is_column = columns->count == 1 && columns->items[0] != DETECTION_CLASS_SCORES;
    struct shape full = tensor->shape, shape;

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE || full.rank >= TENSOR_MAX_RANK)
        return false;
    if (columns->items[0] == DETECTION_COUNT) {
        *ret = (struct detection_layout){.images = tensor_elements(tensor), .rows = 1, .width = 1};
        return true;
    }
    if (is_column && (full.rank < 2 || full.dims[full.rank - 1] != 1))
        full.dims[full.rank++] = 1;
    drop_middle_axes(&full, 2, &shape);
    if (shape.rank < 2 || shape.rank > 3)
        return false;
    ret->width = (size_t)shape.dims[shape.rank - 1];
    ret->rows = (size_t)shape.dims[shape.rank - 2];
    ret->images = shape.rank == 3 ? (size_t)shape.dims[0] : 1;
    return columns->items[0] == DETECTION_CLASS_SCORES ? ret->width > 0 : ret->width == columns->count;
}

/* ---- Orders from values ---- */

/* Values of a row by column. */
struct detection_row {
    double values[DETECTION_COLUMNS];
};

static void read_row(const struct tensor *tensor, const struct detection_columns *columns, size_t row,
                     struct detection_row *ret)
{
    double numbers[DETECTION_MOST_COLUMNS];

    elements_to_float64(tensor, row * columns->count, columns->count, numbers);
    for (size_t i = 0; i < columns->count; i++)
        ret->values[columns->items[i]] = numbers[i];
}

/* Whether a column may be a label or an image. */
static bool is_index(double value)
{
    return isnan(value) || (value >= -1 && value == floor(value));
}

static bool row_allows(const struct detection_row *row, const struct detection_columns *columns)
{
    const double *values = row->values;
    bool is_corners = detection_columns_have(columns, DETECTION_X2);

    if (is_corners && (values[DETECTION_X2] < values[DETECTION_X1] || values[DETECTION_Y2] < values[DETECTION_Y1]))
        return false;
    if (!is_corners && (values[DETECTION_WIDTH] < 0 || values[DETECTION_HEIGHT] < 0))
        return false;
    return !(values[DETECTION_SCORE] < 0) && !(values[DETECTION_SCORE] > 1) && is_index(values[DETECTION_LABEL]) &&
           is_index(values[DETECTION_IMAGE]);
}

static bool values_allow(const struct tensor *tensor, const struct detection_columns *columns)
{
    size_t rows = tensor_elements(tensor) / columns->count;
    bool ret = true;

    for (size_t row = 0; ret && row < rows; row++) {
        struct detection_row values = {{0}};

        read_row(tensor, columns, row, &values);
        ret = row_allows(&values, columns);
    }
    return ret;
}

bool detection_columns_derive(const struct tensor *tensor, size_t width, struct detection_columns *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(known_orders); i++) {
        struct error ignored;

        if (detection_columns_parse(known_orders[i], ret, &ignored) == 0 && ret->count == width &&
            values_allow(tensor, ret))
            return true;
    }
    return false;
}

/* ---- Reading ---- */

/* Positions in a batch are at most this. */
#define MOST_IMAGES 1e15

/* The value of the greatest element, and its position; NaN if one is NaN. */
static double find_greatest(const struct tensor *tensor, size_t first, size_t count, size_t *ret_position)
{
    double run[ELEMENTS_RUN], ret = -INFINITY;

    *ret_position = 0;
    for (size_t i = 0; i < count; i += ELEMENTS_RUN) {
        size_t in_run = elements_in_run(count, i);

        elements_to_float64(tensor, first + i, in_run, run);
        for (size_t k = 0; k < in_run; k++) {
            if (isnan(run[k]))
                return NAN;
            if (run[k] > ret) {
                ret = run[k];
                *ret_position = i + k;
            }
        }
    }
    return ret;
}

/* Sources with their dimensions. Members refer to the caller's. */
struct detection_reader {
    const struct detection_source *sources;
    size_t count;
    struct detection_layout layouts[DETECTION_COLUMNS];
    struct detection_layout rows; /* of the source with boxes */
    const struct tensor *counts;  /* valid rows of each image; NULL: all are */
    bool has_scores, has_images;
};

static void read_source(const struct detection_reader *reader, size_t source, size_t row, struct detection_row *ret)
{
    const struct detection_columns *columns = &reader->sources[source].columns;
    const struct tensor *tensor = reader->sources[source].tensor;
    size_t width = reader->layouts[source].width, label;

    if (columns->items[0] == DETECTION_CLASS_SCORES) {
        ret->values[DETECTION_SCORE] = find_greatest(tensor, row * width, width, &label);
        ret->values[DETECTION_LABEL] = (double)label;
    } else if (columns->items[0] != DETECTION_COUNT) {
        read_row(tensor, columns, row, ret);
    }
}

/* The ends of a range of which two ends, one end and the size, or the center and the size are known; others are NaN. */
static void find_ends(const struct detection_row *row, enum detection_column low, enum detection_column high,
                      enum detection_column center, enum detection_column size, double *ret_low, double *ret_high)
{
    const double *values = row->values;

    *ret_low = isnan(values[low]) ? values[center] - values[size] / 2 : values[low];
    *ret_high = isnan(values[high]) ? *ret_low + values[size] : values[high];
}

/* False: the row is padding. */
static bool make_detection(const struct detection_reader *reader, size_t row, struct detection *ret)
{
    struct detection_row read;
    const double *values = read.values;

    for (size_t i = 0; i < DETECTION_COLUMNS; i++)
        read.values[i] = NAN;
    read.values[DETECTION_LABEL] = read.values[DETECTION_SCORE] = 0;
    for (size_t i = 0; i < reader->count; i++)
        read_source(reader, i, row, &read);
    *ret = (struct detection){.row = row,
                              .score = values[DETECTION_SCORE],
                              .label = values[DETECTION_LABEL],
                              .image = (int64_t)(row / reader->rows.rows)};
    find_ends(&read, DETECTION_X1, DETECTION_X2, DETECTION_CENTER_X, DETECTION_WIDTH, &ret->x1, &ret->x2);
    find_ends(&read, DETECTION_Y1, DETECTION_Y2, DETECTION_CENTER_Y, DETECTION_HEIGHT, &ret->y1, &ret->y2);
    if (reader->has_images && fabs(values[DETECTION_IMAGE]) <= MOST_IMAGES)
        ret->image = (int64_t)values[DETECTION_IMAGE];
    else if (reader->has_images)
        ret->score = NAN; /* of no image: matches nothing */
    return !(ret->label < 0) && ret->image >= 0 &&
           !(reader->has_scores && ret->score == 0 && (ret->x2 <= ret->x1 || ret->y2 <= ret->y1));
}

/* Whether a row of an image is within the image's count. */
static bool is_counted(const struct detection_reader *reader, size_t row)
{
    double count;

    if (reader->counts == NULL)
        return true;
    elements_to_float64(reader->counts, row / reader->rows.rows, 1, &count);
    return (double)(row % reader->rows.rows) < count;
}

static int open_reader(const struct detection_source *sources, size_t count, struct detection_reader *ret,
                       struct error *err)
{
    *ret = (struct detection_reader){.sources = sources, .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct detection_columns *columns = &sources[i].columns;

        if (i >= DETECTION_COLUMNS || !detection_layout_find(sources[i].tensor, columns, &ret->layouts[i]))
            return error_set(err, ERR_INVALID, "an output does not have the shape of its columns");
        if (detection_columns_have_box(columns))
            ret->rows = ret->layouts[i];
        if (columns->items[0] == DETECTION_COUNT)
            ret->counts = sources[i].tensor;
        ret->has_scores |=
            detection_columns_have(columns, DETECTION_SCORE) || detection_columns_have(columns, DETECTION_CLASS_SCORES);
        ret->has_images |= detection_columns_have(columns, DETECTION_IMAGE);
    }
    return 0;
}

int detections_read(const struct detection_source *sources, size_t count, struct detections *ret, struct error *err)
{
    struct detection_reader reader;
    size_t rows;
    int rc = open_reader(sources, count, &reader, err);

    if (rc < 0)
        return rc;
    rows = reader.rows.images * reader.rows.rows;
    for (size_t i = 0; i < count; i++) {
        const struct detection_layout *layout = &reader.layouts[i];
        bool is_count = sources[i].tensor == reader.counts;

        if (is_count ? layout->images != reader.rows.images : layout->images * layout->rows != rows)
            return error_set(err, ERR_INVALID,
                             "there are %zu boxes in %zu image(s), but %zu value(s) of another output", rows,
                             reader.rows.images, layout->images * layout->rows);
    }
    if (rows > DETECTIONS_MOST_ROWS)
        return error_set(err, ERR_UNSUPPORTED,
                         "%zu boxes are more than %zu: compare the outputs behind the "
                         "suppression of overlapping boxes",
                         rows, DETECTIONS_MOST_ROWS);
    for (size_t row = 0; row < rows; row++) {
        struct detection detection;

        if (is_counted(&reader, row) && make_detection(&reader, row, &detection))
            *VECTOR_APPEND(ret) = detection;
    }
    return 0;
}
