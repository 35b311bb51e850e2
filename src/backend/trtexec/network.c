/* backend/trtexec/network.c: see network.h. */
#include "backend/trtexec/network.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "onnx/edit/node.h"
#include "onnx/edit/rebuild.h"
#include "onnx/external/data.h"
#include "onnx/write/model.h"

#define LONGEST_SAFE_NAME 120 /* bytes; from TensorRT 10.13 on, files of raw tensors have names of up to 150 */

struct making {
    const struct tensorrt_settings *settings;
    const struct backend_model *source;
    const char *folder;
    struct arena *arena;
    struct trtexec_network *ret;
};

/* ---- Names ---- */

/* trtexec cuts lists at commas, knows no escape, and takes a star for any name. */
static bool is_safe(struct text name)
{
    for (size_t i = 0; i < name.size; i++)
        if (strchr(",'*\"\\", name.data[i]) != NULL || (unsigned char)name.data[i] < ' ')
            return false;
    return name.size > 0 && name.size <= LONGEST_SAFE_NAME;
}

/* What trtexec makes of it in the names of files: two tensors of one name and shape are one file. */
static struct text file_name_of(struct arena *arena, struct text name)
{
    char *ret = arena_text(arena, name);

    for (char *c = ret; *c != '\0'; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')) &&
            strchr("._,-", *c) == NULL)
            *c = '_';
    return (struct text){ret, name.size};
}

/* Adds those of `values` to `ret` that need another name. */
static void find_unsafe(const struct making *making, const struct model *model, const struct value_list *values,
                        struct value_list *ret)
{
    struct name_map files;

    name_map_init(&files);
    for (size_t i = 0; i < values->count; i++) {
        struct text name = model->values.items[values->items[i]].name;
        struct text file = file_name_of(making->arena, name);

        if (!is_safe(name) || name_map_add(&files, file, (uint32_t)i) != (uint32_t)i)
            value_list_add(ret, values->items[i]);
    }
    name_map_release(&files);
}

/* ---- A copy of the model ---- */

/* Changes outputs as --trt-outputs and --trt-exclude-outputs say, and adds barriers. */
static int mark_outputs(const struct making *making, struct model *model, struct error *err)
{
    const struct tensorrt_settings *settings = making->settings;
    struct value_list skipped = {0};
    struct subgraph whole;
    int rc = 0;

    subgraph_init_whole(&whole, model);
    if (settings->outputs.mark_all)
        outputs_mark_all(&whole, &skipped);
    else if (settings->outputs.names.count > 0)
        rc = outputs_mark_named(&whole, settings->outputs.names.items, settings->outputs.names.count, err);
    if (rc < 0)
        goto done;
    if (settings->excluded_outputs.count > 0)
        rc = outputs_exclude(&whole, settings->excluded_outputs.items, settings->excluded_outputs.count, err);
    if (rc < 0)
        goto done;
    rc = outputs_add_barriers(&whole, settings->barriers, NULL, err);
    if (rc == 0)
        value_list_assign(&model->outputs, &whole.outputs);
done:
    if (skipped.count > 0)
        log_message(settings->log, LOG_WARNING, "%zu values inside of the model are no tensors, and are not marked",
                    skipped.count);
    free(skipped.items);
    subgraph_release(&whole);
    return rc;
}

struct renaming {
    struct rename_map map;
    uint32_t *values; /* the new one of each value that gets another name; else itself */
};

static void rename_listed(const struct renaming *renaming, struct value_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i] = renaming->values[list->items[i]];
}

static int rename_in_nodes(struct model *model, const struct renaming *renaming, struct error *err)
{
    struct span_list fields = {0};
    int rc = 0;

    for (size_t i = 0; i < model->nodes.count && rc == 0; i++) {
        struct span field = model->nodes.items[i].field;

        rc = node_rename(&model->arena, field, &renaming->map, &renaming->map, &field, err);
        *VECTOR_APPEND(&fields) = field;
    }
    if (rc == 0)
        rc = model_set_nodes(model, &fields, err);
    free(fields.items);
    return rc;
}

