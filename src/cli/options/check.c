/* cli/options/check.c: the check that debug tools run, and what its end means. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/options/groups.h"

/* Whether a word is a whole command line, written as one quoted string, and no path of a program with blanks in it. */
static bool is_command_line(const char *word)
{
    return word[strcspn(word, " \t\n")] != '\0' && !file_exists(word);
}

static const char *const timeout_meanings[] = {"fail", "pass", "skip", NULL};
static const char *const signatures[] = {"auto", "exit-code", "regex", "off", NULL};

/* A number of seconds, or `auto`. */
static int convert_timeout(struct parse *parse, const char *spelling, struct words words, void *field,
                           struct error *err)
{
    struct check_rules *rules = field;
    struct cast_value value;

    if (strcmp(words.items[0], "auto") == 0) {
        rules->auto_timeout = true;
        return 0;
    }
    cast_word(parse, text_of(words.items[0]), &value);
    if ((value.kind != CAST_INTEGER && value.kind != CAST_FLOAT) || !(value.number >= 0) || isinf(value.number))
        return error_set(err, ERR_INVALID, "%s: '%s' is not a number of seconds; write 60, 0.5, or auto", spelling,
                         words.items[0]);
    rules->timeout = value.number;
    return 0;
}

static int convert_exit_codes(struct parse *parse, const char *spelling, struct words words, void *field,
                              struct error *err)
{
    int *codes = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*codes));

    for (size_t i = 0; i < words.count; i++) {
        struct cast_value value;

        cast_word(parse, text_of(words.items[i]), &value);
        if (value.integer < INT_MIN || value.integer > INT_MAX)
            return error_set(err, ERR_INVALID, "%s: no program ends with %s", spelling, words.items[i]);
        codes[i] = (int)value.integer;
    }
    *(struct exit_codes *)field = (struct exit_codes){codes, words.count};
    return 0;
}

/* Where the failure that is looked for is known from the beginning, that of the original, the code that it ends with
 * tells it from others, unless the user has said what a failure is. --until has no original. */
static int choose_signature(struct debug_values *values, struct error *err)
{
    struct check_rules *rules = &values->session.check.rules;

    if (values->signature == SIGNATURE_REGEX && rules->fail_patterns.count == 0)
        return error_set(err, ERR_INVALID, "--signature regex needs --fail-regex: its patterns tell failures apart");
    rules->by_pattern = values->signature == SIGNATURE_REGEX;
    rules->compare_reasons = values->signature == SIGNATURE_AUTO;
    if (values->signature == SIGNATURE_AUTO)
        rules->compare_failures = rules->fail_codes.count == 0 && rules->fail_patterns.count == 0;
    else
        rules->compare_failures = values->signature != SIGNATURE_OFF;
    return 0;
}

static int finish_check(struct parse *parse, struct debug_values *values, bool asks, struct error *err)
{
    struct check_settings *check = &values->session.check;
    struct check_rules *rules = &check->rules;
    int rc = choose_signature(values, err);

    if (rc < 0)
        return rc;
    if (rules->on_timeout != TIMEOUT_FAILS && rules->timeout == 0 && !rules->auto_timeout)
        log_message(parse_log(parse), LOG_WARNING, "--on-timeout has no effect without --check-timeout");
    if (rules->no_false_failures && !rules->flaky)
        log_message(parse_log(parse), LOG_WARNING, "--no-false-failures has no effect without --flaky");
    if (!parse_given(parse, "--check") && !asks)
        return 0;
    if (!parse_given(parse, "--check") && rules->flaky)
        return error_set(err, ERR_INVALID, "--flaky needs --check: nobody wants to be asked as often as that");
    if (!parse_given(parse, "--check")) {
        log_message(parse_log(parse), LOG_START,
                    "Starting interactive debugging session since no `--check` command was provided");
        return 0;
    }
    if (check->command.count == 0 || check->command.items[0][0] == '\0')
        return error_set(err, ERR_INVALID,
                         "--check: no command follows; leave --check out to be asked about each iteration");
    check->shell = check->command.count == 1 && is_command_line(check->command.items[0]);
    return 0;
}

static int finish_asked_check(struct parse *parse, void *given, struct error *err)
{
    return finish_check(parse, given, true, err);
}

static int finish_optional_check(struct parse *parse, void *given, struct error *err)
{
    return finish_check(parse, given, false, err);
}

