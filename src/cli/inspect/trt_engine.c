/* cli/inspect/trt_engine.c: TensorRT engines as text and as JSON. */
#include "cli/inspect/trt_engine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"

/* ---- Times ---- */

/* The time of each layer in milliseconds, NaN if it is not in the profile. A repeated name in the profile belongs to
 * the layers of that name in order. The caller frees it; NULL without a profile. */
static double *times_of(const struct trt_engine_view *view)
{
    const struct layer_info *info = view->info;
    double *times;
    size_t next = 0;

    if (!view->profile)
        return NULL;
    times = memory_resize(NULL, info->layers.count, sizeof(*times));
    for (size_t i = 0; i < info->layers.count; i++) {
        times[i] = NAN;
        /* Both are in execution order, so a name is usually the next one. */
        for (size_t k = 0; k < view->profile->count; k++) {
            const struct layer_time *time = &view->profile->items[(next + k) % view->profile->count];

            if (strcmp(time->name, info->layers.items[i].name) != 0)
                continue;
            times[i] = time->average;
            next += k + 1;
            break;
        }
    }
    return times;
}

struct timed_layer {
    double time; /* -1: not known */
    size_t index;
};

static int compare_times(const void *a, const void *b)
{
    const struct timed_layer *left = a, *right = b;

    if (left->time != right->time)
        return left->time < right->time ? 1 : -1;
    return left->index < right->index ? -1 : left->index > right->index;
}

/* Indices of the layers, the slowest first, or in execution order. The caller frees it. */
static size_t *order_of(const struct layer_info *info, const double *times)
{
    struct timed_layer *layers SCOPED_FREE = memory_resize(NULL, info->layers.count, sizeof(*layers));
    size_t *order = memory_resize(NULL, info->layers.count, sizeof(*order));

    for (size_t i = 0; i < info->layers.count; i++)
        layers[i] = (struct timed_layer){!times || isnan(times[i]) ? -1 : times[i], i};
    if (times && info->layers.count > 0)
        qsort(layers, info->layers.count, sizeof(*layers), compare_times);
    for (size_t i = 0; i < info->layers.count; i++)
        order[i] = layers[i].index;
    return order;
}

static double sum_of(const double *times, size_t count)
{
    double sum = 0;

    for (size_t i = 0; times && i < count; i++)
        sum += isnan(times[i]) ? 0 : times[i];
    return sum;
}

/* ---- Precisions ---- */

struct precision_share {
    const char *precision; /* NULL: not known */
    size_t layers;
    double time; /* milliseconds of the layers with known times */
};

struct precision_shares {
    struct precision_share *items; /* most layers first */
    size_t count, capacity;
    size_t computing, moving; /* numbers of layers that compute, and that only move data */
};

static struct precision_share *share_of(struct precision_shares *shares, const char *precision)
{
    for (size_t i = 0; i < shares->count; i++)
        if (string_equal(shares->items[i].precision, precision))
            return &shares->items[i];
    *VECTOR_APPEND(shares) = (struct precision_share){.precision = precision};
    return &shares->items[shares->count - 1];
}

static int compare_shares(const void *a, const void *b)
{
    const struct precision_share *left = a, *right = b;

    if (left->layers != right->layers)
        return left->layers > right->layers ? -1 : 1;
    return strcmp(left->precision ? left->precision : "~", right->precision ? right->precision : "~");
}

static void count_precisions(const struct layer_info *info, const double *times, struct precision_shares *ret)
{
    *ret = (struct precision_shares){0};
    for (size_t i = 0; i < info->layers.count; i++) {
        const struct layer_info_layer *layer = &info->layers.items[i];
        struct precision_share *share;

        if (layer_info_only_moves(layer)) {
            ret->moving++;
            continue;
        }
        ret->computing++;
        share = share_of(ret, layer_info_precision(layer, NULL));
        share->layers++;
        share->time += times && !isnan(times[i]) ? times[i] : 0;
    }
    if (ret->count > 0)
        qsort(ret->items, ret->count, sizeof(*ret->items), compare_shares);
}

