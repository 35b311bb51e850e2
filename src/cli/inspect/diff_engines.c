/* cli/inspect/diff_engines.c: the differences between two engines of one model. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/inspect/engine_layers.h"
#include "cli/options/groups.h"
#include "format/json/writer.h"
#include "format/tensorrt/layer_diff.h"

#define LEADING_DIFFERENCES 20 /* maximum number of differences of one kind that are shown without -v */

struct diff_engines_settings {
    struct common_settings common;
    struct json_values json;

    /* its own */
    const char *first, *second;
};

#define ROW(member, ...) OPTION_ROW(struct diff_engines_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(first, .names = {"engine_a"}, .kind = OPTION_ONE, .file = OPTION_READS, .extensions = "engine plan json",
        .help = "an engine: a file of `polygraphy convert`, a TensorRT engine, or its layer information, written by "
                "--save-layer-info or trtexec --exportLayerInfo"),
    ROW(second, .names = {"engine_b"}, .kind = OPTION_ONE, .file = OPTION_READS, .extensions = "engine plan json",
        .help = "another engine of the same model"),
};

static const struct option_group diff_engines_options = {
    .title = "Engines",
    OPTION_ROWS(options),
};

struct engine_comparison {
    struct layer_info a, b;
    struct layer_diff diff;
};

static const struct layer_info_layer *layer_of_a(const struct engine_comparison *comparison,
                                                 const struct layer_pair *pair)
{
    return &comparison->a.layers.items[pair->a];
}

static const struct layer_info_layer *layer_of_b(const struct engine_comparison *comparison,
                                                 const struct layer_pair *pair)
{
    return &comparison->b.layers.items[pair->b];
}

/* ---- Text ---- */

static void add_layer_names(struct string_builder *out, const struct layer_info *info,
                            const struct layer_indices *layers)
{
    for (size_t i = 0; i < layers->count; i++)
        string_add_format(out, "%s%s", i > 0 ? ", " : "", info->layers.items[layers->items[i]].name);
    if (layers->count == 0)
        string_add(out, "no layer");
}

static const char *precision_of(const struct layer_info_layer *layer)
{
    const char *precision = layer_info_precision(layer, NULL);

    return precision ? precision : "not in the engine";
}

/* "int8 -> float16": the precision in which the layer computes, and the type that it stores. */
static void add_types(struct string_builder *out, const struct layer_info_layer *layer)
{
    string_add_format(out, "%s (", precision_of(layer));
    for (size_t i = 0; i < layer->inputs.count; i++)
        string_add_format(out, "%s%s", i > 0 ? ", " : "", data_type_name(layer->inputs.items[i].type));
    string_add(out, " -> ");
    for (size_t i = 0; i < layer->outputs.count; i++)
        string_add_format(out, "%s%s", i > 0 ? ", " : "", data_type_name(layer->outputs.items[i].type));
    string_add_char(out, ')');
}

static void add_formats(struct string_builder *out, const struct layer_info_layer *layer)
{
    for (size_t i = 0; i < layer->inputs.count; i++)
        string_add_format(out, "%s%s", i > 0 ? ", " : "", layer->inputs.items[i].format);
    string_add(out, " -> ");
    for (size_t i = 0; i < layer->outputs.count; i++)
        string_add_format(out, "%s%s", i > 0 ? ", " : "", layer->outputs.items[i].format);
}

static void add_implementation(struct string_builder *out, const struct layer_info_layer *layer)
{
    string_add(out, layer->type);
    if (layer->tactic_name)
        string_add_format(out, " %s", layer->tactic_name);
    if (layer->has_tactic)
        string_add_format(out, " (0x%016" PRIx64 ")", (uint64_t)layer->tactic);
}

/* A kind of difference between layers of the same nodes. */
struct difference {
    const char *title;
    const char *key; /* in JSON */
    bool (*has)(const struct layer_pair *pair);
    void (*add)(struct string_builder *out, const struct layer_info_layer *layer);
};

static bool is_typed(const struct layer_pair *pair)
{
    return pair->typed;
}

static bool is_stored(const struct layer_pair *pair)
{
    return pair->stored;
}

static bool is_implemented(const struct layer_pair *pair)
{
    return pair->implemented;
}

static const struct difference differences[] = {
    {"Typed differently", "typed_differently", is_typed, add_types},
    {"Stored in other formats", "stored_differently", is_stored, add_formats},
    {"Implemented differently", "implemented_differently", is_implemented, add_implementation},
};

static bool is_shown(size_t index, const struct log *log)
{
    return index < LEADING_DIFFERENCES || log_shows(log, LOG_VERBOSE);
}

static void log_rest(struct log *log, size_t count)
{
    if (count > LEADING_DIFFERENCES && !log_shows(log, LOG_VERBOSE))
        log_message(log, LOG_INFO, "    %zu more; -v shows them.", count - LEADING_DIFFERENCES);
}

