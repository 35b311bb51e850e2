/* test_option_tables.c: the options of our tools against those that Polygraphy registers with argparse.
 *
 * tests/golden/vectors/argparse_dump.txt lists them, tool by tool:
 *
 *   ==== polygraphy debug reduce (allow_abbrev=False)
 *   -- [Artifact Sorting]
 *      --art-dir/--artifacts-dir | default='polygraphy_artifacts', dest=artifacts_dir, StoreAction
 */
#include "support/option_dump.h"
#include "support/unit_test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/string_builder.h"
#include "cli/commands.h"
#include "cli/options/runners/engine.h"
#include "cli/parse/help.h"
#include "cli/parse/lookup.h"
#include "support/command_line.h"

/* ---- Intended differences ---- */

/* Options that Polygraphy does not have. */
static const char *const new_options[] = {
    "--generated-data",
    "--check-timeout",
    "--check-fd",
    "--exit-code",
    "--force",
    "--copy-weights",
    "--force-debug-replay",
    "--no-verify",
    "--onnxrt-library",
    "--only-release",
    "--releases",
    "--onnxruntime-lib",
    "--onnxrt-custom-ops",
    "--provider-options",
    "--onnxrt-provider-library",
    "--session-config",
    "--onnxrt-disable-optimizers",
    "--decisions",
    "--disable-fusions",
    "--disable-foldings",
    "--plain-layouts",
    "--onnxrt-optimization-level",
    "--onnxrt-threads",
    "--onnxrt-timeout",
    "--max-memory",
    "--output-memory",
    "--first-divergence",
    "--steps",
    "--cache",
    "--step-roles",
    "--save-step-inputs",
    "--encoder",
    "--encoder-inputs",
    "--encoder-outputs",
    "--step-inputs",
    "--step-golden",
    "--inline-bodies",
    "--require-all",
    "--keep-float32",
    "--l2-threshold",
    "--cosine-similarity-threshold",
    "--lpips-threshold",
    "--postprocess-func-script",
    "--sequential-runners",
    "--save-input-blob",
    "--all-tensor-formats",
    "--compute-capabilities",
    "--use-gpu",
    "--all-tensor-dtypes",
    "--trt-outputs-by-type",
    "--enable-uint8-asymmetric-quantization-dla",
    "--decomposable-attentions",
    "--dla-workspace-allocation-strategy",
    "--check-average",
    "--save-accuracy-results",
    "--save-visual",
    "--visual",
    "--visual-port",
    "--onnx-outputs-by-type",
    "--outputs-by-type",
    "--psnr-threshold",
    "--snr-threshold",
    "--nmse-tolerance",
    "--token-tolerance",
    "--kl-tolerance",
    "--ssim-threshold",
    "--topk-threshold",
    "--topk-size",
    "--detection-tolerance",
    "--detection-columns",
    "--iou-threshold",
    "--score-tolerance",
    "--score-cut",
    "--json",
    "--norm-tolerance",
    "--nans-compare-equal",
    "--ignore-outputs",
    "--only",
    "--report",
    "--report-data",
    "--junit",
    "--sarif",
    "--node-data",
    "--annotate",
    "--decide-branches",
    "--skip-code",
    "--on-timeout",
    "--signature",
    "--flaky",
    "--no-false-failures",
    "--iter-inputs",
    "--max-checks",
    "--deadline",
    "--iter-golden",
    "--simplify",
    "--golden",
    "--verdict-cache",
    "-j",
    "--all",
    "--jobs",
    "--launcher",
    "--work-dir",
    "--precision-policy",
    "--deterministic",
    "--profile",
    "--explore",
    "--explore-within",
    "--exclude-tactics",
    "--save-fixed-tactics",
    "--emit",
    "--save-layer-info",
    "--layer-info",
    "--build-route",
    "--device",
    "--refit-from-onnx",
    "--output-onnx",
    "--runner",
    "--runner-build",
    "--runner-timeout",
    "--runner-precision",
};

