/* backend/onnxrt/provider_devices.h: what a provider library says of its providers and of the devices that they can
 * use. */
#ifndef BACKEND_ONNXRT_PROVIDER_DEVICES_H
#define BACKEND_ONNXRT_PROVIDER_DEVICES_H

#include "backend/onnxrt/provider_libraries.h"
#include "backend/onnxrt/settings.h"
#include "base/container/arena.h"
#include "base/text/string_builder.h"

struct provider_device {
    const char *provider, *vendor;
    const char *version; /* of the provider; NULL: it does not say */
    const char *type;    /* "CPU", "GPU", "NPU" */
    const char *maker;   /* of the device */
    uint64_t maker_id, id;
    struct onnxrt_entries metadata; /* the provider's own of the device */
};

struct provider_device_list {
    const struct provider_device *items;
    size_t count;
};

/* Lists the devices of all providers of a library, those of one provider together. Memory comes from `arena`. */
void provider_devices_list(const struct onnxrt *ort, const struct provider_library *library, struct arena *arena,
                           struct provider_device_list *ret);

/* Why a library without a device is no use on this machine: "'x.so', registered as 'ours', has no provider for a device
 * of this machine (CPU of vendor 'AMD')", and what a published one needs. */
void provider_library_explain(const struct onnxrt *ort, const struct provider_library *library,
                              struct string_builder *ret);

/* What a device's provider says of itself under this key, "version" say; NULL: nothing. */
const char *provider_metadata_find(const struct onnxrt *ort, const struct ort_provider_device *device, const char *key);

#endif
