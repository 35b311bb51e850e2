/* engine/precision/calibration.c: see calibration.h. */
#include "engine/precision/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "engine/precision/absolute_histogram.h"

#define CACHE_LIMIT ((size_t)1 << 28) /* bytes; a line is a name and 10 bytes */

struct calibrated_tensor {
    struct text name;
    float loaded;                         /* scale; 0: none */
    bool loaded_nothing;                  /* a cache says that no values were seen */
    float computed;                       /* scale, of all values so far; 0: has to be computed again */
    struct absolute_histogram *histogram; /* NULL: no values were seen */
};

struct calibration {
    enum calibration_method method;
    double quantile;
    struct {
        struct calibrated_tensor *items;
        size_t count, capacity;
    } tensors; /* in the order in which they came */
    struct name_map indices;
    struct arena names;
    bool loaded, generated;
};

struct calibration *calibration_new(enum calibration_method method, double quantile)
{
    struct calibration *calibration = memory_alloc_zero(1, sizeof(*calibration));

    calibration->method = method;
    calibration->quantile = quantile;
    name_map_init(&calibration->indices);
    arena_init(&calibration->names);
    return calibration;
}

void calibration_free(struct calibration *calibration)
{
    if (!calibration)
        return;
    for (size_t i = 0; i < calibration->tensors.count; i++)
        free(calibration->tensors.items[i].histogram);
    free(calibration->tensors.items);
    name_map_release(&calibration->indices);
    arena_release(&calibration->names);
    free(calibration);
}

static struct calibrated_tensor *find_tensor_range(const struct calibration *calibration, struct text name)
{
    uint32_t index = name_map_find(&calibration->indices, name);

    return index == NAME_MAP_NONE ? NULL : &calibration->tensors.items[index];
}

static struct calibrated_tensor *find_or_add_tensor_range(struct calibration *calibration, struct text name)
{
    struct calibrated_tensor *tensor = find_tensor_range(calibration, name);

    if (tensor != NULL)
        return tensor;
    struct text copy = {arena_text(&calibration->names, name), name.size};
    name_map_add(&calibration->indices, copy, (uint32_t)calibration->tensors.count);
    tensor = VECTOR_APPEND(&calibration->tensors);
    *tensor = (struct calibrated_tensor){.name = copy};
    return tensor;
}

/* ---- Values ---- */

void calibration_observe(struct calibration *calibration, struct text name, const float *values, size_t count)
{
    struct calibrated_tensor *tensor = find_or_add_tensor_range(calibration, name);

    if (tensor->histogram == NULL)
        tensor->histogram = memory_alloc_zero(1, sizeof(*tensor->histogram));
    absolute_histogram_add(tensor->histogram, values, count);
    tensor->computed = 0;
}

static float compute_tensor_scale(const struct calibration *calibration, const struct absolute_histogram *histogram)
{
    double range = (double)histogram->largest;

    if (range == 0)
        return 1; /* any scale keeps zeros */
    if (calibration->method == CALIBRATION_ENTROPY)
        range = absolute_histogram_entropy_range(histogram);
    else if (calibration->method == CALIBRATION_PERCENTILE)
        range = absolute_histogram_quantile_range(histogram, calibration->quantile);
    return fmaxf((float)(range / 127), 0x1p-126F); /* subnormal steps would not be equal */
}

/* 0: nothing is known. */
static float find_tensor_scale(const struct calibration *calibration, struct calibrated_tensor *tensor)
{
    if (tensor->loaded > 0)
        return tensor->loaded;
    if (tensor->histogram == NULL || tensor->histogram->total == 0)
        return 0;
    if (tensor->computed == 0)
        tensor->computed = compute_tensor_scale(calibration, tensor->histogram);
    return tensor->computed;
}

bool calibration_scale(const struct calibration *calibration, struct text name, float *ret)
{
    struct calibrated_tensor *tensor = find_tensor_range(calibration, name);
    float scale = tensor ? find_tensor_scale(calibration, tensor) : 0;

    if (scale > 0)
        *ret = scale;
    return scale > 0;
}

bool calibration_saw_nothing(const struct calibration *calibration, struct text name)
{
    const struct calibrated_tensor *tensor = find_tensor_range(calibration, name);

    if (tensor == NULL || tensor->loaded > 0)
        return false;
    return tensor->histogram != NULL ? tensor->histogram->total == 0 : tensor->loaded_nothing;
}

bool calibration_clipping(const struct calibration *calibration, struct text name, struct calibration_clipping *ret)
{
    struct calibrated_tensor *tensor = find_tensor_range(calibration, name);
    struct absolute_histogram_clipping clipping;
    float scale = tensor != NULL && tensor->loaded == 0 ? find_tensor_scale(calibration, tensor) : 0;

    if (scale == 0)
        return false;
    clipping = absolute_histogram_clipping(tensor->histogram, 127 * (double)scale);
    *ret = (struct calibration_clipping){.largest = tensor->histogram->largest,
                                         .range = 127 * scale,
                                         .clipped_values = clipping.values,
                                         .clipped_sum = clipping.sum};
    return true;
}

/* ---- The cache ---- */

bool calibration_is_loaded(const struct calibration *calibration)
{
    return calibration->loaded;
}

