/* format/trtexec/build_log.c: timed tactics and layers out of a verbose log. */
#include "format/trtexec/build_log.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"

/* ---- Pieces of lines ---- */

static bool ends_with(struct text text, const char *end)
{
    size_t size = strlen(end);

    return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

static struct text text_from(struct text text, size_t at)
{
    return (struct text){text.data + at, text.size - at};
}

static struct text text_before(struct text text, size_t at)
{
    return (struct text){text.data, at};
}

/* Takes the text in front of `separator` off `rest`, and the separator. False when it is not there. */
static bool take_part(struct text *rest, const char *separator, struct text *ret)
{
    size_t at = text_find(*rest, text_of(separator));

    if (at == SIZE_MAX)
        return false;
    *ret = text_before(*rest, at);
    *rest = text_from(*rest, at + strlen(separator));
    return true;
}

/* The bits of a hexadecimal number behind "0x"; false when it is none, or longer than 64 bits. */
static bool parse_tactic(struct text text, int64_t *ret)
{
    uint64_t bits = 0;

    if (text.size < 3 || text.size > 18 || !text_begins_with(text, "0x"))
        return false;
    for (size_t i = 2; i < text.size; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = text.data[i] != '\0' ? strchr(digits, text.data[i]) : NULL;

        if (!digit)
            return false;
        bits = bits << 4 | (uint64_t)(digit - digits);
    }
    memcpy(ret, &bits, sizeof(*ret));
    return true;
}

/* "[07/07/2026-02:11:00] [V] [TRT] text": what trtexec and TensorRT's logger put in front. */
static struct text skip_prefix(struct text line)
{
    while (text_begins_with(line, "[")) {
        size_t end = text_find(line, TEXT("] "));

        if (end == SIZE_MAX || end > 40)
            return line;
        line = text_from(line, end + 2);
    }
    return line;
}

/* ---- Reading ---- */

struct log_reader {
    struct build_log *log;
    struct text formats;       /* of what is being timed */
    struct text layer, runner; /* empty: nothing is */
    bool in_layers;
};

static void add_timing(struct log_reader *reader, struct build_timing timing)
{
    struct build_log *log = reader->log;
    uint32_t index = (uint32_t)log->timings.count;

    if (log->timings.count >= NAME_MAP_NONE)
        return;
    timing.next = name_map_find(&log->first, timing.layer);
    name_map_set(&log->first, timing.layer, index);
    *VECTOR_APPEND(&log->timings) = timing;
}

/* "NAME (CaskConvolution[0x80000009])" */
static void read_runner(struct log_reader *reader, struct text rest)
{
    size_t at = text_find_last(rest, TEXT(" ("));
    struct text number;

    reader->layer = reader->runner = (struct text){0};
    if (at == SIZE_MAX || !ends_with(rest, "])"))
        return;
    number = text_from(rest, at + 2);
    if (take_part(&number, "[", &reader->runner))
        reader->layer = text_before(rest, at);
}

/* "0x5b8bf1b8028629d9 Time: 0.00534603" */
static void read_time(struct log_reader *reader, struct text tactic_name, struct text rest)
{
    struct build_timing timing = {
        .layer = reader->layer, .runner = reader->runner, .formats = reader->formats, .tactic_name = tactic_name};
    struct text tactic;

    if (reader->layer.size > 0 && take_part(&rest, " Time: ", &tactic) && parse_tactic(tactic, &timing.tactic) &&
        number_parse_float(rest, &timing.milliseconds))
        add_timing(reader, timing);
}

/* "node [Float(1) -> Float(1)] got cached result: CaskPooling, tactic 0xdd39499496c9cc38, 0.00294885 ms" */
static void read_cached(struct log_reader *reader, struct text line, size_t at)
{
    struct text head = text_before(line, at), rest = text_from(line, at + strlen("] got cached result: ")), tactic;
    struct build_timing timing = {.cached = true};
    size_t formats = text_find_last(head, TEXT(" ["));

    if (formats == SIZE_MAX || !take_part(&rest, ", tactic ", &timing.runner) || !take_part(&rest, ", ", &tactic) ||
        !ends_with(rest, " ms") || !parse_tactic(tactic, &timing.tactic) ||
        !number_parse_float(text_before(rest, rest.size - strlen(" ms")), &timing.milliseconds))
        return;
    timing.layer = text_before(head, formats);
    timing.formats = text_from(head, formats + 2);
    add_timing(reader, timing);
}

static void read_line(struct log_reader *reader, struct text line)
{
    static const char combination[] = "*************** Autotuning format combination: ";
    static const char runner[] = "--------------- Timing Runner: ";
    static const char named[] = "Tactic Name: ", unnamed[] = "Tactic: ";
    size_t cached;

    if (reader->in_layers && text_begins_with(line, "Layer(")) {
        *VECTOR_APPEND(&reader->log->layers) = line;
        return;
    }
    reader->in_layers = false;
    line = skip_prefix(line);
    if (text_begins_with(line, combination)) {
        struct text rest = text_from(line, sizeof(combination) - 1);

        reader->layer = (struct text){0};
        take_part(&rest, " ***", &reader->formats);
    } else if (text_begins_with(line, runner)) {
        read_runner(reader, text_from(line, sizeof(runner) - 1));
    } else if (text_begins_with(line, named)) {
        struct text name, rest = text_from(line, sizeof(named) - 1);

        if (take_part(&rest, " Tactic: ", &name))
            read_time(reader, name, rest);
    } else if (text_begins_with(line, unnamed)) {
        read_time(reader, (struct text){0}, text_from(line, sizeof(unnamed) - 1));
    } else if (text_begins_with(line, "Engine Layer Information:")) {
        reader->log->layers.count = 0;
        reader->in_layers = true;
    } else if ((cached = text_find(line, TEXT("] got cached result: "))) != SIZE_MAX) {
        read_cached(reader, line, cached);
    }
}

int build_log_parse(struct build_log *ret, struct text text, const char *name, struct error *err)
{
    struct build_log log = {.map.fd = -1};
    struct log_reader reader = {.log = &log};

    for (size_t at = 0; at < text.size;) {
        const char *end = memchr(text.data + at, '\n', text.size - at);
        size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
        struct text line = {text.data + at, size};

        if (ends_with(line, "\r"))
            line.size--;
        read_line(&reader, line);
        at += size + 1;
    }
    if (log.timings.count == 0 && log.layers.count == 0) {
        build_log_release(&log);
        return error_set(err, ERR_INVALID,
                         "'%s' tells nothing of a build: it is no log of a build with trtexec --verbose", name);
    }
    *ret = log;
    return 0;
}

int build_log_open(struct build_log *ret, const char *path, struct error *err)
{
    struct file_map map;
    int rc = file_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    rc = build_log_parse(ret, (struct text){(const char *)map.data, map.size}, path, err);
    if (rc < 0)
        file_map_release(&map);
    else
        ret->map = map;
    return rc;
}

void build_log_release(struct build_log *log)
{
    free(log->timings.items);
    free(log->layers.items);
    name_map_release(&log->first);
    if (log->map.path)
        file_map_release(&log->map);
    *log = (struct build_log){.map.fd = -1};
}

/* ---- Layers ---- */

/* "-1,32:8,14,14": of vectors the whole, and how many are in one, which is also where they are told. */
static bool read_dims(struct layer_info *info, struct text list, struct layer_info_tensor *tensor)
{
    struct {
        int64_t *items;
        size_t count, capacity;
    } dims = {0};
    int64_t components = 1;
    bool good = true;

    for (size_t at = 0; good && at < list.size;) {
        struct text rest = text_from(list, at), dim = rest, vector;
        int64_t value;

        take_part(&rest, ",", &dim);
        at += dim.size + 1;
        rest = dim;
        if (take_part(&rest, ":", &vector)) {
            good = number_parse_integer(rest, &components);
            dim = vector;
        }
        good = good && number_parse_integer(dim, &value);
        if (good)
            *VECTOR_APPEND(&dims) = value;
    }
    if (good)
        layer_info_set_dims(info, tensor, dims.items, dims.count);
    if (components != 1)
        tensor->format = arena_printf(&info->arena, "%s in vectors of %" PRId64, tensor->format, components);
    free(dims.items);
    return good;
}

/* "relu (Float[-1,32,28,28])" */
static bool read_tensor(struct layer_info *info, struct text text, struct layer_info_tensors *ret)
{
    size_t at = text_find_last(text, TEXT(" ("));
    struct layer_info_tensor *tensor;
    struct text type, dims;

    if (at == SIZE_MAX || !ends_with(text, "])"))
        return false;
    dims = text_before(text_from(text, at + 2), text.size - at - 2 - strlen("])"));
    if (!take_part(&dims, "[", &type))
        return false;
    tensor = layer_info_add_tensor(info, ret, text_before(text, at));
    tensor->type = layer_info_type_find(type);
    tensor->format = arena_text(&info->arena, type);
    return read_dims(info, dims, tensor);
}

/* "a (Float[1]), b (Float[1]) -> c (Float[1])": a tensor ends at "])", whatever its name holds. */
static void read_tensors(struct layer_info *info, struct text rest, struct layer_info_layer *layer)
{
    struct layer_info_tensors *side = &layer->inputs;

    while (rest.size > 0) {
        size_t end = text_find(rest, TEXT("])"));

        if (text_begins_with(rest, "-> ") || text_begins_with(rest, " -> ")) {
            side = &layer->outputs;
            rest = text_from(rest, text_find(rest, TEXT("-> ")) + strlen("-> "));
            continue;
        }
        if (end == SIZE_MAX || !read_tensor(info, text_before(rest, end + 2), side))
            return;
        rest = text_from(rest, end + 2);
        if (text_begins_with(rest, ", "))
            rest = text_from(rest, 2);
    }
}

void build_log_layers(const struct build_log *log, struct layer_info *ret)
{
    layer_info_init(ret);
    for (size_t i = 0; i < log->layers.count; i++) {
        struct text rest = text_from(log->layers.items[i], strlen("Layer(")), type, name, tactic;
        struct layer_info_layer *layer;

        if (!take_part(&rest, "): ", &type) || !take_part(&rest, ", Tactic: ", &name) ||
            !take_part(&rest, ", ", &tactic))
            continue;
        layer = layer_info_add_layer(ret, name);
        layer->type = arena_text(&ret->arena, type);
        layer->has_tactic = parse_tactic(tactic, &layer->tactic);
        read_tensors(ret, rest, layer);
    }
}

/* ---- Candidates ---- */

bool build_log_candidates(const struct build_log *log, const struct layer_info_layer *layer,
                          struct build_candidates *ret)
{
    const struct build_timing *best = NULL;
    uint32_t first = name_map_find(&log->first, text_of(layer->name));

    *ret = (struct build_candidates){.next = NAN};
    if (!layer->has_tactic)
        return false;
    for (uint32_t i = first; i != NAME_MAP_NONE; i = log->timings.items[i].next) {
        const struct build_timing *timing = &log->timings.items[i];

        ret->timed += !timing->cached;
        if (timing->tactic == layer->tactic && (!best || timing->milliseconds < best->milliseconds))
            best = timing;
    }
    if (!best)
        return false;
    ret->milliseconds = best->milliseconds;
    for (uint32_t i = first; i != NAME_MAP_NONE; i = log->timings.items[i].next) {
        const struct build_timing *timing = &log->timings.items[i];

        if (!text_equal(timing->formats, best->formats) || timing->tactic == best->tactic ||
            timing->milliseconds >= ret->next)
            continue;
        ret->next = timing->milliseconds;
        ret->next_name = timing->tactic_name;
    }
    return true;
}
