/* debug/passes/passes.h: `debug passes`: without which of a compiler's decisions does the failure go away?
 *
 * The module debug/passes/ looks for such decisions: optimizers that change the model, settings that change how it is
 * computed. Their names and a session come in; a set of them goes out that makes the difference, seen from both sides.
 * It may use debug/experiment, debug/session and the searches, and knows no runtime: a candidate is a list of names,
 * which whoever runs the model switches off.
 *
 * With all decisions off the check has to pass, with none off to fail. Then an isolation
 * (search/sets/set_isolation.h) looks for decisions that fail with all others off. Where the check still fails with
 * these alone off, others do harm as well: they stay off, and it looks again. So every set was seen to fail alone, and
 * what is off in the end was seen to be enough.
 *
 * Where there are many, those of a kind (names that are the same up to an '@', and all barriers) are looked at as one,
 * and then, where that kind does harm, by themselves; with all else off in either case. After some rounds that have
 * found single ones, kinds are taken as they are: they do harm nearly everywhere.
 */
#ifndef DEBUG_PASSES_PASSES_H
#define DEBUG_PASSES_PASSES_H

#include "base/container/bitset.h"
#include "base/text/text.h"
#include "debug/session/session.h"

enum passes_outcome {
    PASSES_FOUND,
    PASSES_ALL_OFF_FAILS, /* with all of them off it fails: the reason is not among them */
    PASSES_NONE_OFF_PASSES,
    PASSES_UNDECIDED, /* with the culprits off the check says nothing, or it is too flaky to find any */
};

struct passes_result {
    enum passes_outcome outcome;
    struct bitset off; /* with these off, and no other, the check passes; undecided: all culprits */
    bool is_minimal;   /* with any one of them on again it was seen to fail */

    /* Sets of decisions that fail together with all others off, and were not seen to without any one of them; in the
     * order in which they were found. Where more culprits do not always mean a failure, one of them may not be off. */
    struct {
        struct bitset *items;
        size_t count, capacity;
    } culprits;
};

/* `decisions`, at least one, are different names without line breaks. `ret` is to be released, also after an error. */
int passes_run(struct words decisions, struct debug_session *session, struct log *log, struct passes_result *ret,
               struct error *err);
void passes_result_release(struct passes_result *result);

/* For struct session_settings: what a list of names holds, as a hash. */
int passes_hash_list(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err);

#endif
