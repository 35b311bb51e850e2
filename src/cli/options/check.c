/* cli/options/check.c: the check that debug tools run, and how its exit code, output and time limit become a
 * verdict. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/options/groups.h"

/* Whether a word is a whole command line in one quoted string rather than a program's path that contains blanks. */
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
            return error_set(err, ERR_INVALID,
                             "%s: %s is not an exit code; write a number that fits 32 bits, -N for signal N", spelling,
                             words.items[i]);
        codes[i] = (int)value.integer;
    }
    *(struct exit_codes *)field = (struct exit_codes){codes, words.count};
    return 0;
}

/* A socket that this process has inherited. Its children must not: the other end would not see when this one ends. */
static int convert_caller(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct cast_value value;
    struct stat status;

    cast_word(parse, text_of(words.items[0]), &value);
    if (value.kind != CAST_INTEGER || value.integer <= 2 || value.integer > INT_MAX ||
        fstat((int)value.integer, &status) != 0 || !S_ISSOCK(status.st_mode))
        return error_set(err, ERR_INVALID, "%s: '%s' is not the descriptor of a socket that this process has inherited",
                         spelling, words.items[0]);
    *(int *)field = (int)value.integer;
    fcntl(*(int *)field, F_SETFD, FD_CLOEXEC);
    return 0;
}

