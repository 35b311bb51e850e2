/* backend/onnxrt/provider_packages.c: see provider_packages.h.
 *
 * The names are those of the packages on PyPI in November 2026: onnxruntime-ep-openvino 1.8.1, onnxruntime-ep-webgpu
 * 0.4.0, onnxruntime-ep-nv-tensorrt-rtx-cu13 0.5.0, onnxruntime-qnn 2.7.0. */
#include "backend/onnxrt/provider_packages.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file/file.h"
#include "base/file/python_packages.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

static const struct provider_package packages[] = {
    {"openvino", "OpenVINOExecutionProvider", "onnxruntime-ep-openvino", "libonnxruntime_providers_openvino_plugin.so",
     NULL, "a CPU, GPU or NPU of Intel"},
    {"webgpu", "WebGpuExecutionProvider", "onnxruntime-ep-webgpu", "libonnxruntime_providers_webgpu.so", NULL,
     "a GPU with Vulkan"},
    {"nv-tensorrt-rtx", "NvTensorRTRTXExecutionProvider", "onnxruntime-ep-nv-tensorrt-rtx",
     "libonnxruntime_providers_nv_tensorrt_rtx.so", "libcudart.so.*", "a GPU of NVIDIA"},
    {"qnn", "QNNExecutionProvider", "onnxruntime-qnn", "libonnxruntime_providers_qnn.so", NULL,
     "an NPU of Qualcomm, or its simulation"},
};

const struct provider_package *provider_package_find(const char *typed)
{
    for (size_t i = 0; i < ARRAY_LEN(packages); i++)
        if (strcasecmp(packages[i].name, typed) == 0 || strcasecmp(packages[i].provider, typed) == 0)
            return &packages[i];
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

void provider_package_load_before(const struct provider_package *package, const char *path)
{
    char *folder = file_folder(path), *before = NULL;

    if (package->before != NULL)
        before = python_packages_find(&(struct file_list){.items = &folder, .count = 1}, package->before);
    if (before != NULL)
        dlopen(before, RTLD_NOW | RTLD_GLOBAL);
    free(before);
    free(folder);
}

const char *provider_package_needs(const char *path)
{
    const char *name = strrchr(path, '/');

    for (size_t i = 0; i < ARRAY_LEN(packages); i++)
        if (strncmp(name != NULL ? name + 1 : path, packages[i].library, strlen(packages[i].library)) == 0)
            return packages[i].needs;
    return NULL;
}
