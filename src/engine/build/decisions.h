/* engine/build/decisions.h: all that was decided about an engine, by names that switch it off: what
 * engine/network/decisions.h says of its network, and
 *
 *   layout:blocked     layers exchange tensors that do not lie in memory row by row
 *   tactics:onednn     tactics of this source are taken
 */
#ifndef ENGINE_BUILD_DECISIONS_H
#define ENGINE_BUILD_DECISIONS_H

#include "engine/build/settings.h"
#include "engine/plan/engine.h"

#define BLOCKED_LAYOUTS "layout:blocked"
#define TACTICS_OF "tactics:" /* a source */

/* Whether all that the layer reads and makes lies row by row. */
bool tactic_is_plain(const struct tactic *tactic, const struct network *network, const struct layer *layer);

struct decision_list {
    struct decision *items; /* malloc'd; names live as long as the engine's network, and as the arena */
    size_t count, capacity;
};

/* Adds all decisions about the engine: sources of tactics, layouts, then those of its network. What `settings`, with
 * which it was built, has switched off is among them. */
void engine_decisions(const struct engine *engine, const struct builder_settings *settings, struct arena *arena,
                      struct decision_list *ret);

/* What was taken, by kinds, and what was switched off, in a line. */
void engine_decisions_text(const struct decision_list *decisions, struct string_builder *ret);

#endif
