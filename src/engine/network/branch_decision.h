/* engine/network/branch_decision.h: fixes the branches of If nodes by a sample of the inputs.
 *
 * An If is one layer: nodes in its branches have no tactics or precisions. If the condition depends on sizes or on
 * inputs of other than floating types (a sample rate, the length of a state), an engine usually executes only one
 * branch. The If is replaced by that branch. Nodes that check the condition, and fail if it differs, are kept.
 */
#ifndef ENGINE_NETWORK_BRANCH_DECISION_H
#define ENGINE_NETWORK_BRANCH_DECISION_H

#include "backend/backend.h"
#include "backend/constant_folding.h"
#include "onnx/model/model.h"

/* Provides the feed of one iteration for these inputs, in their order. Shapes are the profile's optimal ones. */
struct sample_source {
    int (*feed)(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                struct tensor_list *ret, struct error *err);
    void *context;
    int64_t iterations; /* used for calibration; the first one is for timing */
    bool generated;     /* random data: scales derived from them may not suit real data */
};

/* Replaces the condition of each If of the main graph that depends only on sizes and such inputs by the sample's
 * constant; constants_fold() then inlines the branch, which may expose nested If nodes. `*ret_any`: whether there was
 * one. Results of the checks become outputs of the model, so that they are not folded away, and are added to `guards`.
 * ERR_BACKEND if the conditions cannot be computed. */
int branches_decide(struct model *model, const struct folding_settings *folding, const struct sample_source *sample,
                    struct value_list *guards, bool *ret_any, struct error *err);

#endif
