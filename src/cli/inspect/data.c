/* cli/inspect/data.c: what a file with inputs or outputs holds. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/data_file.h"
#include "cli/inspect/data_text.h"
#include "cli/options/groups.h"

struct inspect_data_values {
    const char *path;
    bool all, show_values, histogram;
    int64_t num_items, line_width;
};

static int finish(struct parse *parse, struct error *err)
{
    const struct inspect_data_values *values = PARSE_VALUES(parse, struct inspect_data_values);

    if (values->num_items < -1)
        return error_set(err, ERR_INVALID, "--num-items: %lld is neither a number of items nor -1, for all",
                         (long long)values->num_items);
    if (values->line_width < -1)
        return error_set(err, ERR_INVALID, "--line-width: %lld is neither a number of characters nor -1, for no limit",
                         (long long)values->line_width);
    return 0;
}

static const struct option options[] = {
    {
        .names = {"path"},
        .kind = OPTION_ONE,
        .file = OPTION_READS,
        OPTION_FIELD(struct inspect_data_values, path),
        .help = "a file with results or input data",
    },
    {
        .names = {"-a", "--all"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct inspect_data_values, all),
        .help = "show all iterations, not just the first one",
    },
    {
        .names = {"-s", "--show-values"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct inspect_data_values, show_values),
        .help = "show the values, not just statistics of them",
    },
    {
        .names = {"--histogram"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct inspect_data_values, histogram),
        .help = "show how the values are spread",
    },
    {
        .names = {"-n", "--num-items"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "3",
        OPTION_FIELD(struct inspect_data_values, num_items),
        .help = "how many values of a long dimension are shown at each end; -1: all of them",
    },
    {
        .names = {"--line-width"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "75",
        OPTION_FIELD(struct inspect_data_values, line_width),
        .help = "characters of a line of values; -1: as many as a row takes",
    },
};

static const struct option_group inspect_data_options = {
    .title = "Data",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish,
};

static struct inspect_data_settings settings_of(const struct inspect_data_values *values)
{
    struct inspect_data_settings settings = {
        .all = values->all,
        .values = values->show_values,
        .histogram = values->histogram,
        .layout = TENSOR_TEXT_DEFAULTS,
    };

    if (values->num_items < 0)
        settings.layout.threshold = SIZE_MAX;
    else
        settings.layout.edge_items = (size_t)values->num_items;
    settings.layout.line_width = values->line_width < 0 ? SIZE_MAX : (size_t)values->line_width;
    return settings;
}

static int inspect_data_run(const struct command_context *context, struct error *err)
{
    const struct inspect_data_values *values = PARSE_VALUES(context->parse, struct inspect_data_values);
    const struct json_values *json = PARSE_VALUES(context->parse, struct json_values);
    struct inspect_data_settings settings = settings_of(values);
    struct data_file file;
    struct string_builder text;
    int rc = data_file_load(&file, values->path, err);

    if (rc < 0)
        return rc;
    string_init(&text);
    inspect_data_to_text(&file, &settings, &text);
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    string_release(&text);
    if (json->path != NULL)
        rc = inspect_data_save(&file, &settings, json->path, err);
    data_file_release(&file);
    return rc;
}

static const struct option_group *const groups[] = {&logging_options, &inspect_data_options, &json_options};

const struct command cmd_inspect_data = {
    .name = "data",
    .summary = "show what a file with inputs or outputs holds",
    .description =
        "Shows names, types, shapes and statistics of the arrays in a file that `run` has saved or loads, and "
        "their values if you want.\n\n"
        "With --json, the file gets what is shown: for each runner and each iteration the arrays with \"name\", "
        "\"dtype\", \"shape\" and \"statistics\"; with --show-values their \"values\", in one list whatever the "
        "shape; with --histogram the bins.",
    .example = "polygraphy inspect data outputs.json --show-values --histogram",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .run = inspect_data_run,
};
