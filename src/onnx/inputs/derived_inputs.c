/* onnx/inputs/derived_inputs.c: see derived_inputs.h. */
#include "onnx/inputs/derived_inputs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/inputs/pass.h"
#include "onnx/inputs/symbols.h"
#include "onnx/inputs/value_rules.h"

#define MOST_VARIABLES 4096 /* further open sizes are taken for 1 */

/* Sizes of what is free, in the order in which they are tried until every known operator accepts them. */
static const struct free_sizes {
    int64_t sequence, cache;
} sequence_sizes[] = {{16, 5}, {8, 3}, {4, 2}, {1, 5}, {1, 1}};
static const int64_t spatial_sizes[] = {64, 224, 32, 128, 256, 512, 1024, 4096, 16384, 65536};

struct derivation {
    const struct model *model;
    struct derived_inputs *derived;
    struct dimension_system system;
    uint32_t *variables;          /* of each input, the first one; they follow each other */
    struct dimension_note *notes; /* of each variable */
    struct name_map names;        /* of dimensions: their first variable */
    struct pass pass;             /* over the system itself */
    bool has_spatial;
};

/* ---- Variables ---- */

static bool read_input_type(const struct model *model, size_t input, struct value_type *ret)
{
    value_info_decode(model->values.items[model->inputs.items[input]].info, ret);
    return ret->not_a_tensor == NULL && ret->has_shape;
}

static void add_variables(struct derivation *work)
{
    struct value_type type;

    work->variables = memory_alloc_zero(work->model->inputs.count + 1, sizeof(*work->variables));
    for (size_t i = 0; i < work->model->inputs.count; i++) {
        work->variables[i] = (uint32_t)work->system.count;
        if (!read_input_type(work->model, i, &type))
            continue;
        for (size_t k = 0; k < type.shape.rank; k++)
            if (type.shape.dims[k] < 0 && work->system.count < MOST_VARIABLES) {
                uint32_t variable = dimension_system_add(&work->system);

                if (type.symbols[k].size > 0)
                    name_map_add(&work->names, type.symbols[k], variable);
            }
    }
    work->notes = memory_alloc_zero(work->system.count + 1, sizeof(*work->notes));
}

/* The sizes of an input in terms of variables. */
static void list_dimensions(const struct derivation *work, size_t input, const struct value_type *type,
                            struct dimension *ret)
{
    uint32_t next = work->variables[input];

    for (size_t k = 0; k < type->shape.rank; k++)
        if (type->shape.dims[k] >= 0)
            ret[k] = dimension_constant(type->shape.dims[k]);
        else
            ret[k] = next < work->system.count ? dimension_variable(next++) : dimension_constant(1);
}

/* ---- Passes ---- */

static void begin_pass(const struct derivation *work, struct dimension_system *system, struct pass *ret)
{
    *ret = (struct pass){.model = work->model, .system = system, .arena = &work->derived->arena};
    ret->facts = memory_alloc_zero(work->model->values.count + 1, sizeof(*ret->facts));
    for (size_t i = 0; i < work->model->values.count; i++)
        ret->facts[i].input = VALUE_NONE;
    pass_add_initializers(ret);
    for (size_t i = 0; i < work->model->inputs.count; i++) {
        struct fact *fact = &ret->facts[work->model->inputs.items[i]];
        struct dimension dims[TENSOR_MAX_RANK];
        struct value_type type;

        fact->input = work->model->inputs.items[i];
        if (!read_input_type(work->model, i, &type))
            continue;
        list_dimensions(work, i, &type, dims);
        fact->has_shape = true;
        fact->rank = type.shape.rank;
        fact->dims = pass_copy(ret, dims, type.shape.rank);
    }
}

static void end_pass(struct pass *pass)
{
    free(pass->facts);
}

/* ---- What is known beforehand, and what names say ---- */

static void add_given(struct derivation *work, const struct derivation_shape *given, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct dimension dims[TENSOR_MAX_RANK];
        struct value_type type;

        if (!read_input_type(work->model, given[i].input, &type) || type.shape.rank != given[i].shape.rank)
            continue;
        list_dimensions(work, given[i].input, &type, dims);
        for (size_t k = 0; k < type.shape.rank; k++)
            if (given[i].shape.dims[k] >= 0)
                (void)pass_solve(&work->pass, dims[k], dimension_constant(given[i].shape.dims[k]), SOURCE_GIVEN);
    }
}

