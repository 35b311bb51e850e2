/* backend/onnxrt/provider_devices.c: see provider_devices.h. */
#include "backend/onnxrt/provider_devices.h"

#include <string.h>

#include "backend/onnxrt/provider_packages.h"
#include "base/memory.h"

/* Of the runtime's numbers for kinds of hardware. */
static const char *name_hardware_type(const struct onnxrt *ort, const struct ort_hardware_device *hardware)
{
    static const char *const types[] = {"CPU", "GPU", "NPU"};
    int type = ort->api->hardware_type(hardware);

    return type >= 0 && type < (int)ARRAY_LEN(types) ? types[type] : "device";
}

/* The runtime's list: devices, each with a provider. */
struct hardware_list {
    const struct ort_provider_device *const *items;
    size_t count;
};

/* Each of them once, whatever providers it has. */
static void add_hardware(const struct onnxrt *ort, const struct hardware_list *devices, struct string_builder *ret)
{
    for (size_t i = 0; i < devices->count; i++) {
        const struct ort_hardware_device *hardware = ort->api->device_hardware(devices->items[i]);
        size_t first = 0;

        while (ort->api->device_hardware(devices->items[first]) != hardware)
            first++;
        if (first < i)
            continue;
        string_add_format(ret, "%s%s of vendor '%s'", i == 0 ? " (" : ", ", name_hardware_type(ort, hardware),
                          ort->api->hardware_vendor(hardware));
    }
    if (devices->count > 0)
        string_add_char(ret, ')');
}

void provider_library_explain(const struct onnxrt *ort, const struct provider_library *library,
                              struct string_builder *ret)
{
    struct hardware_list devices = {0};
    struct ort_status *status = ort->api->provider_devices(ort->env, &devices.items, &devices.count);
    const char *needs = provider_package_needs(library->path);

    string_add_format(ret, "'%s', registered as '%s', has no provider for a device of this machine", library->path,
                      library->name);
    if (status) {
        ort->api->release_status(status);
        return;
    }
    add_hardware(ort, &devices, ret);
    if (needs != NULL)
        string_add_format(ret, "; it needs %s", needs);
}

const char *provider_metadata_find(const struct onnxrt *ort, const struct ort_provider_device *device, const char *key)
{
    const char *const *keys, *const *values;
    size_t count = 0;

    ort->api->list_key_values(ort->api->device_metadata(device), &keys, &values, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return values[i];
    return NULL;
}

static struct onnxrt_entries copy_metadata(const struct onnxrt *ort, const struct ort_provider_device *device,
                                           struct arena *arena)
{
    const char *const *keys, *const *values;
    struct onnxrt_entry *items;
    size_t count = 0;

    ort->api->list_key_values(ort->api->device_metadata(device), &keys, &values, &count);
    items = arena_alloc_zero(arena, count, sizeof(*items));
    for (size_t i = 0; i < count; i++)
        items[i] = (struct onnxrt_entry){.key = arena_strdup(arena, keys[i]), .value = arena_strdup(arena, values[i])};
    return (struct onnxrt_entries){items, count};
}

static struct provider_device describe_device(const struct onnxrt *ort, const struct ort_provider_device *device,
                                              struct arena *arena)
{
    const struct ort_hardware_device *hardware = ort->api->device_hardware(device);
    const char *version = provider_metadata_find(ort, device, "version");

    return (struct provider_device){
        .provider = arena_strdup(arena, ort->api->device_provider(device)),
        .vendor = arena_strdup(arena, ort->api->device_vendor(device)),
        .version = version != NULL ? arena_strdup(arena, version) : NULL,
        .type = name_hardware_type(ort, hardware),
        .maker = arena_strdup(arena, ort->api->hardware_vendor(hardware)),
        .maker_id = ort->api->hardware_vendor_id(hardware),
        .id = ort->api->hardware_device_id(hardware),
        .metadata = copy_metadata(ort, device, arena),
    };
}

void provider_devices_list(const struct onnxrt *ort, const struct provider_library *library, struct arena *arena,
                           struct provider_device_list *ret)
{
    struct provider_device *items;
    size_t count = 0, at = 0;

    for (size_t i = 0; i < library->provider_count; i++)
        count += library->providers[i].device_count;
    items = arena_alloc_zero(arena, count, sizeof(*items));
    for (size_t i = 0; i < library->provider_count; i++)
        for (size_t k = 0; k < library->providers[i].device_count; k++)
            items[at++] = describe_device(ort, library->providers[i].devices[k], arena);
    *ret = (struct provider_device_list){items, count};
}
