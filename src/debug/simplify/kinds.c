/* debug/simplify/kinds.c: weights, attributes, shapes: see kind.h. */
#include "debug/simplify/kind.h"

#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "onnx/model/text.h"

static void set_alternatives(struct simplify_parts *parts, size_t count, unsigned each)
{
    parts->count = count;
    parts->alternatives = memory_alloc_zero(count + 1, 1);
    memset(parts->alternatives, (int)each, count);
}

static size_t count_choice(const struct simplify_parts *parts, const uint8_t *choices, unsigned choice)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++)
        count += choices[i] == choice;
    return count;
}

/* ---- Weights ---- */

static int survey_weights(struct model *model, struct simplify_parts *ret, struct error *err)
{
    int rc = weights_list(model, &ret->weights, err);

    set_alternatives(ret, ret->weights.count, STAND_IN_NOISE);
    return rc;
}

static int apply_weights(const struct simplify_parts *parts, struct model *model, const uint8_t *choices,
                         struct error *err)
{
    const struct weight_list *list = &parts->weights;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = weight_replace(model, &list->items[i], (enum stand_in)choices[i], err);
    return rc;
}

static const char *name_of_stand_in(unsigned choice)
{
    return choice == STAND_IN_ZEROS ? "zeros" : choice == STAND_IN_ONES ? "ones" : "noise";
}

static void name_weight(const struct simplify_parts *parts, const struct model *model, size_t index,
                        struct string_builder *out)
{
    string_add_text(out, model->values.items[parts->weights.items[index].value].name);
}

static void add_size(struct string_builder *out, size_t bytes)
{
    char number[NUMBER_TEXT_SIZE];

    if (bytes < 100000)
        string_add_format(out, "%zu bytes", bytes);
    else
        string_add_format(out, "%s MB", number_to_text_rounded((double)bytes / 1e6, 'f', 1, number));
}

static void report_weights(const struct simplify_parts *parts, const struct model *model, const uint8_t *choices,
                           struct string_builder *out)
{
    const struct weight_list *list = &parts->weights;
    size_t replaced = parts->count - count_choice(parts, choices, STAND_IN_NONE);
    const char *separator = "";
    size_t bytes = 0;

    (void)model;
    string_add_format(out, "Replaced %zu of %zu weight(s): ", replaced, parts->count);
    for (unsigned choice = STAND_IN_ZEROS; choice <= STAND_IN_NOISE; choice++) {
        size_t count = count_choice(parts, choices, choice);

        if (count > 0)
            string_add_format(out, "%s%zu by %s", separator, count, name_of_stand_in(choice));
        separator = count > 0 ? ", " : separator;
    }
    for (size_t i = 0; i < list->count; i++)
        bytes += choices[i] != STAND_IN_NONE ? list->items[i].bytes : 0;
    string_add(out, ", ");
    add_size(out, bytes);
    string_add(out, " less to share");
}

static void warn_of_weights(const struct model *model, struct string_builder *out)
{
    size_t inside = weights_count_inside(model);

    if (inside > 0)
        string_add_format(out,
                          "%zu tensor(s) in subgraphs, functions and attributes were not replaced: inspect them before "
                          "you share the model",
                          inside);
}

const struct simplify_kind simplify_weights = {
    .suffix = "weights",
    .title = "Replacing weights",
    .parts = "weight(s)",
    .survey = survey_weights,
    .apply = apply_weights,
    .choice_name = name_of_stand_in,
    .name = name_weight,
    .report = report_weights,
    .warn = warn_of_weights,
};

/* ---- Attributes ---- */

static int survey_attributes(struct model *model, struct simplify_parts *ret, struct error *err)
{
    (void)err;
    attributes_list_optional(model, &ret->attributes);
    set_alternatives(ret, ret->attributes.count, 1);
    return 0;
}

static int apply_attributes(const struct simplify_parts *parts, struct model *model, const uint8_t *choices,
                            struct error *err)
{
    (void)err;
    attributes_drop(model, &parts->attributes, choices);
    return 0;
}

static const char *name_of_default(unsigned choice)
{
    (void)choice;
    return "the default";
}

static void name_attribute(const struct simplify_parts *parts, const struct model *model, size_t index,
                           struct string_builder *out)
{
    const struct optional_attribute *attribute = &parts->attributes.items[index];
    const struct node *node = &model->nodes.items[attribute->node];

    string_add_text(out, node->name.size > 0 ? node->name : node->op_type);
    string_add_format(out, ".%.*s", TEXT_ARGS(attribute->name));
}

static void report_attributes(const struct simplify_parts *parts, const struct model *model, const uint8_t *choices,
                              struct string_builder *out)
{
    (void)model;
    string_add_format(out, "Dropped %zu of %zu attribute(s)", count_choice(parts, choices, 1), parts->count);
}

const struct simplify_kind simplify_attributes = {
    .suffix = "attributes",
    .title = "Dropping attributes",
    .parts = "attribute(s)",
    .changes_types = true,
    .survey = survey_attributes,
    .apply = apply_attributes,
    .choice_name = name_of_default,
    .name = name_attribute,
    .report = report_attributes,
};

/* ---- Shapes ---- */

static int survey_shapes(struct model *model, struct simplify_parts *ret, struct error *err)
{
    const struct input_size_list *list = &ret->sizes;

    (void)err;
    input_sizes_list(model, &ret->sizes);
    set_alternatives(ret, list->count, 1);
    for (size_t i = 0; i < list->count; i++)
        ret->alternatives[i] = (uint8_t)input_size_choices(list->items[i].size);
    return 0;
}

static int apply_shapes(const struct simplify_parts *parts, struct model *model, const uint8_t *choices,
                        struct error *err)
{
    (void)err;
    inputs_shrink(model, &parts->sizes, choices);
    return 0;
}

static struct hash identify_shapes(const struct model *changed)
{
    struct hash hash = {0, 0};

    for (size_t i = 0; i < changed->inputs.count; i++) {
        struct span info = changed->values.items[changed->inputs.items[i]].info;

        hash = hash_combine(hash, hash_bytes(info.data, info.size));
    }
    return hash;
}

static const char *name_of_size(unsigned choice)
{
    return choice == 1 ? "1" : "a smaller size";
}

static void name_size(const struct simplify_parts *parts, const struct model *model, size_t index,
                      struct string_builder *out)
{
    const struct input_size *size = &parts->sizes.items[index];

    if (size->all)
        string_add_format(out, "size %lld", (long long)size->size);
    else
        string_add_format(out, TEXT_FORMAT " axis %u",
                          TEXT_ARGS(model->values.items[model->inputs.items[size->input]].name), size->axis);
}

static void report_shapes(const struct simplify_parts *parts, const struct model *model, const uint8_t *choices,
                          struct string_builder *out)
{
    (void)parts, (void)choices;
    string_add(out, "Made inputs smaller: ");
    for (size_t i = 0; i < model->inputs.count; i++) {
        const struct value *value = &model->values.items[model->inputs.items[i]];
        struct value_type type;

        value_info_decode(value->info, &type);
        string_add(out, i > 0 ? ", " : "");
        tensor_line(out, value->name, &type);
    }
}

const struct simplify_kind simplify_shapes = {
    .suffix = "shapes",
    .title = "Making inputs smaller",
    .parts = "size(s)",
    .changes_types = true,
    .changes_inputs = true,
    .survey = survey_shapes,
    .apply = apply_shapes,
    .identify = identify_shapes,
    .choice_name = name_of_size,
    .name = name_size,
    .report = report_shapes,
};
