/* backend/onnxrt/provider_libraries.h: plug-in execution providers: libraries that are registered with the runtime,
 * from release 1.22 on, and the devices that their providers can use.
 *
 *   rc = provider_library_register(ort, "ours", "./libours.so", &library, err);
 *   ... sessions with devices of library->providers ...
 *   provider_libraries_release();
 *
 * A library stays registered until the process ends: some cannot be loaded a second time.
 */
#ifndef BACKEND_ONNXRT_PROVIDER_LIBRARIES_H
#define BACKEND_ONNXRT_PROVIDER_LIBRARIES_H

#include "backend/onnxrt/library.h"

struct provider_library;

/* A provider of a library, which has at least one device. */
struct registered_provider {
    const struct provider_library *library;
    const char *name; /* chosen by the library, not by who registers it */
    const struct ort_provider_device **devices;
    size_t device_count;
};

struct provider_library {
    char *name, *path;
    struct registered_provider *providers; /* none when it can use no device of this machine */
    size_t provider_count;
};

/* Registers the library at `path` as `name`; gives the same as before when it is registered under that name.
 * ERR_MISSING when there is no such file, ERR_UNSUPPORTED when the runtime is too old, ERR_INVALID for another library
 * of the same name, and for what is no library of providers: the runtime's reason. */
int provider_library_register(const struct onnxrt *ort, const char *name, const char *path,
                              const struct provider_library **ret, struct error *err);

/* Unregisters all libraries, when this process has registered them: before the runtime's environment is released, which
 * crashes otherwise, and after the sessions that use them are closed. */
void provider_libraries_release(void);

#endif
