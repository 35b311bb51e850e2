/* engine/build/timing.h: how long a tactic takes for one layer.
 *
 * What is measured is the kernel's run, and the reorders of the inputs whose layout is another than the tactic wants.
 * After a run to warm up, runs go on until their number and their time are enough for a median; a tactic that turns
 * out to be far slower than the best one is given up early.
 */
#ifndef ENGINE_BUILD_TIMING_H
#define ENGINE_BUILD_TIMING_H

#include "engine/run/layer_request.h"

/* What --builder-optimization-level stands for. */
struct timing_effort {
    size_t tactics_per_provider; /* at most; the best guesses come first */
    size_t minimum_runs, maximum_runs;
    double seconds_per_tactic; /* no more runs than the minimum after these */
    double seconds_per_layer;  /* after these, each further tactic is run as seldom as possible */
};

/* `level` is 1 to 5, and is brought into that range. */
const struct timing_effort *timing_effort_of(int64_t level);

struct layer_timer;

/* Both outlive the timer. */
struct layer_timer *layer_timer_new(const struct layer_request *request, const struct timing_effort *effort);
void layer_timer_free(struct layer_timer *timer); /* NULL is fine */

/* The median in seconds, > 0. When the tactic takes more than `limit` seconds, what few runs have given. `ret_made`
 * tells, also after an error, whether the kernel could be made. ERR_INTERRUPTED; else the errors of the provider. */
int layer_timer_measure(struct layer_timer *timer, const struct tactic *tactic, double limit, double *ret_seconds,
                        bool *ret_made, struct error *err);

#endif
