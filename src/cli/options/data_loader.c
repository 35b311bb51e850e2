/* cli/options/data_loader.c: the source of input data: files or a random generator. */
#include <string.h>

#include "base/memory.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "debug/check/check.h"

#define NO_SCRIPTS                                                                                                     \
    "Python scripts are not run; let the script write its data to a file, for instance with "                          \
    "safetensors.numpy.save_file({name: "                                                                              \
    "array}, 'in.safetensors'), and pass the file to --load-inputs"

static const char *const backends[] = {"numpy", "torch", NULL};
static const char *const generated_data[] = {"default", "representative", NULL};

/* Loaded data replace generated data. */
static void warn_about_ignored_generation(struct parse *parse)
{
    static const char *const generating[] = {"--seed",      "--int-min",   "--int-max",   "--float-min",
                                             "--float-max", "--val-range", "--iterations"};
    const char *loading = parse_given(parse, "--load-inputs");

    for (size_t i = 0; loading && i < ARRAY_LEN(generating); i++) {
        const char *name = parse_given(parse, generating[i]);

        if (name)
            log_message(parse_log(parse), LOG_WARNING, "Argument: %s will be ignored, since inputs were given with %s",
                        name, loading);
    }
}

/* Debug tools use representative data: others hide faults. A reduction has those of its check, which is `run`. */
static bool wants_representative_data(const struct parse *parse)
{
    return parse->depth > 2 &&
           ((strcmp(parse->path[1]->name, "debug") == 0 && strcmp(parse->path[2]->name, "reduce") != 0) ||
            (strcmp(parse->path[1]->name, "data") == 0 && strcmp(parse->path[2]->name, "generate") == 0));
}

static int finish_data_loader(struct parse *parse, void *given, struct error *err)
{
    struct data_loader_settings *values = given;

    if (strcmp(parse_last_word(parse, "--data-loader-backend-module"), "torch") == 0)
        return error_set(err, ERR_UNSUPPORTED,
                         "--data-loader-backend-module: torch needs Python; leave out the option, or pass data with "
                         "--load-inputs; see " FROM_POLYGRAPHY("python-scripts"));
    if (values->seed < 0 || values->seed > UINT32_MAX)
        return error_set(err, ERR_INVALID, "--seed: %lld is not in 0 .. 4294967295", (long long)values->seed);
    if (parse_given(parse, "--generated-data") == NULL && wants_representative_data(parse))
        values->generated = GENERATED_REPRESENTATIVE;
    if (values->iterations < 0)
        return error_set(err, ERR_INVALID, "--iterations: %lld is less than 0", (long long)values->iterations);
    values->has_integer_range = parse_given(parse, "--int-min") || parse_given(parse, "--int-max");
    values->has_float_range = parse_given(parse, "--float-min") || parse_given(parse, "--float-max");
    if (values->has_integer_range && values->integer_minimum > values->integer_maximum)
        return error_set(err, ERR_INVALID, "--int-min: %lld is greater than --int-max, %lld",
                         (long long)values->integer_minimum, (long long)values->integer_maximum);
    if (values->has_float_range && !(values->float_minimum <= values->float_maximum))
        return error_set(err, ERR_INVALID, "--float-min: %g is greater than --float-max, %g", values->float_minimum,
                         values->float_maximum);
    warn_about_ignored_generation(parse);
    return 0;
}

