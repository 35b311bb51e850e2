/* cli/debug/debug.c: the tool whose subtools run a check again and again. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"

static const struct option_group *const groups[] = {&logging_options};

/* In early versions of Polygraphy diff-tactics was one of these, and documents still call it so. */
static const struct command *const subtools[] = {&cmd_debug_reduce, &cmd_debug_build,   &cmd_debug_precision,
                                                 &cmd_debug_repeat, &cmd_debug_tactics, &cmd_inspect_diff_tactics};

const struct command cmd_debug = {
    .name = "debug",
    .summary = "find out what makes a model fail",
    .description =
        "Each of these tools makes candidates, and lets a command of yours, the check, tell good ones from bad ones. "
        "What the check and the tool leave behind can be sorted into good and bad.\n\n"
        "The check is any program: exit code 0 means that the candidate is good, 125 that the check could not tell, "
        "anything else that it is bad. When the check is a command of this program, 1 means that outputs differ or "
        "are no numbers, 3 that the runner refused the model or failed, and 125 that the question made no sense: a "
        "mistyped option, a file that is not there, an input without data, nothing to compare.",
    .example = "# the smallest part of model.onnx on which a float16 engine and ONNX Runtime disagree\n"
               "polygraphy debug reduce model.onnx -o reduced.onnx --mode minimal \\\n"
               "    --iter-inputs in.json --iter-golden golden.json \\\n"
               "    --check polygraphy run polygraphy_debug.onnx --trt --fp16 \\\n"
               "    --load-inputs in.json --load-outputs golden.json --atol 0.5 --rtol 0.1",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .subcommands = subtools,
    .subcommand_count = ARRAY_LEN(subtools),
};
