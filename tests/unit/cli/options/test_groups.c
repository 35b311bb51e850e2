/* test_option_groups.c: what the groups make of their options, and what they refuse. */
#include "backend/onnxrt/settings.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/debug/session.h"
#include "cli/options/reduce.h"
#include "comparator/infer/driver.h"
#include "debug/reduce/reduce.h"
#include "support/command_line.h"
#include "support/scratch_folder.h"

/* What any of the groups here fills. */
struct every_settings {
    struct debug_reduce_settings reduce;
    struct runner_values runners;
    struct driver_settings inference;
    struct comparison_values comparison;
};

static const struct command_group run_groups[] = {
    COMMAND_GROUP(struct every_settings, reduce.debug.common.logging, logging_options),
    COMMAND_GROUP(struct every_settings, runners, runner_options),
    COMMAND_GROUP(struct every_settings, reduce.file.model, run_model_options),
    COMMAND_GROUP(struct every_settings, reduce.file.save, run_save_options),
    COMMAND_GROUP(struct every_settings, reduce.file.inference, shape_inference_options),
    COMMAND_GROUP(struct every_settings, reduce.file.load, onnx_load_outputs_options),
    COMMAND_GROUP(struct every_settings, reduce.file.onnxrt, onnxrt_options),
    COMMAND_GROUP(struct every_settings, reduce.file.data, data_loader_options),
    COMMAND_GROUP(struct every_settings, inference, inference_options),
    COMMAND_GROUP(struct every_settings, comparison, comparison_options),
    {&run_options, 0},
};
static const struct command_group reduce_groups[] = {
    COMMAND_GROUP(struct every_settings, reduce.debug.common.logging, logging_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, check_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, artifact_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, intermediate_onnx_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, iteration_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, replay_options),
    COMMAND_GROUP(struct every_settings, reduce.file.model, reduce_model_options),
    COMMAND_GROUP(struct every_settings, reduce.file.save, onnx_save_options),
    COMMAND_GROUP(struct every_settings, reduce, reduce_options),
    COMMAND_GROUP(struct every_settings, reduce.file.load, onnx_load_options),
    COMMAND_GROUP(struct every_settings, reduce.file.data, data_loader_options),
    COMMAND_GROUP(struct every_settings, reduce.file.inference, shape_inference_default_options),
};
static const struct command_group repeat_groups[] = {
    COMMAND_GROUP(struct every_settings, reduce.debug.common.logging, logging_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, check_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, expected_artifact_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, iteration_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, until_options),
    COMMAND_GROUP(struct every_settings, reduce.debug, replay_options),
};

#define TEST_COMMAND(word, list, exact)                                                                                \
    {                                                                                                                  \
        .name = word, .groups = list, .group_count = ARRAY_LEN(list), .settings_size = sizeof(struct every_settings),  \
        .exact_names = exact,                                                                                          \
    }

static const struct command run_command = TEST_COMMAND("run", run_groups, false);
static const struct command reduce_command = TEST_COMMAND("reduce", reduce_groups, true);
static const struct command repeat_command = TEST_COMMAND("repeat", repeat_groups, true);

static const struct command *const tools[] = {&run_command, &reduce_command, &repeat_command};
static const struct command root = {.name = "polygraphy", .subcommands = tools, .subcommand_count = ARRAY_LEN(tools)};

static struct command_line line;

#define PARSE(command, ...)                                                                                            \
    do {                                                                                                               \
        command_line_release(&line);                                                                                   \
        COMMAND_LINE(&line, &root, (command).name, __VA_ARGS__);                                                       \
    } while (0)

#define REDUCE(...) PARSE(reduce_command, "m.onnx", "-o", "r.onnx", __VA_ARGS__)
#define REPEAT(...) PARSE(repeat_command, "--until", "1", __VA_ARGS__)
#define RUN(...) PARSE(run_command, "m.onnx", __VA_ARGS__)

