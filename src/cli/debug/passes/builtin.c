/* cli/debug/passes/builtin.c: optimizations of the built-in engine: fusions, foldings, layouts in which layers exchange
 * tensors, and providers of tactics. */
#include <string.h>

#include "base/memory.h"
#include "base/process/bounded.h"
#include "base/text/shell_line.h"
#include "cli/debug/passes/barriers.h"
#include "cli/debug/passes/kernels.h"
#include "cli/engine_file.h"
#include "cli/model_file.h"
#include "engine/build/decisions.h"

/* The provider that has a kernel for any operator, and so cannot be disabled. */
#define LAST_RESORT "onnxrt"

/* Checks use tactics that do not depend on time, so that a disabled fusion makes the difference and not another tactic;
 * a replay fixes those of its layers. */
static const char *const fixed[] = {"--deterministic", NULL};

static bool begins_with(const char *name, const char *beginning)
{
    return text_begins_with(text_of(name), beginning);
}

static bool is_fusion(const char *decision)
{
    return begins_with(decision, "fusion:");
}

static bool is_folding(const char *decision)
{
    return begins_with(decision, "folding:");
}

static bool is_layout(const char *decision)
{
    return begins_with(decision, "layout:");
}

static bool is_source(const char *decision)
{
    return begins_with(decision, TACTICS_OF);
}

/* ---- Builds ---- */

/* An engine with some optimizations disabled, or its network. */
struct build {
    struct log log; /* without output: these builds are internal */
    struct command_context context;
    struct engine_file file;
    struct network *network;
    struct engine *engine;
};

static void build_release(struct build *build)
{
    engine_free(build->engine);
    network_free(build->network);
    engine_file_release(&build->file);
}

/* `replay` NULL: that of the command line. Release `ret` in any case; it must not be moved. */
static int build_without(const struct passes_subject *subject, struct words off, const struct tactic_replay *replay,
                         bool network_only, struct build *build, struct error *err)
{
    struct engine_settings *request = &build->file.request;
    struct model *model;
    int rc;

    *build = (struct build){.log = {.threshold = LOG_CRITICAL}, .context = *subject->context};
    build->context.log = &build->log;
    rc = engine_file_init(&build->file, &build->context, &subject->settings->engine, &subject->settings->file, err);
    if (rc < 0)
        return rc;
    build->file.shows_progress = false;
    request->builder.deterministic = true;
    if (replay != NULL)
        request->builder.replay = replay;
    rc = engine_settings_switch_off(request, off, subject->arena, err);
    if (rc < 0)
        return rc;
    rc = model_file_load(&build->context, &subject->settings->file, &model, err);
    if (rc < 0)
        return rc;
    rc = network_build(model, &request->network, &build->network, err);
    if (rc < 0 || network_only)
        return rc;
    return engine_settings_build(request, build->network, &build->engine, err);
}

/* ---- What it decides ---- */

/* Adds providers of the layers' tactics, and their layouts, then fusions and foldings. */
static void add_taken(const struct build *build, struct arena *arena, struct word_list *ret)
{
    struct decision_list decisions SCOPED_ITEMS = {0};
    bool has_last_resort = false;

    engine_decisions(build->engine, &build->file.request.builder, arena, &decisions);
    for (size_t i = 0; i < build->engine->providers.count; i++)
        has_last_resort |= strcmp(build->engine->providers.items[i]->name, LAST_RESORT) == 0;
    VECTOR_EACH (const struct decision, decision, decisions)
        if (decision->state == DECISION_TAKEN &&
            (!is_source(decision->name) || (has_last_resort && strcmp(decision->name, TACTICS_OF LAST_RESORT))))
            *VECTOR_APPEND(ret) = arena_strdup(arena, decision->name);
}

/* Adds fusions and foldings that occur with all of these disabled. */
static int add_hidden(const struct passes_subject *subject, struct word_list *known, struct error *err)
{
    struct build build;
    int rc = build_without(subject, (struct words){known->items, known->count}, NULL, true, &build, err);

    for (size_t i = 0; rc == 0 && i < build.network->decisions.count; i++)
        if (build.network->decisions.items[i].state == DECISION_TAKEN)
            *VECTOR_APPEND(known) = arena_strdup(subject->arena, build.network->decisions.items[i].name);
    build_release(&build);
    return rc;
}

/* Disabling an optimization enables others: a bias that is not folded into weights is fused. So the search repeats
 * until none is left. */
static int list_all(const struct passes_subject *subject, struct word_list *ret, struct error *err)
{
    struct build build;
    size_t before;
    int rc = build_without(subject, (struct words){0}, NULL, false, &build, err);

    if (rc == 0)
        add_taken(&build, subject->arena, ret);
    build_release(&build);
    for (before = 0; rc == 0 && ret->count > before;) {
        before = ret->count;
        rc = add_hidden(subject, ret, err);
    }
    return rc;
}

/* ---- In a process of its own ---- */

/* In the forked process: the question is the address of the subject, which is valid there. The answer is a status byte,
 * and names separated by line breaks, or an error. */
