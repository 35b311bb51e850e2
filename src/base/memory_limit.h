/* base/memory_limit.h: how much memory data may take whose size a model dictates: inputs, activations, outputs,
 * constants.
 *
 * A model of a few bytes can ask for any amount. Systems promise more memory than they have, and end the process, or
 * another one, when it is used: so the question is asked before memory is. What the user has said is the answer; else
 * it is what the system has available at that moment, within the limits of the control group.
 */
#ifndef BASE_MEMORY_LIMIT_H
#define BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What --max-memory says, in bytes; 0, as at the beginning: nothing. For the whole process, before there are
 * threads. */
void memory_limit_set(size_t bytes);
bool memory_limit_is_set(void);

/* Bytes; SIZE_MAX when nothing is known. */
size_t memory_limit(void);

/* Whether data of `size` bytes may be asked for. Small ones always, unless a limit was set: looking takes longer than
 * they do. */
bool memory_limit_allows(size_t size);

/* The message of a refusal: "<what> would take 8.0 GiB, and 5.2 GiB are available; ...". Returns ERR_MEMORY. */
int memory_limit_refuse(size_t size, const char *what, struct error *err);

/* 0 when the size is allowed, else the refusal. */
int memory_limit_check(size_t size, const char *what, struct error *err);

/* From the first call on the system refuses memory beyond the limit to this process and to those that are forked off it
 * (on Linux; address space counts, used or not). For work whose memory nothing else bounds. */
void memory_limit_enforce(void);

/* A child that is started between these two has the limit that this process had before: what a user has it run is not
 * the model's. What other threads ask for in this moment is not refused. */
void memory_limit_lift(void);
void memory_limit_put_back(void);

/* In a forked child that goes on as another program: it has that limit, too. */
void memory_limit_forget(void);

#endif
