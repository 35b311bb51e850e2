/* format/polygraphy/tactic_replay.c: tactic replays, in memory and as files. */
#include "format/polygraphy/tactic_replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/json/class.h"
#include "format/json/reader.h"

static void tensors_release(struct tactic_tensors *tensors)
{
    for (size_t i = 0; i < tensors->count; i++) {
        free(tensors->items[i].dtype);
        free(tensors->items[i].strides);
    }
    free(tensors->items);
}

static void algorithm_release(struct tactic_algorithm *algorithm)
{
    tensors_release(&algorithm->inputs);
    tensors_release(&algorithm->outputs);
    free(algorithm->name);
}

void tactic_replay_init(struct tactic_replay *replay)
{
    *replay = (struct tactic_replay){0};
}

void tactic_replay_release(struct tactic_replay *replay)
{
    for (size_t i = 0; i < replay->count; i++) {
        algorithm_release(&replay->items[i].algorithm);
        free(replay->items[i].layer);
    }
    free(replay->items);
    name_map_release(&replay->places);
    tactic_options_release(&replay->precision);
    free(replay->timing_cache);
    tactic_replay_init(replay);
}

/* --- options ------------------------------------------------------------------------------------------------------ */

void tactic_options_add(struct tactic_options *options, struct text word)
{
    *VECTOR_APPEND(options) = memory_copy(word.data, word.size);
}

void tactic_options_release(struct tactic_options *options)
{
    for (size_t i = 0; i < options->count; i++)
        free(options->items[i]);
    free(options->items);
    *options = (struct tactic_options){0};
}

void tactic_options_copy(const struct tactic_options *from, struct tactic_options *ret)
{
    *ret = (struct tactic_options){.known = from->known};
    for (size_t i = 0; i < from->count; i++)
        tactic_options_add(ret, text_of(from->items[i]));
}

bool tactic_options_equal(const struct tactic_options *a, const struct tactic_options *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return a->known == b->known && a->count == b->count;
}

void tactic_options_text(const struct tactic_options *options, struct string_builder *ret)
{
    for (size_t i = 0; i < options->count; i++)
        string_add_format(ret, "%s%s", i > 0 ? " " : "", options->items[i]);
    if (options->count == 0)
        string_add(ret, "no option for precision");
}

/* --- choices ------------------------------------------------------------------------------------------------------ */

static struct tactic_choice *find_tactic_choice(const struct tactic_replay *replay, const char *layer)
{
    uint32_t place = name_map_find(&replay->places, text_of(layer));

    return place != NAME_MAP_NONE ? &replay->items[place] : NULL;
}

char *tactic_replay_cache_path(const struct tactic_replay *replay, const char *path)
{
    const char *cache = replay->timing_cache, *star = cache != NULL ? strchr(cache, '*') : NULL;
    struct string_builder ret;
    char *folder, *name;

    if (cache == NULL)
        return NULL;
    if (cache[0] == '/')
        return memory_strdup(cache);
    folder = file_folder(path);
    name = file_basename(path);
    string_init(&ret);
    if (strcmp(folder, ".") != 0 || path[0] == '.')
        string_add_format(&ret, "%s/", folder);
    if (star != NULL)
        string_add_format(&ret, "%.*s%s%s", (int)(star - cache), cache, name, star + 1);
    else
        string_add(&ret, cache);
    free(folder);
    free(name);
    return string_take(&ret);
}

const struct tactic_algorithm *tactic_replay_find(const struct tactic_replay *replay, const char *layer)
{
    const struct tactic_choice *choice = find_tactic_choice(replay, layer);

    return choice ? &choice->algorithm : NULL;
}

static struct tactic_algorithm *append_tactic_choice(struct tactic_replay *replay, const char *layer)
{
    struct tactic_choice *choice = VECTOR_APPEND(replay);

    *choice = (struct tactic_choice){.layer = memory_strdup(layer)};
    name_map_add(&replay->places, text_of(choice->layer), (uint32_t)replay->count - 1);
    return &choice->algorithm;
}

struct tactic_algorithm *tactic_replay_set(struct tactic_replay *replay, const char *layer)
{
    struct tactic_choice *choice = find_tactic_choice(replay, layer);

