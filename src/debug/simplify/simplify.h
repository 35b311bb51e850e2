/* debug/simplify/simplify.h: making a model that fails simpler still, once it is as small as it gets.
 *
 * The module debug/simplify/ makes changed models of one that fails, kind by kind (kind.h), and asks a runtime of them
 * before a check is (soundness.h). A part of a model comes in, a simpler model that was seen to fail goes out. It may
 * use debug/cut/ and debug/session/.
 *
 * What was learnt is replaced by zeros, ones or noise, so that the model can be passed on; attributes are dropped;
 * inputs are made smaller. Each is tried by the check, as a phase of the session, on everything at once, then on parts
 * (search/sets/greedy_search.h), and kept where the failure stays.
 *
 * A changed model may fail for a reason of its own. So one is checked only if ONNX Runtime gets on with it as well as
 * with the model that it was made from (debug/simplify/soundness.h); else it counts as one that passes.
 */
#ifndef DEBUG_SIMPLIFY_SIMPLIFY_H
#define DEBUG_SIMPLIFY_SIMPLIFY_H

#include "debug/cut/candidate.h"
#include "debug/session/session.h"
#include "debug/simplify/soundness.h"

/* What can be made simpler. */
enum simplification { SIMPLIFY_BODIES, SIMPLIFY_WEIGHTS, SIMPLIFY_ATTRIBUTES, SIMPLIFY_SHAPES, SIMPLIFY_KINDS };

struct simplify_settings {
    bool kinds[SIMPLIFY_KINDS]; /* by enum simplification; any of them needs the sandbox */
    struct sandbox *sandbox;
    size_t number; /* of the model among those that this session is about, from 1 */
};

struct simplified_model {
    char *bytes; /* what `model` is mapped from; NULL: there is nothing simpler, and the rest is not set */
    struct model *model;
    struct subgraph whole; /* all of it: was seen to fail */
};

/* Simplifies `bad`, a part of the maker's model that was seen to fail. Holds the weights of the result in memory. */
int simplify_run(const struct simplify_settings *settings, struct candidate_maker *maker, const struct subgraph *bad,
                 struct debug_session *session, struct simplified_model *ret, struct error *err);
void simplified_model_release(struct simplified_model *simplified);

#endif
