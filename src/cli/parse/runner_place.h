/* cli/parse/runner_place.h: options that are repeated with different values, each for the runner in front of it.
 *
 * An option is for all runners that it fits, as Polygraphy has it. One that stands behind different runners with
 * different values belongs to the runner in front of it instead; what stands in front of all of them is for those that
 * have no value of their own. An option that is of no use without another one (struct option, `with`) belongs to the
 * runner in front of it where that one does.
 *
 *   struct runner_place place = {"--onnxrt", 1};
 *
 *   parse_begin_runner(parse, &onnxrt_options, &place);
 *   parse_add_given_of_group(parse, &onnxrt_options, NULL, &words);
 *   parse_end_runner(parse, &onnxrt_options);
 */
#ifndef CLI_PARSE_RUNNER_PLACE_H
#define CLI_PARSE_RUNNER_PLACE_H

#include "cli/parse/parse.h"

/* Number `index`, from 0, of the runners that this option asks for. */
struct runner_place {
    const char *option;
    size_t index;
};

/* Until the end the options of this group are those of one runner, for all functions of parse.h. One at a time. */
void parse_begin_runner(struct parse *parse, const struct option_group *group, const struct runner_place *place);
void parse_end_runner(struct parse *parse, const struct option_group *group);

/* Appends the names of the options of a group that belong to single runners, separated by commas. */
void parse_list_given_by_runner(const struct parse *parse, const struct option_group *group, const char *runner,
                                struct string_builder *ret);

/* Fills `values`, zeroed, with what one runner has of the options of the group, as parse_finish() does for all. */
int parse_fill_for_runner(struct parse *parse, const struct option_group *group, const struct runner_place *place,
                          void *values, struct error *err);

#endif
