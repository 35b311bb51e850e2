/* engine/network/branch_decision.h: If nodes whose branch is settled by a sample of the inputs.
 *
 * An If is one layer, whatever its branches hold: nothing in them has a tactic or a precision of its own. Where sizes,
 * or inputs that are no floating-point numbers, decide (a sample rate, the length of a state), one engine mostly sees
 * one branch. That branch is put in the place of the If. Nodes that check the condition, and fail where it differs,
 * stay.
 */
#ifndef ENGINE_NETWORK_BRANCH_DECISION_H
#define ENGINE_NETWORK_BRANCH_DECISION_H

#include "backend/backend.h"
#include "backend/constant_folding.h"
#include "onnx/model/model.h"

/* Makes the feed of one iteration for these inputs, in their order. Shapes are the profile's optimal ones. */
struct sample_source {
    int (*feed)(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                struct tensor_list *ret, struct error *err);
    void *context;
    int64_t iterations; /* used for calibration; the first one is for timing */
    bool generated;     /* at random: scales that come from it may suit no real data */
};

/* Gives each If of the main graph whose condition depends on nothing else than sizes and such inputs the constant that
 * the sample leads to; constants_fold() then inlines the branch, and brings to light the If nodes inside it.
 * `*ret_any` says whether there was one. What the checks make becomes outputs of the model, so that folding keeps
 * them, and is added to `guards`. ERR_BACKEND when the conditions cannot be computed. */
int branches_decide(struct model *model, const struct folding_settings *folding, const struct sample_source *sample,
                    struct value_list *guards, bool *ret_any, struct error *err);

#endif