static const char *const sections_for_building[] = {"TensorRT",
                                                    "ONNX-TRT"}; /* a tool that builds nothing lacks these */

/* Defaults that Polygraphy keeps elsewhere than in its tables. */
static const struct {
    const char *name, *fallback;
} inner_defaults[] = {
    {"--seed", "1"},
    {"--iterations", "1"},
    {"--int-min", "1"},
    {"--int-max", "25"},
    {"--float-min", "-1"},
    {"--float-max", "1"},
    {"--warm-up", "0"},
    {"--external-data-size-threshold", "1024"},
    {"--data-loader-backend-module", "numpy"},
    {"--quantile", "0.5"},
    {"--builder-optimization-level", "3"},
};

/* Values of several occurrences add up, as Polygraphy's help says and its parser does not. */
static const char *const adding_up[] = {"--fail-regex"};

/* Options with more choices than Polygraphy's command line has. */
static const char *const more_choices[] = {"--compare", "--mode"};

/* Options that take more values than in Polygraphy 0.49: argparse_dump_0.53.txt. */
static const char *const more_values[] = {"--compare", "--inputs"};

/* Options that only some commands of Polygraphy 0.49 have, and more of 0.53. */
static const char *const spread_options[] = {"--direct-io", "--tensor-formats"};

/* Words that one tool has of its own, or takes in another number. */
static const struct {
    const struct command *command;
    const char *name;
} own_words[] = {
    {&cmd_inspect_capability, "model_file"}, /* may be missing, since there are --providers and --trt */
    {&cmd_inspect_capability, "--providers"},
    {&cmd_inspect_capability, "--trt"},
};

static bool is_own_word(const struct command *command, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(own_words); i++)
        if (own_words[i].command == command && strcmp(own_words[i].name, name) == 0)
            return true;
    return false;
}

static bool contains(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count && list[i] != NULL; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

#define CONTAINS(list, name) contains(list, ARRAY_LEN(list), name)

/* ---- Comparing ---- */

/* "choices=['bisect', 'linear']", or "" when the option takes anything. */
static void add_choices(const struct option *option, struct string_builder *ret)
{
    for (size_t i = 0; option->choices && option->choices[i]; i++)
        string_add_format(ret, "%s'%s'", i == 0 ? "choices=[" : ", ", option->choices[i]);
    string_add(ret, option->choices ? "]" : "");
}

/* "default='bisect'", or what argparse has when there is none. */
static bool has_same_default(const struct registered_option *registered, const struct option *option)
{
    const char *at = strstr(registered->properties, "default=") + strlen("default=");
    bool none = strncmp(at, "None", 4) == 0 || strncmp(at, "[]", 2) == 0;
    size_t length = option->fallback ? strlen(option->fallback) : 0;

    if (registered_option_kind(registered) == OPTION_FLAG || registered_option_kind(registered) == OPTION_COUNT)
        return !option->fallback;
    for (size_t i = 0; i < ARRAY_LEN(inner_defaults); i++)
        if (strcmp(inner_defaults[i].name, option->names[0]) == 0)
            return none && option->fallback && strcmp(option->fallback, inner_defaults[i].fallback) == 0;
    if (!option->fallback)
        return none;
    if (option->type == OPTION_INTEGER)
        return strncmp(at, option->fallback, length) == 0 && at[length] == ',';
    return at[0] == '\'' && strncmp(at + 1, option->fallback, length) == 0 && at[1 + length] == '\'';
}

static void compare_names(const struct registered_option *registered, const struct option *option)
{
    struct string_builder names;

    string_init(&names);
    for (size_t i = 0; i < ARRAY_LEN(option->names) && option->names[i]; i++)
        string_add_format(&names, "%s%s", i > 0 ? "/" : "", option->names[i]);
    assert_string_equal(names.data, registered->names);
    string_release(&names);
}

static void compare_option(const struct registered_option *registered, const struct option *option)
{
    const char *name = option->names[0];
    bool positional = name[0] != '-';
    struct string_builder choices;

    compare_names(registered, option);
    if ((option->kind == OPTION_OFF ? OPTION_FLAG : option->kind) != registered_option_kind(registered) &&
        !CONTAINS(more_values, name))
        fail_msg("%s takes another number of values: %s", name, registered->properties);
    if (option->refusal)
        return;
    if ((option->type == OPTION_INTEGER) != registered_option_has(registered, "type=int") ||
        (option->type == OPTION_FLOAT) != registered_option_has(registered, "type=float"))
        fail_msg("%s takes another type: %s", name, registered->properties);
    if (option->append != (registered_option_has(registered, "AppendAction") || CONTAINS(adding_up, name)))
        fail_msg("%s treats repetition otherwise: %s", name, registered->properties);
    if ((option->required || (positional && (option->kind == OPTION_ONE || option->kind == OPTION_MANY))) !=
        registered_option_has(registered, "REQUIRED"))
        fail_msg("%s is required, or is not: %s", name, registered->properties);
    if (!has_same_default(registered, option))
        fail_msg("%s has another default: %s", name, registered->properties);

    if (CONTAINS(more_choices, name))
        return;
    string_init(&choices);
    add_choices(option, &choices);
    if (registered_option_has(registered, "choices=")
            ? !strstr(registered->properties, choices.data) || choices.size == 0
            : choices.size > 0)
        fail_msg("%s has other choices: %s", name, registered->properties);
    string_release(&choices);
}

/* The number N of "mutexN"; -1: none. */
static int exclusion(const struct registered_option *registered)
{
    const char *at = strstr(registered->properties, "mutex");

    return at ? at[strlen("mutex")] - '0' : -1;
}

/* Two options of a group exclude each other here if and only if they do there. */
static void compare_exclusions(const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct registered_option *a = option_dump_find(group->options[i].names[0]);
            const struct registered_option *b = option_dump_find(group->options[k].names[0]);
            bool ours = group->options[i].exclusive != 0 && group->options[i].exclusive == group->options[k].exclusive;

            if (a && b && ours != (exclusion(a) >= 0 && exclusion(a) == exclusion(b)))
                fail_msg("%s and %s", a->names, b->names);
        }
}