static const struct every_settings *given(void)
{
    if (line.outcome != PARSE_DONE || line.rc < 0)
        fail_msg("%s", line.err.message);
    return line.parse.settings;
}

static void assert_fails(int code, const char *part)
{
    assert_int_equal(line.outcome, PARSE_DONE);
    assert_int_equal(line.rc, code);
    if (!strstr(line.err.message, part))
        fail_msg("'%s' is not in '%s'", part, line.err.message);
}

static void assert_logs(const char *part)
{
    if (!captured_log_has(&line.log, part))
        fail_msg("'%s' is not in '%s'", part, line.log.text.data);
}

/* ---- Logging ---- */

static enum log_level threshold(void)
{
    return given()->reduce.debug.common.logging.settings.threshold;
}

static void v_and_q_are_counted_against_each_other(void **state)
{
    RUN("--onnxrt");
    assert_int_equal(threshold(), LOG_INFO);
    RUN("-v");
    assert_int_equal(threshold(), LOG_VERBOSE);
    RUN("-vvvv");
    assert_int_equal(threshold(), LOG_ULTRA_VERBOSE);
    RUN("-vvvvvvv");
    assert_int_equal(threshold(), LOG_ULTRA_VERBOSE);
    RUN("-q");
    assert_int_equal(threshold(), LOG_START);
    RUN("-qqqq", "-v");
    assert_int_equal(threshold(), LOG_WARNING);
    RUN("-qqqqqqqqqqq");
    assert_int_equal(threshold(), LOG_CRITICAL);
}

static void verbosity_overrules_v_and_silent_overrules_all(void **state)
{
    RUN("--verbosity", "warning", "-vv");
    assert_int_equal(threshold(), LOG_WARNING);
    RUN("--verbosity", "backend/onnx:ERROR", "-v");
    assert_int_equal(threshold(), LOG_VERBOSE);
    RUN("--verbosity", "backend:ERROR", "EXTRA_VERBOSE");
    assert_int_equal(threshold(), LOG_EXTRA_VERBOSE);
    RUN("--silent", "--verbosity", "INFO");
    assert_int_equal(threshold(), LOG_CRITICAL);
    RUN("--verbosity", "LOUD");
    assert_fails(ERR_INVALID, "--verbosity: 'LOUD' is not a level");
}

static void log_formats_add_up_in_one_occurrence(void **state)
{
    const struct logging_values *logging;

    RUN("--log-format", "timestamp", "no-colors", "line-info");
    logging = &given()->reduce.debug.common.logging;
    assert_true(logging->settings.timestamps && logging->settings.no_colors);
    RUN("--log-format", "colors");
    assert_int_equal(line.outcome, PARSE_REFUSED);
}

/* ---- Model ---- */

static const struct model_values *run_model(void)
{
    return &given()->reduce.file.model;
}

static void existing_model_becomes_absolute(void **state)
{
    char *folder = getcwd(NULL, 0);
    char expected[4096];

    scratch_file("m.onnx", "");
    snprintf(expected, sizeof(expected), "%s/m.onnx", folder);
    RUN("--onnxrt");
    assert_string_equal(run_model()->path, expected);
    assert_int_equal(run_model()->type, MODEL_ONNX);
    PARSE(run_command, "./m.onnx:function");
    assert_string_equal(run_model()->path, expected);
    free(folder);
}

static void colon_in_the_name_of_a_file_is_kept(void **state)
{
    scratch_file("a:b.onnx", "");
    PARSE(run_command, "a:b.onnx");
    assert_non_null(strstr(run_model()->path, "/a:b.onnx"));
}

static void missing_model_is_a_warning(void **state)
{
    RUN("--onnxrt");
    assert_string_equal(run_model()->path, "m.onnx");
    assert_logs("W Model path does not exist: m.onnx\n");
}