static void log_fusions(const struct engine_comparison *comparison, struct log *log)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < comparison->diff.fusions.count && is_shown(i, log); i++) {
        const struct layer_fusion *fusion = &comparison->diff.fusions.items[i];

        string_add(&text, "\n    A: ");
        add_layer_names(&text, &comparison->a, &fusion->a);
        string_add(&text, "\n    B: ");
        add_layer_names(&text, &comparison->b, &fusion->b);
    }
    if (comparison->diff.fusions.count > 0)
        log_message(log, LOG_INFO, "Fused differently: %zu group(s) of layers%s", comparison->diff.fusions.count,
                    text.data);
    log_rest(log, comparison->diff.fusions.count);
}

/* A change of precision, and the number of layers with it. */
struct change {
    const char *from, *to;
    size_t count;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *left = a, *right = b;

    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    if (strcmp(left->from, right->from) != 0)
        return strcmp(left->from, right->from);
    return strcmp(left->to, right->to);
}

/* "21 tf32 -> float16, 5 float32 -> float16". There are few precisions, so a linear search suffices. */
static void log_changes(const struct engine_comparison *comparison, struct log *log)
{
    struct {
        struct change *items;
        size_t count, capacity;
    } changes = {0};
    SCOPED_STRING(text);

    VECTOR_EACH (const struct layer_pair, pair, comparison->diff.pairs) {
        const char *from = precision_of(layer_of_a(comparison, pair)), *to = precision_of(layer_of_b(comparison, pair));
        size_t k = 0;

        if (!pair->compared || strcmp(from, to) == 0)
            continue;
        while (k < changes.count && (strcmp(changes.items[k].from, from) != 0 || strcmp(changes.items[k].to, to) != 0))
            k++;
        if (k == changes.count)
            *VECTOR_APPEND(&changes) = (struct change){from, to, 0};
        changes.items[k].count++;
    }
    if (changes.count > 0)
        qsort(changes.items, changes.count, sizeof(*changes.items), compare_changes);
    for (size_t i = 0; i < changes.count; i++)
        string_add_format(&text, "%s%zu from %s to %s", i > 0 ? ", " : "", changes.items[i].count,
                          changes.items[i].from, changes.items[i].to);
    if (changes.count > 0)
        log_message(log, LOG_INFO, "Precision of A and B: %s", text.data);
    free(changes.items);
}

static void log_difference(const struct engine_comparison *comparison, const struct difference *difference,
                           struct log *log)
{
    SCOPED_STRING(text);
    size_t found = 0;

    VECTOR_EACH (const struct layer_pair, pair, comparison->diff.pairs) {
        if (!difference->has(pair) || !is_shown(found++, log))
            continue;
        string_add_format(&text, "\n    %s\n        A: ", layer_of_a(comparison, pair)->name);
        difference->add(&text, layer_of_a(comparison, pair));
        string_add(&text, "\n        B: ");
        difference->add(&text, layer_of_b(comparison, pair));
    }
    if (found > 0)
        log_message(log, LOG_INFO, "%s: %zu layer(s)%s", difference->title, found, text.data);
    log_rest(log, found);
}

static void log_only_in(const struct layer_info *info, const struct layer_indices *layers, const char *which,
                        struct log *log)
{
    SCOPED_STRING(text);

    if (layers->count == 0)
        return;
    for (size_t i = 0; i < layers->count && is_shown(i, log); i++)
        string_add_format(&text, "\n    %s", info->layers.items[layers->items[i]].name);
    log_message(log, LOG_INFO, "Only in %s: %zu layer(s)%s", which, layers->count, text.data);
    log_rest(log, layers->count);
}

static void log_summary(const struct engine_comparison *comparison, struct log *log)
{
    const struct layer_diff *diff = &comparison->diff;

    log_message(log, LOG_INFO,
                "%zu of %zu and %zu layer(s) contain the same nodes: of these %zu are typed, %zu stored and %zu "
                "implemented differently",
                diff->pairs.count, comparison->a.layers.count, comparison->b.layers.count, diff->typed, diff->stored,
                diff->implemented);
    if (diff->pairs.count == 0)
        log_message(log, LOG_WARNING,
                    "No two layers contain the same nodes: the engines are probably of different models");
    else if (diff->compared < diff->pairs.count)
        log_message(log, LOG_WARNING,
                    "%zu layer(s) were compared by name only, because an engine has no other layer information: build "
                    "it with --profiling-verbosity=detailed",
                    diff->pairs.count - diff->compared);
    else if (layer_diff_is_empty(diff))
        log_message(log, LOG_INFO, "No layer differs.");
}

