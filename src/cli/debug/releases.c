/* cli/debug/releases.c: find the release of ONNX Runtime in which a failure begins, and its cause. */
#include "debug/releases/releases.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/releases.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/outputs.h"
#include "cli/debug/own_check.h"
#include "cli/debug/releases/answer.h"
#include "cli/debug/releases/loading.h"
#include "cli/debug/session.h"
#include "cli/options/groups.h"
#include "debug/candidate/hash.h"
#include "debug/record/result_folder.h"
#include "onnx/external/data.h"

struct debug_releases_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct comparison_values comparison;

    /* own options */
    const char *folder;
    struct words releases; /* oldest first; none: all that are published */
    bool only_release;
};

/* Releases are separated by commas or blanks. */
static int convert_releases(struct parse *parse, const char *spelling, struct words words, void *field,
                            struct error *err)
{
    struct arena *arena = parse_arena(parse);
    struct word_list list SCOPED_ITEMS = {0};

    for (size_t i = 0; i < words.count; i++) {
        char *state = NULL, *copy = arena_strdup(arena, words.items[i]);

        for (char *word = strtok_r(copy, ", ", &state); word != NULL; word = strtok_r(NULL, ", ", &state)) {
            if (!onnxrt_is_release(word))
                return error_set(err, ERR_INVALID, "%s: '%s' is not the number of a release, such as 1.22.1", spelling,
                                 word);
            *VECTOR_APPEND(&list) = word;
        }
    }
    if (list.count == 0)
        return error_set(err, ERR_INVALID, "%s names no release", spelling);
    qsort(list.items, list.count, sizeof(*list.items), onnxrt_release_order);
    *(struct words *)field =
        (struct words){arena_copy(arena, list.items, list.count * sizeof(*list.items)), list.count};
    return 0;
}

