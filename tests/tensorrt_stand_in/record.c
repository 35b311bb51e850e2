/* tests/tensorrt_stand_in/record.c: what a build was asked for, as lines of text for tests to look at.
 *
 * A line is a class of settings, and names and values out of this library's own tables: "flag kFP16", "pool kWORKSPACE
 * 1048576", "profile 0 x (1, 3) (2, 3) (4, 3)", "precision conv1 float32". What is at its default is left out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tensorrt_stand_in/network.h"

/* Each bit that is set, by its name. */
static void record_bits(FILE *file, const char *line, const char *type, uint32_t bits)
{
    for (int32_t i = 0; i < 32; i++)
        if ((bits >> i & 1) != 0)
            fprintf(file, "%s %s\n", line, enum_name(type, i) != NULL ? enum_name(type, i) : "unknown");
}

static void record_number(FILE *file, const char *line, int32_t value, int32_t otherwise)
{
    if (value != otherwise)
        fprintf(file, "%s %d\n", line, value);
}

static void record_name(FILE *file, const char *line, const char *type, int32_t value)
{
    if (value != 0)
        fprintf(file, "%s %s\n", line, enum_name(type, value) != NULL ? enum_name(type, value) : "unknown");
}

static void record_numbers(FILE *file, const struct stand_in_config *config)
{
    const int32_t *numbers = config->numbers;

    record_bits(file, "flag", "BuilderFlag", config->flags);
    record_number(file, "average timing iterations", numbers[CONFIG_AVERAGE_TIMING], 1);
    record_number(file, "optimization level", numbers[CONFIG_OPTIMIZATION_LEVEL], 3);
    record_number(file, "DLA core", numbers[CONFIG_DLA_CORE], -1);
    record_number(file, "auxiliary streams", numbers[CONFIG_AUXILIARY_STREAMS], -1);
    record_number(file, "most tactics", numbers[CONFIG_MOST_TACTICS], 0);
    record_number(file, "compute capabilities", numbers[CONFIG_COMPUTE_CAPABILITIES], 0);
    record_number(file, "last compute capability", numbers[CONFIG_LAST_CAPABILITY], 0);
    record_name(file, "capability", "EngineCapability", numbers[CONFIG_CAPABILITY]);
    record_name(file, "device", "DeviceType", numbers[CONFIG_DEVICE_TYPE]);
    record_name(file, "verbosity", "ProfilingVerbosity", numbers[CONFIG_VERBOSITY]);
    record_name(file, "hardware", "HardwareCompatibilityLevel", numbers[CONFIG_HARDWARE_COMPATIBILITY]);
    record_name(file, "platform", "RuntimePlatform", numbers[CONFIG_PLATFORM]);
    record_name(file, "tiling", "TilingOptimizationLevel", numbers[CONFIG_TILING_LEVEL]);
    record_bits(file, "quantization", "QuantizationFlag", (uint32_t)numbers[CONFIG_QUANTIZATION_FLAGS]);
    record_bits(file, "source", "TacticSource", (uint32_t)numbers[CONFIG_TACTIC_SOURCES]);
}

static void record_config(FILE *file, const struct stand_in_config *config)
{
    record_numbers(file, config);
    for (int32_t i = 0; i < MEMORY_POOLS; i++)
        if (config->pools[i] != (i == 0 ? (size_t)1 << 34 : 0))
            fprintf(file, "pool %s %zu\n", enum_name("MemoryPoolType", i), config->pools[i]);
    for (int32_t i = 0; i < PREVIEW_FEATURES; i++)
        if (config->preview[i])
            fprintf(file, "preview %s\n", enum_name("PreviewFeature", i));
    if (config->build_route[0] != '\0')
        fprintf(file, "route %s\n", config->build_route);
    for (size_t i = 0; i < config->plugins.count; i++)
        fprintf(file, "plugin %s\n", config->plugins.items[i]);
    if (config->calibrator != NULL)
        fprintf(file, "calibrator\n");
    if (config->selector != NULL)
        fprintf(file, "selector\n");
    if (config->timing_cache != NULL)
        fprintf(file, "timing cache\n");
}

static void record_profile(FILE *file, size_t number, const struct profile_entry *entry)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < PROFILE_PARTS; i++) {
        string_add_char(&text, ' ');
        if (entry->has_values)
            shape_to_text(&(struct shape){.rank = 0}, &text);
        else
            shape_to_text(&entry->shapes[i], &text);
        for (size_t k = 0; entry->has_values && k < entry->value_count; k++)
            string_add_format(&text, " %lld", (long long)entry->values[i][k]);
    }
    fprintf(file, "%s %zu %s%s\n", entry->has_values ? "values" : "profile", number, entry->name, text.data);
}

static void record_tensors(FILE *file, const char *line, const struct tensor_objects *tensors)
{
    for (size_t i = 0; i < tensors->count; i++) {
        const struct stand_in_tensor *tensor = tensors->items[i];

        fprintf(file, "%s %s %s", line, tensor->name, data_type_name(tensor->type));
        fprintf(file, tensor->formats != 1 ? " formats %x\n" : "\n", tensor->formats);
    }
}

static void record_network(FILE *file, const struct stand_in_network *network)
{
    record_bits(file, "network flag", "NetworkDefinitionCreationFlag", network->flags);
    record_tensors(file, "input", &network->inputs);
    record_tensors(file, "output", &network->outputs);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct stand_in_layer *layer = network->layers.items[i];

        if (layer->attention != NULL && layer->attention->decomposable)
            fprintf(file, "decomposable %s\n", layer->name);
        if (layer->precision != DATA_UNDEFINED)
            fprintf(file, "precision %s %s\n", layer->name, data_type_name(layer->precision));
        if (layer->output_types[0] != DATA_UNDEFINED)
            fprintf(file, "output type %s %s\n", layer->name, data_type_name(layer->output_types[0]));
    }
    for (size_t i = 0; network->model != NULL && i < network->model->values.count; i++)
        if (network->tensors[i] != NULL && network->tensors[i]->is_debug)
            fprintf(file, "debug %s\n", network->tensors[i]->name);
    if (network->unfused_are_debug)
        fprintf(file, "debug unfused\n");
}

void record_line(const char *line)
{
    const char *path = getenv("TENSORRT_STAND_IN_RECORD");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "%s\n", line);
    fclose(file);
}

void record_build(const struct stand_in_network *network, const struct stand_in_config *config)
{
    const char *path = getenv("TENSORRT_STAND_IN_RECORD");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "build %s\n", release_get()->name);
    record_network(file, network);
    record_config(file, config);
    for (size_t i = 0; i < config->profiles.count; i++)
        for (size_t k = 0; k < config->profiles.items[i]->entries.count; k++)
            record_profile(file, i, &config->profiles.items[i]->entries.items[k]);
    fclose(file);
}