/* ---- Inputs and outputs ---- */

/* The tensor of that name among those of the layers, and whether it is an input or an output there. */
static const struct layer_info_tensor *find_tensor(const struct layer_info_tensors *tensors, const char *name)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (strcmp(tensors->items[i].name, name) == 0)
            return &tensors->items[i];
    return NULL;
}

/* Until TensorRT 10 the file lists the bindings without their direction: one that a layer produces is an output, others
 * are inputs. */
static struct layer_info_binding resolve_binding(const struct layer_info *info,
                                                 const struct layer_info_binding *binding)
{
    struct layer_info_binding ret = *binding;

    if (binding->mode != LAYER_INFO_MODE_UNKNOWN)
        return ret;
    for (size_t i = 0; i < info->layers.count; i++) {
        const struct layer_info_tensor *made = find_tensor(&info->layers.items[i].outputs, binding->tensor.name);
        const struct layer_info_tensor *read = find_tensor(&info->layers.items[i].inputs, binding->tensor.name);

        if (made)
            return (struct layer_info_binding){LAYER_INFO_OUTPUT, *made};
        if (read)
            ret = (struct layer_info_binding){LAYER_INFO_INPUT, *read};
    }
    return ret;
}

/* ---- Text ---- */

static void add_layer_tensor(struct string_builder *out, const struct layer_info_tensor *tensor)
{
    string_add(out, tensor->name);
    if (tensor->type == DATA_UNDEFINED && !tensor->has_dims && tensor->format[0] == '\0')
        return;
    string_add_format(out, " [dtype=%s", data_type_name(tensor->type));
    if (tensor->has_dims) {
        string_add(out, ", shape=(");
        for (size_t i = 0; i < tensor->rank; i++)
            string_add_format(out, "%s%" PRId64, i > 0 ? ", " : "", tensor->dims[i]);
        string_add(out, tensor->rank == 1 ? ",)" : ")");
    }
    /* A single word repeats the type. */
    if (strchr(tensor->format, ' ') || (tensor->type == DATA_UNDEFINED && tensor->format[0] != '\0'))
        string_add_format(out, ", format=%s", tensor->format);
    string_add_char(out, ']');
}

static void add_layer_tensors(struct string_builder *out, const struct layer_info_tensors *tensors,
                              const char *separator)
{
    string_add_char(out, '{');
    for (size_t i = 0; i < tensors->count; i++) {
        if (i > 0)
            string_add_format(out, ",\n%s", separator);
        add_layer_tensor(out, &tensors->items[i]);
    }
    string_add_char(out, '}');
}

static void add_bindings(struct string_builder *out, const struct layer_info *info, enum layer_info_mode mode,
                         const char *title)
{
    struct layer_info_tensors tensors SCOPED_ITEMS = {0};

    for (size_t i = 0; i < info->bindings.count; i++) {
        struct layer_info_binding binding = resolve_binding(info, &info->bindings.items[i]);

        if (binding.mode == mode)
            *VECTOR_APPEND(&tensors) = binding.tensor;
    }
    if (tensors.count > 0 || mode != LAYER_INFO_MODE_UNKNOWN) {
        string_add_format(out, "\n---- %zu %s ----\n", tensors.count, title);
        add_layer_tensors(out, &tensors, " ");
        string_add_char(out, '\n');
    }
}

static void add_trt_nodes(struct string_builder *out, const struct layer_info_layer *layer)
{
    if (!layer->nodes.told || layer->nodes.count == 0)
        return;
    string_add(out, "    Nodes: ");
    for (size_t i = 0; i < layer->nodes.count; i++)
        string_add_format(out, "%s%s", i > 0 ? ", " : "", layer->nodes.items[i]);
    string_add_char(out, '\n');
}

