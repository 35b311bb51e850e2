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
    [DETECTION_SCORES_BY_CLASS] = "class_scores",
    [DETECTION_SELECTED] = "selected",
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

static bool is_whole(enum detection_column column)
{
    return column == DETECTION_CLASS_SCORES || column == DETECTION_SCORES_BY_CLASS || column == DETECTION_COUNT ||
           column == DETECTION_SELECTED;
}

static int add_column(struct text word, struct detection_columns *ret, struct error *err)
{
    size_t column = 0;

    while (column < DETECTION_COLUMNS && !text_equal_string(word, names[column]))
        column++;
    if (column == DETECTION_COLUMNS)
        return error_set(err, ERR_INVALID,
                         "'" TEXT_FORMAT "' is not a column; there are x1, y1, x2, y2, cx, cy, w, h, score, label, "
                         "image, scores, class_scores, count, selected and _",
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
    int rc = 0;

    *ret = (struct detection_columns){0};
    for (const char *start = words, *end; rc == 0 && start != NULL; start = *end == ',' ? end + 1 : NULL) {
        end = start + strcspn(start, ",");
        rc = add_column((struct text){start, (size_t)(end - start)}, ret, err);
    }
    for (size_t i = 0; rc == 0 && i < ret->count; i++)
        if (ret->count > 1 && is_whole(ret->items[i]))
            rc = error_set(err, ERR_INVALID, "'%s' cannot be combined with other columns", names[ret->items[i]]);
    return rc;
}

void detection_columns_to_text(const struct detection_columns *columns, struct string_builder *ret)
{
    for (size_t i = 0; i < columns->count; i++)
        string_add_format(ret, "%s%s", i > 0 ? "," : "", names[columns->items[i]]);
}

/* The columns of a box along an axis. */
static const struct box_axis {
    enum detection_column low, high, center, size;
} horizontal = {DETECTION_X1, DETECTION_X2, DETECTION_CENTER_X, DETECTION_WIDTH},
  vertical = {DETECTION_Y1, DETECTION_Y2, DETECTION_CENTER_Y, DETECTION_HEIGHT};

/* Whether a box is known along an axis: two ends, or one and the size, or the center and the size. */
static bool have_axis(const struct detection_columns *columns, const struct box_axis *axis)
{
    bool has_size = detection_columns_have(columns, axis->size);

    return detection_columns_have(columns, axis->low) ? has_size || detection_columns_have(columns, axis->high)
                                                      : has_size && detection_columns_have(columns, axis->center);
}

bool detection_columns_have_box(const struct detection_columns *columns)
{
    return have_axis(columns, &horizontal) && have_axis(columns, &vertical);
}

enum detection_column detection_columns_whole(const struct detection_columns *columns)
{
    return columns->count == 1 && is_whole(columns->items[0]) ? columns->items[0] : DETECTION_UNUSED;
}

/* ---- Shapes ---- */

/* The shape without axes of length 1 between the first and the last one, as far as it has more than three axes. */
static void drop_middle_axes(const struct shape *shape, struct shape *ret)
{
    size_t excess = shape->rank > 3 ? shape->rank - 3 : 0;

    *ret = (struct shape){0};
    for (size_t i = 0; i < shape->rank; i++) {
        if (i > 0 && i + 1 < shape->rank && excess > 0 && shape->dims[i] == 1)
            excess--;
        else
            ret->dims[ret->rank++] = shape->dims[i];
    }
}

/* The dimensions of an output with rows along the axis in front of the last one. */
static bool find_rows(const struct shape *full, struct detection_layout *ret)
{
    struct shape shape;

    drop_middle_axes(full, &shape);
    if (shape.rank < 2 || shape.rank > 3)
        return false;
    ret->width = (size_t)shape.dims[shape.rank - 1];
    ret->rows = (size_t)shape.dims[shape.rank - 2];
    ret->images = shape.rank == 3 ? (size_t)shape.dims[0] : 1;
    return true;
}

bool detection_layout_find(const struct tensor *tensor, const struct detection_columns *columns,
                           struct detection_layout *ret)
{
    struct shape full = tensor->shape;
    size_t width;

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE || full.rank >= TENSOR_MAX_RANK)
        return false;
    switch (detection_columns_whole(columns)) {
    case DETECTION_COUNT:
        *ret = (struct detection_layout){.images = tensor_elements(tensor), .rows = 1, .width = 1};
        return true;
    case DETECTION_SELECTED:
        return full.rank == 2 && find_rows(&full, ret) && ret->width == 3;
    case DETECTION_CLASS_SCORES:
        return find_rows(&full, ret) && ret->width > 0;
    case DETECTION_SCORES_BY_CLASS:
        if (!find_rows(&full, ret) || ret->rows == 0)
            return false;
        width = ret->rows;
        ret->rows = ret->width;
        ret->width = width;
        return true;
    default:
        if (columns->count == 1 && (full.rank < 2 || full.dims[full.rank - 1] != 1))
            full.dims[full.rank++] = 1;
        return find_rows(&full, ret) && ret->width == columns->count;
    }
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

/* Sources with their dimensions. Members refer to the caller's. */
struct detection_reader {
    const struct detection_source *sources;
    size_t count;
    struct detection_layout layouts[DETECTION_COLUMNS];
    struct detection_layout rows;  /* of the source with boxes */
    const struct tensor *counts;   /* valid rows of each image; NULL: all are */
    const struct tensor *selected; /* DETECTION_SELECTED; NULL: all rows are */
    bool has_scores, has_images;
};

static double read_element(const struct tensor *tensor, size_t element)
{
    double ret;

    elements_to_float64(tensor, element, 1, &ret);
    return ret;
}

/* The score of a row, counted through all images, for a label less than the width of the source. */
static double read_class_score(const struct detection_reader *reader, size_t source, size_t row, size_t label)
{
    const struct detection_layout *layout = &reader->layouts[source];
    size_t image = row / layout->rows, element = row * layout->width + label;

    if (detection_columns_whole(&reader->sources[source].columns) == DETECTION_SCORES_BY_CLASS)
        element = (image * layout->width + label) * layout->rows + row % layout->rows;
    return read_element(reader->sources[source].tensor, element);
}

/* The greatest score of a row and its label; NaN if one is NaN. */
static void read_best_class(const struct detection_reader *reader, size_t source, size_t row, struct detection_row *ret)
{
    double greatest = -INFINITY;

    for (size_t label = 0; label < reader->layouts[source].width && !isnan(greatest); label++) {
        double score = read_class_score(reader, source, row, label);

        if (!(score <= greatest)) {
            greatest = score;
            ret->values[DETECTION_LABEL] = (double)label;
        }
    }
    ret->values[DETECTION_SCORE] = greatest;
}

static void read_source(const struct detection_reader *reader, size_t source, size_t row, struct detection_row *ret)
{
    const struct detection_columns *columns = &reader->sources[source].columns;

    switch (detection_columns_whole(columns)) {
    case DETECTION_CLASS_SCORES:
    case DETECTION_SCORES_BY_CLASS:
        read_best_class(reader, source, row, ret);
        break;
    case DETECTION_UNUSED:
        read_row(reader->sources[source].tensor, columns, row, ret);
        break;
    default: /* read once for an image, or for a detection */
        break;
    }
}

/* The ends of a box along an axis of which two ends, one end and the size, or the center and the size are known; what
 * is not known is NaN. */
static void find_ends(const struct detection_row *row, const struct box_axis *axis, double *ret_low, double *ret_high)
{
    const double *values = row->values;
    double low = values[axis->low], high = values[axis->high];

    *ret_low = isnan(low) ? values[axis->center] - values[axis->size] / 2 : low;
    *ret_high = isnan(high) ? *ret_low + values[axis->size] : high;
}

static void make_detection(const struct detection_reader *reader, size_t row, struct detection *ret)
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
    find_ends(&read, &horizontal, &ret->x1, &ret->x2);
    find_ends(&read, &vertical, &ret->y1, &ret->y2);
    if (reader->has_images && fabs(values[DETECTION_IMAGE]) <= MOST_IMAGES)
        ret->image = (int64_t)values[DETECTION_IMAGE];
    else if (reader->has_images)
        ret->score = NAN; /* of no image: matches nothing */
}