static void answer_decision(const void *data, int answer_to, struct bounded_bytes question)
{
    const struct passes_subject *subject = NULL;
    struct word_list names SCOPED_ITEMS = {0};
    struct string_builder text SCOPED(string_release) = {0};
    struct error err = {0};
    int rc;

    (void)data;
    if (question.size == sizeof(subject))
        memcpy(&subject, question.data, question.size);
    bounded_bytes_release(&question);
    rc = subject != NULL ? list_all(subject, &names, &err) : ERR_CORRUPT;
    string_init(&text);
    string_add(&text, rc == 0 ? "+" : "-");
    for (size_t i = 0; rc == 0 && i < names.count; i++)
        string_add_format(&text, "%s\n", names.items[i]);
    if (rc < 0)
        string_add(&text, err.message);
    bounded_process_answer(answer_to, &(struct text){text.data, text.size}, 1, NULL);
}

static const char *const *read_names(struct text lines, struct arena *arena)
{
    struct word_list list SCOPED_ITEMS = {0};

    while (lines.size > 0) {
        const char *end = memchr(lines.data, '\n', lines.size);
        size_t size = end != NULL ? (size_t)(end - lines.data) : lines.size;

        *VECTOR_APPEND(&list) = arena_text(arena, (struct text){lines.data, size});
        size += end != NULL;
        lines = (struct text){lines.data + size, lines.size - size};
    }
    *VECTOR_APPEND(&list) = NULL;
    return arena_copy(arena, list.items, list.count * sizeof(*list.items));
}

/* Runs in a forked process, because kernels leave threads behind, and a program with threads cannot fork the checks
 * (base/process/fork_server.h). */
static int list_apart(const struct passes_subject *subject, const char *const **ret, struct error *err)
{
    static const struct bounded_work work = {.name = "the built-in engine", .answer = answer_decision};
    const struct text part = {(const char *)&subject, sizeof(subject)};
    const struct bounded_question question = {.parts = &part, .count = 1};
    struct bounded_process *process;
    struct bounded_bytes given = {0};
    int rc = bounded_process_start(&work, &process, err);

    if (rc < 0)
        return rc;
    rc = bounded_process_ask(process, &question, &given, err);
    bounded_process_stop(process);
    if (rc == 0 && (given.size == 0 || given.data[0] != '+'))
        rc = error_set(err, ERR_BACKEND, TEXT_FORMAT, (int)(given.size > 0 ? given.size - 1 : 0),
                       given.size > 0 ? given.data + 1 : "");
    if (rc == 0)
        *ret = read_names((struct text){given.data + 1, given.size - 1}, subject->arena);
    bounded_bytes_release(&given);
    return rc;
}

/* All kinds are found together, on the first request. */
static int find_builtin_decisions(const struct passes_subject *subject, bool (*owns)(const char *decision),
                                  struct decisions *ret, struct error *err)
{
    const char *const *known = *subject->memory;
    int rc = known == NULL ? list_apart(subject, &known, err) : 0;

    if (rc < 0)
        return rc;
    *subject->memory = (void *)known;
    for (; *known != NULL; known++)
        if (owns(*known))
            decisions_add(ret, *known);
    return 0;
}

static int find_sources(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    return find_builtin_decisions(subject, is_source, ret, err);
}

static int find_layouts(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    return find_builtin_decisions(subject, is_layout, ret, err);
}

static int find_foldings(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    return find_builtin_decisions(subject, is_folding, ret, err);
}

static int find_fusions(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    return find_builtin_decisions(subject, is_fusion, ret, err);
}

/* ---- To do without ---- */

/* Adds an option with the parts of the names after the colon. */
static void add_option(const char *option, struct words off, struct remedies *ret)
{
    SCOPED_STRING(line);

    string_add(&line, option);
    for (size_t i = 0; i < off.count; i++)
        shell_add_argument(&line, strchr(off.items[i], ':') + 1);
    remedies_add(ret, REMEDY_OPTION, "%s", line.data);
}

static void add_remedies_of_sources(struct words off, struct remedies *ret)
{
    add_option("--exclude-tactics", off, ret);
}

static void add_remedies_of_layouts(struct words off, struct remedies *ret)
{
    (void)off;
    remedies_add(ret, REMEDY_OPTION, "--plain-layouts");
}

static void add_remedies_of_foldings(struct words off, struct remedies *ret)
{
    add_option("--disable-foldings", off, ret);
}

static void add_remedies_of_fusions(struct words off, struct remedies *ret)
{
    add_option("--disable-fusions", off, ret);
}

static void add_remedies_of_barriers(struct words off, struct remedies *ret)
{
    barriers_add_option("--trt-outputs", off, ret);
}

/* ---- What an engine consists of ---- */

/* Lists layers with another name or tactic. */
static void list_other_layers(const struct engine *engine, const struct engine *other, struct arena *arena,
                              struct rewritten_list *ret)
{
    SCOPED_NAME_MAP(names);

