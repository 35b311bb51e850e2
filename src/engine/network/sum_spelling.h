/* engine/network/sum_spelling.h: a Sum of two tensors is an Add. */
#ifndef ENGINE_NETWORK_SUM_SPELLING_H
#define ENGINE_NETWORK_SUM_SPELLING_H

#include "onnx/model/model.h"

/* Makes every Sum of two tensors an Add, so that there is one way to write an addition. Nodes keep their numbers. */
int model_respell_sums(struct model *model, struct error *err);

#endif