static bool is_padding(const struct detection_reader *reader, const struct detection *detection)
{
    bool is_empty = detection->x2 <= detection->x1 || detection->y2 <= detection->y1;

    return detection->label < 0 || detection->image < 0 || (reader->has_scores && detection->score == 0 && is_empty);
}

/* Whether a row of an image is within the image's count. */
static bool is_counted(const struct detection_reader *reader, size_t row)
{
    return reader->counts == NULL ||
           (double)(row % reader->rows.rows) < read_element(reader->counts, row / reader->rows.rows);
}

static void read_rows(const struct detection_reader *reader, struct detections *ret)
{
    for (size_t row = 0; row < reader->rows.images * reader->rows.rows; row++) {
        struct detection detection;

        if (!is_counted(reader, row))
            continue;
        make_detection(reader, row, &detection);
        if (!is_padding(reader, &detection))
            *VECTOR_APPEND(ret) = detection;
    }
}

/* ---- Selected rows ---- */

static void order_ends(double *low, double *high)
{
    double other = *low;

    if (*low > *high) {
        *low = *high;
        *high = other;
    }
}

/* The score of a row for a label of the selection; 0 without scores, NaN out of range. */
static double read_selected_score(const struct detection_reader *reader, size_t row, double label, double fallback)
{
    for (size_t i = 0; i < reader->count; i++) {
        enum detection_column whole = detection_columns_whole(&reader->sources[i].columns);

        if (whole == DETECTION_CLASS_SCORES || whole == DETECTION_SCORES_BY_CLASS)
            return label < (double)reader->layouts[i].width ? read_class_score(reader, i, row, (size_t)label) : NAN;
    }
    return fallback;
}

