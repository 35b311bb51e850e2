/* backend/onnxrt/provider_packages.h: the published packages with plug-in execution providers, and where their
 * libraries are installed. */
#ifndef BACKEND_ONNXRT_PROVIDER_PACKAGES_H
#define BACKEND_ONNXRT_PROVIDER_PACKAGES_H

#include <stddef.h>

struct provider_package {
    const char *name;       /* "openvino", after --providers */
    const char *provider;   /* "OpenVINOExecutionProvider" */
    const char *registered; /* as this its library is registered */
    const char *package;    /* pip's name of it */
    const char *library;    /* file name */
    const char *before;     /* pattern of a library next to it, which has to be loaded before; or NULL */
    const char *needs;      /* the devices that it accepts */
};

/* The package whose provider is asked for as `typed`, by its short or its long name, ignoring case; NULL: none. The
 * long name may be continued: "OpenVINOExecutionProvider.AUTO". */
const struct provider_package *provider_package_find(const char *typed);

/* The path of its library, malloc'd: of the first of Python's packages that has it (base/file/python_packages.h), or of
 * a folder node_modules in the working directory. NULL: it is not installed. */
char *provider_package_locate(const struct provider_package *package);

/* All of them. */
const struct provider_package *provider_packages_list(size_t *ret_count);

/* Loads what has to be loaded before the published library at `path`; nothing for other libraries. What does not load
 * is reported by the library itself. */
void provider_package_load_before(const char *path);

/* The devices that the published library at `path` accepts: "a CPU, GPU or NPU of Intel". NULL for other libraries. */
const char *provider_package_needs(const char *path);

#endif
