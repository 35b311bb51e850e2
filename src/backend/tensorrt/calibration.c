/* backend/tensorrt/calibration.c: see calibration.h. */
#include "backend/tensorrt/calibration.h"

#include <stdlib.h>
#include <string.h>

#include "backend/tensorrt/cuda.h"
#include "backend/tensorrt/feed.h"
#include "backend/tensorrt/profiles.h"
#include "base/file/file.h"
#include "base/memory.h"

/* ---- IInt8Calibrator ---- */

/* Networks have the batch among their dimensions. */
static int32_t get_batch_size(void *self)
{
    (void)self;
    return 1;
}

static int fail_sample(const struct tensorrt_calibration *calibration, const char *input, struct error *err)
{
    return error_context(err, "calibration: sample %zu of the input '%s'", calibration->next + 1, input);
}

/* The tensor of that name in the sample with this number; NULL: none. */
static const struct tensor *find_sample(const struct tensorrt_calibration *calibration, size_t sample, const char *name)
{
    const struct tensor_list *all = &calibration->samples->tensors;
    size_t each = all->count / calibration->samples->count;
    struct tensor_list one = {.items = all->items + sample * each, .count = each};
    const struct named_tensor *found = tensor_list_find(&one, text_of(name));

    return found != NULL ? &found->tensor : NULL;
}

static struct tensorrt_sample_input *find_input(const struct tensorrt_calibration *calibration, const char *name)
{
    for (size_t i = 0; i < calibration->count; i++)
        if (strcmp(calibration->inputs[i].io.name, name) == 0)
            return &calibration->inputs[i];
    return NULL;
}

/* TensorRT runs all samples with the shapes of the calibration profile. */
static int check_sample_shape(const struct tensorrt_calibration *calibration, const char *name,
                              const struct tensor *given, struct error *err)
{
    const struct tensor *first = find_sample(calibration, 0, name);

    return shape_equal(&first->shape, &given->shape)
               ? 0
               : error_set(err, ERR_INVALID, "it has another shape than the first sample, and calibration needs one");
}

static int copy_sample(struct tensorrt_calibration *calibration, const char *name, void **ret, struct error *err)
{
    struct tensorrt_sample_input *input = find_input(calibration, name);
    const struct tensor *given = input != NULL ? find_sample(calibration, calibration->next, name) : NULL;
    const struct tensor *tensor;

    if (given == NULL)
        return error_set(err, ERR_MISSING, "calibration: there are no data for the input '%s'", name);
    if (check_sample_shape(calibration, name, given, err) < 0 ||
        tensorrt_feed_fit(&input->io, given, &input->room, &tensor, err) < 0)
        return fail_sample(calibration, name, err);
    if (tensorrt_output_memory_reserve(&input->device, tensor->size, err) < 0 ||
        cuda_copy(input->device.memory, tensor->data, tensor->size, CUDA_TO_DEVICE, NULL, err) < 0 ||
        cuda_wait(NULL, err) < 0)
        return err->code;
    *ret = input->device.memory;
    return 0;
}

static bool get_batch(void *self, void **bindings, const char **names, int32_t count)
{
    struct tensorrt_calibration *calibration = self;

    if (calibration->next == calibration->samples->count)
        return false;
    for (int32_t i = 0; i < count; i++)
        if (copy_sample(calibration, names[i], &bindings[i], &calibration->failure) < 0)
            return false;
    calibration->next++;
    return true;
}

static const void *read_calibration_cache(void *self, size_t *size)
{
    const struct tensorrt_calibration *calibration = self;

    *size = calibration->cache_size;
    return calibration->cache;
}

static void write_calibration_cache(void *self, const void *cache, size_t size)
{
    struct tensorrt_calibration *calibration = self;

    string_clear(&calibration->written);
    string_add_text(&calibration->written, (struct text){cache, size});
}

static int32_t get_algorithm(void *self)
{
    return ((const struct tensorrt_calibration *)self)->algorithm;
}

static double get_quantile(void *self)
{
    return ((const struct tensorrt_calibration *)self)->quantile;
}

static double get_regression_cutoff(void *self)
{
    return ((const struct tensorrt_calibration *)self)->cutoff;
}

static const void *read_histogram_cache(void *self, size_t *size)
{
    (void)self;
    *size = 0;
    return NULL;
}

static void write_histogram_cache(void *self, const void *cache, size_t size)
{
    (void)self, (void)cache, (void)size;
}

#define CALIBRATOR_METHODS                                                                                             \
    TENSORRT_FUNCTION(get_batch_size), TENSORRT_FUNCTION(get_batch), TENSORRT_FUNCTION(read_calibration_cache),        \
        TENSORRT_FUNCTION(write_calibration_cache), TENSORRT_FUNCTION(get_algorithm)

/* What IInt8LegacyCalibrator adds; the others end before. */
#define LEGACY_METHODS                                                                                                 \
    TENSORRT_FUNCTION(get_quantile), TENSORRT_FUNCTION(get_regression_cutoff),                                         \
        TENSORRT_FUNCTION(read_histogram_cache), TENSORRT_FUNCTION(write_histogram_cache)

