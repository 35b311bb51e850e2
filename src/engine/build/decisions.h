/* engine/build/decisions.h: all decisions about an engine, with names by which they can be disabled: those about its
 * network (engine/network/decisions.h), and
 *
 *   layout:blocked     layers exchange tensors in layouts other than row-major
 *   tactics:onednn     tactics of this source are used
 */
#ifndef ENGINE_BUILD_DECISIONS_H
#define ENGINE_BUILD_DECISIONS_H

#include "engine/build/settings.h"
#include "engine/plan/engine.h"

#define BLOCKED_LAYOUTS "layout:blocked"
#define TACTICS_OF "tactics:" /* a source */

/* Whether all inputs and outputs of the layer are row-major. */
bool tactic_is_plain(const struct tactic *tactic, const struct network *network, const struct layer *layer);

struct decision_list {
    struct decision *items; /* malloc'd; names live as long as the engine's network, and as the arena */
    size_t count, capacity;
};

/* Adds all decisions about the engine: sources of tactics, layouts, then those of its network. Includes those disabled
 * in `settings`, with which it was built. */
void engine_decisions(const struct engine *engine, const struct builder_settings *settings, struct arena *arena,
                      struct decision_list *ret);

/* Summarizes taken decisions by kind, and disabled ones, in one line. */
void engine_decisions_text(const struct decision_list *decisions, struct string_builder *ret);

#endif