/* A size and its name: equal to the first size of that name, and to the sum that the name is. */
static void add_name(struct derivation *work, struct dimension size, struct text symbol)
{
    uint32_t variable = name_map_find(&work->names, symbol);

    if (symbol.size == 0 || !size.known)
        return;
    if (variable != NAME_MAP_NONE)
        (void)pass_solve(&work->pass, size, dimension_variable(variable), SOURCE_NAME);
    if (symbol_is_sum(symbol))
        (void)pass_solve(&work->pass, size, dimension_from_symbol(&work->system, &work->names, symbol), SOURCE_NAME);
}

static void add_dimension_names(struct derivation *work)
{
    const struct model *model = work->model;

    for (size_t i = 0; i < model->inputs.count; i++) {
        struct dimension dims[TENSOR_MAX_RANK];
        struct value_type type;

        if (!read_input_type(model, i, &type))
            continue;
        list_dimensions(work, i, &type, dims);
        for (size_t k = 0; k < type.shape.rank; k++)
            add_name(work, dims[k], type.symbols[k]);
    }
    for (size_t i = 0; i < model->outputs.count; i++) {
        const struct fact *fact = &work->pass.facts[model->outputs.items[i]];
        struct value_type type;

        value_info_decode(model->values.items[model->outputs.items[i]].info, &type);
        for (size_t k = 0; fact->has_shape && type.has_shape && fact->rank == type.shape.rank && k < fact->rank; k++)
            add_name(work, fact->dims[k], type.symbols[k]);
    }
}

/* ---- Sizes ---- */

/* Nothing happens where the size of the variable is known. */
static void set_size(struct dimension_system *system, uint32_t variable, int64_t size)
{
    uint32_t solved;

    (void)dimension_equate(system, dimension_variable(variable), dimension_constant(size), &solved);
}

static int64_t size_of_role(enum dimension_role role, const struct free_sizes *sizes, int64_t spatial)
{
    switch (role) {
    case ROLE_CACHE:
        return sizes->cache;
    case ROLE_SEQUENCE:
    case ROLE_KEYS:
    case ROLE_ROWS:
        return sizes->sequence;
    case ROLE_SPATIAL:
        return spatial;
    case ROLE_FREE:
        break;
    }
    return 1;
}

static void set_sizes_of_role(const struct derivation *work, struct dimension_system *system, enum dimension_role role,
                              const struct free_sizes *sizes, int64_t spatial)
{
    for (uint32_t v = 0; v < system->count; v++)
        if (work->notes[v].role == role)
            set_size(system, v, size_of_role(role, sizes, spatial));
}

/* The first axis of inputs with several, of which nothing else is known, mostly is that of a batch. */
static void set_batch_sizes(const struct derivation *work, struct dimension_system *system)
{
    for (size_t i = 0; i < work->model->inputs.count; i++) {
        uint32_t variable = work->variables[i];
        struct value_type type;

        if (read_input_type(work->model, i, &type) && type.shape.rank > 1 && type.shape.dims[0] < 0 &&
            variable < system->count && work->notes[variable].role == ROLE_FREE)
            set_size(system, variable, 1);
    }
}

/* Gives all variables that are not solved a size. The order matters where a sum of them has a role as well. With the
 * most important sizes known, a further walk finds what depends on products of them. */
static void set_sizes(struct derivation *work, struct dimension_system *system, const struct free_sizes *sizes,
                      int64_t spatial)
{
    static const enum dimension_role first[] = {ROLE_CACHE, ROLE_SEQUENCE, ROLE_SPATIAL};
    static const enum dimension_role last[] = {ROLE_KEYS, ROLE_ROWS, ROLE_FREE};
    struct pass pass;

    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        set_sizes_of_role(work, system, first[i], sizes, spatial);
    set_batch_sizes(work, system);
    begin_pass(work, system, &pass);
    pass.assumes = true;
    pass.notes = work->notes;
    pass_run(&pass);
    end_pass(&pass);
    for (size_t i = 0; i < ARRAY_LEN(last); i++)
        set_sizes_of_role(work, system, last[i], sizes, spatial);
}