static void add_tactic(struct string_builder *out, const struct layer_info_layer *layer)
{
    if (!layer->tactic_name && !layer->has_tactic)
        return;
    string_add_format(out, "    Tactic: %s", layer->tactic_name ? layer->tactic_name : "");
    if (layer->has_tactic)
        string_add_format(out, layer->tactic_name ? " (0x%016" PRIx64 ")" : "0x%016" PRIx64, (uint64_t)layer->tactic);
    string_add_char(out, '\n');
}

static void add_trt_layer(struct string_builder *out, const struct layer_info_layer *layer, size_t index)
{
    bool from_kernel;
    const char *precision = layer_info_precision(layer, &from_kernel);

    string_add_format(out, "Layer %-4zu | %s", index, layer->name);
    if (layer->type)
        string_add_format(out, " [Type: %s, Precision: %s%s]", layer->type, precision ? precision : "not known",
                          from_kernel ? ", by its kernel's name" : "");
    string_add_char(out, '\n');
    add_tactic(out, layer);
    add_trt_nodes(out, layer);
    if (!layer->type)
        return;
    string_add(out, "    ");
    add_layer_tensors(out, &layer->inputs, "     ");
    string_add(out, "\n     -> ");
    add_layer_tensors(out, &layer->outputs, "         ");
    string_add_char(out, '\n');
}

static void add_trt_layers(struct string_builder *out, const struct trt_engine_view *view, double *times)
{
    const struct layer_info *info = view->info;
    double sum = sum_of(times, info->layers.count);
    size_t *order SCOPED_FREE = order_of(info, times);
    char number[NUMBER_TEXT_SIZE];

    for (size_t i = 0; i < info->layers.count; i++) {
        size_t index = order[i];

        add_trt_layer(out, &info->layers.items[index], index);
        if (times && !isnan(times[index]))
            string_add_format(out, "    Time: %s ms, %.1f %%\n", number_to_text_short(times[index], number),
                              sum > 0 ? 100 * times[index] / sum : 0);
    }
}

static void add_precisions(struct string_builder *out, const struct layer_info *info, const double *times)
{
    struct precision_shares shares SCOPED_ITEMS = {0};
    double sum = sum_of(times, info->layers.count);
    bool detailed = false;

    for (size_t i = 0; i < info->layers.count; i++)
        detailed |= info->layers.items[i].type != NULL;
    if (!detailed) {
        string_add(out, info->layers.count == 0
                            ? ""
                            : "\nPrecisions are not known: build the engine with --profiling-verbosity=detailed to get "
                              "more than the names of layers.\n");
        return;
    }
    count_precisions(info, times, &shares);
    string_add_format(out, "\nPrecision of the %zu layer(s) that compute: %s", shares.computing,
                      shares.computing == 0 ? "none" : "");
    for (size_t i = 0; i < shares.count; i++) {
        const struct precision_share *share = &shares.items[i];

        string_add_format(out, "%s%zu %s", i > 0 ? ", " : "", share->layers,
                          share->precision ? share->precision : "not known");
        if (sum > 0)
            string_add_format(out, " (%.1f %% of the time)", 100 * share->time / sum);
    }
    string_add_format(out, " | %zu more only move data\n", shares.moving);
}

void trt_engine_to_text(const struct trt_engine_view *view, struct string_builder *ret)
{
    double *times SCOPED_FREE = NULL;

    string_add(ret, "==== TensorRT Engine ====\n");
    if (view->header)
        string_add_format(ret, "Built by: TensorRT %u.%u.%u.%u\n", view->header->major, view->header->minor,
                          view->header->patch, view->header->build);
    if (!view->info)
        return;
    add_bindings(ret, view->info, LAYER_INFO_INPUT, "Engine Input(s)");
    add_bindings(ret, view->info, LAYER_INFO_OUTPUT, "Engine Output(s)");
    add_bindings(ret, view->info, LAYER_INFO_MODE_UNKNOWN, "Engine Input(s) or Output(s)");
    string_add_format(ret, "\n---- %zu Layer(s) ----\n", view->info->layers.count);
    times = times_of(view);
    if (view->layers)
        add_trt_layers(ret, view, times);
    add_precisions(ret, view->info, times);
}

