/* format/tensorrt/build_knobs.h: knobs of TensorRT's compiler, as IBuilderConfig::getAllBuildRoutes() lists them (from
 * 11.1 on): one JSON object.
 *
 *   {"tuner_version":"2.19.45","tuner_options":[
 *     {"option":"-kgen:tiling","allowed_values":"-kgen:tiling=[0|1|2]","default_value":"-kgen:tiling=1","help":"..."}]}
 *
 * Names and values are told with and without "-NAME=" in front, and are taken either way. A route is what
 * IBuilderConfig::setBuildRoute() accepts: "-NAME=VALUE" with blanks between.
 */
#ifndef FORMAT_TENSORRT_BUILD_KNOBS_H
#define FORMAT_TENSORRT_BUILD_KNOBS_H

#include "base/container/arena.h"
#include "base/error.h"

struct build_knob {
    const char *name;          /* without the '-' */
    const char *const *values; /* that it may have, in the order of the list */
    size_t value_count;
    const char *standard; /* that it has unless told otherwise; one of `values` */
};

struct build_knobs {
    struct build_knob *items; /* in the order of the list, each name once */
    size_t count, capacity;
    size_t unread; /* entries whose name, values or default are not understood */
    struct arena arena;
};

/* Reads the list, which is not needed afterwards. ERR_CORRUPT when it is no such object. */
int build_knobs_parse(struct build_knobs *ret, struct text list, struct error *err);
void build_knobs_release(struct build_knobs *knobs); /* harmless on a zeroed struct */

/* The value that asks least of the compiler, NULL where it is the one that the knob has anyway, or where that cannot be
 * told: "off" of on and off ("false" of true and false), the least of whole numbers. What a knob means is not known, so
 * words of any other kind are left alone. */
const char *build_knob_least(const struct build_knob *knob);

/* The knob of this name; NULL: there is none. */
const struct build_knob *build_knobs_find(const struct build_knobs *knobs, struct text name);

#endif