/* Whether no input has a negative size, or none at all but in a cache. */
static bool sizes_are_possible(const struct derivation *work, const struct dimension_system *system)
{
    for (uint32_t v = 0; v < system->count; v++) {
        int64_t size;

        if (!dimension_is_constant(system, dimension_variable(v), &size) || size < 0 ||
            (size == 0 && work->notes[v].role != ROLE_CACHE && work->notes[v].source != SOURCE_GIVEN))
            return false;
    }
    return true;
}

/* Walks over the model with sizes that are all solved. Returns whether nothing speaks against them. */
static bool sizes_are_accepted(const struct derivation *work, struct dimension_system *system, struct pass *ret)
{
    begin_pass(work, system, ret);
    pass_run(ret);
    return !ret->has_conflict && sizes_are_possible(work, system);
}

/* The first sizes against which nothing speaks. If there are none, the first ones at all, which then are no better than
 * the defaults. `ret` is the pass with them. */
static void find_sizes(struct derivation *work, struct dimension_system *ret_system, struct pass *ret)
{
    size_t spatial_count = work->has_spatial ? ARRAY_LEN(spatial_sizes) : 1;

    for (size_t i = 0; i < ARRAY_LEN(sequence_sizes) * spatial_count; i++) {
        dimension_system_init_copy(ret_system, &work->system);
        set_sizes(work, ret_system, &sequence_sizes[i / spatial_count], spatial_sizes[i % spatial_count]);
        if (sizes_are_accepted(work, ret_system, ret)) {
            work->derived->is_proven = ret->unknown == 0;
            return;
        }
        end_pass(ret);
        dimension_system_release(ret_system);
    }
    dimension_system_init_copy(ret_system, &work->system);
    set_sizes(work, ret_system, &sequence_sizes[0], spatial_sizes[0]);
    (void)sizes_are_accepted(work, ret_system, ret);
    work->derived->defaults_fit = true;
    work->derived->refusal = NULL;
}

/* ---- Defaults ---- */

static void explain_conflict(struct derivation *work, const struct pass *pass)
{
    work->derived->defaults_fit = false;
    work->derived->refusal = arena_printf(&work->derived->arena, "%s does not accept sizes of 1",
                                          model_node_label((struct model *)work->model, pass->conflict));
}

/* Whether values of 0 and 1 are in bounds, for sizes of 1. */
static void check_default_values(struct derivation *work, const struct pass *pass, const struct value_readers *readers)
{
    for (size_t i = 0; i < work->model->inputs.count && work->derived->defaults_fit; i++) {
        uint32_t value = work->model->inputs.items[i];
        struct value_rule rule;
        struct value_type type;

        value_info_decode(work->model->values.items[value].info, &type);
        if (type.not_a_tensor != NULL || (!data_type_is_integer(type.element) && type.element != DATA_BOOL))
            continue;
        value_rule_find(pass, readers, value, 0, &rule);
        if (rule.allows_default)
            continue;
        work->derived->defaults_fit = false;
        work->derived->refusal = arena_printf(&work->derived->arena, "%s does not accept values of 0 and 1",
                                              model_node_label((struct model *)work->model, rule.node));
    }
}

/* Polygraphy's data: 1 for what is open, 0 and 1 for integers. */
static void check_defaults(struct derivation *work, const struct derivation_shape *given, size_t given_count,
                           const struct value_readers *readers)
{
    struct dimension_system system SCOPED(dimension_system_release) = {0}, kept = work->system;
    struct pass pass, kept_pass = work->pass;

    dimension_system_init_copy(&system, &work->system);
    work->system = system;
    work->pass = (struct pass){.model = work->model, .system = &work->system};
    add_given(work, given, given_count);
    for (uint32_t v = 0; v < work->system.count; v++)
        set_size(&work->system, v, 1);
    system = work->system;
    work->system = kept;
    work->pass = kept_pass;
    begin_pass(work, &system, &pass);
    pass_run(&pass);
    work->derived->defaults_fit = true;
    if (pass.has_conflict)
        explain_conflict(work, &pass);
    else
        check_default_values(work, &pass, readers);
    end_pass(&pass);
}