/* The option of the dump that a word abbreviates, and no other one does; NULL: there is none, or one is called so. */
static const struct registered_option *find_abbreviated(const char *word)
{
    const struct registered_option *ret = NULL;

    if (option_dump_find(word) != NULL)
        return NULL;
    for (size_t i = 0; i < option_dump.count; i++)
        for (const char *at = option_dump.items[i].names; at && *at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
            if (strncmp(at, word, strlen(word)) == 0) {
                if (ret != NULL && ret != &option_dump.items[i])
                    return NULL;
                ret = &option_dump.items[i];
            }
    return ret;
}

/* What abbreviates an option of Polygraphy's there does so here, whatever options were added. */
static void compare_abbreviations(const struct command *command)
{
    const struct command root = {.name = "polygraphy", .subcommands = &command, .subcommand_count = 1};
    struct command_line line;
    struct option_match match;

    COMMAND_LINE(&line, &root, command->name, "--help");
    for (size_t i = 0; i < option_dump.count; i++) {
        char word[64];
        const char *slash = strchr(option_dump.items[i].names, '/');
        size_t length =
            slash != NULL ? (size_t)(slash - option_dump.items[i].names) : strlen(option_dump.items[i].names);

        for (size_t size = 3; option_dump.items[i].met && option_dump.items[i].names[1] == '-' && size < length;
             size++) {
            snprintf(word, sizeof(word), "%.*s", (int)size, option_dump.items[i].names);
            if (find_abbreviated(word) != &option_dump.items[i])
                continue;
            if (word_classify(&line.parse, word, &match, NULL) != WORD_OPTION ||
                option_dump_find(option_of(&match)->names[0]) != &option_dump.items[i])
                fail_msg("%s no longer stands for %s: one of the options that it fits has to yield", word,
                         option_dump.items[i].names);
        }
    }
    command_line_release(&line);
}

static void compare_command(const struct command *command, const char *tool)
{
    bool allows_abbreviations = option_dump_read("tests/golden/vectors/argparse_dump.txt", tool), builds = false;

    for (size_t i = 0; i < command->group_count; i++)
        builds |= command->groups[i].group == &engine_network_options;
    assert_int_equal(command->exact_names, !allows_abbreviations);
    for (size_t i = 0; i < command->group_count; i++) {
        for (size_t k = 0; k < command->groups[i].group->count; k++) {
            const struct option *option = &command->groups[i].group->options[k];
            struct registered_option *registered = option_dump_find(option->names[0]);

            if (is_own_word(command, option->names[0])) {
                if (registered)
                    registered->met = true;
                continue;
            }
            if (registered == NULL && CONTAINS(spread_options, option->names[0]))
                continue;
            if ((registered != NULL) == CONTAINS(new_options, option->names[0]))
                fail_msg("%s should %sbe in the dump", option->names[0], registered ? "not " : "");
            if (!registered)
                continue;
            registered->met = true;
            compare_option(registered, option);
        }
        compare_exclusions(command->groups[i].group);
    }
    for (size_t i = 0; i < option_dump.count; i++) {
        bool expected = strcmp(option_dump.items[i].names, "-h/--help") != 0;

        for (size_t k = 0; !builds && k < ARRAY_LEN(sections_for_building); k++)
            expected = expected && strncmp(option_dump.items[i].section, sections_for_building[k],
                                           strlen(sections_for_building[k])) != 0;
        if (option_dump.items[i].met != expected)
            fail_msg("%s is %s", option_dump.items[i].names, expected ? "missing" : "listed as missing, but is there");
    }
    if (allows_abbreviations)
        compare_abbreviations(command);
    option_dump_release();
}

static void run_has_polygraphys_options(void **state)
{
    compare_command(&cmd_run, "polygraphy run");
}

static void debug_reduce_has_polygraphys_options(void **state)
{
    compare_command(&cmd_debug_reduce, "polygraphy debug reduce");
}

static void debug_repeat_has_polygraphys_options(void **state)
{
    compare_command(&cmd_debug_repeat, "polygraphy debug repeat");
}

static void inspect_tactics_has_polygraphys_options(void **state)
{
    compare_command(&cmd_inspect_tactics, "polygraphy inspect tactics");
}

static void inspect_diff_tactics_has_polygraphys_options(void **state)
{
    compare_command(&cmd_inspect_diff_tactics, "polygraphy inspect diff-tactics");
}

static void inspect_model_has_polygraphys_options(void **state)
{
    compare_command(&cmd_inspect_model, "polygraphy inspect model");
}

static void inspect_data_has_polygraphys_options(void **state)
{
    compare_command(&cmd_inspect_data, "polygraphy inspect data");
}

static void inspect_sparsity_has_polygraphys_options(void **state)
{
    compare_command(&cmd_inspect_sparsity, "polygraphy inspect sparsity");
}

static void data_to_input_has_polygraphys_options(void **state)
{
    compare_command(&cmd_data_to_input, "polygraphy data to-input");
}

static void debug_build_has_polygraphys_options(void **state)
{
    compare_command(&cmd_debug_build, "polygraphy debug build");
}

static void debug_precision_has_polygraphys_options(void **state)
{
    compare_command(&cmd_debug_precision, "polygraphy debug precision");
}

static void inspect_capability_has_polygraphys_options(void **state)
{
    compare_command(&cmd_inspect_capability, "polygraphy inspect capability");
}

static void check_lint_has_polygraphys_options(void **state)
{
    compare_command(&cmd_check_lint, "polygraphy check lint");
}

static void surgeon_extract_has_polygraphys_options(void **state)
{
    compare_command(&cmd_surgeon_extract, "polygraphy surgeon extract");
}

static void surgeon_insert_has_polygraphys_options(void **state)
{
    compare_command(&cmd_surgeon_insert, "polygraphy surgeon insert");
}

static void surgeon_prune_has_polygraphys_options(void **state)
{
    compare_command(&cmd_surgeon_prune, "polygraphy surgeon prune");
}

static void surgeon_weight_strip_has_polygraphys_options(void **state)
{
    compare_command(&cmd_surgeon_weight_strip, "polygraphy surgeon weight-strip");
}

static void surgeon_weight_reconstruct_has_polygraphys_options(void **state)
{
    compare_command(&cmd_surgeon_weight_reconstruct, "polygraphy surgeon weight-reconstruct");
}

static void surgeon_sanitize_has_polygraphys_options(void **state)
{
    compare_command(&cmd_surgeon_sanitize, "polygraphy surgeon sanitize");
}

static void convert_has_polygraphys_options(void **state)
{
    compare_command(&cmd_convert, "polygraphy convert");
}

/* ---- Pages of help ---- */

enum { PAGE_LINES = 64 };

static void check_page(const struct command *root, const char *first, const char *second)
{
    struct command_line line;
    struct string_builder page;
    size_t lines = 0;

    COMMAND_LINE(&line, root, first, second != NULL ? second : "--help", "--help");
    string_init(&page);
    help_render(&line.parse, HELP_PAGE, 80, &page);
    for (size_t i = 0; i < page.size; i++)
        lines += page.data[i] == '\n';
    if (lines > PAGE_LINES)
        fail_msg("--help of %s %s has %zu lines: name the options that matter in .essential", first,
                 second != NULL ? second : "", lines);
    string_release(&page);
    command_line_release(&line);
}

/* What a page shows is there: help_render() asserts it. */
static void every_help_is_a_page(void **state)
{
    static const struct command *const tools[] = {
        &cmd_run, &cmd_convert, &cmd_debug, &cmd_inspect, &cmd_surgeon, &cmd_data, &cmd_check,
    };
    static const struct command root = {
        .name = "polygraphy", .subcommands = tools, .subcommand_count = ARRAY_LEN(tools)};

    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        check_page(&root, tools[i]->name, NULL);
        for (size_t k = 0; k < tools[i]->subcommand_count; k++)
            check_page(&root, tools[i]->name, tools[i]->subcommands[k]->name);
    }
}

