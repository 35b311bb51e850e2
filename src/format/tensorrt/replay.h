/* format/tensorrt/replay.h: a tactic replay made of layer information, for builders that do not write one.
 *
 * TensorRT's numbers are told where the file tells them: the tactic as it is, the implementation by the layer's type
 * ("CaskConvolution" is 2147483657: what logs of TensorRT 10.16 show). Where TensorRT has no number, or none that is
 * known here, a hash stands in for it, so that two layers have the same numbers exactly when they have the same
 * kernel: the implementation is a hash of the layer's type, the tactic one of the kernel's name, with which Myelin's
 * layers tell their kernels apart. Such a replay depends on the layer information alone, and can be compared with any
 * other that was made so.
 *
 * Formats are strides in TensorRT's own way of counting, worked out from shape and format, as long as the format is one
 * whose words are known; else the words stand in the type.
 */
#ifndef FORMAT_TENSORRT_REPLAY_H
#define FORMAT_TENSORRT_REPLAY_H

#include "format/polygraphy/tactic_replay.h"
#include "format/tensorrt/layer_info.h"

/* Appends an algorithm to `replay` for each layer of which a tactic or a kernel is told. Of several layers of one name,
 * all but the first get a number behind it. ERR_UNSUPPORTED when there is none: the engine was built without detailed
 * profiling verbosity. */
int layer_info_to_replay(const struct layer_info *info, struct tactic_replay *replay, struct error *err);

#endif
