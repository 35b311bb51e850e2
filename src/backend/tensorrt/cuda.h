/* backend/tensorrt/cuda.h: the functions of CUDA's runtime (libcudart) that inference needs. */
#ifndef BACKEND_TENSORRT_CUDA_H
#define BACKEND_TENSORRT_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cuda_direction { CUDA_TO_DEVICE = 1, CUDA_TO_HOST = 2 };

/* Loads CUDA and looks for a device. `library` is the path of TensorRT's library, beside which libcudart may be.
 * ERR_MISSING: there is no CUDA, or no device answers. */
int cuda_start(const char *library, struct error *err);

/* The same, and makes GPU number `device` that of all calls that follow, TensorRT's among them. ERR_INVALID: there is
 * none of that number. */
int cuda_use_device(const char *library, int64_t device, struct error *err);

/* Device memory. ERR_DEVICE_MEMORY: the device has too little, with foreign_code CUDA_OUT_OF_MEMORY; ERR_BACKEND
 * otherwise. */
#define CUDA_OUT_OF_MEMORY 2
int cuda_allocate(size_t size, void **ret, struct error *err);
void cuda_free(void *memory); /* NULL is fine */

int cuda_copy(void *to, const void *from, size_t size, enum cuda_direction direction, void *stream, struct error *err);
int cuda_make_stream(void **ret, struct error *err);
void cuda_remove_stream(void *stream);
int cuda_wait(void *stream, struct error *err); /* until all that was put into the stream is done */

#endif