#define ROW(member, ...) OPTION_ROW(struct debug_values, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(session.check.command, .names = {"--check", "--check-inference"}, .kind = OPTION_REST, .value_name = "COMMAND",
        .stands_alone = is_command_line, .file = OPTION_RUNS,
        .help = "the command that tells good from bad. "
                "It takes the rest of the line, so put it last, or put the whole command into quotes: "
                "then a shell runs it, and options may follow. "
                "Without --check you are asked; `debug passes` and `debug quantization` compare instead"),
    ROW(session.check.rules.fail_codes, .names = {"--fail-code", "--fail-returncode"}, .kind = OPTION_MANY,
        .type = OPTION_INTEGER, .value_name = "N", .exclusive = 1, .convert = convert_exit_codes,
        .help = "only these exit codes of the check are failures; -N stands for signal N"),
    ROW(session.check.rules.ignored_codes, .names = {"--ignore-fail-code", "--ignore-fail-returncode"},
        .kind = OPTION_MANY, .type = OPTION_INTEGER, .value_name = "N", .exclusive = 1, .convert = convert_exit_codes,
        .help = "these exit codes of the check are no failures"),
    ROW(session.check.rules.skip_codes, .names = {"--skip-code"}, .kind = OPTION_MANY, .type = OPTION_INTEGER,
        .value_name = "N", .convert = convert_exit_codes,
        .help = "with these exit codes the check says nothing about the candidate, "
                "for instance because it cannot be built. "
                "125 is one unless --fail-code or --ignore-fail-code names it"),
    ROW(session.check.rules.fail_patterns, .names = {"--fail-regex"}, .kind = OPTION_MANY, .value_name = "PATTERN",
        .append = true,
        .help = "a failure needs a match of one of these Perl-compatible regular expressions in what the check "
                "writes. "
                "Without --fail-code, a match is a failure whatever the exit code. "
                "May be repeated"),
    ROW(signature, .names = {"--signature"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = signatures,
        .fallback = "auto",
        .help = "when a failure is the one that is looked for: "
                "with exit-code, when the check ends as it did in the first failure, that of the original; "
                "with regex, when the same --fail-regex is found, of several the first in the order given. "
                "Other failures say nothing. "
                "auto is exit-code, and of models that `polygraphy run` could not run the reason "
                "(error code and operator, or signal); with --fail-code or --fail-regex it is off; "
                "off, too, for build and repeat, which have no original"),
    ROW(session.check.rules, .names = {"--check-timeout"}, .kind = OPTION_ONE, .value_name = "SECONDS|auto",
        .convert = convert_timeout, .hints = (const char *const[]){"auto", NULL},
        .help = "end the check, with all processes that it started, after this time; it has then failed. "
                "For --fail-code and --ignore-fail-code that is exit code 124. "
                "auto is ten times what the first check takes, but 1 second at least and 300 at most"),
    ROW(session.check.rules.on_timeout, .names = {"--on-timeout"}, .kind = OPTION_ONE, .type = OPTION_CHOICE,
        .choices = timeout_meanings, .fallback = "fail",
        .help = "what a check that runs out of time says: that the candidate fails, that it passes, or nothing"),
    ROW(session.check.rules.flaky, .names = {"--flaky"}, .kind = OPTION_FLAG,
        .help = "the check does not always fail when it should, or sometimes when it should not: "
                "find out how often, and run it on each candidate as often as a verdict needs"),
    ROW(session.check.rules.no_false_failures, .names = {"--no-false-failures"}, .kind = OPTION_FLAG,
        .help = "with --flaky: the check never fails without reason, so that one failure is enough"),
    ROW(session.check.launcher, .names = {"--launcher"}, .kind = OPTION_ONE, .value_name = "COMMAND",
        .convert = convert_launcher,
        .help = "a command that each check is run through, in quotes: 'srun -n1' runs it on a node of a cluster"),
    ROW(session.work_folder, .names = {"--work-dir"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .file = OPTION_WRITES_FOLDER,
        .help = "write candidates to this folder, for instance one that all nodes of a cluster share. "
                "The check names them {artifact}, or by its usual path; "
                "{inputs}, {golden} and {information} are the files of --iter-inputs, --iter-golden and --iter-info"),
    ROW(session.check.display.show_output, .names = {"--show-output"}, .kind = OPTION_FLAG, .exclusive = 2,
        .help = "show all that the check writes, and even when it passes; "
                "otherwise of a failing one that writes more than ten lines the last six"),
    ROW(session.check.display.hide_fail_output, .names = {"--hide-fail-output"}, .kind = OPTION_FLAG, .exclusive = 2,
        .help = "do not show what the check writes when it fails"),
    ROW(exit_code, .names = {"--exit-code"}, .kind = OPTION_FLAG,
        .help = "let the outcome decide about this tool's exit code; "
                "otherwise that is 0 when the tool did its work, whatever the outcome, "
                "but for a model that `reduce` was to write and could not (1)"),
};

#define CHECK_GROUP(finisher)                                                                                          \
    {                                                                                                                  \
        .title = "Pass or fail", .options = options, .count = ARRAY_LEN(options), .finish = (finisher),                \
    }

const struct option_group check_options = CHECK_GROUP(finish_asked_check);
const struct option_group optional_check_options = CHECK_GROUP(finish_optional_check);