    if (!choice)
        return append_tactic_choice(replay, layer);
    algorithm_release(&choice->algorithm);
    choice->algorithm = (struct tactic_algorithm){0};
    return &choice->algorithm;
}

struct tactic_tensor *tactic_tensors_add(struct tactic_tensors *tensors, struct text dtype, const int64_t *strides,
                                         size_t rank)
{
    struct tactic_tensor *tensor = VECTOR_APPEND(tensors);

    *tensor = (struct tactic_tensor){
        .dtype = memory_copy(dtype.data, dtype.size),
        .strides = memory_resize(NULL, rank, sizeof(*strides)),
        .rank = rank,
        .vectorized_dim = {true, -1},
        .components_per_element = {true, 1},
    };
    if (rank > 0)
        memcpy(tensor->strides, strides, rank * sizeof(*strides));
    return tensor;
}

/* --- comparing and showing ---------------------------------------------------------------------------------------- */

static bool number_equal(struct tactic_number a, struct tactic_number b)
{
    return a.known == b.known && (!a.known || a.value == b.value);
}

static bool tensor_equal(const struct tactic_tensor *a, const struct tactic_tensor *b)
{
    return strcmp(a->dtype, b->dtype) == 0 && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->strides, b->strides, a->rank * sizeof(*a->strides)) == 0) &&
           number_equal(a->vectorized_dim, b->vectorized_dim) &&
           number_equal(a->components_per_element, b->components_per_element);
}

static bool tensors_equal(const struct tactic_tensors *a, const struct tactic_tensors *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (!tensor_equal(&a->items[i], &b->items[i]))
            return false;
    return a->count == b->count;
}

bool tactic_algorithm_equal(const struct tactic_algorithm *a, const struct tactic_algorithm *b)
{
    return a->implementation == b->implementation && a->tactic == b->tactic && tensors_equal(&a->inputs, &b->inputs) &&
           tensors_equal(&a->outputs, &b->outputs);
}

/* The separator after an element of a Python tuple: a single element is followed by a comma, too. */
static const char *tuple_separator(size_t index, size_t count)
{
    if (index + 1 < count)
        return ", ";
    return count == 1 ? "," : "";
}

static void add_tactic_number(struct string_builder *text, struct tactic_number number)
{
    if (number.known)
        string_add_format(text, "%" PRId64, number.value);
    else
        string_add(text, "None");
}

static void add_tactic_tensor(struct string_builder *text, const struct tactic_tensor *tensor)
{
    string_add_format(text, "TensorInfo(%s, (", tensor->dtype);
    for (size_t i = 0; i < tensor->rank; i++)
        string_add_format(text, "%" PRId64 "%s", tensor->strides[i], tuple_separator(i, tensor->rank));
    string_add(text, "), ");
    add_tactic_number(text, tensor->vectorized_dim);
    string_add(text, ", ");
    add_tactic_number(text, tensor->components_per_element);
    string_add(text, ")");
}

static void add_tactic_tensors(struct string_builder *text, const char *title, const struct tactic_tensors *tensors)
{
    string_add_format(text, " | %s: (", title);
    for (size_t i = 0; i < tensors->count; i++) {
        add_tactic_tensor(text, &tensors->items[i]);
        string_add(text, tuple_separator(i, tensors->count));
    }
    string_add(text, ")");
}

void tactic_algorithm_kernel_text(const struct tactic_algorithm *algorithm, struct string_builder *ret)
{
    if (algorithm->name)
        string_add_bytes(ret, algorithm->name, strcspn(algorithm->name, " "));
    else
        string_add_format(ret, "(Implementation: %lld)", (long long)algorithm->implementation);
}