static void list_release_results(const struct parse *parse, struct word_list *ret)
{
    static const char *const names[] = {"passes.json", "passes_replay.json", "accuracy.json"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        *VECTOR_APPEND(ret) = names[i];
    own_check_list_results(parse, ret);
}

#define ROW(member, ...) OPTION_ROW(struct debug_releases_settings, member, __VA_ARGS__)

static const struct option releases_rows[] = {
    ROW(releases, .names = {"--releases"}, .kind = OPTION_MANY, .value_name = "VERSION", .convert = convert_releases,
        .help = "releases to search, such as 1.20.1,1.22.1,1.32.0 (default: all stable ones on PyPI and npm from 1.16 "
                "on)"),
    ROW(folder, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .fallback = "polygraphy_releases", .file = OPTION_WRITES_RESULTS, .list_results = list_release_results,
        .help = "folder for results of the tools that explain the release and, without --check, for input data and the "
                "reference's outputs"),
    ROW(only_release, .names = {"--only-release"}, .kind = OPTION_FLAG,
        .help = "do not search for optimizer and node in the release that was found"),
};

/* ONNX Runtime is the only runner. */
static int finish_releases(struct parse *parse, void *given, struct error *err)
{
    (void)given;
    if (parse_given(parse, "--onnxrt-library") != NULL)
        return error_set(err, ERR_INVALID, "%s: debug releases sets the library itself; pass --releases",
                         parse_given(parse, "--onnxrt-library"));
    return 0;
}

static const struct option_group releases_options = {
    .title = "Releases",
    OPTION_ROWS(releases_rows),
    .finish = finish_releases,
};

struct releases_command {
    const struct command_context *context;
    const struct debug_releases_settings *values;
    struct arena *arena;
    struct session_settings session_settings;
    struct debug_outputs outputs;
    struct debug_session *session;
    struct release_loading loading;
    struct release_list releases;
    size_t oldest;          /* that loads the model's operator set */
    struct own_check check; /* the default check, unless --check is given */
    void (*judged)(void *data, const struct judged_candidate *candidate); /* the next one to be told; or NULL */
    void *judged_data;
};

/* ---- Releases ---- */

static int list_releases(struct releases_command *command, struct error *err)
{
    struct words names = command->values->releases;
    struct file_list published SCOPED(file_list_release) = {0};
    int rc = 0;

    if (names.count == 0) {
        rc = onnxrt_releases_list(command->context->log, &published, err);
        names = (struct words){(const char *const *)published.items, published.count};
    }
    if (rc < 0)
        return rc;
    command->releases.items = arena_alloc_zero(command->arena, names.count, sizeof(*command->releases.items));
    for (size_t i = 0; i < names.count; i++)
        if (i == 0 || strcmp(names.items[i - 1], names.items[i]) != 0)
            command->releases.items[command->releases.count++].name = arena_strdup(command->arena, names.items[i]);
    log_message(command->context->log, LOG_INFO, "%zu releases, %s to %s", command->releases.count, names.items[0],
                names.items[names.count - 1]);
    return 0;
}

static int find_oldest(struct releases_command *command, struct error *err)
{
    struct release_list *releases = &command->releases;
    const struct release *newest = &releases->items[releases->count - 1];
    int rc = release_find_oldest(&command->loading, releases, &command->oldest, err);

    if (rc < 0)
        return rc;
    if (command->oldest == releases->count)
        return error_set(err, ERR_UNSUPPORTED, "no release is testable. %s: %s", newest->name, newest->why);
    if (command->oldest > 0)
        log_message(command->context->log, LOG_INFO, "The oldest testable release is %s: %s %s (%s)",
                    releases->items[command->oldest].name, releases->items[0].name,
                    releases->items[0].is_too_old ? "does not load the model's operator set" : "is untestable",
                    releases->items[0].why);
    return 0;
}

/* ---- The check ---- */

static void add_release_run(const struct releases_command *command, const char *library, struct word_list *words)
{
    static const char *const excepted[] = {"--onnxrt-library", NULL};
    const struct parse *parse = command->context->parse;
    const char *const first[] = {"polygraphy",       "run",  parse_positional_word(parse, "model_file"), "--onnxrt",
                                 "--onnxrt-library", library};

    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        *VECTOR_APPEND(words) = first[i];
    parse_add_given_of_group(parse, &onnxrt_options, excepted, words);
    parse_add_given_of_group(parse, &convert_model_options, NULL, words);
}

/* Computed by the oldest release, without optimizations. */
static int make_reference(struct releases_command *command, struct error *err)
{
    static const char *const environment[] = {"POLYGRAPHY_ITERATION=0", NULL};
    const char *name = command->releases.items[command->oldest].name;
    struct word_list words SCOPED_ITEMS = {0};

    log_message(command->context->log, LOG_INFO, "The reference is the model in ONNX Runtime %s without optimizations",
                name);
    add_release_run(command, name, &words);
    *VECTOR_APPEND(&words) = "--onnxrt-optimization-level";
    *VECTOR_APPEND(&words) = "none";
    return own_check_make_reference(
        &command->check, &words, environment,
        arena_printf(command->arena, "'%s' in ONNX Runtime %s", command->loading.model, name), err);
}

static int make_check(struct releases_command *command, struct error *err)
{
    struct check_settings *settings = &command->session_settings.check;
    int rc;

    if (settings->command.count > 0)
        return own_check_refuse(command->context, err);
    rc = own_check_begin(command->context, command->values->folder, &command->check, err);
    if (rc == 0 && own_check_needs_reference(&command->check))
        rc = make_reference(command, err);
    if (rc < 0)
        return rc;
    add_release_run(command, settings->files.items[CANDIDATE_ARTIFACT], &command->check.words);
    own_check_finish(&command->check, settings);
    return 0;
}

/* The first sentence of the last error that a command of this program has logged, in the arena; NULL: none. */
static const char *find_logged_error(struct arena *arena, const struct process_output *output)
{
    static const char mark[] = "[!] ";
    struct text found = {NULL, 0};
    SCOPED_STRING(line);

    for (size_t i = 0; i + strlen(mark) < output->size; i++)
        if ((i == 0 || output->data[i - 1] == '\n') && memcmp(output->data + i, mark, strlen(mark)) == 0)
            found = (struct text){output->data + i + strlen(mark), output->size - i - strlen(mark)};
    if (found.data == NULL)
        return NULL;
    for (size_t i = 0; i < found.size; i++)
        if (found.data[i] == '\n' || (found.data[i] == '.' && i + 1 < found.size && found.data[i + 1] == ' '))
            found.size = i;
    string_add_visible(&line, found);
    return arena_strdup(arena, line.data);
}

static const char *describe_run(struct arena *arena, const struct process_result *run)
{
    const char *error = run->code != 0 ? find_logged_error(arena, &run->error_out) : NULL;

    if (run->end == PROCESS_TIMED_OUT)
        return "timed out";
    if (run->end == PROCESS_SIGNALED)
        return arena_printf(arena, "signal %d (%s)", run->code, strsignal(run->code));
    return error != NULL ? arena_printf(arena, "exit status %d: %s", run->code, error)
                         : arena_printf(arena, "exit status %d", run->code);
}

/* Remembers how the check of a release ended. */
static void record_run(void *data, const struct judged_candidate *candidate)
{
    static const char prefix[] = "release ";
    struct releases_command *command = data;
    const struct process_result *run = candidate->result;

    for (size_t i = 0; run != NULL && i < command->releases.count; i++) {
        struct release *release = &command->releases.items[i];

        if (strncmp(candidate->what, prefix, strlen(prefix)) != 0 ||
            strcmp(candidate->what + strlen(prefix), release->name) != 0)
            continue;
        release->how = describe_run(command->arena, run);
    }
    if (command->judged != NULL)
        command->judged(command->judged_data, candidate);
}

/* ---- The session ---- */

static int hash_releases_session(const struct releases_command *command, struct hash *ret, struct error *err)
{
    struct hash data;
    struct model *model;
    int rc = hash_file(command->loading.model, ret, err);

    if (rc < 0)
        return rc;
    if (model_open(command->loading.model, NULL, &model, NULL) == 0) { /* a check may accept any file */
        rc = external_data_hash(model, ret, err);
        model_free(model);
    }
    if (rc < 0 || command->check.inputs == NULL)
        return rc;
    rc = hash_file(command->check.inputs, &data, err);
    if (rc == 0)
        *ret = hash_combine(*ret, data);
    return rc;
}

static int search_releases(struct releases_command *command, struct releases_result *ret, struct error *err)
{
    const struct command_context *context = command->context;
    struct releases_request request = {.arena = command->arena,
                                       .log = context->log,
                                       .open = release_open,
                                       .is_at_hand = release_is_at_hand,
                                       .data = &command->loading};
    struct release_list testable = {command->releases.items + command->oldest,
                                    command->releases.count - command->oldest};
    struct hash hash;
    int rc = hash_releases_session(command, &hash, err);

    if (rc < 0)
        return rc;
    debug_outputs_watch(&command->outputs, "releases", &command->session_settings);
    command->judged = command->session_settings.judged;
    command->judged_data = command->session_settings.judged_data;
    command->session_settings.judged = record_run;
    command->session_settings.judged_data = command;
    rc = session_new(&command->session_settings, &hash, context->log, &command->session, err);
    if (rc < 0)
        return rc;
    request.session = command->session;
    rc = releases_run(&request, &testable, ret, err);
    ret->before += command->oldest;
    ret->after += command->oldest;
    return rc;
}

static int report_releases(struct releases_command *command, const struct releases_result *found, struct error *err)
{
    const struct release_answer answer = {.context = command->context,
                                          .folder = command->values->folder,
                                          .model = parse_positional_word(command->context->parse, "model_file"),
                                          .releases = &command->releases,
                                          .found = found,
                                          .inputs = command->check.inputs,
                                          .check = &command->session_settings.check,
                                          .has_own_check = command->check.has_begun,
                                          .has_own_reference =
                                              command->check.has_begun && own_check_needs_reference(&command->check),
                                          .is_confirmed = !session_state(command->session).is_flaky,
                                          .oldest = command->oldest};
    int rc;

    release_answer_fill(&answer, command->outputs.result);
    rc = command->values->only_release ? 0 : release_answer_explain(&answer, command->outputs.result, err);
    own_check_add_not_tested(&command->check, &command->values->comparison, command->outputs.result);
    return debug_outputs_finish(&command->outputs, command->session, rc, found->outcome == RELEASES_FOUND, err);
}

static int debug_releases_run(const struct command_context *context, const struct debug_releases_settings *settings,
                              struct error *err)
{
    struct arena *arena = parse_arena((struct parse *)context->parse);
    struct releases_command command = {
        .context = context,
        .values = settings,
        .arena = arena,
        .session_settings = debug_session_settings(context, &settings->debug, &settings->file),
        .loading = {settings->file.model.path, &settings->file.onnxrt.runtime,
                    (uint64_t)settings->file.onnxrt.max_memory, arena, context->log},
    };
    struct releases_result found = {0};
    int rc = debug_outputs_open(&command.outputs, context, &settings->debug, "debug releases", err);

    if (rc < 0)
        return rc;
    command.session_settings.check.variable = "POLYGRAPHY_ONNXRUNTIME";
    command.session_settings.check.self_prepare = NULL; /* each check has another library */
    command.session_settings.hash_content = candidate_file_hash;
    rc = own_check_refuse_unknown_outputs(context, &settings->comparison, command.loading.model, err);
    if (rc == 0)
        rc = list_releases(&command, err);
    if (rc < 0)
        goto done;
    rc = find_oldest(&command, err);
    if (rc < 0)
        goto done;
    rc = result_folder_begin(settings->folder, "debug releases", err);
    if (rc < 0)
        goto done;
    rc = make_check(&command, err);
    if (rc < 0)
        goto done;
    rc = search_releases(&command, &found, err);
    rc = rc < 0 ? debug_outputs_finish(&command.outputs, command.session, rc, false, err)
                : report_releases(&command, &found, err);
done:
    session_free(command.session);
    own_check_release(&command.check);
    debug_outputs_close(&command.outputs);
    return rc;
}

DEFINE_COMMAND_RUN(debug_releases_run, struct debug_releases_settings)

static const struct command_group groups[] = {
    DEBUG_SEARCH_GROUPS(struct debug_releases_settings, optional_check_options, intermediate_library_options),
    {&releases_options, 0},
    COMMAND_GROUP(struct debug_releases_settings, file.model, convert_model_options),
    COMMAND_GROUP(struct debug_releases_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct debug_releases_settings, comparison, comparison_options),
    COMMAND_GROUP(struct debug_releases_settings, file.onnxrt, onnxrt_options),
    DEBUG_RESULT_GROUPS(struct debug_releases_settings),
};

const struct command cmd_debug_releases = {
    .name = "releases",
    .summary = "find the release of ONNX Runtime in which a failure begins",
    .description =
        "Bisects the stable releases of ONNX Runtime for the one in which the verdict of the check changes, and then "
        "names the optimizer (`debug passes` with that release) and the nodes (`debug accuracy` with the two "
        "neighbours). Releases are fetched from PyPI and npm into the user's cache.\n\n"
        "Without --check, a release fails if it crashes, does not run the model, or if outputs differ from those of "
        "--load-outputs or, without that option, from those of the oldest testable release without optimizations. With "
        "--check, any command decides: POLYGRAPHY_ONNXRUNTIME in its environment is the path of the library, which "
        "commands of this program load, as is {artifact} in its arguments.\n\n"
        "A release that does not load the model's operator set is untestable and is skipped. Both ends are checked; "
        "the answer lists the releases that were not tested.",
    .example = "# since when does the model crash, and why?\n"
               "polygraphy debug releases model.onnx\n"
               "# with any command as the check, among these releases\n"
               "polygraphy debug releases model.onnx --releases 1.20.1,1.22.1,1.30.0 --check polygraphy run model.onnx "
               "--onnxrt --validate",
    COMMAND_GROUPS(groups),
    .essential = "--releases --check --atol --rtol --load-inputs --load-outputs -o --only-release --providers "
                 "--flaky --load-debug-replay --show-output --json --report -v",
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_releases_run),
};