/* The constants keep their names. */
static int check_makers(const struct model *model, const struct value_list *unsafe, struct error *err)
{
    for (size_t i = 0; i < unsafe->count; i++) {
        const struct value *value = &model->values.items[unsafe->items[i]];

        if (value->initializer != INITIALIZER_NONE)
            return error_set(err, ERR_UNSUPPORTED,
                             "the output '" TEXT_FORMAT "' is a constant, and trtexec cannot be given its name: rename "
                             "it in the model, or leave it out with --trt-exclude-outputs",
                             TEXT_ARGS(value->name));
    }
    return 0;
}

/* Gives the values other names: "i0", "o0". */
static int rename_values(struct model *model, const struct value_list *unsafe, struct error *err)
{
    struct renaming renaming = {.values = memory_alloc_zero(model->values.count, sizeof(*renaming.values))};
    size_t count = model->values.count;
    struct unused_names names;
    int rc;

    rename_map_init(&renaming.map);
    unused_names_init(&names, model, &model->arena);
    for (size_t i = 0; i < count; i++)
        renaming.values[i] = (uint32_t)i;
    for (size_t i = 0; i < unsafe->count; i++) {
        uint32_t old = unsafe->items[i], new;
        bool is_input = value_list_has(&model->inputs, old);
        struct text name =
            unused_names_make(&names, is_input ? TEXT("i") : TEXT("o"), arena_printf(&model->arena, "%zu", i));
        struct span info = model->values.items[old].info;

        rename_map_add(&renaming.map, model->values.items[old].name, name);
        new = model_add_value(model, name);
        if (info.size > 0)
            model->values.items[new].info = value_info_rename(&model->arena, info, name);
        renaming.values[old] = new;
    }
    rc = rename_in_nodes(model, &renaming, err);
    rename_listed(&renaming, &model->inputs);
    rename_listed(&renaming, &model->outputs);
    unused_names_release(&names);
    rename_map_release(&renaming.map);
    free(renaming.values);
    return rc;
}

static int write_copy(const struct making *making, const struct model *model, struct error *err)
{
    struct subgraph whole;
    struct path_list made = {0};
    char *path = file_join(making->folder, "model.onnx");
    int rc;

    subgraph_init_whole(&whole, model);
    rc = external_data_provide(&whole, making->folder, EXTERNAL_LINK, &made, err);
    if (rc == 0)
        rc = model_write(&whole, path, NULL, FILE_INTERMEDIATE, err);
    path_list_release(&made);
    subgraph_release(&whole);
    free(path);
    making->ret->path = "model.onnx";
    return rc;
}

/* ---- What is in it ---- */

static const char *const *take_symbols(struct arena *arena, const struct value_type *type)
{
    const char **ret = arena_alloc_zero(arena, type->shape.rank, sizeof(*ret));

    for (size_t i = 0; i < type->shape.rank; i++)
        if (type->shape.dims[i] < 0 && type->symbols[i].size > 0)
            ret[i] = arena_text(arena, type->symbols[i]);
    return ret;
}

static int describe_tensors(const struct making *making, const struct model *model, const struct value_list *values,
                            const char *kind, struct trtexec_tensors *ret, struct error *err)
{
    ret->items = arena_alloc_zero(making->arena, values->count, sizeof(*ret->items));
    for (size_t i = 0; i < values->count; i++) {
        const struct value *value = &model->values.items[values->items[i]];
        struct value_type type;

        value_info_decode(value->info, &type);
        ret->items[i] = (struct trtexec_tensor){.name = arena_text(making->arena, value->name),
                                                .type = type.element,
                                                .has_shape = type.has_shape,
                                                .shape = type.shape};
        ret->items[i].safe = ret->items[i].name;
        ret->items[i].symbols = take_symbols(making->arena, &type);
        if (type.not_a_tensor != NULL)
            return error_set(err, ERR_UNSUPPORTED, "the %s '%s' is a %s, which TensorRT has none of", kind,
                             ret->items[i].name, type.not_a_tensor);
    }
    ret->count = values->count;
    return 0;
}

static void take_safe_names(const struct making *making, const struct model *model, const struct value_list *values,
                            struct trtexec_tensors *ret)
{
    for (size_t i = 0; i < ret->count; i++)
        ret->items[i].safe = arena_text(making->arena, model->values.items[values->items[i]].name);
}

static bool has_scales(const struct model *model)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (node_is(&model->nodes.items[i], "QuantizeLinear") || node_is(&model->nodes.items[i], "DequantizeLinear"))
            return true;
    return false;
}

/* ---- Shapes ---- */