static void init_interface(struct tensorrt_calibration *calibration)
{
    static tensorrt_function *const plain[] = {CALIBRATOR_METHODS, TENSORRT_DESTRUCTORS, LEGACY_METHODS};
    static tensorrt_function *const versioned[] = {TENSORRT_VERSIONED, CALIBRATOR_METHODS, LEGACY_METHODS};
    static const char *const kinds[] = {[TENSORRT_LEGACY_CALIBRATION] = "IInt8Calibrator",
                                        [TENSORRT_ENTROPY_CALIBRATION] = "IInt8EntropyCalibrator",
                                        [TENSORRT_ENTROPY_CALIBRATION_2] = "IInt8EntropyCalibrator2",
                                        [TENSORRT_MINMAX_CALIBRATION] = "IInt8MinMaxCalibrator"};

    calibration->interface = (struct tensorrt_interface){.vtable = tensorrt_is_before(10) ? plain : versioned,
                                                         .kind = kinds[calibration->algorithm]};
}

/* ---- The network ---- */

static bool is_quantized(const struct tensorrt_network *network)
{
    int32_t count = TENSORRT_GET(VNetworkDefinition, getNbLayers, network->network);

    for (int32_t i = 0; i < count; i++) {
        const char *type = tensorrt_layer_type(TENSORRT_CALL(VNetworkDefinition, getLayer, network->network, i));

        if (strcmp(type, "QUANTIZE") == 0 || strcmp(type, "DEQUANTIZE") == 0)
            return true;
    }
    return false;
}

static void take_inputs(struct tensorrt_calibration *calibration, const struct tensorrt_network *network)
{
    int32_t count = TENSORRT_GET(VNetworkDefinition, getNbInputs, network->network);

    calibration->inputs = memory_alloc_zero((size_t)count + 1, sizeof(*calibration->inputs));
    for (int32_t i = 0; i < count; i++) {
        void *tensor = TENSORRT_CALL(VNetworkDefinition, getInput, network->network, i);
        union tensorrt_dims dims = TENSORRT_GET(VTensor, getDimensions, tensor);
        struct backend_io *io = &calibration->inputs[calibration->count++].io;

        io->name = (char *)(uintptr_t)TENSORRT_GET(VTensor, getName, tensor);
        io->type = tensorrt_type_from(TENSORRT_GET(VTensor, getType, tensor));
        io->has_shape = tensorrt_dims_get(&dims, &io->shape);
    }
}

/* The profile of the first sample, for TensorRT's run of the network. */
static int set_profile(struct tensorrt_calibration *calibration, const struct tensorrt_network *network, void *config,
                       struct error *err)
{
    struct tensorrt_shapes *items SCOPED_FREE = memory_alloc_zero(calibration->count + 1, sizeof(*items));
    struct tensorrt_profile profile = {.items = items};

    for (size_t i = 0; i < calibration->count; i++) {
        const char *name = calibration->inputs[i].io.name;
        const struct tensor *given = find_sample(calibration, 0, name);

        if (given != NULL)
            items[profile.count++] = (struct tensorrt_shapes){name, given->shape, given->shape, given->shape};
    }
    return tensorrt_profile_for_calibration(network, config, &profile, err);
}

int tensorrt_calibration_set(struct tensorrt_calibration *calibration, const struct tensorrt_network *network,
                             void *config, struct error *err)
{
    const struct tensorrt_settings *settings = network->settings;
    int rc = 0;

    if (is_quantized(network))
        return 0;
    *calibration = (struct tensorrt_calibration){.algorithm = (int32_t)settings->calibration_algorithm,
                                                 .quantile = settings->calibration_quantile,
                                                 .cutoff = settings->regression_cutoff,
                                                 .samples = settings->samples};
    init_interface(calibration);
    if (settings->calibration_cache != NULL)
        rc = file_read(settings->calibration_cache, SIZE_MAX, &calibration->cache, &calibration->cache_size, err);
    else if (settings->samples->count == 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "--int8: give a --calibration-cache that TensorRT has written, input data, or a model with "
                         "QuantizeLinear and DequantizeLinear nodes");
    if (rc < 0)
        return rc;
    if (calibration->cache == NULL) {
        take_inputs(calibration, network);
        rc = set_profile(calibration, network, config, err);
        if (settings->samples->are_generated)
            log_once(settings->log, LOG_WARNING,
                     "Int8 Calibration is using randomly generated input data.\n"
                     "This could negatively impact accuracy if the inference-time input data is dissimilar to the "
                     "randomly generated calibration data.\n"
                     "You may want to consider providing real data via the --load-inputs option.");
    }
    if (rc == 0)
        TENSORRT_CALL(VBuilderConfig, setInt8Calibrator, config, calibration);
    return rc;
}

void tensorrt_calibration_release(struct tensorrt_calibration *calibration)
{
    for (size_t i = 0; i < calibration->count; i++) {
        tensor_release(&calibration->inputs[i].room);
        tensorrt_output_memory_release(&calibration->inputs[i].device);
    }
    free(calibration->inputs);
    free(calibration->cache);
    string_release(&calibration->written);
    *calibration = (struct tensorrt_calibration){0};
}
