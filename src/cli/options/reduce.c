/* cli/options/reduce.c: what only `debug reduce` has. */
#include "cli/options/reduce.h"

#include <string.h>

#include "base/memory.h"
#include "engine/backend.h"

static const char *const modes[] = {"bisect", "linear", "minimal", NULL};
static const char *const golden_runners[] = {"onnxrt", "trt", NULL};

static const char *const simplifications[] = {"weights", "attributes", "shapes", "bodies", NULL};
static const enum simplification simplification_of[] = {SIMPLIFY_WEIGHTS, SIMPLIFY_ATTRIBUTES, SIMPLIFY_SHAPES,
                                                        SIMPLIFY_BODIES};

/* Without names none is marked yet. */
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

/* Without names: all that the other options leave room for. */
static int choose_simplifications(struct reduce_settings *settings, struct parse *parse, struct error *err)
{
    bool *simplify = settings->simplify.kinds;
    bool fixed_inputs = parse_given(parse, "--load-inputs") || parse_given(parse, "--iter-inputs");

    if (!parse_given(parse, "--simplify"))
        return 0;
    if (!parse_given(parse, "--output"))
        return error_set(err, ERR_INVALID, "--simplify is about the model that --output saves: add -o reduced.onnx");
    if (parse_given(parse, "--iter-golden"))
        return error_set(err, ERR_INVALID,
                         "--simplify changes what the model computes, so the values of --iter-golden would not fit: "
                         "reduce first, then simplify the result with a check that compares backends");
    if (parse_given(parse, "--save-external-data"))
        return error_set(err, ERR_INVALID,
                         "--simplify writes a model with its weights inside: move them out of the result with "
                         "`polygraphy convert --save-external-data`");
    if (!simplify[SIMPLIFY_BODIES] && !simplify[SIMPLIFY_WEIGHTS] && !simplify[SIMPLIFY_ATTRIBUTES] &&
        !simplify[SIMPLIFY_SHAPES])
        for (size_t i = 0; i < SIMPLIFY_KINDS; i++)
            simplify[i] = i != SIMPLIFY_SHAPES || !fixed_inputs;
    if (simplify[SIMPLIFY_SHAPES] && fixed_inputs)
        return error_set(err, ERR_INVALID,
                         "--simplify shapes makes the inputs smaller, so the data of --load-inputs or --iter-inputs "
                         "would not fit: leave it out");
    return 0;
}

static int convert_golden(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    (void)parse, (void)spelling, (void)err;
    *(const struct backend **)field = strcmp(words.items[0], "trt") == 0 ? &engine_backend : NULL;
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
            "neither --output nor --min-good was given, so the result would go nowhere; add -o reduced.onnx");
    if (session->max_checks < 0 || !(session->deadline >= 0))
        return error_set(err, ERR_INVALID, "--max-checks and --deadline are at least 0");
    if (!is_minimal && (parse_given(parse, "--iter-inputs") || parse_given(parse, "--iter-golden")))
        return error_set(err, ERR_INVALID, "--iter-inputs and --iter-golden need --mode minimal");
    if (is_minimal && (!settings->reduce_inputs || !settings->reduce_outputs))
        return error_set(err, ERR_INVALID,
                         "--mode minimal leaves out whatever it can: --no-reduce-inputs and --no-reduce-outputs are "
                         "for the other modes");
    if (!is_minimal && settings->all)
        return error_set(err, ERR_INVALID, "--all needs --mode minimal");
    return choose_simplifications(settings, parse, err);
}

#define ROW(member, ...) OPTION_ROW(struct debug_reduce_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(reduce.min_good, .names = {"--min-good", "--minimal-good"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES, .extensions = "onnx",
        .help = "where to save a model of similar size that passes, if one was seen"),
    ROW(reduce.reduce_inputs, .names = {"--no-reduce-inputs"}, .kind = OPTION_OFF, .exclusive = 1,
        .help = "only look for the earliest outputs that fail; the beginning of the model stays"),
    ROW(reduce.reduce_outputs, .names = {"--no-reduce-outputs"}, .kind = OPTION_OFF, .exclusive = 1,
        .help = "only look for the latest inputs that fail; the end of the model stays"),
    ROW(reduce.mode, .names = {"--mode"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = modes,
        .fallback = "bisect",
        .help = "bisect needs few checks, linear tries every node and may find a smaller model; "
                "minimal finds a model that no single node can be left out of"),
    JOBS_ROW(struct debug_reduce_settings, "",
             ". Each candidate has a file of its own then, which the check names {artifact}, or by its usual path; "
             "{inputs}, {golden} and {information} are the files of --iter-inputs, --iter-golden and --iter-info"),
    ROW(reduce.all, .names = {"--all"}, .kind = OPTION_FLAG,
        .help = "with --mode minimal: do not end with one part of the model that fails. "
                "Without its nodes, what they made being fed, the model is checked again, "
                "and as long as it fails the search goes on in what is left: reduced.onnx, reduced_2.onnx, and so on"),
    ROW(debug.session.max_checks, .names = {"--max-checks"}, .kind = OPTION_ONE, .type = OPTION_INTEGER,
        .value_name = "N", .fallback = "0",
        .help = "end after so many checks, with the smallest model that was seen to fail by then; 0 is no limit"),
    ROW(debug.session.deadline, .names = {"--deadline"}, .kind = OPTION_ONE, .type = OPTION_FLOAT,
        .value_name = "SECONDS", .fallback = "0", .help = "the same for time: no check begins later than this"),
    ROW(debug.session.check.files.items[CANDIDATE_INPUTS], .names = {"--iter-inputs"}, .kind = OPTION_ONE,
        .value_name = "PATH", .file = OPTION_SCRATCH,
        .help = "with --mode minimal: write what the candidate's inputs hold in the original model to this file, "
                "for --load-inputs in the check"),
    ROW(debug.session.check.files.items[CANDIDATE_GOLDEN], .names = {"--iter-golden"}, .kind = OPTION_ONE,
        .value_name = "PATH", .file = OPTION_SCRATCH,
        .help = "with --mode minimal: write what the candidate's outputs hold in the original model to this file, "
                "for --load-outputs in the check"),
    ROW(reduce.candidates.golden, .names = {"--golden"}, .kind = OPTION_ONE, .type = OPTION_CHOICE,
        .choices = golden_runners, .fallback = "onnxrt", .convert = convert_golden,
        .help =
            "what runs the original model when values of its tensors are needed, for --iter-inputs, "
            "--iter-golden and tensors that become constants: ONNX Runtime, or the engine that stands behind --trt"),
    ROW(reduce.simplify.kinds, .names = {"--simplify"}, .kind = OPTION_ANY, .choices = simplifications,
        .convert = convert_simplifications,
        .help = "in the end, make what is left simpler for as long as it fails: "
                "weights become zeros, ones or noise, attributes get their defaults, inputs become smaller, "
                "bodies and functions lose nodes. "
                "Without names all of these (shapes only where no input data were given)"),
    ROW(reduce.verify, .names = {"--no-verify"}, .kind = OPTION_OFF,
        .help = "do not check the original model first, nor results whose exact content was not checked on the way"),
};

const struct option_group reduce_options = {
    .title = "Reduction",
    .options = options,
    .count = ARRAY_LEN(options),
    .finish = finish_reduce,
};
