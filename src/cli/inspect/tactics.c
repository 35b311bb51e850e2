/* cli/inspect/tactics.c: the tactics in a replay. */

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"
#include "format/polygraphy/tactic_replay.h"

struct inspect_tactics_settings {
    struct common_settings common;
    struct json_values json;

    /* its own */
    const char *path;
};

#define ROW(member, ...) OPTION_ROW(struct inspect_tactics_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(path, .names = {"tactic_replay"}, .kind = OPTION_ONE, .file = OPTION_READS, .extensions = "json",
        .help = "file written by --save-tactics"),
};

static const struct option_group tactics_options = {
    .title = "Tactics",
    OPTION_ROWS(options),
};

static void show_choices(const struct tactic_replay *replay, const char *path, struct log *log)
{
    char *cache SCOPED_FREE = tactic_replay_cache_path(replay, path);
    SCOPED_STRING(text);

    for (size_t i = 0; i < replay->count; i++) {
        const struct tactic_choice *choice = &replay->items[i];

        string_add_format(&text, "%sLayer: %s\n    Algorithm: ", i > 0 ? "\n" : "", choice->layer);
        tactic_algorithm_text(&choice->algorithm, &text);
        if (choice->algorithm.name)
            string_add_format(&text, "\n    Name: %s", choice->algorithm.name);
    }
    if (replay->count == 0)
        string_add(&text, "The replay contains no layers.");
    log_text(log, LOG_INFO, (struct text){text.data, text.size});
    if (replay->precision.known) {
        string_clear(&text);
        tactic_options_text(&replay->precision, &text);
        log_message(log, LOG_INFO, "Built with %s", text.data);
    }
    if (cache != NULL)
        log_message(log, LOG_INFO, "Pinned by the timing cache %s", cache);
}

/* With --json: layers in order, with the readable names and the numbers that builders compare. */
static int save_choices(const struct tactic_replay *replay, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_array(&writer);
    VECTOR_EACH (const struct tactic_choice, choice, *replay) {
        json_writer_begin_object(&writer);
        json_writer_add_string(&writer, "layer", choice->layer);
        json_writer_key(&writer, "algorithm");
        tactic_algorithm_write(&choice->algorithm, &writer);
        json_writer_end_object(&writer);
    }
    json_writer_end_array(&writer);
    return json_writer_finish(&writer, err);
}

static int inspect_tactics_run(const struct command_context *context, const struct inspect_tactics_settings *values,
                               struct error *err)
{
    const struct json_values *json = &values->json;
    struct tactic_replay replay SCOPED(tactic_replay_release) = {0};
    int rc;

    log_message(context->log, LOG_INFO, "Loading tactic replay file from %s", values->path);
    rc = tactic_replay_load(&replay, values->path, err);
    if (rc == 0)
        show_choices(&replay, values->path, context->log);
    if (rc == 0 && json->path != NULL)
        rc = save_choices(&replay, json->path, err);
    return rc;
}

DEFINE_COMMAND_RUN(inspect_tactics_run, struct inspect_tactics_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct inspect_tactics_settings, common.logging, logging_options),
    {&tactics_options, 0},
    COMMAND_GROUP(struct inspect_tactics_settings, json, json_options),
};

const struct command cmd_inspect_tactics = {
    .name = "tactics",
    .summary = "show the tactic of each layer in a tactic replay",
    .description = "Shows for each layer of a tactic replay the numbers of its implementation and tactic, the memory "
                   "layouts of its inputs and outputs, and the tactic's name if known; also the precision options of "
                   "the build and the timing cache that pins it, if the file contains them.",
    .example = "polygraphy inspect tactics replay.json",
    COMMAND_GROUPS(groups),
    COMMAND_RUN(inspect_tactics_run),
};