/* ---- JSON ---- */

static void write_tensor(struct json_writer *writer, const struct layer_info_tensor *tensor)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", tensor->name);
    json_writer_add_string(writer, "dtype", tensor->type != DATA_UNDEFINED ? data_type_name(tensor->type) : NULL);
    json_writer_add_string(writer, "format", tensor->format[0] != '\0' ? tensor->format : NULL);
    json_writer_key(writer, "shape");
    if (tensor->has_dims) {
        json_writer_integers(writer, tensor->dims, tensor->rank);
    } else {
        json_writer_null(writer);
    }
    json_writer_end_object(writer);
}

static void write_tensors(struct json_writer *writer, const char *key, const struct layer_info_tensors *tensors)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < tensors->count; i++)
        write_tensor(writer, &tensors->items[i]);
    json_writer_end_array(writer);
}

static void write_bindings(struct json_writer *writer, const char *key, const struct layer_info *info,
                           enum layer_info_mode mode)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < info->bindings.count; i++) {
        struct layer_info_binding binding = resolve_binding(info, &info->bindings.items[i]);

        if (binding.mode == mode)
            write_tensor(writer, &binding.tensor);
    }
    json_writer_end_array(writer);
}

static void write_trt_layer(struct json_writer *writer, const struct layer_info_layer *layer, const double *time)
{
    char tactic[24];
    bool from_kernel;
    const char *precision = layer_info_precision(layer, &from_kernel);

    snprintf(tactic, sizeof(tactic), "0x%016" PRIx64, (uint64_t)layer->tactic);
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", layer->name);
    json_writer_add_string(writer, "type", layer->type);
    json_writer_add_string(writer, "precision", precision);
    json_writer_add_string(writer, "precision_told_by", !precision ? NULL : from_kernel ? "kernel" : "outputs");
    json_writer_add_string(writer, "tactic_name", layer->tactic_name);
    json_writer_add_string(writer, "tactic", layer->has_tactic ? tactic : NULL);
    if (time && !isnan(*time))
        json_writer_add_number(writer, "milliseconds", *time);
    json_writer_begin_array_member(writer, "nodes");
    for (size_t i = 0; layer->nodes.told && i < layer->nodes.count; i++)
        json_writer_string(writer, layer->nodes.items[i]);
    json_writer_end_array(writer);
    write_tensors(writer, "inputs", &layer->inputs);
    write_tensors(writer, "outputs", &layer->outputs);
    json_writer_end_object(writer);
}

static void write_info(struct json_writer *writer, const struct trt_engine_view *view)
{
    const struct layer_info *info = view->info;
    double *times SCOPED_FREE = times_of(view);
    struct precision_shares shares SCOPED_ITEMS = {0};

    write_bindings(writer, "inputs", info, LAYER_INFO_INPUT);
    write_bindings(writer, "outputs", info, LAYER_INFO_OUTPUT);
    count_precisions(info, times, &shares);
    json_writer_begin_array_member(writer, "precisions");
    for (size_t i = 0; i < shares.count; i++) {
        json_writer_begin_object(writer);
        json_writer_add_string(writer, "precision", shares.items[i].precision);
        json_writer_add_count(writer, "layers", shares.items[i].layers);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
    json_writer_begin_array_member(writer, "layers");
    for (size_t i = 0; i < info->layers.count; i++)
        write_trt_layer(writer, &info->layers.items[i], times ? &times[i] : NULL);
    json_writer_end_array(writer);
}

int trt_engine_save(const struct trt_engine_view *view, const char *path, struct error *err)
{
    struct json_writer writer;
    char version[64];
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    if (view->header) {
        snprintf(version, sizeof(version), "%u.%u.%u.%u", view->header->major, view->header->minor, view->header->patch,
                 view->header->build);
        json_writer_add_string(&writer, "tensorrt_version", version);
    }
    if (view->info)
        write_info(&writer, view);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}