/* Options that say how a command is started or stopped. */
static int refuse_with_caller(const struct parse *parse, const struct check_settings *check, struct error *err)
{
    static const char *const others[] = {"--check-timeout", "--launcher"};

    if (check->caller == 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (parse_given(parse, others[i]))
            return error_set(err, ERR_INVALID, "%s: checks of --check-fd are not commands; leave out one of the two",
                             others[i]);
    if (!parse_given(parse, "--check"))
        return error_set(err, ERR_INVALID, "--check-fd: give the check a name with --check, which log and replay have");
    return 0;
}

/* The original model's failure is the one to find: its exit code distinguishes it from other failures, unless the user
 * has specified what a failure is. Commands with --until check no original. */
static int choose_signature(struct debug_values *values, struct error *err)
{
    struct check_rules *rules = &values->session.check.rules;

    if (values->signature == SIGNATURE_REGEX && rules->fail_patterns.count == 0)
        return error_set(err, ERR_INVALID, "--signature regex needs --fail-regex: its patterns distinguish failures");
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

    if (rc == 0)
        rc = refuse_with_caller(parse, check, err);
    if (rc < 0)
        return rc;
    if (rules->on_timeout != TIMEOUT_FAILS && rules->timeout == 0 && !rules->auto_timeout)
        log_message(parse_log(parse), LOG_WARNING, "--on-timeout has no effect without --check-timeout");
    if (rules->no_false_failures && !rules->flaky)
        log_message(parse_log(parse), LOG_WARNING, "--no-false-failures has no effect without --flaky");
    if (!parse_given(parse, "--check") && !asks)
        return 0;
    if (!parse_given(parse, "--check") && rules->flaky)
        return error_set(err, ERR_INVALID,
                         "--flaky needs --check: a flaky check runs too often to be answered interactively");
    if (!parse_given(parse, "--check")) {
        log_message(parse_log(parse), LOG_START,
                    "Starting interactive debugging session since no `--check` command was provided");
        return 0;
    }
    if (check->command.count == 0 || check->command.items[0][0] == '\0')
        return error_set(err, ERR_INVALID,
                         "--check: no command follows; leave out --check to judge each iteration interactively");
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
        .help =
            "command that decides whether a candidate passes: exit status 0 is a pass. It extends to the end of the "
            "line, so put it last, or quote the whole command: then a shell runs it, and options may follow. Without "
            "--check you are asked for each verdict; `debug passes`, `debug quantization` and `debug releases` compare "
            "outputs instead"),
    ROW(session.check.caller, .names = {"--check-fd"}, .yields = true, .kind = OPTION_ONE, .value_name = "N",
        .convert = convert_caller,
        .help = "ask the process at the other end of this inherited socket for each verdict, as libpolygraphy does; "
                "--check then is only the check's name. docs/verdicts.md describes the messages"),
    ROW(session.check.rules.fail_codes, .names = {"--fail-code", "--fail-returncode"}, .kind = OPTION_MANY,
        .type = OPTION_INTEGER, .value_name = "N", .exclusive = 1, .convert = convert_exit_codes,
        .help = "treat only these exit codes of the check as failures; -N is signal N"),
    ROW(session.check.rules.ignored_codes, .names = {"--ignore-fail-code", "--ignore-fail-returncode"},
        .kind = OPTION_MANY, .type = OPTION_INTEGER, .value_name = "N", .exclusive = 1, .convert = convert_exit_codes,
        .help = "do not treat these exit codes of the check as failures"),
    ROW(session.check.rules.skip_codes, .names = {"--skip-code"}, .kind = OPTION_MANY, .type = OPTION_INTEGER,
        .value_name = "N", .convert = convert_exit_codes,
        .help = "treat these exit codes of the check as inconclusive, for instance when a candidate cannot be built. "
                "125 is included unless --fail-code or --ignore-fail-code names it"),
    ROW(session.check.rules.fail_patterns, .names = {"--fail-regex"}, .kind = OPTION_MANY, .value_name = "PATTERN",
        .append = true,
        .help = "require a match of one of these Perl-compatible regular expressions in the check's output for a "
                "failure. Without --fail-code, a match is a failure with any exit code. May be repeated"),
    ROW(signature, .names = {"--signature"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = signatures,
        .fallback = "auto",
        .help = "how to recognise the original model's failure in a candidate; a different failure is inconclusive. "
                "exit-code: the same exit code; regex: a match of the same --fail-regex (if several match, the first "
                "one in the given order); auto: exit-code, and the same reason (error code and operator, or signal) "
                "where `polygraphy run` could not run the model. auto is off with --fail-code or --fail-regex, and in "
                "build and repeat, which check no original"),
    ROW(session.check.rules, .names = {"--check-timeout"}, .kind = OPTION_ONE, .value_name = "SECONDS|auto",
        .convert = convert_timeout, .hints = (const char *const[]){"auto", NULL},
        .help = "time limit of a check: after it the check and all processes that it started are killed, and the "
                "candidate fails, with exit code 124 for --fail-code and --ignore-fail-code. auto: ten times the "
                "duration of the first check, at least 1 second and at most 300"),
    ROW(session.check.rules.on_timeout, .names = {"--on-timeout"}, .kind = OPTION_ONE, .type = OPTION_CHOICE,
        .choices = timeout_meanings, .fallback = "fail",
        .help = "verdict of a check that times out: the candidate fails, passes, or is skipped as inconclusive"),
    ROW(session.check.rules.flaky, .names = {"--flaky"}, .kind = OPTION_FLAG,
        .help = "measure the failure rate of a check whose verdict varies, and repeat it on each candidate as often as "
                "a reliable verdict needs"),
    ROW(session.check.rules.no_false_failures, .names = {"--no-false-failures"}, .kind = OPTION_FLAG,
        .help = "with --flaky: the check never fails on a good candidate, so that one failure is enough"),
    ROW(session.check.launcher, .names = {"--launcher"}, .kind = OPTION_ONE, .value_name = "COMMAND",
        .convert = convert_launcher,
        .help = "command, in quotes, that starts each check: 'srun -n1' runs it on a node of a cluster"),
    ROW(session.work_folder, .names = {"--work-dir"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .file = OPTION_WRITES_FOLDER,
        .help = "write candidates to this folder, for instance one that all nodes of a cluster share. In the check, "
                "{artifact}, or the usual path, stands for the candidate; {inputs}, {golden} and {information} for the "
                "files of --iter-inputs, --iter-golden and --iter-info"),
    ROW(session.check.display.show_output, .names = {"--show-output"}, .kind = OPTION_FLAG, .exclusive = 2,
        .help = "show all output of each check, also of passing ones. Default: the output of failing checks, the last "
                "six lines where there are more than ten"),
    ROW(session.check.display.hide_fail_output, .names = {"--hide-fail-output"}, .kind = OPTION_FLAG, .exclusive = 2,
        .help = "do not show the output of failing checks"),
    ROW(exit_code, .names = {"--exit-code"}, .kind = OPTION_FLAG,
        .help = "let the outcome decide this tool's exit code. Default: 0 if the tool completed, with any outcome, and "
                "1 if `reduce` could not write a model"),
};

#define CHECK_GROUP(finisher)                                                                                          \
    {                                                                                                                  \
        .title = "Pass or fail", .options = options, .count = ARRAY_LEN(options), .finish = (finisher),                \
    }

const struct option_group check_options = CHECK_GROUP(finish_asked_check);
const struct option_group optional_check_options = CHECK_GROUP(finish_optional_check);
