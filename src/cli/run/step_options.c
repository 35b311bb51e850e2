/* cli/run/step_options.c: options of `run --steps`, see settings.h and steps.h. */
#include "cli/run/steps.h"

#include "base/memory.h"

#define ROW(member, ...) OPTION_ROW(struct step_values, member, __VA_ARGS__)

static int finish_steps(struct parse *parse, void *given, struct error *err)
{
    const struct step_values *values = given;
    static const char *const others[] = {"--cache", "--step-roles", "--save-step-inputs", "--encoder"};
    static const char *const of_encoder[] = {"--encoder-inputs", "--encoder-outputs"};

    if (values->count < 0 || (values->count == 0 && parse_given(parse, "--steps") != NULL))
        return error_set(err, ERR_INVALID, "--steps: %lld is less than 1", (long long)values->count);
    for (size_t i = 0; i < ARRAY_LEN(others) && values->count == 0; i++)
        if (parse_given(parse, others[i]) != NULL)
            return error_set(err, ERR_INVALID, "%s has no effect without --steps N", others[i]);
    for (size_t i = 0; i < ARRAY_LEN(of_encoder) && values->encoder == NULL; i++)
        if (parse_given(parse, of_encoder[i]) != NULL)
            return error_set(err, ERR_INVALID, "%s has no effect without --encoder", of_encoder[i]);
    return 0;
}

static const struct option options[] = {
    ROW(count, .names = {"--steps"}, .yields = true, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "0",
        .help = "run a decoder with a cache as it is used: a prefill, then N steps of one token, each with the caches "
                "of the step before. All runners get the tokens that the first runner prefers, or those of "
                "--load-inputs with data of all steps. Iteration 0 is the prefill; names the first step that fails, "
                "and the step in which the difference enters, which --first-divergence then looks into"),
    ROW(words.caches, .names = {"--cache"}, .yields = true, .kind = OPTION_MANY, .value_name = "PAST:PRESENT",
        .help = "with --steps: inputs that are caches, and the outputs that they get in the next step (default: by "
                "name, past* and present*, else by the graph: outputs that append to an input)"),
    ROW(words.roles, .names = {"--step-roles"}, .yields = true, .kind = OPTION_MANY, .value_name = "NAME:ROLE",
        .naming = OPTION_INPUT_NAMES,
        .hints = (const char *const[]){"tokens", "mask", "positions", "past-length", "total-length", "constant",
                                       "logits", NULL},
        .help = "with --steps: what becomes of an input in the next step, for inputs where this is not derived: "
                "tokens, mask (a one is appended), positions, past-length, total-length or constant; and the output "
                "that has the logits"),
    ROW(encoder, .names = {"--encoder"}, .yields = true, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_READS_MODEL, .extensions = "onnx",
        .help =
            "with --steps: the encoder in another file. It runs once, with ONNX Runtime, and its outputs are inputs "
            "of the decoder in all steps, of all runners"),
    ROW(encoder_inputs, .names = {"--encoder-inputs"}, .yields = true, .kind = OPTION_MANY, .value_name = "PATH",
        .file = OPTION_READS_DATA,
        .help = "with --encoder: its input data, in the formats of --load-inputs (default: generated)"),
    ROW(encoder_outputs, .names = {"--encoder-outputs"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "OUTPUT:INPUT",
        .help = "with --encoder: its outputs, and the inputs of the decoder that get them (default: by name, else by "
                "type and shape)"),
    ROW(save_inputs, .names = {"--save-step-inputs"}, .yields = true, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES_DATA,
        .help = "with --steps: write the inputs of the step in which the difference enters, with the caches of the "
                "reference, for --load-inputs of other tools. Not written if no step fails"),
};

const struct option_group step_options = {
    .title = "Steps of a decoder",
    OPTION_ROWS(options),
    .finish = finish_steps,
};

int run_steps_check(const struct command_context *context, const struct run_settings *settings, struct error *err)
{
    static const char *const excluded[] = {"--iterations", "--warm-up", "--use-subprocess", "--sequential-runners"};

    if (settings->steps.count == 0)
        return 0;
    if (settings->file.model.path == NULL || settings->file.model.type != MODEL_ONNX ||
        settings->runners.names.count == 0)
        return error_set(err, ERR_INVALID, "--steps needs an ONNX model and a runner, such as --onnxrt");
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
        if (parse_given(context->parse, excluded[i]) != NULL)
            return error_set(err, ERR_INVALID, "%s is not supported with --steps: leave it out", excluded[i]);
    return 0;
}