/* ---- Refusals ---- */

static char *page; /* docs/coming-from-polygraphy.md */

/* As GitHub and others make it of the text of a heading: lower case, hyphens for blanks, nothing else but letters. */
static bool is_heading(const char *anchor)
{
    for (const char *line = page; line != NULL; line = strchr(line, '\n')) {
        const char *at = anchor;

        line += *line == '\n';
        if (*line != '#')
            continue;
        for (line += strspn(line, "# "); *line != '\n' && *line != '\0'; line++) {
            char expected = *line == ' ' ? '-' : (char)tolower((unsigned char)*line);

            if (strchr(",.`'", *line) == NULL && expected != *at++)
                break;
        }
        if (*line == '\n' && *at == '\0')
            return true;
    }
    return false;
}

/* Whether the page has the name as code of its own: `--gen` is not named by `--gen-script`. */
static bool is_on_page(const char *name)
{
    size_t length = strlen(name);

    for (const char *at = strstr(page, name); at != NULL; at = strstr(at + 1, name))
        if ((at[-1] == '`' || at[-1] == ' ') && strchr("` ,", at[length]) != NULL)
            return true;
    return false;
}

static void check_refusals(const struct command *command)
{
    for (size_t i = 0; i < command->subcommand_count; i++)
        check_refusals(command->subcommands[i]);
    for (size_t i = 0; i < command->group_count; i++)
        for (size_t k = 0; k < command->groups[i].group->count; k++) {
            const struct option *option = &command->groups[i].group->options[k];

            if ((option->refusal != NULL) != (option->topic != NULL))
                fail_msg("%s of %s needs both a refusal and a topic, or neither", option->names[0], command->name);
            if (option->refusal == NULL)
                continue;
            if (!is_heading(option->topic))
                fail_msg("%s: there is no heading '%s' on the page", option->names[0], option->topic);
            for (size_t n = 0; n < ARRAY_LEN(option->names) && option->names[n] != NULL; n++)
                if (!is_on_page(option->names[n]))
                    fail_msg("%s, an option of %s that is refused, is not on the page", option->names[n],
                             command->name);
        }
}