/* ---- Rules as text ---- */

static void describe_role(const struct derivation *work, const struct dimension_note *note, struct string_builder *text)
{
    static const char *const roles[] = {
        [ROLE_ROWS] = "indices look it up in", [ROLE_KEYS] = "a Softmax normalizes along it in",
        [ROLE_SEQUENCE] = "a sequence for",    [ROLE_SPATIAL] = "a window moves along it in",
        [ROLE_CACHE] = "a cache, extended by",
    };

    if (note->role == ROLE_FREE)
        string_add(text, "free");
    else
        string_add_format(text, "%s %s", roles[note->role],
                          model_node_label((struct model *)work->model, note->role_node));
}

static void describe_source(const struct derivation *work, uint32_t variable, struct text symbol,
                            struct string_builder *text)
{
    const struct dimension_note *note = &work->notes[variable];
    const char *node = note->source == SOURCE_OPERATOR || note->source == SOURCE_ASSUMED
                           ? model_node_label((struct model *)work->model, note->source_node)
                           : "";

    if (note->role >= ROLE_SEQUENCE && note->source != SOURCE_GIVEN) {
        describe_role(work, note, text);
        return;
    }
    switch ((enum dimension_source)note->source) {
    case SOURCE_GIVEN:
        string_add(text, "specified");
        break;
    case SOURCE_OPERATOR:
        string_add_format(text, "%s demands it", node);
        break;
    case SOURCE_ASSUMED:
        string_add_format(text, "%s uses as many", node);
        break;
    case SOURCE_NAME:
        string_add_format(text, "by name: '" TEXT_FORMAT "'", TEXT_ARGS(symbol));
        break;
    case SOURCE_NONE:
        describe_role(work, note, text);
        break;
    }
}

static void describe_sizes(const struct derivation *work, size_t input, const struct value_type *type,
                           struct derived_input *item)
{
    uint32_t next = work->variables[input];
    SCOPED_STRING(text);

    for (size_t k = 0; k < type->shape.rank; k++) {
        if (type->shape.dims[k] >= 0 || next >= work->system.count)
            continue;
        string_add_format(&text, "%saxis %zu = %lld (", text.size > 0 ? ", " : "", k, (long long)item->shape.dims[k]);
        describe_source(work, next, type->symbols[k], &text);
        string_add_char(&text, ')');
        item->by_name |= work->notes[next].source == SOURCE_NAME;
        next++;
    }
    if (text.size > 0)
        item->size_rule = arena_strdup(&work->derived->arena, text.data);
}

static void describe_values(const struct derivation *work, const struct value_rule *rule, struct derived_input *item)
{
    const char *node = rule->node != NODE_NONE ? model_node_label((struct model *)work->model, rule->node) : "";
    struct arena *arena = &work->derived->arena;

    switch (rule->values) {
    case DERIVED_INTEGERS:
        item->value_rule = arena_printf(arena, "%lld to %lld: %s looks up %lld rows", (long long)rule->low,
                                        (long long)rule->high, node, (long long)(rule->high - rule->low + 1));
        break;
    case DERIVED_MASK:
        item->value_rule = arena_printf(arena,
                                        rule->low > 0 ? "ones, the last %lld places zeros: %s masks with it"
                                                      : "ones%.0lld: %s masks with it",
                                        (long long)rule->low, node);
        break;
    case DERIVED_POSITIONS:
        item->value_rule = arena_printf(arena, "%lld, %lld, ...: positions for %s%s", (long long)rule->low,
                                        (long long)rule->low + 1, node, rule->by_name ? ", by name" : "");
        break;
    case DERIVED_NUMBER:
        item->value_rule = arena_printf(arena, "%lld: %s demands it", (long long)rule->low, node);
        break;
    case DERIVED_ANY:
        break;
    }
}

/* ---- The result ---- */

static int64_t find_cache_size(const struct derivation *work, const struct dimension_system *system)
{
    for (uint32_t v = 0; v < system->count; v++) {
        int64_t size;

        if (work->notes[v].role == ROLE_CACHE && dimension_is_constant(system, dimension_variable(v), &size))
            return size;
    }
    return 0;
}