#define ROW(member, ...) OPTION_ROW(struct data_loader_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(seed, .names = {"--seed"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N", .fallback = "1",
        .help = "seed of the random input data; iteration i, counted from 0, uses N + i"),
    ROW(ranges, .names = {"--val-range"}, .kind = OPTION_MANY, .value_name = "[NAME:][MIN,MAX]",
        .convert = convert_ranges, .naming = OPTION_INPUT_NAMES,
        .help = "range of the random values, for all inputs or the named one (default: [0,1])"),
    ROW(integer_minimum, .names = {"--int-min"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "1",
        .help = "minimum of integer inputs; prefer --val-range. Applies if this or --int-max is given"),
    ROW(integer_maximum, .names = {"--int-max"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "25", .help = "maximum of integer inputs; see --int-min"),
    ROW(float_minimum, .names = {"--float-min"}, .kind = OPTION_ONE, .type = OPTION_FLOAT, .value_name = "X",
        .fallback = "-1",
        .help = "minimum of floating-point inputs; prefer --val-range. Applies if this or --float-max is given"),
    ROW(float_maximum, .names = {"--float-max"}, .kind = OPTION_ONE, .type = OPTION_FLOAT, .value_name = "X",
        .fallback = "1", .help = "maximum of floating-point inputs; see --float-min"),
    ROW(iterations, .names = {"--iterations", "--iters"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N",
        .fallback = "1", .help = "number of input data sets to generate"),
    ROW(generated, .names = {"--generated-data"}, .yields = true, .kind = OPTION_ONE, .type = OPTION_CHOICE,
        .choices = generated_data, .value_name = "WHICH", .fallback = "default",
        .help =
            "what is generated without --load-inputs. default: Polygraphy's data (1 for sizes that the model leaves "
            "open, integers of 0 and 1) as long as the model is not known to refuse them, otherwise representative "
            "data. representative: sizes and values derived from the model: a sequence of 16 with 5 entries in the "
            "cache, indices within bounds, masks, positions. Debug tools other than reduce, and `data generate`, use "
            "the latter"),
    OPTION_WITHOUT_FIELD(.names = {"--data-loader-backend-module"}, .kind = OPTION_ONE, .type = OPTION_CHOICE,
                         .choices = backends, .fallback = "numpy",
                         .help = "the random number generator; only numpy's is available"),
    ROW(files, .names = {"--load-inputs", "--load-input-data"}, .kind = OPTION_MANY, .exclusive = 1,
        .value_name = "DATA", .file = OPTION_READS_DATA,
        .help = "read the input data from these files, in this order: files that `run --save-inputs` or `data "
                "to-input` has written, .npy, .npz, .safetensors, JSON with lists of numbers like '{\"x\": [[1, 2]]}', "
                "ONNX's .pb, or a folder of .npy files or of test_data_set_0 and so on. NAME:FILE names the input of a "
                "single array, as in x:image.npy y:scale.npy; a model with one input needs no name. Raw data need a "
                "type and a shape, NAME:FILE:TYPE:SHAPE, as in x:in.bin:float32:1x3x224x224"),
    OPTION_WITHOUT_FIELD(.names = {"--data-loader-script"}, .kind = OPTION_ONE, .exclusive = 1, .refusal = NO_SCRIPTS,
                         .topic = "python-scripts"),
    OPTION_WITHOUT_FIELD(.names = {"--data-loader-func-name"}, .kind = OPTION_ONE, .refusal = NO_SCRIPTS,
                         .topic = "python-scripts"),
};

const struct option_group data_loader_options = {
    .title = "Input data",
    OPTION_ROWS(options),
    .finish = finish_data_loader,
};

/* ---- The loader ---- */

/* A model that cannot be read is reported by the code that loads it. */
static void derive_from_file(const struct model_file_settings *file, struct data_loader *loader)
{
    struct error ignored;
    struct model *model;

    if (file->model.path == NULL || file->model.type != MODEL_ONNX || !data_loader_generates(loader) ||
        model_open(file->model.path, file->load.external_data_dir, &model, &ignored) < 0)
        return;
    data_loader_derive(loader, model);
    model_free(model);
}

static int make_data_loader(const struct command_context *context, const struct model_file_settings *file,
                            const struct model *loaded, bool from_files, struct data_loader **ret, struct error *err)
{
    const struct model_values *model = &file->model;
    struct data_loader_settings settings = file->data;
    struct arena *arena = (struct arena *)&context->parse->arena;
    struct data_loader_shape *shapes = arena_alloc_zero(arena, model->shapes.count + 1, sizeof(*shapes));
    int rc;

    if (!from_files)
        settings.files.count = 0;
    settings.by_name = check_is_around_us();
    if (settings.by_name)
        settings.advice = "provide the data of all inputs; for subgraphs, --iter-inputs of `debug reduce --mode "
                          "minimal` writes such a file, for --load-inputs here";
    for (size_t i = 0; i < model->shapes.count; i++)
        shapes[i] = (struct data_loader_shape){model->shapes.items[i].name, model->shapes.items[i].shape};
    settings.shapes = shapes;
    settings.shape_count = model->shapes.count;
    rc = data_loader_new(&settings, context->log, ret, err);
    if (rc == 0 && loaded != NULL)
        data_loader_derive(*ret, loaded);
    else if (rc == 0)
        derive_from_file(file, *ret);
    return rc;
}

int data_loader_from_options(const struct command_context *context, const struct model_file_settings *file,
                             const struct model *model, struct data_loader **ret, struct error *err)
{
    return make_data_loader(context, file, model, true, ret, err);
}

int data_loader_to_generate(const struct command_context *context, const struct model_file_settings *file,
                            struct data_loader **ret, struct error *err)
{
    return make_data_loader(context, file, NULL, false, ret, err);
}

void data_loader_add_words(const struct parse *parse, struct word_list *words)
{
    parse_add_given_of_group(parse, &data_loader_options, NULL, words);
    if (parse_given(parse, "--load-inputs") != NULL || parse_given(parse, "--generated-data") != NULL ||
        !wants_representative_data(parse))
        return;
    *VECTOR_APPEND(words) = "--generated-data";
    *VECTOR_APPEND(words) = generated_data[GENERATED_REPRESENTATIVE];
}
