/* backend/tensorrt/cuda.c: see cuda.h.
 *
 * TensorRT's streams and pointers are those of the driver's primary context, which all releases of the runtime share:
 * any release of libcudart does.
 */
#include "backend/tensorrt/cuda.h"

#include <limits.h>
#include <stdint.h>

#include "backend/tensorrt/search.h"
#include "base/system.h"

static struct {
    bool is_started;
    int (*count_devices)(int *count);
    int (*allocate)(void **memory, size_t size);
    int (*release)(void *memory);
    int (*set_device)(int device);
    int (*copy)(void *to, const void *from, size_t size, int direction, void *stream);
    int (*make_stream)(void **stream);
    int (*remove_stream)(void *stream);
    int (*wait)(void *stream);
    int (*last_error)(void);
    const char *(*error_text)(int error);
} cuda;

static bool take_symbols(void *handle)
{
    return system_find_function(handle, "cudaGetDeviceCount", &cuda.count_devices) &&
           system_find_function(handle, "cudaSetDevice", &cuda.set_device) &&
           system_find_function(handle, "cudaMalloc", &cuda.allocate) &&
           system_find_function(handle, "cudaFree", &cuda.release) &&
           system_find_function(handle, "cudaMemcpyAsync", &cuda.copy) &&
           system_find_function(handle, "cudaStreamCreate", &cuda.make_stream) &&
           system_find_function(handle, "cudaStreamDestroy", &cuda.remove_stream) &&
           system_find_function(handle, "cudaStreamSynchronize", &cuda.wait) &&
           system_find_function(handle, "cudaGetLastError", &cuda.last_error) &&
           system_find_function(handle, "cudaGetErrorString", &cuda.error_text);
}

static int check_cuda(int status, const char *what, struct error *err)
{
    int code;

    if (status == 0)
        return 0;
    cuda.last_error(); /* which the next call would report again */
    code = error_set(err, status == CUDA_OUT_OF_MEMORY ? ERR_DEVICE_MEMORY : ERR_BACKEND, "CUDA: %s: %s (error %d)",
                     what, cuda.error_text(status), status);
    if (err != NULL)
        err->foreign_code = status;
    return code;
}

int cuda_start(const char *library, struct error *err)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so",
                                        NULL};
    SCOPED_ARENA(arena);
    void *handle;
    int count = 0, status;

    if (cuda.is_started)
        return 0;
    handle = tensorrt_load_companion(library, names, &arena, NULL);
    if (handle == NULL || !take_symbols(handle))
        return error_set(err, ERR_MISSING,
                         "CUDA's runtime (libcudart.so.13, .12 or .11.0) was not found beside '%s', by the system's "
                         "loader or in Python's packages: install it",
                         library);
    status = cuda.count_devices(&count);
    if (status != 0 || count < 1) {
        if (status == 0)
            return error_set(err, ERR_MISSING, "no NVIDIA GPU answers: CUDA finds no device");
        return error_set(err, ERR_MISSING, "no NVIDIA GPU answers: %s (CUDA error %d)", cuda.error_text(status),
                         status);
    }
    cuda.is_started = true;
    return 0;
}

int cuda_use_device(const char *library, int64_t device, struct error *err)
{
    int count = 0, rc = cuda_start(library, err);

    if (rc < 0)
        return rc;
    if (device < 0 || device > INT_MAX || cuda.count_devices(&count) != 0 || device >= count)
        return error_set(err, ERR_INVALID, "--device: there is no GPU %lld; CUDA finds %d, numbered from 0",
                         (long long)device, count);
    return check_cuda(cuda.set_device((int)device), "cannot use the GPU of --device", err);
}

int cuda_allocate(size_t size, void **ret, struct error *err)
{
    int status = cuda.allocate(ret, size > 0 ? size : 1); /* TensorRT takes no NULL, also for empty tensors */

    if (status != CUDA_OUT_OF_MEMORY)
        return check_cuda(status, "cannot allocate device memory", err);
    cuda.last_error();
    error_set(err, ERR_DEVICE_MEMORY, "the GPU is out of memory: it has too little for a tensor of %zu bytes", size);
    if (err != NULL)
        err->foreign_code = CUDA_OUT_OF_MEMORY;
    return ERR_DEVICE_MEMORY;
}

void cuda_free(void *memory)
{
    if (memory != NULL)
        cuda.release(memory);
}

int cuda_copy(void *to, const void *from, size_t size, enum cuda_direction direction, void *stream, struct error *err)
{
    return size == 0 ? 0 : check_cuda(cuda.copy(to, from, size, (int)direction, stream), "cannot copy a tensor", err);
}

int cuda_make_stream(void **ret, struct error *err)
{
    return check_cuda(cuda.make_stream(ret), "cannot create a stream", err);
}

void cuda_remove_stream(void *stream)
{
    if (stream != NULL)
        cuda.remove_stream(stream);
}

int cuda_wait(void *stream, struct error *err)
{
    return check_cuda(cuda.wait(stream), "the GPU failed at inference", err);
}
