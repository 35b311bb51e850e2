/* format/tensorrt/plan_header.h: the first bytes of an engine file of TensorRT's (a "plan").
 *
 * They are "ftrt" ("vtrt" of TensorRT-RTX), a version of the serialization as a little-endian number of 32 bits, and at
 * bytes 24 to 27 the version of the TensorRT that built it: major, minor, patch and build. That is since TensorRT 8.6;
 * what is behind them only TensorRT of that version can read.
 */
#ifndef FORMAT_TENSORRT_PLAN_HEADER_H
#define FORMAT_TENSORRT_PLAN_HEADER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text/text.h"

#define PLAN_HEADER_BYTES 32 /* no engine is shorter */

struct plan_header {
    bool is_rtx; /* TensorRT-RTX's, with its own version */
    unsigned major, minor, patch, build;
};

bool plan_header_is_tensorrt(struct span bytes); /* they begin with "ftrt" or "vtrt" */

/* ERR_CORRUPT when the bytes are no engine of TensorRT's: an empty file above all, which trtexec 10.13 to 11.1 leaves
 * behind where a build fails. The message does not name the file. */
int plan_header_parse(struct span bytes, struct plan_header *ret, struct error *err);

/* The same of the file at `path`, which the message names. ERR_MISSING, ERR_IO when it cannot be read. */
int plan_header_read(const char *path, struct plan_header *ret, struct error *err);

#endif