static const struct tensorrt_shapes *find_shapes(const struct tensorrt_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->count; i++)
        if (strcmp(profile->items[i].name, name) == 0)
            return &profile->items[i];
    return NULL;
}

/* Names may be patterns. */
static const struct tensorrt_shapes *find_usual(const struct tensorrt_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->count; i++)
        if (text_matches_pattern(text_of(name), text_of(profile->items[i].name)))
            return &profile->items[i];
    return NULL;
}

static int check_shape(const struct trtexec_tensor *input, const struct shape *shape, struct error *err)
{
    struct string_builder text;
    bool fits = !input->has_shape || shape->rank == input->shape.rank;

    for (size_t i = 0; fits && input->has_shape && i < shape->rank; i++)
        fits = input->shape.dims[i] < 0 || shape->dims[i] == input->shape.dims[i];
    if (fits)
        return 0;
    string_init(&text);
    shape_to_text(shape, &text);
    string_add(&text, " is no shape of the input ");
    string_add_quoted(&text, input->name);
    string_add(&text, ", which has ");
    shape_to_text(&input->shape, &text);
    error_set(err, ERR_INVALID, "%s; -1 stands for any size", text.data);
    string_release(&text);
    return ERR_INVALID;
}

/* Sizes that nothing is said of are taken as 1, as for generated data. */
static void guess_shape(const struct making *making, const struct trtexec_tensor *input, struct tensorrt_shapes *ret)
{
    struct string_builder text;

    ret->optimum = input->shape;
    for (size_t i = 0; i < ret->optimum.rank; i++)
        if (ret->optimum.dims[i] < 0)
            ret->optimum.dims[i] = 1;
    string_init(&text);
    shape_to_text(&ret->optimum, &text);
    log_once(making->settings->log, LOG_WARNING,
             "The engine is built for the shape %s of input '%s', of which the model leaves sizes open: say which with "
             "--trt-min-shapes, --trt-opt-shapes and --trt-max-shapes",
             text.data, input->name);
    string_release(&text);
}

static int choose_shapes(const struct making *making, const struct tensorrt_profile *profile,
                         const struct trtexec_tensor *input, struct tensorrt_shapes *ret, struct error *err)
{
    const struct tensorrt_shapes *given = find_shapes(profile, input->name);
    const struct tensorrt_shapes *usual = find_usual(&making->settings->default_shapes, input->name);

    if (given != NULL) {
        *ret = *given;
    } else if (usual != NULL && shape_is_static(&usual->optimum)) {
        ret->minimum = ret->optimum = ret->maximum = usual->optimum;
    } else if (input->has_shape) {
        guess_shape(making, input, ret);
        ret->minimum = ret->maximum = ret->optimum;
    } else {
        return error_set(err, ERR_INVALID,
                         "the model does not say how many dimensions the input '%s' has: give its shape with "
                         "--trt-opt-shapes",
                         input->name);
    }
    ret->name = input->safe;
    if (check_shape(input, &ret->minimum, err) < 0 || check_shape(input, &ret->optimum, err) < 0)
        return err->code;
    return check_shape(input, &ret->maximum, err);
}

/* Names that are no inputs, and shapes that an input of a fixed shape cannot have. */
static int refuse_input(const struct trtexec_network *network, const char *name, struct error *err)
{
    struct close_names close;
    struct string_builder text;
    int rc;

    string_init(&text);
    close_names_start(&close, text_of(name));
    for (size_t i = 0; i < network->inputs.count; i++)
        close_names_offer(&close, text_of(network->inputs.items[i].name));
    close_names_add_to(&close, &text);
    rc = error_set(err, ERR_INVALID, "shapes are given for '%s', which is no input of the model%s", name,
                   text.size > 0 ? text.data : "");
    string_release(&text);
    return rc;
}

static int check_profile(const struct trtexec_network *network, const struct tensorrt_profile *profile,
                         struct error *err)
{
    for (size_t i = 0; i < profile->count; i++) {
        const struct tensorrt_shapes *shapes = &profile->items[i];
        const struct trtexec_tensor *input = NULL;

        for (size_t k = 0; k < network->inputs.count && input == NULL; k++)
            if (strcmp(network->inputs.items[k].name, shapes->name) == 0)
                input = &network->inputs.items[k];
        if (input == NULL)
            return refuse_input(network, shapes->name, err);
        if (check_shape(input, &shapes->minimum, err) < 0 || check_shape(input, &shapes->optimum, err) < 0 ||
            check_shape(input, &shapes->maximum, err) < 0)
            return err->code;
    }
    return 0;
}

