/* cli/options/runners/runner_words.c: see runner_words.h. */
#include "cli/options/runners/runner_words.h"

#include <string.h>

#include "base/memory.h"
#include "cli/options/runners/engine.h"

const struct option_group *const engine_option_groups[ENGINE_OPTION_GROUPS + 1] = {
    &engine_config_options, &engine_network_options, &tensorrt_options, NULL};

struct runner_place runner_place_of(const struct runner_values *values, size_t runner)
{
    static const char *const options[] = {"--onnxrt", "--trt", "--runner"};
    const char *name = values->names.items[runner];
    struct runner_place ret = {.option = options[ARRAY_LEN(options) - 1]};

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (strcmp(options[i] + strlen("--"), name) == 0)
            ret.option = options[i];
    for (size_t i = 0; i < runner; i++)
        ret.index += strcmp(values->names.items[i], name) == 0;
    return ret;
}

static const char *word_of_line(struct parse *parse, const struct runner_line *line, const char *command, bool named)
{
    return line->name != NULL && named ? arena_printf(parse_arena(parse), "%s=%s", line->name, command) : command;
}

static void add_command(struct parse *parse, const struct runner_values *values, size_t index, bool named,
                        struct word_list *ret)
{
    const struct runner_line *line = &values->commands.items[index];
    const char *build = values->build_commands[index];

    *VECTOR_APPEND(ret) = word_of_line(parse, line, line->line, named);
    if (build != NULL) {
        *VECTOR_APPEND(ret) = "--runner-build";
        *VECTOR_APPEND(ret) = word_of_line(parse, line, build, named);
    }
    if (values->timeout > 0) {
        *VECTOR_APPEND(ret) = "--runner-timeout";
        *VECTOR_APPEND(ret) = arena_printf(parse_arena(parse), "%g", values->timeout);
    }
}

static void add_options(struct parse *parse, const struct option_group *group, const struct runner_place *place,
                        const char *const *except, struct word_list *ret)
{
    parse_begin_runner(parse, group, place);
    parse_add_given_of_group(parse, group, except, ret);
    parse_end_runner(parse, group);
}

static void add_words(struct parse *parse, const struct runner_values *values, size_t runner, bool named,
                      const char *const *except, struct word_list *ret)
{
    const char *name = values->names.items[runner];
    struct runner_place place = runner_place_of(values, runner);

    *VECTOR_APPEND(ret) = place.option;
    if (strcmp(name, "runner") == 0)
        add_command(parse, values, place.index, named, ret);
    if (strcmp(name, "onnxrt") == 0)
        add_options(parse, &onnxrt_options, &place, NULL, ret);
    for (size_t i = 0; strcmp(name, "trt") == 0 && engine_option_groups[i] != NULL; i++)
        add_options(parse, engine_option_groups[i], &place, except, ret);
}

void runner_add_words(struct parse *parse, const struct runner_values *values, size_t runner, const char *const *except,
                      struct word_list *ret)
{
    add_words(parse, values, runner, true, except, ret);
}

bool runners_are_equal(struct parse *parse, const struct runner_values *values, size_t first, size_t second)
{
    struct word_list a SCOPED_ITEMS = {0};
    struct word_list b SCOPED_ITEMS = {0};
    bool ret;

    add_words(parse, values, first, false, NULL, &a);
    add_words(parse, values, second, false, NULL, &b);
    ret = a.count == b.count;
    for (size_t i = 0; ret && i < a.count; i++)
        ret = strcmp(a.items[i], b.items[i]) == 0;
    return ret;
}
