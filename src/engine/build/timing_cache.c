/* engine/build/timing_cache.c: a hash table of times, and its file. */
#include "engine/build/timing_cache.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/json/reader.h"
#include "format/json/writer.h"
#include "base/system.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

#define MAGIC_KEY "polygraphy_timing_cache"
#define VERSION 1

struct cached_timing {
    struct hash key;
    double seconds;
};

struct timing_cache {
    struct cached_timing *items; /* in order of insertion */
    size_t count, capacity;
    size_t *slots;     /* index of an item plus 1; 0: free. Open addressing */
    size_t slot_count; /* a power of two, or 0 */
};

struct timing_cache *timing_cache_new(void)
{
    return memory_alloc_zero(1, sizeof(struct timing_cache));
}

void timing_cache_free(struct timing_cache *cache)
{
    if (!cache)
        return;
    free(cache->items);
    free(cache->slots);
    free(cache);
}

/* ---- The table ---- */

/* The slot of the key, or the free slot for it. There is always a free one. */
static size_t find_timing_slot(const struct timing_cache *cache, struct hash key)
{
    size_t mask = cache->slot_count - 1;
    size_t slot = (size_t)key.low & mask;

    while (cache->slots[slot] != 0 && !hash_equal(cache->items[cache->slots[slot] - 1].key, key))
        slot = (slot + 1) & mask;
    return slot;
}

static void enlarge_slots(struct timing_cache *cache)
{
    free(cache->slots);
    cache->slot_count = cache->slot_count ? 2 * cache->slot_count : 64;
    cache->slots = memory_alloc_zero(cache->slot_count, sizeof(*cache->slots));
    for (size_t i = 0; i < cache->count; i++)
        cache->slots[find_timing_slot(cache, cache->items[i].key)] = i + 1;
}

bool timing_cache_find(const struct timing_cache *cache, struct hash key, double *ret_seconds)
{
    size_t slot = cache->slot_count > 0 ? find_timing_slot(cache, key) : 0;

    if (cache->slot_count == 0 || cache->slots[slot] == 0)
        return false;
    *ret_seconds = cache->items[cache->slots[slot] - 1].seconds;
    return true;
}

void timing_cache_add(struct timing_cache *cache, struct hash key, double seconds)
{
    size_t slot;

    if (2 * (cache->count + 1) > cache->slot_count)
        enlarge_slots(cache);
    slot = find_timing_slot(cache, key);
    if (cache->slots[slot] == 0) {
        struct cached_timing *timing = VECTOR_APPEND(cache);

        timing->key = key;
        cache->slots[slot] = cache->count;
    }
    cache->items[cache->slots[slot] - 1].seconds = seconds;
}

size_t timing_cache_count(const struct timing_cache *cache)
{
    return cache->count;
}

/* ---- The file ---- */

