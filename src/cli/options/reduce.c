/* cli/options/reduce.c: options of `debug reduce`. */
#include "cli/options/reduce.h"

#include <string.h>

#include "engine/backend.h"

static const char *const modes[] = {"bisect", "linear", "minimal", NULL};
static const char *const golden_runners[] = {"onnxrt", "trt", NULL};

static const char *const simplifications[] = {"weights", "attributes", "shapes", "bodies", NULL};
static const enum simplification simplification_of[] = {SIMPLIFY_WEIGHTS, SIMPLIFY_ATTRIBUTES, SIMPLIFY_SHAPES,
                                                        SIMPLIFY_BODIES};

/* Marks the named kinds; without names none, see choose_simplifications(). */
static int convert_simplifications(struct parse *parse, const char *spelling, struct words words, void *field,
                                   struct error *err)
{
    bool *simplify = field;

    (void)parse, (void)spelling, (void)err;
    for (size_t i = 0; i < words.count; i++)
        for (size_t k = 0; simplifications[k] != NULL; k++)
            simplify[simplification_of[k]] |= strcmp(words.items[i], simplifications[k]) == 0;
    return 0;
}

/* Validates --simplify; without names, marks all kinds that the other options allow. */
static int choose_simplifications(struct reduce_settings *settings, struct parse *parse, struct error *err)
{
    bool *simplify = settings->simplify.kinds;
    bool fixed_inputs = parse_given(parse, "--load-inputs") || parse_given(parse, "--iter-inputs");

    if (!parse_given(parse, "--simplify"))
        return 0;
    if (!parse_given(parse, "--output"))
        return error_set(err, ERR_INVALID, "--simplify changes the model that --output saves: add -o reduced.onnx");
    if (parse_given(parse, "--iter-golden"))
        return error_set(err, ERR_INVALID,
                         "--simplify changes the model's outputs, so they would not match the values of --iter-golden: "
                         "reduce first, then simplify the result with a check that compares backends");
    if (parse_given(parse, "--save-external-data"))
        return error_set(err, ERR_INVALID,
                         "--simplify cannot write external data: export them from the result with `polygraphy convert "
                         "--save-external-data`");
    if (!simplify[SIMPLIFY_BODIES] && !simplify[SIMPLIFY_WEIGHTS] && !simplify[SIMPLIFY_ATTRIBUTES] &&
        !simplify[SIMPLIFY_SHAPES])
        for (size_t i = 0; i < SIMPLIFY_KINDS; i++)
            simplify[i] = i != SIMPLIFY_SHAPES || !fixed_inputs;
    if (simplify[SIMPLIFY_SHAPES] && fixed_inputs)
        return error_set(err, ERR_INVALID,
                         "--simplify shapes reduces the inputs, so the data of --load-inputs or --iter-inputs would "
                         "not fit: leave out shapes");
    return 0;
}

static int convert_golden(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    (void)parse, (void)spelling, (void)err;
    *(const struct backend **)field = strcmp(words.items[0], "trt") == 0 ? &engine_backend : NULL;
    return 0;
}

/* With --steps each check needs the values of one step, which only --iter-inputs writes for each candidate. */
static int check_steps(struct parse *parse, const struct debug_reduce_settings *values, struct error *err)
{
    static const char *const excluded[] = {"--model-input-shapes", "--simplify", "--no-verify"};

    if (parse_given(parse, "--steps") == NULL)
        return 0;
    if (values->reduce.mode != REDUCE_MINIMAL || parse_given(parse, "--iter-inputs") == NULL)
        return error_set(err, ERR_INVALID,
                         "--steps needs --mode minimal and --iter-inputs in.json, with --load-inputs in.json in the "
                         "check: each candidate gets the values of one step");
    for (size_t i = 0; i < ARRAY_LEN(excluded); i++)
        if (parse_given(parse, excluded[i]) != NULL)
            return error_set(err, ERR_INVALID, "%s is not supported with --steps: leave it out", excluded[i]);
    return 0;
}