static void type_of_a_model_follows_from_its_extension_or_the_option(void **state)
{
    PARSE(run_command, "m.plan");
    assert_int_equal(run_model()->type, MODEL_ENGINE);
    PARSE(run_command, "m.bin", "--model-type", "onnx");
    assert_int_equal(run_model()->type, MODEL_ONNX);
    PARSE(run_command, "m.bin");
    assert_fails(ERR_INVALID, "Could not automatically determine model type for: m.bin");
    PARSE(run_command, "m");
    assert_fails(ERR_INVALID, "Could not automatically determine model type for: m");
    PARSE(run_command, "m.hdf5");
    assert_fails(ERR_UNSUPPORTED, "models of type 'keras' are not supported");
    PARSE(run_command, ".");
    assert_fails(ERR_UNSUPPORTED, "models of type 'ckpt' are not supported");
}

static void onnx_tools_ignore_the_extension(void **state)
{
    PARSE(reduce_command, "m.bin", "-o", "r");
    assert_int_equal(given()->reduce.file.model.type, MODEL_ONNX);
}

static void run_needs_no_model(void **state)
{
    PARSE(run_command, "--load-outputs", "a", "b");
    assert_null(run_model()->path);
}

/* ---- Data loader ---- */

static void deprecated_ranges_count_when_one_of_their_bounds_is_given(void **state)
{
    const struct data_loader_settings *data;

    RUN("--int-max", "7");
    data = &given()->reduce.file.data;
    assert_true(data->has_integer_range && !data->has_float_range);
    assert_int_equal(data->integer_minimum, 1);
    assert_int_equal(data->integer_maximum, 7);
    RUN("--float-min", "0.5");
    data = &given()->reduce.file.data;
    assert_true(data->has_float_range && !data->has_integer_range);
    assert_true(data->float_minimum == 0.5 && data->float_maximum == 1);
}

static void data_that_cannot_be_made_are_refused(void **state)
{
    RUN("--seed", "-1");
    assert_fails(ERR_INVALID, "--seed: -1 is not in 0 .. 4294967295");
    RUN("--seed", "4294967296");
    assert_fails(ERR_INVALID, "--seed");
    RUN("--iterations", "-1");
    assert_fails(ERR_INVALID, "--iterations");
    RUN("--int-min", "30");
    assert_fails(ERR_INVALID, "--int-min: 30 is greater than --int-max, 25");
    RUN("--float-max", "nan");
    assert_fails(ERR_INVALID, "--float-min");
    RUN("--data-loader-backend-module", "torch");
    assert_fails(ERR_UNSUPPORTED, "torch");
    RUN("--data-loader-script", "x.py");
    assert_fails(ERR_UNSUPPORTED, "--load-inputs");
    RUN("--load-inputs", "a", "--data-loader-script", "x.py");
    assert_int_equal(line.outcome, PARSE_REFUSED);
}

static void options_that_loaded_inputs_make_useless_earn_a_warning_each(void **state)
{
    RUN("--load-inputs", "a", "b", "--seed", "3", "--iters", "2");
    assert_int_equal(given()->reduce.file.data.files.count, 2);
    assert_logs("W Argument: --seed will be ignored");
    assert_logs("W Argument: --iters will be ignored");
    assert_false(captured_log_has(&line.log, "--val-range"));
}

/* ---- Comparison, inference, loading, saving ---- */

static void options_of_the_other_comparison_function_earn_a_warning(void **state)
{
    RUN("--compare", "indices", "--abs-tol", "1", "--index-tolerance", "2");
    assert_int_equal(given()->comparison.settings.functions.count, 1);
    assert_int_equal(given()->comparison.settings.functions.items[0], COMPARISON_INDICES);
    assert_logs("W Option: --atol/--abs-tol is only valid for comparison function(s): ['simple']. The selected "
                "comparison functions are: ['indices'], so this option will be ignored.");
    assert_false(captured_log_has(&line.log, "--index-tolerance"));
    RUN("--index-tolerance", "2");
    assert_logs("W Option: --index-tolerance is only valid for comparison function(s): ['indices']");
    RUN("--compare", "quality", "--l2-tolerance", "1", "--snr-threshold", "-3", "x:10");
    assert_logs("W Option: --l2-threshold/--l2-tolerance is only valid for comparison function(s): ['l2', "
                "'distance_metrics']. The selected comparison functions are: ['quality']");
    assert_false(captured_log_has(&line.log, "--snr-threshold"));
}