static void fill_input(struct derivation *work, size_t input, const struct pass *pass,
                       const struct value_readers *readers)
{
    struct derived_input *item = &work->derived->items[input];
    struct dimension dims[TENSOR_MAX_RANK];
    struct value_rule rule;
    struct value_type type;

    item->value = work->model->inputs.items[input];
    item->name = arena_text(&work->derived->arena, work->model->values.items[item->value].name);
    if (read_input_type(work->model, input, &type)) {
        list_dimensions(work, input, &type, dims);
        item->has_shape = true;
        item->is_open = !shape_is_static(&type.shape);
        item->shape = type.shape;
        for (size_t k = 0; k < type.shape.rank; k++)
            if (!dimension_is_constant(pass->system, dims[k], &item->shape.dims[k]) || item->shape.dims[k] < 0)
                item->shape.dims[k] = 1;
        describe_sizes(work, input, &type, item);
    }
    item->is_certain = true;
    if (type.not_a_tensor != NULL || (!data_type_is_integer(type.element) && type.element != DATA_BOOL))
        return;
    value_rule_find(pass, readers, item->value, find_cache_size(work, pass->system), &rule);
    item->values = rule.values;
    item->low = rule.low;
    item->high = rule.high;
    item->by_name |= rule.by_name;
    item->is_certain = type.element == DATA_BOOL || rule.values != DERIVED_ANY;
    describe_values(work, &rule, item);
}

bool derived_inputs_are_needed(const struct model *model)
{
    for (size_t i = 0; i < model->inputs.count; i++) {
        struct value_type type;

        value_info_decode(model->values.items[model->inputs.items[i]].info, &type);
        if (type.not_a_tensor == NULL && ((type.has_shape && !shape_is_static(&type.shape)) ||
                                          data_type_is_integer(type.element) || type.element == DATA_BOOL))
            return true;
    }
    return false;
}

/* Notes the roles of sizes, of which those that the user gives are constants afterwards. */
static void note_roles(const struct derivation *work)
{
    struct dimension_system system;
    struct pass pass;

    dimension_system_init_copy(&system, &work->system);
    begin_pass(work, &system, &pass);
    pass.notes = work->notes;
    pass_run(&pass);
    end_pass(&pass);
    for (size_t v = 0; v < system.count; v++)
        work->notes[v].source = SOURCE_NONE;
    dimension_system_release(&system);
}

/* Walks twice: what may be assumed depends on what is demanded anywhere. */
static void solve_sizes(struct derivation *work, const struct derivation_shape *given, size_t given_count)
{
    if (given_count > 0)
        note_roles(work);
    begin_pass(work, &work->system, &work->pass);
    work->pass.notes = work->notes;
    add_given(work, given, given_count);
    pass_run(&work->pass);
    add_dimension_names(work);
    work->pass.assumes = true;
    pass_run(&work->pass);
    for (size_t v = 0; v < work->system.count; v++)
        work->has_spatial |= work->notes[v].role == ROLE_SPATIAL;
}

void derived_inputs_init(struct derived_inputs *derived, const struct model *model,
                         const struct derivation_shape *given, size_t given_count)
{
    struct derivation work = {.model = model, .derived = derived};
    struct dimension_system system;
    struct value_readers readers SCOPED(value_readers_release) = {0};
    struct pass pass;

    *derived = (struct derived_inputs){.count = model->inputs.count};
    derived->items = arena_alloc_zero(&derived->arena, model->inputs.count + 1, sizeof(*derived->items));
    name_map_init(&work.names);
    value_readers_init(&readers, model, NULL);
    add_variables(&work);
    check_defaults(&work, given, given_count, &readers);
    solve_sizes(&work, given, given_count);
    find_sizes(&work, &system, &pass);
    for (size_t i = 0; i < model->inputs.count; i++)
        fill_input(&work, i, &pass, &readers);
    for (size_t i = 0; i < given_count; i++)
        derived->items[given[i].input].is_given = true;
    end_pass(&pass);
    end_pass(&work.pass);
    dimension_system_release(&system);
    dimension_system_release(&work.system);
    name_map_release(&work.names);
    free(work.variables);
    free(work.notes);
}

void derived_inputs_release(struct derived_inputs *derived)
{
    arena_release(&derived->arena);
    *derived = (struct derived_inputs){0};
}
