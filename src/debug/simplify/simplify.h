/* debug/simplify/simplify.h: simplifies a failing model after its reduction.
 *
 * The module debug/simplify/ creates changed models of a failing one, kind by kind (kind.h), and runs them with ONNX
 * Runtime before the check (soundness.h). Input: a subgraph. Output: a simpler model that fails the check. It may use
 * debug/cut/ and debug/session/.
 *
 * Learned weights are replaced by zeros, ones or noise, so that the model can be shared; attributes are removed; inputs
 * are made smaller. Each change is tried in a phase of the session, on everything at once, then on parts
 * (search/sets/greedy_search.h), and kept if the check still fails.
 *
 * A changed model may fail for another reason. So it is only checked if ONNX Runtime gets as good a result as for the
 * model before (debug/simplify/soundness.h); else it counts as a pass.
 */
#ifndef DEBUG_SIMPLIFY_SIMPLIFY_H
#define DEBUG_SIMPLIFY_SIMPLIFY_H

#include "debug/cut/candidate.h"
#include "debug/session/session.h"
#include "debug/simplify/soundness.h"

/* Kinds of simplification. */
enum simplification { SIMPLIFY_BODIES, SIMPLIFY_WEIGHTS, SIMPLIFY_ATTRIBUTES, SIMPLIFY_SHAPES, SIMPLIFY_KINDS };

struct simplify_settings {
    bool kinds[SIMPLIFY_KINDS]; /* by enum simplification; any of them needs the sandbox */
    struct sandbox *sandbox;
    size_t number; /* number of the model in this session, from 1 */
};

struct simplified_model {
    char *bytes; /* memory of `model`; NULL: no simpler model, and the rest is not set */
    struct model *model;
    struct subgraph whole; /* the whole model, which fails */
};

/* Simplifies `bad`, a failing subgraph of the maker's model. Holds the weights of the result in memory. */
int simplify_run(const struct simplify_settings *settings, struct candidate_maker *maker, const struct subgraph *bad,
                 struct debug_session *session, struct simplified_model *ret, struct error *err);
void simplified_model_release(struct simplified_model *simplified);

#endif