static void what_is_refused_is_on_the_page_for_those_who_come_from_polygraphy(void **state)
{
    static const struct command *const tools[] = {
        &cmd_run, &cmd_convert, &cmd_debug, &cmd_inspect, &cmd_surgeon, &cmd_data, &cmd_check,
    };
    size_t size;

    assert_int_equal(file_read("docs/coming-from-polygraphy.md", 1 << 20, &page, &size, NULL), 0);
    assert_true(is_heading("what-differs"));
    assert_false(is_heading("what-differ"));
    assert_false(is_heading("what-differs-not"));
    assert_false(is_on_page("--gen-"));
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        check_refusals(tools[i]);
    for (const struct missing_command *missing = missing_tools; missing->name != NULL; missing++) {
        assert_true(is_heading(missing->topic));
        assert_true(is_on_page(missing->name));
    }
    free(page);
}

/* Whatever a group fills lies within the settings of the command. */
static void check_fields(const struct command *command)
{
    for (size_t i = 0; i < command->subcommand_count; i++)
        check_fields(command->subcommands[i]);
    for (size_t i = 0; i < command->group_count; i++) {
        const struct option_group *group = command->groups[i].group;
        size_t size = 0;

        for (size_t k = 0; k < group->count; k++) {
            const struct option *option = &group->options[k];

            if (option->struct_size == 0)
                continue;
            if (size != 0 && option->struct_size != size)
                fail_msg("%s is in a group whose other options fill another struct", option->names[0]);
            size = option->struct_size;
            assert_true(option->offset < size);
        }
        if (command->groups[i].offset + size > command->settings_size)
            fail_msg("'%s' of %s fills what its settings do not have", group->title, command->name);
    }
}