static bool has_open_shape(const struct trtexec_tensor *input)
{
    return !input->has_shape || !shape_is_static(&input->shape);
}

static int make_profiles(const struct making *making, struct error *err)
{
    static const struct tensorrt_profile nothing;
    struct trtexec_network *network = making->ret;
    const struct tensorrt_settings *settings = making->settings;
    size_t count = settings->profiles.count > 0 ? settings->profiles.count : 1, open = 0;
    struct tensorrt_profile *profiles = arena_alloc_zero(making->arena, count, sizeof(*profiles));

    for (size_t i = 0; i < settings->profiles.count; i++)
        if (check_profile(network, &settings->profiles.items[i], err) < 0)
            return err->code;
    for (size_t i = 0; i < network->inputs.count; i++)
        open += has_open_shape(&network->inputs.items[i]);
    if (open == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        struct tensorrt_shapes *items = arena_alloc_zero(making->arena, open, sizeof(*items));

        for (size_t k = 0; k < network->inputs.count; k++)
            if (has_open_shape(&network->inputs.items[k]) &&
                choose_shapes(making, settings->profiles.count > 0 ? &settings->profiles.items[i] : &nothing,
                              &network->inputs.items[k], &items[profiles[i].count++], err) < 0)
                return err->code;
        profiles[i].items = items;
    }
    network->profiles = profiles;
    network->profile_count = count;
    return 0;
}

/* ---- All of it ---- */

static bool has_other_outputs(const struct tensorrt_settings *settings)
{
    return settings->outputs.mark_all || settings->outputs.names.count > 0 || settings->excluded_outputs.count > 0 ||
           settings->barriers.count > 0;
}

static int prepare_network(const struct making *making, struct model *model, struct error *err)
{
    struct trtexec_network *ret = making->ret;
    bool is_file = making->source->path != NULL && making->source->external_folder == NULL;
    struct value_list unsafe = {0};
    bool has_other_names;
    char *place;
    int rc;

    find_unsafe(making, model, &model->inputs, &unsafe);
    find_unsafe(making, model, &model->outputs, &unsafe);
    rc = describe_tensors(making, model, &model->inputs, "input", &ret->inputs, err);
    if (rc == 0)
        rc = describe_tensors(making, model, &model->outputs, "output", &ret->outputs, err);
    if (rc < 0)
        goto done;
    ret->is_quantized = has_scales(model);
    if (unsafe.count > 0 && check_makers(model, &unsafe, err) < 0) {
        rc = err->code;
        goto done;
    }
    if (unsafe.count > 0)
        rc = rename_values(model, &unsafe, err);
    if (rc < 0)
        goto done;
    if (unsafe.count > 0)
        log_message(making->settings->log, LOG_VERBOSE,
                    "%zu inputs and outputs get other names in the engine, since trtexec does not take theirs",
                    unsafe.count);
    take_safe_names(making, model, &model->inputs, &ret->inputs);
    take_safe_names(making, model, &model->outputs, &ret->outputs);
    rc = trtexec_layers_find(making->settings, model, making->arena, &ret->layers, &has_other_names, err);
    if (rc < 0)
        goto done;
    if (is_file && !has_other_names && unsafe.count == 0 && !has_other_outputs(making->settings)) {
        place = file_place(making->source->path);
        ret->path = arena_strdup(making->arena, place);
        free(place);
    } else {
        rc = write_copy(making, model, err);
    }
done:
    free(unsafe.items);
    return rc;
}

int trtexec_network_make(const struct tensorrt_settings *settings, const struct backend_model *source,
                         const char *folder, struct arena *arena, struct trtexec_network *ret, struct error *err)
{
    const struct making making = {settings, source, folder, arena, ret};
    struct model *model;
    int rc = model_io_open(source, &model, err);

    if (rc < 0)
        return rc;
    *ret = (struct trtexec_network){0};
    if (has_other_outputs(settings))
        rc = mark_outputs(&making, model, err);
    if (rc == 0)
        rc = prepare_network(&making, model, err);
    if (rc == 0)
        rc = make_profiles(&making, err);
    model_free(model);
    return rc;
}