/* The functions that were chosen are these, in this order; the list ends with COMPARISON_FUNCTIONS. */
static void assert_functions(const enum comparison_function *expected)
{
    const struct comparison_functions *functions = &given()->comparison.settings.functions;
    size_t count = 0;

    for (; expected[count] != COMPARISON_FUNCTIONS; count++)
        assert_int_equal(functions->items[count], expected[count]);
    assert_int_equal(functions->count, count);
}

#define FUNCTIONS(...) assert_functions((const enum comparison_function[]){__VA_ARGS__, COMPARISON_FUNCTIONS})

static void names_of_comparison_functions_stand_for_one_or_several(void **state)
{
    RUN("--onnxrt");
    FUNCTIONS(COMPARISON_SIMPLE);
    RUN("--compare", "psnr", "distance_metrics", "l2", "simple");
    FUNCTIONS(COMPARISON_PSNR, COMPARISON_L2, COMPARISON_COSINE_SIMILARITY, COMPARISON_SIMPLE);
    RUN("--compare", "quality_metrics", "--snr-tolerance", "20");
    FUNCTIONS(COMPARISON_PSNR, COMPARISON_SNR);
    RUN("--compare", "quality");
    FUNCTIONS(COMPARISON_PSNR, COMPARISON_SNR);
    RUN("--compare", "quality", "--snr-threshold", "20");
    FUNCTIONS(COMPARISON_SNR);
    RUN("--compare", "quality", "--nmse-tolerance", "0.1");
    FUNCTIONS(COMPARISON_NMSE);
    RUN("--compare", "nmse");
    assert_fails(ERR_INVALID, "add --nmse-tolerance");
    RUN("--compare", "perceptual_metrics");
    assert_fails(ERR_UNSUPPORTED, "LPIPS");
}

static void what_needs_python_is_refused_with_an_alternative(void **state)
{
    RUN("--show-heatmaps");
    assert_fails(ERR_UNSUPPORTED, "--save-heatmaps");
    RUN("--show-error-metrics-plot");
    assert_fails(ERR_UNSUPPORTED, "--save-error-metrics-plot");
    RUN("--compare-func-script", "x.py");
    assert_fails(ERR_UNSUPPORTED, "--save-outputs");
    RUN("--gen", "-");
    assert_fails(ERR_UNSUPPORTED, "--gen: Python scripts are not generated");
}

static void negative_warm_up_is_refused(void **state)
{
    RUN("--warm-up", "-1");
    assert_fails(ERR_INVALID, "--warm-up: -1 is less than 0");
}

static void shape_inference_is_on_in_reduce_unless_refused_or_replaced(void **state)
{
    REDUCE("--mode", "linear");
    assert_true(given()->reduce.file.inference.enabled);
    REDUCE("--no-shape-inference");
    assert_false(given()->reduce.file.inference.enabled);
    REDUCE("--force-fallback-shape-inference");
    assert_false(given()->reduce.file.inference.enabled);
    RUN("--onnxrt");
    assert_false(given()->reduce.file.inference.enabled);
    RUN("--do-shape-inference");
    assert_true(given()->reduce.file.inference.enabled);
}