static void show_differences(const struct engine_comparison *comparison, struct log *log)
{
    log_summary(comparison, log);
    log_changes(comparison, log);
    log_fusions(comparison, log);
    for (size_t i = 0; i < ARRAY_LEN(differences); i++)
        log_difference(comparison, &differences[i], log);
    log_only_in(&comparison->a, &comparison->diff.only_in_a, "A", log);
    log_only_in(&comparison->b, &comparison->diff.only_in_b, "B", log);
}

/* ---- JSON ---- */

static void write_indices(struct json_writer *writer, const char *key, const struct layer_info *info,
                          const struct layer_indices *layers)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < layers->count; i++)
        json_writer_string(writer, info->layers.items[layers->items[i]].name);
    json_writer_end_array(writer);
}

static void write_side(struct json_writer *writer, const char *key, const struct layer_info_layer *layer)
{
    const char *precision = layer_info_precision(layer, NULL);
    char tactic[24];

    snprintf(tactic, sizeof(tactic), "0x%016" PRIx64, (uint64_t)layer->tactic);
    json_writer_begin_object_member(writer, key);
    json_writer_add_string(writer, "name", layer->name);
    json_writer_add_string(writer, "precision", precision);
    if (layer->tactic_name)
        json_writer_add_string(writer, "tactic_name", layer->tactic_name);
    if (layer->has_tactic)
        json_writer_add_string(writer, "tactic", tactic);
    json_writer_end_object(writer);
}

static void write_pair(struct json_writer *writer, const struct engine_comparison *comparison,
                       const struct layer_pair *pair)
{
    json_writer_begin_object(writer);
    write_side(writer, "a", layer_of_a(comparison, pair));
    write_side(writer, "b", layer_of_b(comparison, pair));
    json_writer_add_boolean(writer, "compared", pair->compared);
    for (size_t i = 0; i < ARRAY_LEN(differences); i++)
        json_writer_add_boolean(writer, differences[i].key, differences[i].has(pair));
    json_writer_end_object(writer);
}

static int save_differences(const struct engine_comparison *comparison, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_begin_array_member(&writer, "layers");
    for (size_t i = 0; i < comparison->diff.pairs.count; i++)
        write_pair(&writer, comparison, &comparison->diff.pairs.items[i]);
    json_writer_end_array(&writer);
    json_writer_begin_array_member(&writer, "fused_differently");
    for (size_t i = 0; i < comparison->diff.fusions.count; i++) {
        json_writer_begin_object(&writer);
        write_indices(&writer, "a", &comparison->a, &comparison->diff.fusions.items[i].a);
        write_indices(&writer, "b", &comparison->b, &comparison->diff.fusions.items[i].b);
        json_writer_end_object(&writer);
    }
    json_writer_end_array(&writer);
    write_indices(&writer, "only_in_a", &comparison->a, &comparison->diff.only_in_a);
    write_indices(&writer, "only_in_b", &comparison->b, &comparison->diff.only_in_b);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}

static int diff_engines_run(const struct command_context *context, const struct diff_engines_settings *values,
                            struct error *err)
{
    const struct json_values *json = &values->json;
    struct engine_comparison comparison = {0};
    int rc = engine_layers_load(values->first, context->log, &comparison.a, err);

    if (rc < 0)
        goto done;
    rc = engine_layers_load(values->second, context->log, &comparison.b, err);
    if (rc < 0)
        goto done;
    layer_diff_make(&comparison.a, &comparison.b, &comparison.diff);
    log_message(context->log, LOG_INFO, "A: %s\nB: %s", values->first, values->second);
    show_differences(&comparison, context->log);
    rc = json->path ? save_differences(&comparison, json->path, err) : 0;
done:
    layer_diff_release(&comparison.diff);
    layer_info_release(&comparison.a);
    layer_info_release(&comparison.b);
    return rc;
}

DEFINE_COMMAND_RUN(diff_engines_run, struct diff_engines_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct diff_engines_settings, common.logging, logging_options),
    {&diff_engines_options, 0},
    COMMAND_GROUP(struct diff_engines_settings, json, json_options),
};

const struct command cmd_inspect_diff_engines = {
    .name = "diff-engines",
    .summary = "show the differences between two engines of one model",
    .description =
        "Compares two engines layer by layer: which nodes of the model were fused differently, and which layers have "
        "different computing or storage types, memory formats, or kernels. Layers are matched by their ONNX nodes, or "
        "by name if they have none, such as copies that TensorRT inserts.\n\nA TensorRT engine contains more than the "
        "names of layers only if it was built with --profiling-verbosity=detailed. Differences are not a failure: the "
        "exit code is 0.\n\n--json writes all pairs of \"layers\" with their differences, \"fused_differently\", and "
        "the layers of only one engine (\"only_in_a\", \"only_in_b\").",
    .example = "# a fast or correct build, and one that is slower or wrong\npolygraphy inspect diff-engines "
               "good/layers.json bad/layers.json",
    COMMAND_GROUPS(groups),
    COMMAND_RUN(diff_engines_run),
};
