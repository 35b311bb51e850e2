/* cli/run/encoder.c: see encoder.h. */
#include "cli/run/encoder.h"

#include <string.h>

#include "base/memory.h"
#include "cli/model_file.h"
#include "comparator/reference/values.h"
#include "onnx/model/subgraph.h"

#define PREFIX "encoder_"

struct encoder {
    const struct model *model, *decoder_model;
    const struct decoder *decoder;
    uint32_t *sources; /* of each input of the decoder: a value of the encoder; VALUE_NONE: none */
};

/* ---- Which value of the encoder an input of the decoder gets ---- */

static bool is_free(const struct encoder *encoder, size_t input)
{
    return encoder->decoder->inputs[input].role == DECODER_CONSTANT && encoder->sources[input] == VALUE_NONE;
}

static void decode_type(const struct model *model, uint32_t value, struct value_type *ret)
{
    value_info_decode(model->values.items[value].info, ret);
}

/* Whether an output of the encoder has the type of an input of the decoder, and its sizes where both are fixed. */
static bool types_match(const struct encoder *encoder, uint32_t output, size_t input)
{
    struct value_type from, to;

    decode_type(encoder->model, output, &from);
    decode_type(encoder->decoder_model, encoder->decoder_model->inputs.items[input], &to);
    if (from.not_a_tensor != NULL || to.not_a_tensor != NULL || from.element != to.element || !from.has_shape ||
        !to.has_shape || from.shape.rank != to.shape.rank)
        return false;
    for (size_t k = 0; k < from.shape.rank; k++)
        if (from.shape.dims[k] >= 0 && to.shape.dims[k] >= 0 && from.shape.dims[k] != to.shape.dims[k])
            return false;
    return true;
}