    for (size_t i = 0; i < other->network->layers.count; i++)
        name_map_add(&names, text_of(other->network->layers.items[i].name), (uint32_t)i);
    for (size_t i = 0; i < engine->network->layers.count; i++) {
        const char *name = engine->network->layers.items[i].name;
        const struct tactic *tactic = &engine->layers[i].tactic;
        uint32_t twin = name_map_find(&names, text_of(name));

        if (twin != NAME_MAP_NONE && tactic->number == other->layers[twin].tactic.number)
            continue;
        VECTOR_APPEND(ret);
        ret->items[ret->count - 1].name = arena_strdup(arena, name);
        ret->items[ret->count - 1].op_type = arena_printf(arena, "%s:%s", tactic->provider->name, tactic->name);
    }
}

/* Saves the replay if the layers support all of these tactics. */
static int force_kernels(const struct passes_subject *subject, struct words off, const struct engine *with,
                         const struct tactic_replay *replay, const char *path, struct error *err)
{
    struct tactic_replay again SCOPED(tactic_replay_release) = {0};
    struct string_builder left SCOPED(string_release) = {0};
    struct build build SCOPED(build_release) = {0};
    int rc = build_without(subject, off, replay, false, &build, err);

    if (rc < 0)
        return rc;
    rc = kernels_find(with, build.engine, &again, &left, err);
    if (rc < 0)
        return rc;
    return left.size > 0 ? error_set(err, ERR_MISSING, "not all layers support them: %s", left.data)
                         : tactic_replay_save(replay, path, err);
}

static bool has_tactics_of_its_own(struct words off)
{
    for (size_t i = 0; i < off.count; i++)
        if (!is_fusion(off.items[i]) && !is_folding(off.items[i]) && !barriers_own(off.items[i]))
            return true;
    return false;
}

/* Tests whether kernels differ, without a check. An error is the reason why that is unknown. */
static void compare_kernels(const struct passes_subject *subject, struct words off, const struct build *with,
                            const struct build *without, const char *folder, struct other_kernels *ret)
{
    const char *path = arena_printf(subject->arena, "%s/kernels.json", folder);
    struct string_builder differences = {0};
    struct tactic_replay replay = {0};
    struct error error;
    int rc = kernels_find(with->engine, without->engine, &replay, &differences, &error);

    ret->evidence = KERNELS_NOT_RULED_OUT;
    if (rc < 0)
        goto done;
    if (differences.size == 0) {
        ret->evidence = KERNELS_SAME;
        goto done;
    }
    ret->differences = arena_strdup(subject->arena, differences.data);
    rc = with->file.replay != NULL ? error_set(&error, ERR_UNSUPPORTED, "--load-tactics fixes them")
                                   : force_kernels(subject, off, with->engine, &replay, path, &error);
    ret->replay = rc == 0 ? path : NULL;
done:
    if (rc < 0)
        ret->why_not = arena_strdup(subject->arena, error.message);
    tactic_replay_release(&replay);
    string_release(&differences);
}

static int compare_builtin(const struct passes_subject *subject, struct words off, const char *folder,
                           struct rewriting *ret, struct error *err)
{
    struct build with, without;
    int rc = build_without(subject, (struct words){0}, NULL, false, &with, err);
    int rc_without = rc == 0 ? build_without(subject, off, NULL, false, &without, err) : rc;

    if (rc_without == 0) {
        if (!has_tactics_of_its_own(off))
            compare_kernels(subject, off, &with, &without, folder, &ret->kernels);
        ret->is_known = true;
        arena_init(&ret->nodes.arena);
        list_other_layers(without.engine, with.engine, &ret->nodes.arena, &ret->nodes.before);
        list_other_layers(with.engine, without.engine, &ret->nodes.arena, &ret->nodes.after);
    }
    if (rc == 0)
        build_release(&without);
    build_release(&with);
    return rc_without;
}

/* ---- The runner ---- */

static const struct option_group *const groups[] = {&engine_config_options, &engine_network_options, &tensorrt_options,
                                                    NULL};

static const struct decision_source sources[] = {
    {.name = "tactics", .owns = is_source, .find = find_sources, .add_remedies = add_remedies_of_sources},
    {.name = "layouts", .owns = is_layout, .find = find_layouts, .add_remedies = add_remedies_of_layouts},
    {.name = "foldings", .owns = is_folding, .find = find_foldings, .add_remedies = add_remedies_of_foldings},
    {.name = "fusions", .owns = is_fusion, .find = find_fusions, .add_remedies = add_remedies_of_fusions},
    {.name = "barriers",
     .on_request = true, /* fusions already name places */
     .owns = barriers_own,
     .find = barriers_find,
     .add_remedies = add_remedies_of_barriers},
};

/* The order matters: if a fusion or the kernel of the fused layer is enough, the first one stays enabled. */
static const struct decision_source *const source_list[] = {&sources[0], &sources[1], &sources[2],
                                                            &sources[3], &sources[4], NULL};

const struct passes_runner builtin_passes_runner = {
    .name = "the built-in engine",
    .option = "--trt",
    .fixed = fixed,
    .groups = groups,
    .sources = source_list,
    .compare = compare_builtin,
};
