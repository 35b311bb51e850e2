/* cli/trt_replay.h: tactic replays of engines of TensorRT's: layer information has what a build has chosen, and a
 * timing cache makes the next build choose the same.
 */
#ifndef CLI_TRT_REPLAY_H
#define CLI_TRT_REPLAY_H

#include "backend/tensorrt/backend.h"
#include "format/polygraphy/tactic_replay.h"

/* --save-tactics: writes what the build has chosen, and beside it the timing cache that pins it
 * (tactic_replay_cache_path()). `precision`: options of the build; NULL: they are not known. */
int trt_replay_save(const struct tensorrt_products *products, const struct tactic_options *precision, const char *path,
                    struct log *log, struct error *err);

/* --load-tactics: reads the replay into `replay`, which is initialised. Builds that report tactics are told to follow
 * it; others are pinned by its timing cache, whose path lives in `arena`. ERR_UNSUPPORTED for a replay that names none,
 * ERR_MISSING when it is not there. */
int trt_replay_load(const char *path, struct tensorrt_settings *settings, struct arena *arena,
                    struct tactic_replay *replay, struct error *err);

/* Has the build follow `replay`, and report the tactics that it chose (up to TensorRT 10). */
void trt_replay_force(const struct tactic_replay *replay, struct tensorrt_settings *settings, struct arena *arena);

/* Whether the build chose the tactics of `replay`, called `name` in messages. `frees_others`: layers that the replay
 * lacks may have any. ERR_BACKEND names the layers whose tactics were not forced. */
int trt_replay_check(const struct tactic_replay *replay, const char *name, bool frees_others,
                     const struct tensorrt_products *products, struct log *log, struct error *err);

#endif