/* "OUTPUT:INPUT"; names may contain colons. */
static int read_given_pair(struct encoder *encoder, const char *word, struct error *err)
{
    const struct model *decoder = encoder->decoder_model;

    for (const char *colon = strchr(word, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        uint32_t output = model_find_value(encoder->model, (struct text){word, (size_t)(colon - word)});
        size_t input = value_list_place(&decoder->inputs, model_find_value(decoder, text_of(colon + 1)));

        if (input == SIZE_MAX || !value_list_has(&encoder->model->outputs, output))
            continue;
        encoder->sources[input] = output;
        return 0;
    }
    return error_set(err, ERR_INVALID,
                     "--encoder-outputs: '%s' is not OUTPUT:INPUT with an output of the encoder and an input of the "
                     "decoder",
                     word);
}

/* Outputs with the name of an input, and inputs with "encoder_" before their names. */
static void pair_names(struct encoder *encoder)
{
    const struct model *model = encoder->model;

    for (size_t i = 0; i < encoder->decoder->count; i++) {
        struct text name = text_of(encoder->decoder->inputs[i].name);
        uint32_t same = model_find_value(model, name), input = VALUE_NONE;

        if (text_begins_with(name, PREFIX))
            input = model_find_value(model, text_of(encoder->decoder->inputs[i].name + strlen(PREFIX)));
        if (is_free(encoder, i) && value_list_has(&model->outputs, same))
            encoder->sources[i] = same;
        else if (is_free(encoder, i) && value_list_has(&model->inputs, input))
            encoder->sources[i] = input;
    }
}

/* An output that fits one free input only, and no other output does. */
static void pair_types(struct encoder *encoder)
{
    const struct value_list *outputs = &encoder->model->outputs;

    for (size_t i = 0; i < encoder->decoder->count; i++) {
        size_t fitting = 0, rivals = 0, found = 0;

        for (size_t k = 0; k < outputs->count && is_free(encoder, i); k++)
            if (types_match(encoder, outputs->items[k], i)) {
                fitting++;
                found = k;
            }
        for (size_t k = 0; k < encoder->decoder->count && fitting == 1; k++)
            rivals += k != i && is_free(encoder, k) && types_match(encoder, outputs->items[found], k);
        if (fitting == 1 && rivals == 0)
            encoder->sources[i] = outputs->items[found];
    }
}

static int pair_outputs(struct encoder *encoder, const struct words *given, struct error *err)
{
    bool has_any = false;

    for (size_t i = 0; i < given->count; i++)
        if (read_given_pair(encoder, given->items[i], err) < 0)
            return err->code;
    pair_names(encoder);
    pair_types(encoder);
    for (size_t i = 0; i < encoder->decoder->count; i++)
        has_any |= value_list_has(&encoder->model->outputs, encoder->sources[i]);
    if (!has_any)
        return error_set(err, ERR_UNSUPPORTED,
                         "no output of the encoder is known to be an input of the decoder: pass the pairs, as in "
                         "--encoder-outputs last_hidden_state:encoder_hidden_states");
    return 0;
}

/* ---- The run ---- */

static int copy_values(const struct encoder *encoder, struct reference_values *values, struct log *log,
                       struct tensor_list *ret, struct error *err)
{
    struct value_list wanted SCOPED_ITEMS = {0};
    int rc;

    for (size_t i = 0; i < encoder->decoder->count; i++)
        if (encoder->sources[i] != VALUE_NONE)
            value_list_add(&wanted, encoder->sources[i]);
    rc = reference_values_record(values, &wanted, err);
    for (size_t i = 0; i < encoder->decoder->count && rc == 0; i++) {
        const char *name = encoder->decoder->inputs[i].name;
        struct tensor copy;

        if (encoder->sources[i] == VALUE_NONE)
            continue;
        rc = tensor_copy(reference_values_get(values, encoder->sources[i]), &copy, err);
        if (rc < 0)
            break;
        log_message(log, LOG_INFO, "Encoder: input '%s' of the decoder gets '" TEXT_FORMAT "'", name,
                    TEXT_ARGS(encoder->model->values.items[encoder->sources[i]].name));
        tensor_list_add(ret, text_of(name), &copy);
    }
    return rc;
}

static int run_once(const struct command_context *context, const struct model_file_settings *file,
                    const struct encoder *encoder, struct tensor_list *ret, struct error *err)
{
    struct backend_request request = model_file_request_for(context, file, encoder->model);
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct reference_values *values;
    struct data_loader *loader;
    int rc = data_loader_from_options(context, file, encoder->model, &loader, err);

    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, encoder->model);
    reference_values_new(&whole, model_file_runtime(file), &request, loader, context->log, &values);
    rc = copy_values(encoder, values, context->log, ret, err);
    reference_values_free(values);
    data_loader_free(loader);
    return rc;
}

int encoder_run(const struct command_context *context, const struct run_settings *settings,
                const struct model *decoder_model, const struct decoder *decoder, struct tensor_list *ret,
                struct error *err)
{
    const struct step_values *values = &settings->steps;
    struct model_file_settings file = settings->file;
    struct encoder encoder = {.decoder_model = decoder_model, .decoder = decoder};
    uint32_t *sources SCOPED_FREE = memory_alloc_zero(decoder->count + 1, sizeof(*sources));
    struct model *model;
    int rc;

    if (values->encoder == NULL)
        return 0;
    rc = model_open(values->encoder, NULL, &model, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < decoder->count; i++)
        sources[i] = VALUE_NONE;
    encoder.model = model;
    encoder.sources = sources;
    file.model = (struct model_values){.path = values->encoder, .type = MODEL_ONNX};
    file.data.files = values->encoder_inputs;
    file.data.iterations = 1;
    file.data.generated = GENERATED_REPRESENTATIVE;
    file.data.whole_masks = true;
    rc = pair_outputs(&encoder, &values->encoder_outputs, err);
    if (rc == 0)
        rc = run_once(context, &file, &encoder, ret, err);
    model_free(model);
    return rc < 0 ? error_context(err, "encoder '%s'", values->encoder) : 0;
}
