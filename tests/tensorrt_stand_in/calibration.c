/* tests/tensorrt_stand_in/calibration.c: data and caches of the program's calibrator. */
#include <stdlib.h>
#include <string.h>

#include "engine/precision/calibration.h"
#include "tensorrt_stand_in/network.h"

enum { MOST_INPUTS = 16 };

/* The shape with which calibration runs an input. */
static struct shape find_calibration_shape(const struct stand_in_config *config, const struct stand_in_tensor *input)
{
    const struct stand_in_profile *profile = config->calibration_profile;
    struct shape ret = input->shape;

    if (profile == NULL && config->profiles.count > 0)
        profile = config->profiles.items[0];
    for (size_t i = 0; profile != NULL && i < profile->entries.count; i++)
        if (strcmp(profile->entries.items[i].name, input->name) == 0 &&
            profile->entries.items[i].given[PROFILE_OPTIMUM])
            ret = profile->entries.items[i].shapes[PROFILE_OPTIMUM];
    return ret;
}

static void copy_batch(const struct stand_in_config *config, const struct stand_in_network *network,
                       void *const *bindings, struct tensor_list *ret)
{
    for (size_t i = 0; i < network->inputs.count; i++) {
        const struct stand_in_tensor *input = network->inputs.items[i];
        struct shape shape = find_calibration_shape(config, input);
        struct tensor tensor;

        if (tensor_allocate(input->type, &shape, &tensor, NULL) < 0)
            abort();
        memcpy(tensor_writable(&tensor), bindings[i], tensor.size);
        tensor_list_add(ret, text_of(input->name), &tensor);
    }
}

void read_calibration(const struct stand_in_config *config, const struct stand_in_network *network,
                      struct calibration *calibration, struct calibration_batches *ret)
{
    struct method_slot read = method_of_program(config->calibrator, "IInt8Calibrator", "readCalibrationCache");
    struct method_slot next = method_of_program(config->calibrator, "IInt8Calibrator", "getBatch");
    void *bindings[MOST_INPUTS] = {NULL};
    const char *names[MOST_INPUTS];
    struct error err = {0};
    const void *data;
    size_t size = 0;

    if (read.call == NULL || !config_has_flag(config, "kINT8"))
        return;
    data = ((const void *(*)(void *, size_t *))read.call)(config->calibrator, &size);
    if (data != NULL && calibration_parse(calibration, (struct span){data, size}, "calibration cache", &err) < 0)
        report(SEVERITY_WARNING, "%s", err.message);
    if (data != NULL)
        return;
    for (size_t i = 0; i < network->inputs.count && i < MOST_INPUTS; i++)
        names[i] = network->inputs.items[i]->name;
    while (((bool (*)(void *, void **, const char **, int32_t))next.call)(config->calibrator, bindings, names,
                                                                          (int32_t)network->inputs.count)) {
        struct tensor_list *batch = VECTOR_APPEND(ret);

        *batch = (struct tensor_list){0};
        copy_batch(config, network, bindings, batch);
    }
}

void write_calibration(const struct stand_in_config *config, const struct calibration *calibration)
{
    struct method_slot write = method_of_program(config->calibrator, "IInt8Calibrator", "writeCalibrationCache");
    SCOPED_STRING(cache);

    if (write.call != NULL && calibration_write(calibration, &cache, NULL) == 0)
        ((void (*)(void *, const void *, size_t))write.call)(config->calibrator, cache.data, cache.size);
}