static void details_of_external_data_without_external_data_earn_a_warning(void **state)
{
    REDUCE("--external-data-size-threshold", "16M", "--no-save-all-tensors-to-one-file");
    assert_int_equal(given()->reduce.file.save.external.threshold, 16 << 20);
    assert_logs("W --external-data-size-threshold has no effect without --save-external-data");
    assert_logs("W --no-save-all-tensors-to-one-file has no effect without --save-external-data");
    REDUCE("--save-external-data", "--no-save-all-tensors-to-one-file");
    given();
    assert_false(captured_log_has(&line.log, "has no effect"));
}

static void onnx_runtime_gets_levels_and_threads(void **state)
{
    RUN("--onnxrt");
    assert_int_equal(given()->reduce.file.onnxrt.runtime.optimization_level, -1);
    RUN("--onnxrt-optimization-level", "all", "--onnxrt-threads", "3", "--providers", "cuda", "cpu");
    const struct onnxrt_settings *onnxrt = &given()->reduce.file.onnxrt.runtime;

    assert_int_equal(onnxrt->optimization_level, 99);
    assert_int_equal(onnxrt->intra_threads, 3);
    assert_string_equal(onnxrt->execution.providers[1], "cpu");
    RUN("--onnxrt-threads", "-1");
    assert_fails(ERR_INVALID, "--onnxrt-threads");
}

static void assert_setting(const struct onnxrt_entry *setting, const char *provider, const char *key, const char *value)
{
    if (provider == NULL)
        assert_null(setting->provider);
    else
        assert_string_equal(setting->provider, provider);
    assert_string_equal(setting->key, key);
    assert_string_equal(setting->value, value);
}

static void options_of_providers_are_keys_and_values_between_commas(void **state)
{
    RUN("--onnxrt", "--provider-options", "tensorrt:trt_fp16_enable=1,shapes=x:1x3\\,y:2=3",
        "openvino:device=HETERO:A,p=C:\\d\\\\", "--provider-options", "cuda:a=b", "--session-config", "s.k=v=w",
        "--session-config", "s.l=A;B");
    const struct onnxrt_execution *execution = &given()->reduce.file.onnxrt.runtime.execution;
    const struct onnxrt_entry *options = execution->provider_options.items;

    assert_int_equal(execution->provider_options.count, 5);
    assert_setting(&options[0], "tensorrt", "trt_fp16_enable", "1");
    assert_setting(&options[1], "tensorrt", "shapes", "x:1x3,y:2=3");
    assert_setting(&options[2], "openvino", "device", "HETERO:A");
    assert_setting(&options[3], "openvino", "p", "C:\\d\\");
    assert_setting(&options[4], "cuda", "a", "b");
    assert_int_equal(execution->session_config.count, 2);
    assert_setting(&execution->session_config.items[0], NULL, "s.k", "v=w");
    assert_setting(&execution->session_config.items[1], NULL, "s.l", "A;B");
}

static void options_of_providers_that_are_none_are_refused(void **state)
{
    static const char *const words[][3] = {
        {"--provider-options", "a=b", "'a=b' does not begin with a provider's name"},
        {"--provider-options", ":a=b", "':a=b' does not begin with a provider's name"},
        {"--provider-options", "cuda", "'cuda' does not begin with a provider's name"},
        {"--provider-options", "cuda:", "'' in 'cuda:' is not KEY=VALUE"},
        {"--provider-options", "cuda:a=b,c", "'c' in 'cuda:a=b,c' is not KEY=VALUE"},
        {"--provider-options", "cuda:a=b,", "'' in 'cuda:a=b,' is not KEY=VALUE"},
        {"--provider-options", "cuda:=b", "'=b' in 'cuda:=b' is not KEY=VALUE"},
        {"--provider-options", "cuda:a=", "'a=' in 'cuda:a=' is not KEY=VALUE"},
        {"--session-config", "session.key", "'session.key' is not KEY=VALUE"},
        {"--session-config", "session.use_env_allocators=0", "because --max-memory sets it"},
    };
    char value[1100] = "cuda:a=";

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        RUN("--onnxrt", words[i][0], words[i][1]);
        assert_fails(ERR_INVALID, words[i][2]);
    }
    memset(value + strlen(value), 'x', 1024);
    RUN("--onnxrt", "--provider-options", value);
    assert_int_equal(given()->reduce.file.onnxrt.runtime.execution.provider_options.count, 1);
    value[strlen(value)] = 'x';
    RUN("--onnxrt", "--provider-options", value);
    assert_fails(ERR_INVALID, "with 1 to 1024 bytes each");
}

