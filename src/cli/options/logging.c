/* cli/options/logging.c: log level, destination and format. */
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "cli/options/groups.h"

static const char *const formats[] = {"timestamp", "line-info", "no-colors", NULL};

static const struct {
    const char *name;
    enum log_level level;
} levels[] = {
    {"ULTRA_VERBOSE", LOG_ULTRA_VERBOSE},
    {"SUPER_VERBOSE", LOG_SUPER_VERBOSE},
    {"EXTRA_VERBOSE", LOG_EXTRA_VERBOSE},
    {"VERBOSE", LOG_VERBOSE},
    {"INFO", LOG_INFO},
    {"START", LOG_START},
    {"FINISH", LOG_FINISH},
    {"WARNING", LOG_WARNING},
    {"ERROR", LOG_ERROR},
    {"CRITICAL", LOG_CRITICAL},
};

/* The levels for -vvvv, ..., -v, no option, -q, ..., -qqqqq. */
static const enum log_level steps[] = {
    LOG_ULTRA_VERBOSE, LOG_SUPER_VERBOSE, LOG_EXTRA_VERBOSE, LOG_VERBOSE, LOG_INFO,
    LOG_START,         LOG_FINISH,        LOG_WARNING,       LOG_ERROR,   LOG_CRITICAL,
};
#define STEP_OF_INFO 4

/* A level with a path in front is for single source files of Polygraphy: it is validated and ignored. */
static int convert_verbosity(struct parse *parse, const char *spelling, struct words words, void *field,
                             struct error *err)
{
    struct chosen_level *ret = field;

    (void)parse;
    for (size_t i = 0; i < words.count; i++) {
        const char *colon = strrchr(words.items[i], ':');
        const char *name = colon ? colon + 1 : words.items[i];
        size_t index = 0;

        while (index < ARRAY_LEN(levels) && strcasecmp(levels[index].name, name) != 0)
            index++;
        if (index == ARRAY_LEN(levels))
            return error_set(err, ERR_INVALID,
                             "%s: '%s' is not a level; choose from ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, "
                             "VERBOSE, INFO, START, FINISH, WARNING, ERROR, CRITICAL",
                             spelling, name);
        if (!colon || colon == words.items[i])
            *ret = (struct chosen_level){true, levels[index].level};
    }
    return 0;
}

static int finish_logging(struct parse *parse, void *given, struct error *err)
{
    struct logging_values *values = given;
    struct log_settings *settings = &values->settings;
    int step = STEP_OF_INFO;

    (void)parse, (void)err;
    if (values->verbose > values->quiet)
        step = values->verbose - values->quiet > 4 ? 0 : STEP_OF_INFO - (values->verbose - values->quiet);
    else
        step = values->quiet - values->verbose > 5 ? 9 : STEP_OF_INFO + (values->quiet - values->verbose);
    settings->threshold = values->verbosity.chosen ? values->verbosity.level : steps[step];
    if (values->silent)
        settings->threshold = LOG_CRITICAL;
    for (size_t i = 0; i < values->format.count; i++) {
        settings->timestamps |= strcmp(values->format.items[i], "timestamp") == 0;
        settings->no_colors |= strcmp(values->format.items[i], "no-colors") == 0;
    }
    return 0;
}

static const struct option options[] = {
    OPTION_ROW(struct logging_values, verbose, .names = {"-v", "--verbose"}, .kind = OPTION_COUNT,
               .help = "log more; may be repeated, up to -vvvv"),
    OPTION_ROW(struct logging_values, quiet, .names = {"-q", "--quiet"}, .kind = OPTION_COUNT,
               .help = "log less; may be repeated. -q omits level INFO, -qqq shows only warnings and errors"),
    OPTION_ROW(struct logging_values, verbosity, .names = {"--verbosity"}, .kind = OPTION_MANY, .value_name = "LEVEL",
               .convert = convert_verbosity,
               .help = "lowest level that is shown, by name (INFO, WARNING, ...); overrides -v and -q. Levels for "
                       "single source files (PATH:LEVEL) are accepted and have no effect"),
    OPTION_ROW(struct logging_values, silent, .names = {"--silent"}, .kind = OPTION_FLAG,
               .help = "show only the error that terminates the tool"),
    OPTION_ROW(struct logging_values, format, .names = {"--log-format"}, .kind = OPTION_MANY, .type = OPTION_CHOICE,
               .choices = formats,
               .help = "timestamp: the time of day in every line; no-colors: no colors on a terminal; line-info: "
                       "accepted without effect"),
    OPTION_ROW(struct logging_values, settings.file, .names = {"--log-file"}, .kind = OPTION_ONE, .value_name = "PATH",
               .file = OPTION_WRITES, .help = "also write every shown line to this file, which is truncated first"),
};

struct common_settings *common_settings_of(const struct parse *parse)
{
    return parse->settings;
}

const struct option_group logging_options = {
    .title = "Logging",
    OPTION_ROWS(options),
    .finish = finish_logging,
};

/* ---- The result as JSON ---- */

static const struct option json_rows[] = {
    OPTION_ROW(struct json_values, path, .names = {"--json"}, .kind = OPTION_ONE, .value_name = "FILE",
               .file = OPTION_WRITES, .extensions = "json", .help = "also write the result to this file, as JSON"),
};

const struct option_group json_options = {
    .title = "Result",
    OPTION_ROWS(json_rows),
};
