/* base/memory_limit.h: the limit on memory whose size a model determines: inputs, activations, outputs, constants.
 *
 * A model of a few bytes can request any amount. Systems overcommit memory and kill a process when it is used, so the
 * size is checked before the allocation. The limit is --max-memory; by default it is the memory available at that
 * moment, within the limits of the control group.
 */
#ifndef BASE_MEMORY_LIMIT_H
#define BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Sets the limit (--max-memory) in bytes; 0, the default: no explicit limit. For the whole process; call before threads
 * exist. */
void memory_limit_set(size_t bytes);
bool memory_limit_is_set(void);

/* The current limit in bytes; SIZE_MAX if unknown. */
size_t memory_limit(void);

/* Whether data of `size` bytes may be allocated. Without an explicit limit small sizes are always allowed: finding the
 * available memory takes longer than such an allocation. */
bool memory_limit_allows(size_t size);

/* Fills `err` for a refused allocation: "<what> would take 8.0 GiB, and 5.2 GiB are available; ...". Returns
 * ERR_MEMORY. */
int memory_limit_refuse(size_t size, const char *what, struct error *err);

/* 0 when the size is allowed, else the refusal. */
int memory_limit_check(size_t size, const char *what, struct error *err);

/* Makes the system enforce the limit on this process and on processes forked later (RLIMIT_DATA, Linux; reserved
 * address space counts). For work whose memory nothing else limits. */
void memory_limit_enforce(void);

/* A child started between these two calls has this process's original limit: a user's command is not subject to the
 * model's limit. In the meantime allocations of other threads are not limited either. */
void memory_limit_lift(void);
void memory_limit_put_back(void);

/* For a forked child that executes another program: restores the original limit. */
void memory_limit_forget(void);

#endif