static void runners_keep_their_order_and_number(void **state)
{
    RUN("--onnxrt", "--onnxrt");
    assert_int_equal(given()->runners.names.count, 2);
    assert_string_equal(given()->runners.names.items[1], "onnxrt");
}

/* ---- Check ---- */

static const struct check_settings *check(void)
{
    return &given()->reduce.debug.session.check;
}

static void check_takes_the_rest_of_the_line(void **state)
{
    REPEAT("--check", "sh", "-c", "exit 1", "--until", "bad");
    assert_int_equal(check()->command.count, 5);
    assert_false(check()->shell);
}

static void quoted_check_is_for_the_shell_and_options_may_follow(void **state)
{
    REPEAT("--check", "grep -q x log", "--artifacts", "log");
    assert_int_equal(check()->command.count, 1);
    assert_true(check()->shell);
    assert_int_equal(given()->reduce.debug.session.artifacts.paths.count, 1);
    REPEAT("--check=test -f x", "--show-output");
    assert_true(check()->shell && check()->display.show_output);
}

static void program_with_a_blank_in_its_name_is_no_command_line(void **state)
{
    scratch_file("my check", "");
    REPEAT("--check", "./my check", "--artifacts", "log");
    assert_int_equal(check()->command.count, 3);
    assert_false(check()->shell);
}

static void empty_check_is_refused(void **state)
{
    REPEAT("--check");
    assert_fails(ERR_INVALID, "--check: no command follows");
    REPEAT("--check", "");
    assert_fails(ERR_INVALID, "--check: no command follows");
}

static void session_without_check_is_announced_as_interactive(void **state)
{
    REPEAT("--iter-info", "i");
    assert_null(check()->command.items);
    assert_logs("S Starting interactive debugging session since no `--check` command was provided\n");
}

static void patterns_of_all_occurrences_add_up(void **state)
{
    REPEAT("--fail-regex", "a", "b", "--fail-regex", "(", "--check", "x");
    assert_int_equal(check()->rules.fail_patterns.count, 3);
    assert_string_equal(check()->rules.fail_patterns.items[2], "(");
}

static void exit_codes_may_be_negative_and_must_fit(void **state)
{
    REPEAT("--fail-code", "-11", "1", "--check", "x");
    assert_int_equal(check()->rules.fail_codes.items[0], -11);
    assert_int_equal(check()->rules.fail_codes.count, 2);
    REPEAT("--ignore-fail-code", "4294967296", "--check", "x");
    assert_fails(ERR_INVALID, "--ignore-fail-code: 4294967296 is not an exit code");
    REPEAT("--fail-code", "1", "--ignore-fail-returncode", "2");
    assert_int_equal(line.outcome, PARSE_REFUSED);
    assert_string_equal(line.err.message,
                        "argument --ignore-fail-code/--ignore-fail-returncode: not allowed with argument "
                        "--fail-code/--fail-returncode");
}

static void time_out_is_a_number_of_seconds(void **state)
{
    REPEAT("--check-timeout", "0.5", "--check", "x");
    assert_true(check()->rules.timeout == 0.5);
    assert_false(check()->rules.auto_timeout);
    REPEAT("--check-timeout", "-1", "--check", "x");
    assert_fails(ERR_INVALID, "--check-timeout");
    REPEAT("--check-timeout", "nan", "--check", "x");
    assert_fails(ERR_INVALID, "--check-timeout");
    REPEAT("--check-timeout", "automatic", "--check", "x");
    assert_fails(ERR_INVALID, "--check-timeout: 'automatic' is not a number of seconds; write 60, 0.5, or auto");
}