/* A detection from the indices of its image, label and row. */
static void make_selected(const struct detection_reader *reader, const double indices[3], struct detection *ret)
{
    const struct detection_layout *rows = &reader->rows;
    size_t row;

    *ret = (struct detection){NAN, NAN, NAN, NAN, NAN, indices[1], 0, 0};
    if (indices[0] < 0 || indices[0] >= (double)rows->images || indices[1] < 0 || indices[2] < 0 ||
        indices[2] >= (double)rows->rows)
        return;
    row = (size_t)indices[0] * rows->rows + (size_t)indices[2];
    make_detection(reader, row, ret);
    ret->image = (int64_t)indices[0];
    ret->label = indices[1];
    ret->score = read_selected_score(reader, row, indices[1], ret->score);
    order_ends(&ret->x1, &ret->x2);
    order_ends(&ret->y1, &ret->y2);
}

static void read_selected(const struct detection_reader *reader, struct detections *ret)
{
    size_t count = tensor_elements(reader->selected) / 3;

    for (size_t i = 0; i < count; i++) {
        struct detection *detection = VECTOR_APPEND(ret);
        double indices[3];

        elements_to_float64(reader->selected, i * 3, 3, indices);
        make_selected(reader, indices, detection);
        detection->row = i;
    }
}

/* ---- All sources ---- */

static int open_source(struct detection_reader *reader, size_t source, struct error *err)
{
    const struct tensor *tensor = reader->sources[source].tensor;
    const struct detection_columns *columns = &reader->sources[source].columns;
    enum detection_column whole = detection_columns_whole(columns);

    if (source >= DETECTION_COLUMNS || !detection_layout_find(tensor, columns, &reader->layouts[source]))
        return error_set(err, ERR_INVALID, "an output does not have the shape of its columns");
    if (detection_columns_have_box(columns))
        reader->rows = reader->layouts[source];
    if (whole == DETECTION_COUNT)
        reader->counts = tensor;
    if (whole == DETECTION_SELECTED)
        reader->selected = tensor;
    reader->has_scores |= detection_columns_have(columns, DETECTION_SCORE) || whole == DETECTION_CLASS_SCORES ||
                          whole == DETECTION_SCORES_BY_CLASS;
    reader->has_images |= detection_columns_have(columns, DETECTION_IMAGE);
    return 0;
}

/* Checks that all sources have as many rows, or images, as there are boxes, and that those are not too many. */
static int check_rows(const struct detection_reader *reader, struct error *err)
{
    size_t images = reader->rows.images, rows = images * reader->rows.rows;
    size_t read = reader->selected != NULL ? tensor_elements(reader->selected) / 3 : rows;

    for (size_t i = 0; i < reader->count; i++) {
        const struct detection_layout *layout = &reader->layouts[i];
        const struct tensor *tensor = reader->sources[i].tensor;
        bool fits = tensor == reader->counts ? layout->images == images : layout->images * layout->rows == rows;

        if (!fits && tensor != reader->selected)
            return error_set(err, ERR_INVALID, "there are %zu boxes in %zu image(s), but %zu row(s) of another output",
                             rows, images, layout->images * layout->rows);
    }
    return read <= DETECTIONS_MOST_ROWS
               ? 0
               : error_set(err, ERR_UNSUPPORTED,
                           "%zu detections are more than %zu; compare outputs behind non-maximum suppression", read,
                           DETECTIONS_MOST_ROWS);
}

int detections_read(const struct detection_source *sources, size_t count, struct detections *ret, struct error *err)
{
    struct detection_reader reader = {.sources = sources, .count = count};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = open_source(&reader, i, err);
    if (rc == 0)
        rc = check_rows(&reader, err);
    if (rc < 0)
        return rc;
    if (reader.selected != NULL)
        read_selected(&reader, ret);
    else
        read_rows(&reader, ret);
    return 0;
}