static void every_group_fills_a_part_of_the_settings(void **state)
{
    static const struct command *const tools[] = {
        &cmd_run,  &cmd_convert, &cmd_debug,      &cmd_inspect, &cmd_surgeon,
        &cmd_data, &cmd_check,   &cmd_completion, &cmd_help,
    };

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        check_fields(tools[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_has_polygraphys_options),
        cmocka_unit_test(debug_reduce_has_polygraphys_options),
        cmocka_unit_test(debug_repeat_has_polygraphys_options),
        cmocka_unit_test(surgeon_extract_has_polygraphys_options),
        cmocka_unit_test(surgeon_insert_has_polygraphys_options),
        cmocka_unit_test(surgeon_prune_has_polygraphys_options),
        cmocka_unit_test(surgeon_weight_strip_has_polygraphys_options),
        cmocka_unit_test(surgeon_weight_reconstruct_has_polygraphys_options),
        cmocka_unit_test(surgeon_sanitize_has_polygraphys_options),
        cmocka_unit_test(convert_has_polygraphys_options),
        cmocka_unit_test(inspect_tactics_has_polygraphys_options),
        cmocka_unit_test(inspect_diff_tactics_has_polygraphys_options),
        cmocka_unit_test(inspect_model_has_polygraphys_options),
        cmocka_unit_test(inspect_data_has_polygraphys_options),
        cmocka_unit_test(inspect_sparsity_has_polygraphys_options),
        cmocka_unit_test(data_to_input_has_polygraphys_options),
        cmocka_unit_test(check_lint_has_polygraphys_options),
        cmocka_unit_test(every_help_is_a_page),
        cmocka_unit_test(every_group_fills_a_part_of_the_settings),
        cmocka_unit_test(what_is_refused_is_on_the_page_for_those_who_come_from_polygraphy),
        cmocka_unit_test(debug_build_has_polygraphys_options),
        cmocka_unit_test(debug_precision_has_polygraphys_options),
        cmocka_unit_test(inspect_capability_has_polygraphys_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