static void time_out_may_follow_from_the_first_check(void **state)
{
    REPEAT("--check-timeout", "auto", "--on-timeout", "skip", "--check", "x");
    assert_true(check()->rules.auto_timeout);
    assert_float_equal(check()->rules.timeout, 0, 0);
    assert_false(captured_log_has(&line.log, "--on-timeout"));
}

static void signature_by_pattern_needs_patterns(void **state)
{
    REPEAT("--signature", "regex", "--check", "x");
    assert_fails(ERR_INVALID, "--signature regex needs --fail-regex");
    REPEAT("--signature", "regex", "--fail-regex", "a", "--check", "x");
    assert_true(check()->rules.compare_failures && check()->rules.by_pattern);
}

/* ---- Iterations ---- */

static void repeat_misses_artifacts_and_reduce_does_not(void **state)
{
    REPEAT("--check", "x");
    assert_logs("W `--artifacts` was not specified");
    REDUCE("--check", "x");
    assert_false(captured_log_has(&line.log, "--artifacts"));
}

static struct repetition until(const char *word)
{
    PARSE(repeat_command, "--until", word, "--check", "x");
    return given()->reduce.debug.until;
}

static void until_is_a_verdict_or_a_number(void **state)
{
    assert_int_equal(until("good").end, ENDS_BY_PASS);
    assert_int_equal(until("bad").end, ENDS_BY_FAILURE);
    assert_int_equal(until("7").count, 7);
    assert_int_equal(until("0").count, 1);
    assert_int_equal(until("-3").count, 1);
    PARSE(repeat_command, "--until", "Bad");
    assert_fails(ERR_INVALID, "--until value must be an integer, 'good', or 'bad', but was: Bad");
    PARSE(repeat_command, "--check", "x");
    assert_int_equal(line.outcome, PARSE_REFUSED);
    assert_string_equal(line.err.message, "the following arguments are required: --until");
}

static void empty_path_turns_the_replay_off(void **state)
{
    REPEAT("--save-debug-replay", "", "--check", "x");
    assert_null(given()->reduce.debug.session.save_replay);
    REPEAT("--check", "x");
    assert_string_equal(given()->reduce.debug.session.save_replay, "polygraphy_debug_replay.json");
}

static void reduce_needs_somewhere_to_put_the_result(void **state)
{
    PARSE(reduce_command, "m.onnx", "--check", "x");
    assert_fails(ERR_INVALID, "neither --output nor --min-good was given");
    PARSE(reduce_command, "m.onnx", "--min-good", "g.onnx");
    assert_string_equal(given()->reduce.reduce.min_good, "g.onnx");
    REDUCE("--no-reduce-inputs", "--no-reduce-outputs");
    assert_int_equal(line.outcome, PARSE_REFUSED);
}

