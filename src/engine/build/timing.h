/* engine/build/timing.h: measures the time of a tactic for one layer.
 *
 * The measured time includes the kernel and reorders of inputs into the tactic's layouts. After a warm-up run, runs are
 * repeated until number and time are sufficient for a median; tactics much slower than the best one are abandoned
 * early.
 */
#ifndef ENGINE_BUILD_TIMING_H
#define ENGINE_BUILD_TIMING_H

#include "engine/run/layer_request.h"

/* The parameters of a --builder-optimization-level. */
struct timing_effort {
    size_t tactics_per_provider; /* maximum; the most promising first */
    size_t minimum_runs, maximum_runs;
    double seconds_per_tactic; /* afterwards no more runs than the minimum */
    double seconds_per_layer;  /* afterwards further tactics are run as few times as possible */
};

/* `level` is clamped to 1 .. 5. */
const struct timing_effort *timing_effort_of(int64_t level);

struct layer_timer;

/* Both must outlive the timer. */
struct layer_timer *layer_timer_new(const struct layer_request *request, const struct timing_effort *effort);
void layer_timer_free(struct layer_timer *timer); /* NULL is fine */

/* The median of `count` > 0 times, which it sorts; of an even number the mean of the two in the middle. */
double median_of_seconds(double *seconds, size_t count);

/* Returns the median in seconds, > 0; of fewer runs if the tactic takes more than `limit` seconds. `ret_made`: whether
 * the kernel was created, also after an error. ERR_INTERRUPTED; else the errors of the provider. */
int layer_timer_measure(struct layer_timer *timer, const struct tactic *tactic, double limit, double *ret_seconds,
                        bool *ret_made, struct error *err);

#endif