static int finish_reduce(struct parse *parse, void *given, struct error *err)
{
    struct debug_reduce_settings *values = given;
    struct reduce_settings *settings = &values->reduce;
    const struct session_settings *session = &values->debug.session;
    bool is_minimal = settings->mode == REDUCE_MINIMAL;
    int rc = jobs_check(parse, session, false, err);

    if (rc < 0)
        return rc;
    if (!settings->min_good && !parse_given(parse, "--output"))
        return error_set(
            err, ERR_INVALID,
            "the result would not be saved: neither --output nor --min-good was given; add -o reduced.onnx");
    if (session->max_checks < 0 || !(session->deadline >= 0))
        return error_set(err, ERR_INVALID, "--max-checks and --deadline must be at least 0");
    if (!is_minimal && (parse_given(parse, "--iter-inputs") || parse_given(parse, "--iter-golden")))
        return error_set(err, ERR_INVALID, "--iter-inputs and --iter-golden need --mode minimal");
    if (is_minimal && (!settings->reduce_inputs || !settings->reduce_outputs))
        return error_set(err, ERR_INVALID,
                         "--mode minimal removes nodes anywhere: --no-reduce-inputs and --no-reduce-outputs are for "
                         "the other modes");
    if (!is_minimal && settings->all)
        return error_set(err, ERR_INVALID, "--all needs --mode minimal");
    rc = check_steps(parse, values, err);
    return rc == 0 ? choose_simplifications(settings, parse, err) : rc;
}

#define ROW(member, ...) OPTION_ROW(struct debug_reduce_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(reduce.min_good, .names = {"--min-good", "--minimal-good"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES, .extensions = "onnx",
        .help = "where to save the smallest model that passes, of similar size, if there is one"),
    ROW(reduce.reduce_inputs, .names = {"--no-reduce-inputs"}, .kind = OPTION_OFF, .exclusive = 1,
        .help = "search only for the earliest outputs that fail; keep the beginning of the model"),
    ROW(reduce.reduce_outputs, .names = {"--no-reduce-outputs"}, .kind = OPTION_OFF, .exclusive = 1,
        .help = "search only for the latest inputs that fail; keep the end of the model"),
    ROW(reduce.mode, .names = {"--mode"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = modes,
        .fallback = "bisect",
        .help = "bisect needs few checks, linear checks every node and may give a smaller model; minimal gives a "
                "1-minimal model: removing any single node makes the check pass"),
    JOBS_ROW(struct debug_reduce_settings, "",
             ". With N > 1 each candidate has a separate file: in the check, {artifact}, or the usual path, stands for "
             "it; {inputs}, {golden} and {information} for the files of --iter-inputs, --iter-golden and --iter-info"),
    ROW(reduce.all, .names = {"--all"}, .kind = OPTION_FLAG,
        .help =
            "with --mode minimal: find all failing subgraphs. The nodes of a result are removed, and their outputs fed "
            "as inputs; while the rest fails, the search continues in it: reduced.onnx, reduced_2.onnx, and so on"),
    ROW(debug.session.max_checks, .names = {"--max-checks"}, .kind = OPTION_ONE, .type = OPTION_INTEGER,
        .value_name = "N", .fallback = "0",
        .help = "stop after N checks, with the smallest failing model so far; 0 is no limit"),
    ROW(debug.session.deadline, .names = {"--deadline"}, .kind = OPTION_ONE, .type = OPTION_FLOAT,
        .value_name = "SECONDS", .fallback = "0",
        .help = "start no check after this time, and stop with the smallest failing model so far; 0 is no limit"),
    ROW(debug.session.check.files.items[CANDIDATE_INPUTS], .names = {"--iter-inputs"}, .kind = OPTION_ONE,
        .value_name = "PATH", .file = OPTION_SCRATCH,
        .help = "with --mode minimal: write the values of the candidate's inputs in the original model to this file, "
                "for --load-inputs in the check"),
    ROW(debug.session.check.files.items[CANDIDATE_GOLDEN], .names = {"--iter-golden"}, .kind = OPTION_ONE,
        .value_name = "PATH", .file = OPTION_SCRATCH,
        .help = "with --mode minimal: write the values of the candidate's outputs in the original model to this file, "
                "for --load-outputs in the check"),
    ROW(reduce.candidates.golden, .names = {"--golden"}, .kind = OPTION_ONE, .type = OPTION_CHOICE,
        .choices = golden_runners, .fallback = "onnxrt", .convert = convert_golden,
        .help = "runner of the original model that computes values for --iter-inputs, --iter-golden and tensors that "
                "become constants: ONNX Runtime, or the engine of --trt"),
    ROW(reduce.simplify.kinds, .names = {"--simplify"}, .kind = OPTION_ANY, .choices = simplifications,
        .convert = convert_simplifications,
        .help = "finally simplify the reduced model while it fails: weights become zeros, ones or noise, attributes "
                "their defaults, inputs smaller; bodies and functions lose nodes. Without names all of these (shapes "
                "only without input data)"),
    ROW(reduce.verify, .names = {"--no-verify"}, .kind = OPTION_OFF,
        .help = "check neither the original model first, nor a final result that was not itself a candidate"),
};

const struct option_group reduce_options = {
    .title = "Reduction",
    OPTION_ROWS(options),
    .finish = finish_reduce,
};