static void loop_settings_gather_what_all_groups_say(void **state)
{
    struct command_context context = {.parse = &line.parse, .program = "/bin/polygraphy"};
    struct session_settings settings;

    REDUCE("--fail-code", "3", "--fail-regex", "r", "--artifacts", "a", "b", "--art-dir", "d",
           "--no-remove-intermediate", "--iter-info", "i", "--load-debug-replay", "l", "--force-debug-replay",
           "--check-timeout", "2", "--check", "x", "y");
    settings = debug_session_settings(&context, &given()->reduce.debug, &given()->reduce.file);
    assert_string_equal(settings.check.command.items[1], "y");
    assert_null(settings.check.command.items[2]);
    assert_int_equal(settings.check.command.count, 2);
    assert_int_equal(settings.check.rules.fail_codes.items[0], 3);
    assert_string_equal(settings.check.rules.fail_patterns.items[0], "r");
    assert_true(settings.check.rules.timeout == 2);
    assert_string_equal(settings.check.self, "/bin/polygraphy");
    assert_non_null(settings.check.ask);
    assert_int_equal(settings.artifacts.paths.count, 2);
    assert_string_equal(settings.artifacts.folder, "d");
    assert_string_equal(settings.check.files.items[CANDIDATE_ARTIFACT], "polygraphy_debug.onnx");
    assert_true(settings.keep_intermediate && settings.force_replay);
    assert_string_equal(settings.check.files.items[CANDIDATE_INFORMATION], "i");
    assert_string_equal(settings.load_replay, "l");
    assert_string_equal(settings.save_replay, "polygraphy_debug_replay.json");

    REPEAT("--check", "x");
    settings = debug_session_settings(&context, &given()->reduce.debug, NULL);
    assert_null(settings.check.files.items[CANDIDATE_ARTIFACT]);
    assert_string_equal(settings.artifacts.folder, "polygraphy_artifacts");
}

static int release_line(void **state)
{
    command_line_release(&line);
    return scratch_folder_leave(state);
}

#define TEST_LINE(function) cmocka_unit_test_setup_teardown(function, scratch_folder_enter, release_line)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_LINE(v_and_q_are_counted_against_each_other),
        TEST_LINE(verbosity_overrules_v_and_silent_overrules_all),
        TEST_LINE(log_formats_add_up_in_one_occurrence),
        TEST_LINE(existing_model_becomes_absolute),
        TEST_LINE(colon_in_the_name_of_a_file_is_kept),
        TEST_LINE(missing_model_is_a_warning),
        TEST_LINE(type_of_a_model_follows_from_its_extension_or_the_option),
        TEST_LINE(onnx_tools_ignore_the_extension),
        TEST_LINE(run_needs_no_model),
        TEST_LINE(deprecated_ranges_count_when_one_of_their_bounds_is_given),
        TEST_LINE(data_that_cannot_be_made_are_refused),
        TEST_LINE(options_that_loaded_inputs_make_useless_earn_a_warning_each),
        TEST_LINE(options_of_the_other_comparison_function_earn_a_warning),
        TEST_LINE(names_of_comparison_functions_stand_for_one_or_several),
        TEST_LINE(what_needs_python_is_refused_with_an_alternative),
        TEST_LINE(negative_warm_up_is_refused),
        TEST_LINE(shape_inference_is_on_in_reduce_unless_refused_or_replaced),
        TEST_LINE(details_of_external_data_without_external_data_earn_a_warning),
        TEST_LINE(onnx_runtime_gets_levels_and_threads),
        TEST_LINE(options_of_providers_are_keys_and_values_between_commas),
        TEST_LINE(options_of_providers_that_are_none_are_refused),
        TEST_LINE(runners_keep_their_order_and_number),
        TEST_LINE(check_takes_the_rest_of_the_line),
        TEST_LINE(quoted_check_is_for_the_shell_and_options_may_follow),
        TEST_LINE(program_with_a_blank_in_its_name_is_no_command_line),
        TEST_LINE(empty_check_is_refused),
        TEST_LINE(session_without_check_is_announced_as_interactive),
        TEST_LINE(patterns_of_all_occurrences_add_up),
        TEST_LINE(exit_codes_may_be_negative_and_must_fit),
        TEST_LINE(time_out_is_a_number_of_seconds),
        TEST_LINE(time_out_may_follow_from_the_first_check),
        TEST_LINE(signature_by_pattern_needs_patterns),
        TEST_LINE(repeat_misses_artifacts_and_reduce_does_not),
        TEST_LINE(until_is_a_verdict_or_a_number),
        TEST_LINE(empty_path_turns_the_replay_off),
        TEST_LINE(reduce_needs_somewhere_to_put_the_result),
        TEST_LINE(loop_settings_gather_what_all_groups_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
