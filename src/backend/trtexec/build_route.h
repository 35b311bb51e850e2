/* backend/trtexec/build_route.h: the knobs of TensorRT's compiler: which there are, and what a build is told of them.
 *
 * A knob is a wish: TensorRT may decide otherwise, and does not say so.
 */
#ifndef BACKEND_TRTEXEC_BUILD_ROUTE_H
#define BACKEND_TRTEXEC_BUILD_ROUTE_H

#include "backend/trtexec/words.h"

/* Whether trtexec has the knobs of settings->build_route, and they have such values: TensorRT need not mind.
 * ERR_INVALID names the first that it has not; ERR_UNSUPPORTED before TensorRT 11.1, ERR_BACKEND when it does
 * not answer, ERR_CORRUPT when the answer is not understood. Asks nothing where no knob is told. */
int trtexec_check_route(const struct tensorrt_settings *settings, struct error *err);

/* --setBuildRoute, unless no knob is told. Of several words on one knob the last counts. */
void trtexec_words_route(struct trtexec_words *words);

#endif
