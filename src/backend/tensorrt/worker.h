/* backend/tensorrt/worker.h: the process in which TensorRT is at work: its questions (request.h) and their answers.
 */
#ifndef BACKEND_TENSORRT_WORKER_H
#define BACKEND_TENSORRT_WORKER_H

#include "backend/tensorrt/request.h"
#include "backend/worker/worker.h"

extern const struct worker_work tensorrt_work;

#endif
