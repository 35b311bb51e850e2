/* backend/onnxrt/provider_packages.c: see provider_packages.h.
 *
 * The names are those of the packages on PyPI in November 2026: onnxruntime-ep-openvino 1.8.1, onnxruntime-ep-webgpu
 * 0.4.0, onnxruntime-ep-nv-tensorrt-rtx-cu13 0.5.0, onnxruntime-qnn 2.7.0. */
#include "backend/onnxrt/provider_packages.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>

#include "base/file/file.h"
#include "base/file/python_packages.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

/* QNN's provider has the name that its library is registered as. ONNX Runtime 1.30 is built with WebGPU's and has
 * registered that itself. */
static const struct provider_package packages[] = {
    {"openvino", "OpenVINOExecutionProvider", "openvino", "onnxruntime-ep-openvino",
     "libonnxruntime_providers_openvino_plugin.so", NULL, "a CPU, GPU or NPU of Intel"},
    {"webgpu", "WebGpuExecutionProvider", "webgpu", "onnxruntime-ep-webgpu", "libonnxruntime_providers_webgpu.so", NULL,
     "a GPU with Vulkan"},
    {"nv-tensorrt-rtx", "NvTensorRTRTXExecutionProvider", "nv-tensorrt-rtx", "onnxruntime-ep-nv-tensorrt-rtx",
     "libonnxruntime_providers_nv_tensorrt_rtx.so", "libcudart.so.*", "a GPU of NVIDIA"},
    {"qnn", "QNNExecutionProvider", "QNNExecutionProvider", "onnxruntime-qnn", "libonnxruntime_providers_qnn.so", NULL,
     "an NPU of Qualcomm, or its simulation"},
};

const struct provider_package *provider_package_find(const char *typed)
{
    for (size_t i = 0; i < ARRAY_LEN(packages); i++) {
        size_t size = strlen(packages[i].provider);

        if (strcasecmp(packages[i].name, typed) == 0 ||
            (strncasecmp(packages[i].provider, typed, size) == 0 && (typed[size] == '\0' || typed[size] == '.')))
            return &packages[i];
    }
    return NULL;
}

char *provider_package_locate(const struct provider_package *package)
{
    static char of_npm[] = "node_modules", of_scope[] = "node_modules/@*";
    char *node_modules[] = {of_npm, of_scope};
    const struct file_list modules = {.items = node_modules, .count = ARRAY_LEN(node_modules)};
    struct file_list folders SCOPED(file_list_release) = {0};
    SCOPED_STRING(pattern);
    char *ret;

    string_add_format(&pattern, "onnxruntime*/%s", package->library);
    python_packages_list(&folders);
    ret = python_packages_find(&folders, pattern.data);
    if (ret == NULL) {
        string_clear(&pattern);
        string_add_format(&pattern, "*/%s", package->library);
        ret = python_packages_find(&modules, pattern.data);
    }
    return ret;
}

const struct provider_package *provider_packages_list(size_t *ret_count)
{
    *ret_count = ARRAY_LEN(packages);
    return packages;
}

/* Of the file name, to which a version may be appended. */
static const struct provider_package *find_package_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < ARRAY_LEN(packages); i++)
        if (strncmp(name, packages[i].library, strlen(packages[i].library)) == 0)
            return &packages[i];
    return NULL;
}

void provider_package_load_before(const char *path)
{
    const struct provider_package *package = find_package_of(path);
    char *folder SCOPED_FREE = file_folder(path), *before SCOPED_FREE = NULL;

    if (package != NULL && package->before != NULL)
        before = file_find_matching(folder, package->before);
    if (before != NULL)
        dlopen(before, RTLD_NOW | RTLD_GLOBAL);
}

const char *provider_package_needs(const char *path)
{
    const struct provider_package *package = find_package_of(path);

    return package != NULL ? package->needs : NULL;
}