static bool parse_hex_digits(const char *text, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < 16; i++) {
        char c = text[i];

        if (c >= '0' && c <= '9')
            *ret = *ret << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *ret = *ret << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* What hash_to_text() writes. */
static bool parse_timing_key(const char *text, struct hash *ret)
{
    return strlen(text) == HASH_TEXT_SIZE - 1 && parse_hex_digits(text, &ret->high) &&
           parse_hex_digits(text + 16, &ret->low);
}

static int read_timing_seconds(struct json_reader *reader, json_t *value, double *ret, struct error *err)
{
    if (json_is_null(value)) {
        *ret = TIMING_FAILED;
        return 0;
    }
    if (!json_reader_number(reader, value, ret) || !isfinite(*ret) || *ret < 0)
        return error_set(err, ERR_CORRUPT, "expected a time in seconds (>= 0) or null");
    return 0;
}

static int check_timing_version(struct json_reader *reader, struct error *err)
{
    json_t *version = json_is_object(reader->root) ? json_object_get(reader->root, MAGIC_KEY) : NULL;

    if (!version)
        return error_set(err, ERR_INVALID,
                         "'%s' is no timing cache of this program: the member '" MAGIC_KEY "' is missing",
                         reader->name);
    if (!json_is_integer(version) || json_integer_value(version) != VERSION)
        return error_set(err, ERR_INVALID, "'%s' is a timing cache of another version than %d, which is read here",
                         reader->name, VERSION);
    return 0;
}

/* Reads to a temporary cache first, so that a damaged file adds nothing. */
static int read_timings(struct json_reader *reader, struct timing_cache *ret, struct error *err)
{
    const char *text;
    json_t *times, *value;
    int rc = check_timing_version(reader, err);

    if (rc < 0)
        return rc;
    times = json_object_get(reader->root, "seconds");
    if (!json_is_object(times))
        return error_set(err, ERR_CORRUPT, "'%s': the object 'seconds' is missing", reader->name);
    json_object_foreach (times, text, value) {
        struct hash key;
        double seconds = 0;

        if (!parse_timing_key(text, &key))
            return error_set(err, ERR_CORRUPT, "'%s': '%.40s' is not a key: expected 32 hexadecimal digits",
                             reader->name, text);
        if (read_timing_seconds(reader, value, &seconds, err) < 0)
            return error_context(err, "'%s': key '%s'", reader->name, text);
        timing_cache_add(ret, key, seconds);
    }
    return 0;
}

static void merge_timings(struct timing_cache *cache, const struct timing_cache *from)
{
    for (size_t i = 0; i < from->count; i++)
        timing_cache_add(cache, from->items[i].key, from->items[i].seconds);
}

/* `rc` is the result of opening the reader. */
static int read_timings_and_close(struct timing_cache *cache, struct json_reader *reader, int rc, struct error *err)
{
    struct timing_cache *loaded;

    if (rc < 0)
        return rc;
    loaded = timing_cache_new();
    rc = read_timings(reader, loaded, err);
    json_reader_release(reader);
    if (rc == 0)
        merge_timings(cache, loaded);
    timing_cache_free(loaded);
    return rc;
}

/* Call for a regular file only while its lock is held: an empty file is about to be filled, or its writer was killed
 * before that. */
static int read_timing_file(struct timing_cache *cache, const char *path, struct error *err)
{
    struct json_reader reader;
    struct stat status;
    int rc;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        return 0;
    rc = json_reader_open(&reader, path, err);
    return read_timings_and_close(cache, &reader, rc, err);
}

/* Whether it is, or can become, a regular file: not a device or a pipe. */
static bool file_keeps_content(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

int timing_cache_load(struct timing_cache *cache, const char *path, struct error *err)
{
    int lock = -1;
    int rc = file_keeps_content(path) ? file_lock(path, FILE_LOCK_TO_READ, &lock, err) : 0;

    if (rc == 0)
        rc = read_timing_file(cache, path, err);
    if (lock >= 0)
        close(lock);
    return rc;
}

int timing_cache_parse(struct timing_cache *cache, struct span bytes, const char *display_name, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, bytes.data, bytes.size, display_name, err);

    return read_timings_and_close(cache, &reader, rc, err);
}

void timing_cache_write(const struct timing_cache *cache, struct json_writer *writer)
{
    char text[HASH_TEXT_SIZE];

    json_writer_begin_object(writer);
    json_writer_add_integer(writer, MAGIC_KEY, VERSION);
    json_writer_begin_object_member(writer, "seconds");
    for (size_t i = 0; i < cache->count; i++) {
        hash_to_text(cache->items[i].key, text);
        if (json_writer_key_or_null(writer, text, isfinite(cache->items[i].seconds)))
            json_writer_number(writer, cache->items[i].seconds);
    }
    json_writer_end_object(writer);
    json_writer_end_object(writer);
}

int timing_cache_check(const char *path, struct error *err)
{
    struct timing_cache *ignored;
    struct stat status;
    int rc;

    if (stat(path, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
        return 0;
    ignored = timing_cache_new();
    rc = timing_cache_load(ignored, path, err);
    timing_cache_free(ignored);
    if (rc == ERR_CORRUPT)
        return error_context(err, "'%s' is not a timing cache, or damaged: cannot add times", path);
    return rc;
}

static int write_timing_file(const struct timing_cache *cache, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    timing_cache_write(cache, &writer);
    return json_writer_finish(&writer, err);
}

int timing_cache_save(const struct timing_cache *cache, const char *path, struct error *err)
{
    struct timing_cache *all;
    int lock;
    int rc;

    if (!file_keeps_content(path))
        return write_timing_file(cache, path, err);
    rc = file_lock(path, FILE_LOCK_TO_CHANGE, &lock, err);
    if (rc < 0)
        return rc;
    all = timing_cache_new();
    rc = read_timing_file(all, path, err);
    merge_timings(all, cache);
    if (rc == 0)
        rc = write_timing_file(all, path, err);
    timing_cache_free(all);
    close(lock);
    return rc;
}

/* ---- Keys: hashes of everything that a time depends on ---- */

/* Integer constants up to this size are hashed with their values: axes, shapes, numbers of steps. */
#define SMALL_CONSTANT 64

static struct hash processor_hash;
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;

static void hash_processor(void)
{
    SCOPED_STRING(name);

    system_add_processor_name(&name);
    processor_hash = hash_bytes(name.data, name.size);
}

static void add_key_number(struct string_builder *out, int64_t number)
{
    string_add_bytes(out, &number, sizeof(number));
}

/* Includes the length, so that the boundary is unambiguous. */
static void add_key_text(struct string_builder *out, struct text text)
{
    add_key_number(out, (int64_t)text.size);
    string_add_text(out, text);
}

/* Tensors inside a layer are numbered in order of occurrence: only connections matter, not names. */
static void add_key_edges(struct string_builder *out, const struct model *model, struct edge_range range,
                          struct value_list *met)
{
    add_key_number(out, range.count);
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);
        size_t number = 0;

        while (number < met->count && met->items[number] != value)
            number++;
        if (number == met->count && value != VALUE_NONE)
            *VECTOR_APPEND(met) = value;
        add_key_number(out, value == VALUE_NONE ? -1 : (int64_t)number);
    }
}

static void add_key_node(struct string_builder *out, const struct model *model, uint32_t number, struct value_list *met)
{
    const struct node *node = &model->nodes.items[number];
    struct wire_reader reader = wire_reader_of(node->message);
    struct span bytes;

    add_key_text(out, node->domain);
    add_key_text(out, node->op_type);
    add_key_edges(out, model, node->inputs, met);
    add_key_edges(out, model, node->outputs, met);
    add_key_edges(out, model, node->captures, met);
    while (wire_next_bytes(&reader, NODE_ATTRIBUTE, &bytes))
        add_key_text(out, span_text(bytes));
}

static void add_key_input(struct string_builder *out, const struct kernel_input *input)
{
    size_t elements = input->present ? shape_elements(&input->shape) : 0;

    add_key_number(out, input->present);
    if (!input->present)
        return;
    add_key_number(out, input->type);
    add_key_number(out, (int64_t)input->shape.rank);
    for (size_t i = 0; i < input->shape.rank; i++)
        add_key_number(out, input->shape.dims[i]);
    add_key_text(out, layout_is_row_major(&input->layout) ? (struct text){"", 0} : text_of(input->layout.text));
    add_key_number(out, input->constant != NULL);
    if (input->constant && data_type_is_integer(input->type) && elements <= SMALL_CONSTANT)
        add_key_text(out, (struct text){input->constant, tensor_bytes(input->type, elements)});
}

static void add_key_layer(struct string_builder *out, const struct kernel_request *request)
{
    const struct layer *layer = request->layer;
    const struct model *model = request->network->model;
    struct value_list met SCOPED_ITEMS = {0};

    add_key_number(out, layer->kind);
    add_key_number(out, model_opset(model));
    for (size_t i = 0; i < layer->nodes.count; i++)
        add_key_node(out, model, layer->nodes.items[i], &met);
    for (size_t i = 0; i < layer->inputs.count; i++)
        add_key_input(out, &request->inputs[i]);
    for (size_t i = 0; i < layer->fused.count; i++) {
        add_key_number(out, layer->fused.items[i].kind);
        add_key_number(out, layer->fused.items[i].activation);
    }
}

struct hash timing_cache_key(const struct kernel_request *request, const struct tactic *tactic)
{
    SCOPED_STRING(text);
    struct hash hash;

    pthread_once(&processor_once, hash_processor);
    add_key_layer(&text, request);
    add_key_number(&text, request->threads > 0 ? request->threads : system_processors());
    add_key_text(&text, text_of(tactic->provider->name));
    add_key_text(&text, text_of(tactic->provider->version));
    add_key_text(&text, text_of(tactic->name));
    for (size_t i = 0; i < request->layer->inputs.count; i++)
        add_key_text(&text, text_of(tactic->input_layouts[i].text));
    hash = hash_combine(hash_bytes(text.data, text.size), processor_hash);
    return hash;
}
