/* engine/network/branch_decision.h: If nodes whose branch is settled by a sample of the inputs.
 *
 * An If is one layer, whatever its branches hold: nothing in them has a tactic or a precision of its own. Where sizes,
 * or inputs that are no floating-point numbers, decide (a sample rate, the length of a state), one engine mostly sees
 * one branch. That branch is put in the place of the If. Nodes that check the condition, and fail where it differs,
 * stay.
 */
#ifndef ENGINE_NETWORK_BRANCH_DECISION_H
#define ENGINE_NETWORK_BRANCH_DECISION_H

#include "engine/build/builder.h"

/* Gives each If of the main graph whose condition depends on nothing else than sizes and such inputs the constant that
 * the sample leads to; constants_fold() then inlines the branch, and brings to light the If nodes inside it.
 * `*ret_any` says whether there was one. What the checks make becomes outputs of the model, so that folding keeps
 * them, and is added to `guards`. ERR_BACKEND when the conditions cannot be computed. */
int branches_decide(struct model *model, const struct network_settings *settings, struct value_list *guards,
                    bool *ret_any, struct error *err);

#endif
