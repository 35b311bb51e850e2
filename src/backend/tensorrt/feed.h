/* backend/tensorrt/feed.h: values for an input in the type that an engine wants. */
#ifndef BACKEND_TENSORRT_FEED_H
#define BACKEND_TENSORRT_FEED_H

#include "backend/backend.h"

/* `ret` is `given`, or `room` (released and filled) with its values in the type of `input`: TensorRT has no float64,
 * and up to 9 int32 in the place of int64. ERR_UNSUPPORTED: other types, and values beyond the narrower one;
 * ERR_INVALID: a shape that the input does not have. */
int tensorrt_feed_fit(const struct backend_io *input, const struct tensor *given, struct tensor *room,
                      const struct tensor **ret, struct error *err);

/* The values of an int32 tensor as int64, or of a float32 tensor as float64. ERR_MEMORY. */
int tensorrt_widen(const struct tensor *given, struct tensor *ret, struct error *err);

#endif
