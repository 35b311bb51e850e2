/* cli/run/step_data.c: what a decoder needs before its steps run: roles of the inputs, empty caches, the outputs of an
 * encoder. See steps.h.
 */
#include <string.h>

#include "base/memory.h"
#include "cli/run/encoder.h"
#include "cli/run/steps.h"

static const char *mark_name(bool by_name)
{
    return by_name ? ", by name" : "";
}

/* By which rules caches are paired: ", by name". */
static void add_cache_rules(const struct decoder *decoder, struct string_builder *text)
{
    for (enum cache_rule rule = CACHE_GIVEN; rule <= CACHE_BY_GRAPH; rule++) {
        bool is_used = false;

        ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
            is_used |= input->rule == rule;
        if (is_used)
            string_add_format(text, ", %s", cache_rule_name(rule));
    }
}

static void warn_of_other_sources(struct log *log, const struct decoder *decoder)
{
    ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
        if (input->other_source != NULL)
            log_message(log, LOG_WARNING,
                        "Output '%s' is the cache '%s' by name, but the graph computes it from '%s'. Pass the pairs to "
                        "--cache if the names are wrong",
                        input->present, input->name, input->other_source);
}

static void log_decoder(struct log *log, const struct decoder *decoder, int64_t count)
{
    SCOPED_STRING(caches);
    SCOPED_STRING(others);
    SCOPED_STRING(rules);
    size_t pairs = 0;

    for (size_t i = 0; i < decoder->count; i++) {
        const struct decoder_input *input = &decoder->inputs[i];

        if (input->role != DECODER_CACHE) {
            string_add_format(&others, " | %s%s: '%s'", decoder_role_name(input->role), mark_name(input->by_name),
                              input->name);
            continue;
        }
        if (pairs++ < 2)
            string_add_format(&caches, "%s'%s' gets '%s'", pairs > 1 ? ", " : "", input->name, input->present);
    }
    add_cache_rules(decoder, &rules);
    log_message(log, LOG_INFO, "Decoder: a prefill and %lld step(s)%s | logits%s: '%s' | %zu cache(s)%s: %s%s",
                (long long)count, others.data, mark_name(decoder->logits_by_name), decoder->logits, pairs, rules.data,
                caches.data, pairs > 2 ? ", ..." : "");
    warn_of_other_sources(log, decoder);
}

/* Shapes with no entries for caches of which the user has given none. They have priority over patterns of the user. */
static void add_empty_caches(const struct command_context *context, const struct decoder *decoder,
                             const struct model *model, struct input_shapes *shapes)
{
    struct arena *arena = parse_arena((struct parse *)context->parse);
    struct input_shape *items = arena_alloc_zero(arena, shapes->count + decoder->count + 1, sizeof(*items));
    size_t given = shapes->count, count = given;

    if (given > 0)
        memcpy(items, shapes->items, given * sizeof(*items));
    for (size_t i = 0; i < decoder->count; i++) {
        const struct decoder_input *input = &decoder->inputs[i];
        struct value_type type;
        bool is_given = false;

        for (size_t k = 0; k < given; k++)
            is_given |= text_matches_pattern(text_of(input->name), text_of(items[k].name));
        if (is_given || input->role != DECODER_CACHE || input->axis == SIZE_MAX)
            continue;
        value_info_decode(model->values.items[model->inputs.items[i]].info, &type);
        items[count].name = arena_strdup(arena, input->name);
        items[count].shape = type.shape;
        items[count].shape.dims[input->axis] = 0;
        count++;
    }
    shapes->items = items;
    shapes->count = count;
}

/* Other inputs of the same sizes, such as masks, follow. */
static void add_shapes_of(const struct command_context *context, const struct tensor_list *tensors,
                          struct input_shapes *shapes)
{
    struct arena *arena = parse_arena((struct parse *)context->parse);
    struct input_shape *items = arena_alloc_zero(arena, shapes->count + tensors->count + 1, sizeof(*items));

    if (shapes->count > 0)
        memcpy(items, shapes->items, shapes->count * sizeof(*items));
    for (size_t i = 0; i < tensors->count; i++)
        items[shapes->count + i] = (struct input_shape){.name = arena_strdup(arena, tensors->items[i].name),
                                                        .shape = tensors->items[i].tensor.shape};
    shapes->items = items;
    shapes->count += tensors->count;
}

int run_steps_prepare(const struct command_context *context, const struct run_settings *settings,
                      struct model_file_settings *file, struct step_outcome *ret, struct error *err)
{
    const struct step_values *values = &settings->steps;
    struct model *model;
    int rc = model_open(file->model.path, file->load.external_data_dir, &model, err);

    if (rc < 0)
        return rc;
    rc = decoder_find(model, &values->words, &ret->decoder, err);
    if (rc == 0) {
        log_decoder(context->log, &ret->decoder, values->count);
        rc = encoder_run(context, settings, model, &ret->decoder, &ret->encoded, err);
    }
    if (rc == 0) {
        add_empty_caches(context, &ret->decoder, model, &file->model.shapes);
        add_shapes_of(context, &ret->encoded, &file->model.shapes);
        file->data.generated = GENERATED_REPRESENTATIVE;
        file->data.whole_masks = true; /* zeros at the end would be in front of the next token */
    }
    model_free(model);
    return rc;
}
