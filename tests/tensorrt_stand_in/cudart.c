/* tests/tensorrt_stand_in/cudart.c: the functions of CUDA's runtime that a program calls next to TensorRT, on the CPU.
 *
 * Memory of the device is memory of the process, filled with 0xdd when it is allocated. The environment variables are
 * those of stand_in.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUDA_SUCCESS = 0, CUDA_INVALID_VALUE = 1, CUDA_MEMORY_ALLOCATION = 2 };

#define EXPORT __attribute__((visibility("default")))
/* 16 GiB */
#define DEVICE_MEMORY ((size_t)1 << 34)

static size_t allocated;
static int device;

/* A function of CUDA's that takes what `parameters` says. */
#define CUDA_FUNCTION(name, parameters)                                                                                \
    EXPORT int name parameters;                                                                                        \
    EXPORT int name parameters

static int current_error(void)
{
    const char *number = getenv("CUDA_STAND_IN_ERROR");

    return number != NULL ? (int)strtol(number, NULL, 10) : CUDA_SUCCESS;
}

static size_t total_memory(void)
{
    const char *bytes = getenv("CUDA_STAND_IN_MEMORY");

    return bytes != NULL ? (size_t)strtoull(bytes, NULL, 10) : DEVICE_MEMORY;
}

static int count_devices(void)
{
    const char *count = getenv("CUDA_STAND_IN_DEVICES");

    return count != NULL ? (int)strtol(count, NULL, 10) : 1;
}

static int allocate_block(void **ret, size_t size)
{
    size_t *block;

    if (current_error() != CUDA_SUCCESS)
        return current_error();
    if (size > total_memory() - allocated || (block = malloc(size + 64)) == NULL)
        return CUDA_MEMORY_ALLOCATION;
    *block = size;
    allocated += size;
    *ret = (char *)block + 64;
    memset(*ret, 0xdd, size);
    return CUDA_SUCCESS;
}

static int free_block(void *pointer)
{
    if (pointer != NULL) {
        allocated -= *(size_t *)(void *)((char *)pointer - 64);
        free((char *)pointer - 64);
    }
    return current_error();
}

static void record_device(int number)
{
    const char *path = getenv("TENSORRT_STAND_IN_RECORD");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "GPU %d\n", number);
    fclose(file);
}

CUDA_FUNCTION(cudaGetDeviceCount, (int *ret))
{
    *ret = current_error() == CUDA_SUCCESS ? count_devices() : 0;
    return current_error();
}

CUDA_FUNCTION(cudaSetDevice, (int number))
{
    if (number < 0 || number >= count_devices())
        return 101; /* invalid device */
    if (number != device)
        record_device(number);
    device = number;
    return current_error();
}

CUDA_FUNCTION(cudaGetDevice, (int *ret))
{
    *ret = device;
    return current_error();
}

CUDA_FUNCTION(cudaDeviceGetAttribute, (int *ret, int attribute, int number))
{
    (void)number;
    *ret = attribute == 75 ? 9 : attribute == 76 ? 0 : 1; /* compute capability 9.0 */
    return current_error();
}

CUDA_FUNCTION(cudaDriverGetVersion, (int *ret))
{
    *ret = 13000;
    return CUDA_SUCCESS;
}

CUDA_FUNCTION(cudaRuntimeGetVersion, (int *ret))
{
    *ret = 13000;
    return CUDA_SUCCESS;
}

CUDA_FUNCTION(cudaGetLastError, (void))
{
    return current_error();
}

EXPORT const char *cudaGetErrorName(int error);
EXPORT const char *cudaGetErrorName(int error)
{
    return error == CUDA_SUCCESS             ? "cudaSuccess"
           : error == CUDA_MEMORY_ALLOCATION ? "cudaErrorMemoryAllocation"
           : error == 35                     ? "cudaErrorInsufficientDriver"
           : error == 100                    ? "cudaErrorNoDevice"
                                             : "cudaErrorUnknown";
}

EXPORT const char *cudaGetErrorString(int error);
EXPORT const char *cudaGetErrorString(int error)
{
    return error == CUDA_SUCCESS             ? "no error"
           : error == CUDA_MEMORY_ALLOCATION ? "out of memory"
           : error == 35                     ? "CUDA driver version is insufficient for CUDA runtime version"
           : error == 100                    ? "no CUDA-capable device is detected"
                                             : "unknown error";
}

CUDA_FUNCTION(cudaMemGetInfo, (size_t * ret_free, size_t *ret_total))
{
    *ret_total = total_memory();
    *ret_free = *ret_total - allocated;
    return current_error();
}

CUDA_FUNCTION(cudaMalloc, (void **ret, size_t size))
{
    return allocate_block(ret, size);
}

CUDA_FUNCTION(cudaFree, (void *pointer))
{
    return free_block(pointer);
}

CUDA_FUNCTION(cudaMallocAsync, (void **ret, size_t size, void *stream))
{
    (void)stream;
    return allocate_block(ret, size);
}

CUDA_FUNCTION(cudaFreeAsync, (void *pointer, void *stream))
{
    (void)stream;
    return free_block(pointer);
}

CUDA_FUNCTION(cudaMallocHost, (void **ret, size_t size))
{
    *ret = malloc(size > 0 ? size : 1);
    return current_error();
}

CUDA_FUNCTION(cudaHostAlloc, (void **ret, size_t size, unsigned flags))
{
    (void)flags;
    *ret = malloc(size > 0 ? size : 1);
    return current_error();
}

CUDA_FUNCTION(cudaFreeHost, (void *pointer))
{
    free(pointer);
    return current_error();
}

CUDA_FUNCTION(cudaHostRegister, (void *pointer, size_t size, unsigned flags))
{
    (void)pointer;
    (void)size;
    (void)flags;
    return current_error();
}

CUDA_FUNCTION(cudaHostUnregister, (void *pointer))
{
    (void)pointer;
    return current_error();
}

CUDA_FUNCTION(cudaMemcpy, (void *to, const void *from, size_t size, int kind))
{
    if (kind < 0 || kind > 4)
        return CUDA_INVALID_VALUE;
    if (size > 0)
        memcpy(to, from, size);
    return current_error();
}

CUDA_FUNCTION(cudaMemcpyAsync, (void *to, const void *from, size_t size, int kind, void *stream))
{
    (void)stream;
    return cudaMemcpy(to, from, size, kind);
}

CUDA_FUNCTION(cudaMemset, (void *pointer, int value, size_t size))
{
    memset(pointer, value, size);
    return current_error();
}

CUDA_FUNCTION(cudaMemsetAsync, (void *pointer, int value, size_t size, void *stream))
{
    (void)stream;
    return cudaMemset(pointer, value, size);
}

CUDA_FUNCTION(cudaStreamCreate, (void **ret))
{
    *ret = malloc(1);
    return current_error();
}

CUDA_FUNCTION(cudaStreamCreateWithFlags, (void **ret, unsigned flags))
{
    (void)flags;
    return cudaStreamCreate(ret);
}

CUDA_FUNCTION(cudaStreamDestroy, (void *stream))
{
    free(stream);
    return current_error();
}

CUDA_FUNCTION(cudaStreamSynchronize, (void *stream))
{
    (void)stream;
    return current_error();
}

CUDA_FUNCTION(cudaDeviceSynchronize, (void))
{
    return current_error();
}

CUDA_FUNCTION(cudaDeviceReset, (void))
{
    return current_error();
}
