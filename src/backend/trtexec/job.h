/* backend/trtexec/job.h: one process of trtexec, in a folder of its own, from its start to what it said. */
#ifndef BACKEND_TRTEXEC_JOB_H
#define BACKEND_TRTEXEC_JOB_H

#include "backend/trtexec/command_line.h"
#include "backend/trtexec/report.h"
#include "base/process/process.h"

struct trtexec_job {
    struct process_result result;
    struct trtexec_report report;
};

/* Runs trtexec with these words in `folder`, however that ends. Errors of process_run(). */
int trtexec_job_run(const struct trtexec_words *words, const char *folder, struct trtexec_job *ret, struct error *err);
void trtexec_job_release(struct trtexec_job *job); /* harmless on a zeroed struct */

/* 0 when it ended well and said so. Else ERR_BACKEND: `what` ("an engine of 'm.onnx' could not be built") and how it
 * ended and what it said. */
int trtexec_job_check(const struct trtexec_job *job, const struct trtexec *program, const char *what,
                      struct error *err);

#endif
