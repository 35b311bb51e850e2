/* cli/parse/runner_place.c: see runner_place.h. */
#include "cli/parse/runner_place.h"

#include <string.h>

#include "cli/parse/parser.h"

/* How many runners of one kind stand in front of a use, among all uses of options. */
static size_t count_runners_before(const struct parse *parse, size_t use, const char *runner)
{
    size_t ret = 0;

    for (size_t i = 0; i < use; i++)
        ret += strcmp(parse->uses[i].name, runner) == 0;
    return ret;
}

static bool is_use_of(const struct option_use *use, const struct group_state *state, size_t index)
{
    return use->state == state && use->index == index;
}

static bool words_are_equal(const struct option_use *a, const struct option_use *b)
{
    bool ret = a->count == b->count;

    for (size_t i = 0; ret && i < a->count; i++)
        ret = strcmp(a->words[i], b->words[i]) == 0;
    return ret;
}

/* Whether an option has another value behind another runner. */
static bool differs_by_runner(const struct parse *parse, const struct group_state *state, size_t index,
                              const char *runner)
{
    const struct option_use *first = NULL;
    size_t before_first = 0;

    for (size_t i = 0; i < parse->use_count; i++) {
        const struct option_use *use = &parse->uses[i];

        if (!is_use_of(use, state, index))
            continue;
        if (first == NULL) {
            first = use;
            before_first = count_runners_before(parse, i, runner);
        } else if (!words_are_equal(first, use) && before_first != count_runners_before(parse, i, runner)) {
            return true;
        }
    }
    return false;
}

static bool belongs_to_single_runners(const struct parse *parse, const struct group_state *state, size_t index,
                                      const char *runner)
{
    const struct option_group *group = state->group;
    const char *with = group->options[index].with;

    for (size_t i = 0; with != NULL && i < group->count; i++)
        if (strcmp(group->options[i].names[0], with) == 0 && differs_by_runner(parse, state, i, runner))
            return true;
    return differs_by_runner(parse, state, index, runner);
}

/* Adds what stands behind `before` runners: to the words so far, or in their place. */
static void add_words_behind(const struct parse *parse, const struct group_state *state, size_t index,
                             const char *runner, size_t before, struct option_state *ret)
{
    bool adds_up = state->group->options[index].append;

    for (size_t i = 0; i < parse->use_count; i++) {
        const struct option_use *use = &parse->uses[i];

        if (!is_use_of(use, state, index) || count_runners_before(parse, i, runner) != before)
            continue;
        ret->name = use->name;
        ret->occurrences++;
        if (!adds_up)
            ret->count = 0;
        for (size_t k = 0; k < use->count; k++)
            ret->words[ret->count++] = use->words[k];
        ret->words[ret->count] = NULL;
    }
}

/* The state of one option as one runner has it. */
static struct option_state narrow_state(struct parse *parse, const struct group_state *state, size_t index,
                                        const struct runner_place *place)
{
    struct option_state ret = {0};

    if (!belongs_to_single_runners(parse, state, index, place->option))
        return state->options[index];
    for (size_t i = 0; i < parse->use_count; i++)
        ret.capacity += is_use_of(&parse->uses[i], state, index) ? parse->uses[i].count : 0;
    ret.words = arena_alloc_zero(&parse->arena, ret.capacity + 1, sizeof(*ret.words));
    add_words_behind(parse, state, index, place->option, 0, &ret);
    add_words_behind(parse, state, index, place->option, place->index + 1, &ret);
    return ret;
}

static struct group_state *find_group(const struct parse *parse, const struct option_group *group)
{
    for (size_t i = 0; i < parse->group_count; i++)
        if (parse->groups[i]->group == group)
            return parse->groups[i];
    return NULL;
}

void parse_begin_runner(struct parse *parse, const struct option_group *group, const struct runner_place *place)
{
    struct group_state *state = find_group(parse, group);
    struct option_state *narrowed;

    if (state == NULL)
        return;
    narrowed = arena_alloc_zero(&parse->arena, group->count, sizeof(*narrowed));
    for (size_t i = 0; i < group->count; i++)
        narrowed[i] = narrow_state(parse, state, i, place);
    state->of_all = state->options;
    state->options = narrowed;
}

void parse_end_runner(struct parse *parse, const struct option_group *group)
{
    struct group_state *state = find_group(parse, group);

    if (state != NULL)
        state->options = state->of_all;
}

void parse_list_given_by_runner(const struct parse *parse, const struct option_group *group, const char *runner,
                                struct string_builder *ret)
{
    const struct group_state *state = find_group(parse, group);

    for (size_t i = 0; state != NULL && i < group->count; i++)
        if (state->options[i].name != NULL && belongs_to_single_runners(parse, state, i, runner))
            string_add_format(ret, "%s%s", ret->size > 0 ? ", " : "", state->options[i].name);
}

int parse_fill_for_runner(struct parse *parse, const struct option_group *group, const struct runner_place *place,
                          void *values, struct error *err)
{
    int rc;

    parse_begin_runner(parse, group, place);
    rc = parse_fill_group(parse, group, values, err);
    parse_end_runner(parse, group);
    return rc;
}
