/* test_later_options.c: the options of Polygraphy 0.53, which test_tables.c compares with those of 0.49 in full. */
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "support/option_dump.h"
#include "support/unit_test.h"

/* Options of Polygraphy 0.53 that are unknown here. */
static const char *const unknown[] = {
    "--visual",
    "--visual-port",
    "--save-visual",
};

static bool is_among(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count && list[i] != NULL; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static const struct option *find_option(const struct command *command, const char *name)
{
    for (size_t i = 0; i < command->group_count; i++)
        for (size_t k = 0; k < command->groups[i].group->count; k++) {
            const struct option *option = &command->groups[i].group->options[k];

            if (is_among(option->names, ARRAY_LEN(option->names), name))
                return option;
        }
    return NULL;
}

/* Every name of every option is known, and takes as many values. */
static void compare_with_0_53(const struct command *command, const char *tool)
{
    option_dump_read("tests/golden/vectors/argparse_dump_0.53.txt", tool);
    for (size_t i = 0; i < option_dump.count; i++) {
        char *rest = NULL;
        enum option_kind kind = registered_option_kind(&option_dump.items[i]);

        for (char *name = strtok_r(option_dump.items[i].names, "/", &rest); name != NULL;
             name = strtok_r(NULL, "/", &rest)) {
            const struct option *option = find_option(command, name);

            if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "model_file") == 0)
                continue;
            if ((option == NULL) != is_among(unknown, ARRAY_LEN(unknown), name))
                fail_msg("%s of %s is %s", name, tool, option == NULL ? "missing" : "listed as unknown, but is there");
            if (option != NULL && (option->kind == OPTION_OFF ? OPTION_FLAG : option->kind) != kind)
                fail_msg("%s of %s takes another number of values: %s", name, tool, option_dump.items[i].properties);
        }
    }
    option_dump_release();
}

static void options_of_polygraphy_0_53_are_known(void **state)
{
    compare_with_0_53(&cmd_run, "polygraphy run");
    compare_with_0_53(&cmd_convert, "polygraphy convert");
    compare_with_0_53(&cmd_inspect_data, "polygraphy inspect data");
    compare_with_0_53(&cmd_inspect_tactics, "polygraphy inspect tactics");
    compare_with_0_53(&cmd_inspect_capability, "polygraphy inspect capability");
    compare_with_0_53(&cmd_inspect_diff_tactics, "polygraphy inspect diff-tactics");
    compare_with_0_53(&cmd_inspect_sparsity, "polygraphy inspect sparsity");
    compare_with_0_53(&cmd_check_lint, "polygraphy check lint");
    compare_with_0_53(&cmd_check_accuracy, "polygraphy check accuracy");
    compare_with_0_53(&cmd_surgeon_extract, "polygraphy surgeon extract");
    compare_with_0_53(&cmd_surgeon_sanitize, "polygraphy surgeon sanitize");
    compare_with_0_53(&cmd_surgeon_insert, "polygraphy surgeon insert");
    compare_with_0_53(&cmd_surgeon_prune, "polygraphy surgeon prune");
    compare_with_0_53(&cmd_surgeon_weight_strip, "polygraphy surgeon weight-strip");
    compare_with_0_53(&cmd_surgeon_weight_reconstruct, "polygraphy surgeon weight-reconstruct");
    compare_with_0_53(&cmd_debug_build, "polygraphy debug build");
    compare_with_0_53(&cmd_debug_precision, "polygraphy debug precision");
    compare_with_0_53(&cmd_debug_reduce, "polygraphy debug reduce");
    compare_with_0_53(&cmd_debug_repeat, "polygraphy debug repeat");
    compare_with_0_53(&cmd_data_merge, "polygraphy data merge");
    compare_with_0_53(&cmd_data_concat, "polygraphy data concat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_polygraphy_0_53_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
