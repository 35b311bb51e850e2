/* cli/options/runners/runner_words.h: a runner of the command line with its options, as it can be typed again. */
#ifndef CLI_OPTIONS_RUNNERS_RUNNER_WORDS_H
#define CLI_OPTIONS_RUNNERS_RUNNER_WORDS_H

#include "cli/options/groups.h"
#include "cli/parse/runner_place.h"

#define ENGINE_OPTION_GROUPS 3

/* NULL-terminated: what an engine takes in debug tools. */
extern const struct option_group *const engine_option_groups[ENGINE_OPTION_GROUPS + 1];

/* Which one of its kind a runner is. */
struct runner_place runner_place_of(const struct runner_values *values, size_t runner);

/* Appends runner number `runner`, with the options that are for it; without those in `except` (first names,
 * NULL-terminated; may be NULL) where it is an engine. Words belong to the parse. */
void runner_add_words(struct parse *parse, const struct runner_values *values, size_t runner, const char *const *except,
                      struct word_list *ret);

/* Whether two runners do the same, whatever they are called: the same program with the same options. */
bool runners_are_equal(struct parse *parse, const struct runner_values *values, size_t first, size_t second);

#endif