void tactic_algorithm_text(const struct tactic_algorithm *algorithm, struct string_builder *ret)
{
    string_add_format(ret, "(Implementation: %" PRId64 ", Tactic: %" PRId64 ")", algorithm->implementation,
                      algorithm->tactic);
    add_tactic_tensors(ret, "Inputs", &algorithm->inputs);
    add_tactic_tensors(ret, "Outputs", &algorithm->outputs);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int read_integer(json_t *object, const char *key, int64_t *ret, struct error *err)
{
    json_t *value = json_object_get(object, key);

    if (!json_is_integer(value))
        return error_set(err, ERR_CORRUPT, "the integer '%s' is missing", key);
    *ret = json_integer_value(value);
    return 0;
}

static int read_number(json_t *object, const char *key, struct tactic_number *ret, struct error *err)
{
    if (json_is_null(json_object_get(object, key))) {
        *ret = (struct tactic_number){0};
        return 0;
    }
    ret->known = true;
    return read_integer(object, key, &ret->value, err);
}

static int read_strides(json_t *list, struct tactic_tensor *tensor, struct error *err)
{
    json_t *stride;
    size_t index;

    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "the list 'strides' is missing");
    tensor->strides = memory_resize(NULL, json_array_size(list), sizeof(*tensor->strides));
    json_array_foreach (list, index, stride) {
        if (!json_is_integer(stride))
            return error_set(err, ERR_CORRUPT, "stride %zu is not an integer", index);
        tensor->strides[tensor->rank++] = json_integer_value(stride);
    }
    return 0;
}

static int read_tensor(struct json_reader *reader, json_t *object, struct tactic_tensors *tensors, struct error *err)
{
    struct tactic_tensor *tensor;
    struct text dtype;

    if (json_class_of(reader, object) != JSON_CLASS_TENSOR_INFO)
        return error_set(err, ERR_CORRUPT, "expected a TensorInfo, found %s", json_class_describe(reader, object));
    if (json_reader_text(reader, json_object_get(object, "dtype"), &dtype, err) < 0)
        return error_context(err, "dtype");
    tensor = VECTOR_APPEND(tensors);
    *tensor = (struct tactic_tensor){.dtype = memory_copy(dtype.data, dtype.size)};
    int rc = read_strides(json_object_get(object, "strides"), tensor, err);
    if (rc == 0)
        rc = read_number(object, "vectorized_dim", &tensor->vectorized_dim, err);
    if (rc == 0)
        rc = read_number(object, "components_per_element", &tensor->components_per_element, err);
    return rc;
}

static int read_tensors(struct json_reader *reader, json_t *object, const char *key, struct tactic_tensors *tensors,
                        struct error *err)
{
    json_t *list = json_object_get(object, key);
    json_t *tensor;
    size_t index;

    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "the list '%s' is missing", key);
    json_array_foreach (list, index, tensor) {
        if (read_tensor(reader, tensor, tensors, err) < 0)
            return error_context(err, "%s: tensor %zu", key, index);
    }
    return 0;
}

/* Reads an optional text member; other types are ignored as foreign members. malloc'd, or NULL. */
static char *read_own_text(struct json_reader *reader, json_t *object, const char *key)
{
    struct text text;

    if (json_reader_text(reader, json_object_get(object, key), &text, NULL) < 0)
        return NULL;
    return memory_copy(text.data, text.size);
}

static int read_algorithm(struct json_reader *reader, json_t *object, struct tactic_algorithm *algorithm,
                          struct error *err)
{
    int rc;

    if (json_class_of(reader, object) != JSON_CLASS_ALGORITHM)
        return error_set(err, ERR_CORRUPT, "expected an Algorithm, found %s", json_class_describe(reader, object));
    rc = read_integer(object, "implementation", &algorithm->implementation, err);
    if (rc < 0)
        return rc;
    rc = read_integer(object, "tactic", &algorithm->tactic, err);
    if (rc < 0)
        return rc;
    rc = read_tensors(reader, object, "inputs", &algorithm->inputs, err);
    if (rc < 0)
        return rc;
    rc = read_tensors(reader, object, "outputs", &algorithm->outputs, err);
    if (rc < 0)
        return rc;
    algorithm->name = read_own_text(reader, object, "name");
    return 0;
}

/* Members of other types are ignored as foreign. */
static void read_options(struct json_reader *reader, json_t *list, struct tactic_options *ret)
{
    json_t *word;
    size_t index;

    if (!json_is_array(list))
        return;
    json_array_foreach (list, index, word) {
        struct text text;

        if (json_reader_text(reader, word, &text, NULL) < 0) {
            tactic_options_release(ret);
            return;
        }
        tactic_options_add(ret, text);
    }
    ret->known = true;
}