/* A tensor that no model has, with the scale of what needs none. */
static const char generated_mark[] = "(calibrated with randomly generated data)";

void calibration_mark_generated(struct calibration *calibration)
{
    calibration->generated = true;
}

bool calibration_is_generated(const struct calibration *calibration)
{
    return calibration->generated;
}

/* Takes a line, without what ends it, off the front of `rest`. */
static struct text take_cache_line(struct text *rest)
{
    const char *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    struct text line = {rest->data, end ? (size_t)(end - rest->data) : rest->size};
    size_t taken = line.size + (end != NULL);

    rest->data += taken;
    rest->size -= taken;
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

/* "<name>: <8 digits>". The name may hold anything else, colons too. */
static bool parse_scale_entry(struct text line, struct text *ret_name, float *ret_scale)
{
    const size_t tail = sizeof(": 00000000") - 1;
    uint32_t bits = 0;

    if (line.size < tail)
        return false;
    const char *end = line.data + line.size - tail;
    if (end[0] != ':' || end[1] != ' ')
        return false;
    for (size_t i = 2; i < tail; i++) {
        int digit = number_hexadecimal_digit(end[i]);

        if (digit < 0)
            return false;
        bits = bits << 4 | (uint32_t)digit;
    }
    *ret_name = (struct text){line.data, line.size - tail};
    memcpy(ret_scale, &bits, sizeof(bits));
    return isfinite(*ret_scale) && *ret_scale >= 0;
}

static bool text_is_calibration_cache(struct text first_line)
{
    return first_line.size >= 4 && memcmp(first_line.data, "TRT-", 4) == 0;
}

/* Reads all entries, to see that they can be read, or (`calibration` is not NULL) to take them. */
static int read_scale_entries(struct calibration *calibration, struct text rest, const char *display_name,
                              struct error *err)
{
    for (size_t number = 2; rest.size > 0; number++) {
        struct text line = take_cache_line(&rest), name;
        float scale;

        if (line.size == 0)
            continue;
        if (!parse_scale_entry(line, &name, &scale))
            return error_set(err, ERR_CORRUPT,
                             "'%s' is a damaged calibration cache: line %zu is not a name and the 8 hexadecimal digits "
                             "of a scale; remove the file to calibrate again",
                             display_name, number);
        if (calibration == NULL)
            continue;
        if (text_equal_string(name, generated_mark)) {
            calibration->generated = true;
            continue;
        }
        find_or_add_tensor_range(calibration, name)->loaded = scale;
        find_or_add_tensor_range(calibration, name)->loaded_nothing =
            scale == 0; /* TensorRT: a tensor that needs no scale */
        calibration->loaded |= scale > 0;
    }
    return 0;
}

int calibration_parse(struct calibration *calibration, struct span bytes, const char *display_name, struct error *err)
{
    struct text rest = span_text(bytes);

    if (rest.size == 0)
        return 0;
    if (!text_is_calibration_cache(take_cache_line(&rest)))
        return error_set(err, ERR_INVALID, "'%s' is not a calibration cache: its first line does not begin with 'TRT-'",
                         display_name);
    int rc = read_scale_entries(NULL, rest, display_name, err);
    return rc < 0 ? rc : read_scale_entries(calibration, rest, display_name, err);
}

int calibration_load(struct calibration *calibration, const char *path, struct error *err)
{
    char *content;
    size_t size;
    int rc = file_read(path, CACHE_LIMIT, &content, &size, err);

    if (rc < 0)
        return rc;
    rc = calibration_parse(calibration, (struct span){(const uint8_t *)content, size}, path, err);
    free(content);
    return rc;
}

/* As TensorRT 8.6 calls them. */
static const char *const headers[] = {
    [CALIBRATION_ENTROPY] = "TRT-8601-EntropyCalibration2",
    [CALIBRATION_MINMAX] = "TRT-8601-MinMaxCalibration",
    [CALIBRATION_PERCENTILE] = "TRT-8601-LegacyCalibration",
};

int calibration_write(const struct calibration *calibration, struct string_builder *ret, struct error *err)
{
    string_add_format(ret, "%s\n", headers[calibration->method]);
    if (calibration->generated)
        string_add_format(ret, "%s: 00000000\n", generated_mark);
    for (size_t i = 0; i < calibration->tensors.count; i++) {
        struct calibrated_tensor *tensor = &calibration->tensors.items[i];
        float scale = find_tensor_scale(calibration, tensor);
        uint32_t bits;

        if (scale == 0 && !calibration_saw_nothing(calibration, tensor->name))
            continue;
        if (memchr(tensor->name.data, '\n', tensor->name.size) != NULL)
            return error_set(err, ERR_UNSUPPORTED,
                             "a calibration cache cannot hold the tensor '" TEXT_FORMAT
                             "': there is a line break in its name",
                             TEXT_ARGS(tensor->name));
        memcpy(&bits, &scale, sizeof(bits));
        string_add_text(ret, tensor->name);
        string_add_format(ret, ": %08x\n", bits);
    }
    return 0;
}

int calibration_save(const struct calibration *calibration, const char *path, struct error *err)
{
    SCOPED_STRING(text);

    int rc = calibration_write(calibration, &text, err);
    if (rc == 0)
        rc = file_write(path, text.data, text.size, FILE_DURABLE, err);
    return rc;
}