static int read_replay(struct json_reader *reader, struct tactic_replay *ret, struct error *err)
{
    const char *layer;
    json_t *choices, *algorithm;
    int rc = json_class_check_all(reader, err);

    if (rc == 0)
        rc = json_class_expect(reader, JSON_CLASS_TACTIC_REPLAY, err);
    if (rc < 0)
        return rc;
    choices = json_object_get(reader->root, "replay");
    if (!json_is_object(choices))
        return error_set(err, ERR_CORRUPT, "'%s': the object 'replay' is missing", reader->name);
    json_object_foreach (choices, layer, algorithm) {
        if (read_algorithm(reader, algorithm, append_tactic_choice(ret, layer), err) < 0)
            return error_context(err, "'%s': layer '%s'", reader->name, layer);
    }
    read_options(reader, json_object_get(reader->root, "precision"), &ret->precision);
    ret->timing_cache = read_own_text(reader, reader->root, "timing_cache");
    return 0;
}

/* Closes the reader and puts what it holds in place of `replay` when all is well. `rc` is what opening it gave. */
static int read_replay_and_close(struct tactic_replay *replay, struct json_reader *reader, int rc, struct error *err)
{
    struct tactic_replay loaded;

    if (rc < 0)
        return rc;
    tactic_replay_init(&loaded);
    rc = read_replay(reader, &loaded, err);
    json_reader_release(reader);
    if (rc < 0) {
        tactic_replay_release(&loaded);
        return rc;
    }
    tactic_replay_release(replay);
    *replay = loaded;
    return 0;
}

int tactic_replay_load(struct tactic_replay *replay, const char *path, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open(&reader, path, err);

    return read_replay_and_close(replay, &reader, rc, err);
}

int tactic_replay_parse(struct tactic_replay *replay, const void *data, size_t size, const char *name,
                        struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, data, size, name, err);

    return read_replay_and_close(replay, &reader, rc, err);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void write_number(struct json_writer *writer, const char *key, struct tactic_number number)
{
    if (json_writer_key_or_null(writer, key, number.known))
        json_writer_integer(writer, number.value);
}

static void write_tensor(struct json_writer *writer, const struct tactic_tensor *tensor)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "dtype", tensor->dtype);
    json_writer_begin_array_member(writer, "strides");
    for (size_t i = 0; i < tensor->rank; i++)
        json_writer_integer(writer, tensor->strides[i]);
    json_writer_end_array(writer);
    write_number(writer, "vectorized_dim", tensor->vectorized_dim);
    write_number(writer, "components_per_element", tensor->components_per_element);
    json_writer_add_string(writer, "polygraphy_class", "TensorInfo");
    json_writer_end_object(writer);
}

static void write_tensors(struct json_writer *writer, const char *key, const struct tactic_tensors *tensors)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < tensors->count; i++)
        write_tensor(writer, &tensors->items[i]);
    json_writer_end_array(writer);
}

void tactic_algorithm_write(const struct tactic_algorithm *algorithm, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    json_writer_add_integer(writer, "implementation", algorithm->implementation);
    json_writer_add_integer(writer, "tactic", algorithm->tactic);
    write_tensors(writer, "inputs", &algorithm->inputs);
    write_tensors(writer, "outputs", &algorithm->outputs);
    if (algorithm->name)
        json_writer_add_string(writer, "name", algorithm->name);
    json_writer_add_string(writer, "polygraphy_class", "Algorithm");
    json_writer_end_object(writer);
}

void tactic_replay_write(const struct tactic_replay *replay, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    json_writer_begin_object_member(writer, "replay");
    for (size_t i = 0; i < replay->count; i++) {
        json_writer_key(writer, replay->items[i].layer);
        tactic_algorithm_write(&replay->items[i].algorithm, writer);
    }
    json_writer_end_object(writer);
    if (replay->precision.known)
        json_writer_add_strings(writer, "precision", (const char *const *)replay->precision.items,
                                replay->precision.count);
    if (replay->timing_cache)
        json_writer_add_string(writer, "timing_cache", replay->timing_cache);
    json_writer_add_string(writer, "polygraphy_class", "TacticReplayData");
    json_writer_end_object(writer);
}

int tactic_replay_save(const struct tactic_replay *replay, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    tactic_replay_write(replay, &writer);
    return json_writer_finish(&writer, err);
}
