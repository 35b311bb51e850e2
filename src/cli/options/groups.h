/* cli/options/groups.h: the option groups that commands consist of, and the settings that each group fills.
 *
 * The module cli/options/ contains the option groups that commands share, one file for each subject; the options of a
 * single command are in that command's file where possible. It uses cli/parse/ and cli/terminal/, and the layers whose
 * settings it fills.
 *
 * All values belong to the parse and have been validated; paths have not been opened. Variants of a group (another
 * spelling, another default) fill the same struct.
 */
#ifndef CLI_OPTIONS_GROUPS_H
#define CLI_OPTIONS_GROUPS_H

#include "cli/parse/parse.h"
#include "cli/parse/value.h"
#include "cli/terminal/log_sink.h"
#include "backend/onnxrt/settings.h"
#include "comparator/compare/settings.h"
#include "comparator/data/loader.h"
#include "comparator/infer/driver.h"
#include "debug/session/session.h"
#include "onnx/edit/node.h"
#include "report/report.h"

/* ---- Logging: every tool ---- */

struct logging_values {
    int verbose, quiet; /* how often -v and -q were given */
    struct chosen_level {
        bool chosen;
        enum log_level level;
    } verbosity; /* --verbosity without a path, which overrules -v and -q */
    bool silent;
    struct words format;
    struct log_settings settings; /* derived from the members above */
};

OPTION_GROUP(struct logging_values, logging_options);

/* ---- The result as JSON: tools that print a result ---- */

struct json_values {
    const char *path; /* NULL: not wanted */
};

OPTION_GROUP(struct json_values, json_options);

/* ---- Report: a page about the result ---- */

struct command_context;
struct report_values {
    struct report_files files;
};

OPTION_GROUP(struct report_values, report_options);

/* Begins a report with the command and the machine if these options request one; otherwise returns NULL, with which all
 * functions of report/report.h do nothing. The title is the tool and the file name of the path `model`, if not NULL. */
struct report *report_begin(const struct command_context *context, const struct report_values *values, const char *tool,
                            const char *model);

/* The same without options that request it: for a command that always writes a page. */
struct report *report_begin_always(const struct command_context *context, const char *tool, const char *model);

/* Writes the requested files, and frees the report (may be NULL) in any case. */
int report_finish(const struct command_context *context, const struct report_values *values, struct report *report,
                  struct error *err);

/* ---- JUnit: test cases and results, for CI systems ---- */

struct junit;

struct junit_values {
    const char *path; /* NULL: not wanted */
};

OPTION_GROUP(struct junit_values, junit_options);

/* The settings of every command that main() reads: the first member of the command's settings. */
struct common_settings {
    struct logging_values logging;
    struct junit_values junit;
    uint64_t max_memory; /* --max-memory, the bound of the whole process, in bytes; 0: the available memory */
};

struct common_settings *common_settings_of(const struct parse *parse);

/* For main(): the document to which a command adds its test cases if --junit was given; otherwise NULL. Cases are named
 * after the model, so that a CI system recognises them in the next run. */
struct junit *junit_begin(const struct command_context *context, const char *command);

/* For main(): writes the file also when the command failed; `rc` is the command's return value. An error becomes a
 * separate case, as does a nonzero exit status without a failed case. Frees context->junit; returns `rc`, or the error
 * with which writing failed. */
int junit_finish(struct command_context *context, const char *command, int rc, double seconds, struct error *err);

/* Adds the verdict of a report as a case, with its evidence. `passed`: the command has its intended result; otherwise
 * the case is a failure, or skipped where the report contains no failure. */
void junit_add_verdict(struct junit *junit, const struct report *report, bool passed);

/* A runner's name without its creation time, so that it is the same in each run. */
struct text junit_runner(const char *name);

/* Appends the command line, quoted for a shell. */
void command_line_add(const struct command_context *context, struct string_builder *ret);

/* Refuses, before the work starts, the path of an output file that could not be written: an empty path, or one whose
 * parent is not a folder. NULL is fine. */
int output_folder_check(const char *option, const char *path, struct error *err);

/* ---- Model ---- */

/* In the order of --model-type's choices. */
enum model_type {
    MODEL_FROZEN,
    MODEL_KERAS,
    MODEL_CKPT,
    MODEL_ONNX,
    MODEL_ENGINE,
    MODEL_UFF,
    MODEL_TRT_NETWORK_SCRIPT,
    MODEL_CAFFE,
    MODEL_LAYER_INFO, /* not a choice of the option but recognised by the file's name: layer information of an engine,
                       * for `inspect model` only */
};

struct model_values {
    const char *path;           /* absolute if the file exists; NULL: none was given */
    enum model_type type;       /* ONNX or ENGINE (or LAYER_INFO); anything else was refused */
    struct input_shapes shapes; /* --input-shapes, --model-input-shapes or --override-input-shapes */
};

OPTION_GROUP(struct model_values, run_model_options);      /* model_file may be missing, --model-type, --input-shapes */
OPTION_GROUP(struct model_values, inspect_model_options);  /* --model-type, no shapes */
OPTION_GROUP(struct model_values, reduce_model_options);   /* ONNX only, --model-input-shapes (also surgeon extract) */
OPTION_GROUP(struct model_values, lint_model_options);     /* ONNX only, --input-shapes */
OPTION_GROUP(struct model_values, convert_model_options);  /* --model-type, --input-shapes */
OPTION_GROUP(struct model_values, sanitize_model_options); /* ONNX only, --override-input-shapes */
OPTION_GROUP(struct model_values, capability_model_options); /* ONNX only, may be missing, no shapes */
OPTION_GROUP(struct model_values, onnx_model_options);       /* ONNX only, no shapes */

/* ---- Data loader: struct data_loader_settings without shapes ---- */

OPTION_GROUP(struct data_loader_settings, data_loader_options);

/* ---- Comparator: inference ---- */

OPTION_GROUP(struct driver_settings, inference_options);

/* ---- Comparator: comparisons ---- */

/* Whether simple is among the functions of --compare: values within tolerances. */
bool comparison_is_of_values(const struct parse *parse);

/* The functions whose tolerances and thresholds are given. */
struct comparison_functions comparison_functions_of_options(const struct parse *parse);

struct comparison_values {
    struct comparison_settings settings; /* functions, tolerances, and when to stop */
    struct words compare;                /* names of the functions, as typed */
    bool validate;                       /* look for NaN and infinities */
    bool first_divergence;
    struct words load_outputs; /* paths */
    struct top_ks postprocess;

    const char *heat_map_folder, *error_plot_folder; /* NULL: not wanted */
};

OPTION_GROUP(struct comparison_values, comparison_options);

/* Metrics of comparisons, kept in a file or judged by their averages. */
struct accuracy_values {
    bool average;
    const char *path; /* NULL: not saved */
};

OPTION_GROUP(struct accuracy_values, metric_options);

/* ERR_INVALID for comparisons without an average. */
int accuracy_values_check(const struct accuracy_values *values, const struct comparison_values *comparison,
                          struct error *err);

/* Lists the options that name outputs, one entry for each such option, given or not. `ret` has room for
 * COMPARISON_RULES entries, which borrow from `values`. */
#define COMPARISON_RULES 23
struct output_rules;
void comparison_list_rules(const struct comparison_values *values, struct output_rules *ret);

/* ---- ONNX loading ---- */

struct onnx_load_values {
    const char *external_data_dir; /* NULL: the model's folder */
    bool ignore_external_data;
    bool fp_to_fp16;
    struct words keep_float32;   /* convert: nodes, patterns or operators that stay float32 with it */
    struct output_names outputs; /* --onnx-outputs, or --outputs in surgeon sanitize */
    struct words exclude_outputs;
    struct words output_operators;                   /* --onnx-outputs-by-type */
    struct named_integers unbounded_dds_upper_bound; /* surgeon sanitize */
};

OPTION_GROUP(struct onnx_load_values, onnx_load_options);          /* no output options: debug tools, most others */
OPTION_GROUP(struct onnx_load_values, onnx_load_folder_options);   /* external data alone */
OPTION_GROUP(struct onnx_load_values, onnx_load_outputs_options);  /* with --onnx-outputs: run, convert */
OPTION_GROUP(struct onnx_load_values, onnx_load_sanitize_options); /* with --outputs and the upper bound */

/* ---- ONNX shape inference ---- */

struct shape_inference_values {
    bool enabled;                             /* static inference; off when the fallback is forced */
    bool force_fallback;                      /* run the model once and take the shapes from the results */
    bool no_onnxruntime;                      /* --no-onnxruntime-shape-inference */
    bool shape_inference, no_shape_inference; /* the two flags as typed */
};

OPTION_GROUP(struct shape_inference_values, shape_inference_options); /* off unless asked for: run, convert, ... */
OPTION_GROUP(struct shape_inference_values,
             shape_inference_default_options); /* on unless refused: debug reduce, sanitize */
OPTION_GROUP(struct shape_inference_values,
             shape_inference_fallback_options); /* off, fallback allowed: surgeon extract */

/* ---- ONNX saving ---- */

struct onnx_save_values {
    const char *path; /* where to save the model; NULL: not wanted */
    struct external_settings external;
};

OPTION_GROUP(struct onnx_save_values, onnx_save_options);          /* -o, --output, optional: debug reduce */
OPTION_GROUP(struct onnx_save_values, onnx_save_required_options); /* -o, --output, required: surgeon */
OPTION_GROUP(struct onnx_save_values, run_save_options);           /* --save-onnx: run */
OPTION_GROUP(struct onnx_save_values, convert_save_options);       /* without a path: convert */

/* ---- ONNX Runtime ---- */

struct onnxrt_values {
    struct onnxrt_settings runtime;
    int64_t max_memory;               /* bytes; 0: what is available */
    struct words disabled_optimizers; /* become an entry of the session configuration */
};

OPTION_GROUP(struct onnxrt_values, onnxrt_options); /* run, check lint */
OPTION_GROUP(struct onnxrt_values,
             onnxrt_reference_options); /* no --providers: debug reduce, which runs the original */
OPTION_GROUP(struct onnxrt_values, onnxrt_provider_library_options); /* its only option: inspect capability */
OPTION_GROUP(struct onnxrt_values, onnxrt_library_options); /* no --session-config, either: shapes and values only */

/* Commands with this group run ONNX Runtime in a worker process (backend/onnxrt/apart/backend.h). */
struct onnxrt_bounds_values {
    bool apart;       /* the command has the group */
    bool has_seconds; /* otherwise the limit depends on the model's size */
    double seconds;
};

OPTION_GROUP(struct onnxrt_bounds_values, onnxrt_bounds_options);

/* ---- All settings of a model ---- */

/* How a model is loaded, run and saved. Members for which a command has no options stay zeroed, the default. */
struct model_file_settings {
    struct model_values model;
    struct onnx_load_values load;
    struct shape_inference_values inference;
    struct onnx_save_values save;
    struct data_loader_settings data;
    struct onnxrt_values onnxrt;
    struct onnxrt_bounds_values bounds;
};

/* Creates a data loader from these options and the model's shapes, and loads the files that they name. It borrows from
 * the parse. `model`: that file, loaded; NULL: it is read if data are to be generated. */
int data_loader_from_options(const struct command_context *context, const struct model_file_settings *file,
                             const struct model *model, struct data_loader **ret, struct error *err);

/* Appends these options as a debug tool passes them to `run`: those that were given, and --generated-data. */
void data_loader_add_words(const struct parse *parse, struct word_list *words);

/* The same as data_loader_from_options(), but ignores --load-inputs and generates all data. */
int data_loader_to_generate(const struct command_context *context, const struct model_file_settings *file,
                            struct data_loader **ret, struct error *err);

/* ---- Runners ---- */

/* A value of --runner or --runner-build: NAME=COMMAND. */
struct runner_line {
    const char *name; /* NULL: none was given */
    const char *line;
};

struct runner_lines {
    const struct runner_line *items;
    size_t count;
};

struct runner_values {
    struct words names;                /* "onnxrt", "runner", ...: in the order of the command line, repeats included */
    struct runner_lines commands;      /* of the runners in `names` that are "runner", in this order */
    struct runner_lines builds;        /* as typed */
    const char *const *build_commands; /* for each item of `commands`: the command that builds its engine, or NULL */
    double timeout;                    /* seconds; 0: none */
};

OPTION_GROUP(struct runner_values, runner_options);

/* ---- TensorFlow: no values, every option is refused ---- */

extern const struct option_group tensorflow_run_options;     /* run */
extern const struct option_group tensorflow_convert_options; /* convert */
extern const struct option_group tensorflow_inspect_options; /* inspect model */

/* ---- The session of debug tools ---- */

/* What distinguishes the original model's failure from other failures. In the order of --signature's choices. */
enum failure_signature { SIGNATURE_AUTO, SIGNATURE_EXIT_CODE, SIGNATURE_REGEX, SIGNATURE_OFF };

/* Session options of all debug tools; debug_session_settings() derives the settings of the session from them. */
struct debug_values {
    struct common_settings common;
    struct json_values json;
    struct report_values report;
    struct session_settings session;
    enum failure_signature signature;
    struct repetition until; /* --until of debug build and repeat */
    bool exit_code;          /* the outcome decides the exit status */
    bool copy_weights;       /* rather than link external data to candidates */
};

OPTION_GROUP(struct debug_values, check_options);
OPTION_GROUP(struct debug_values, optional_check_options); /* without --check nothing is asked interactively: debug
                                                            * passes compares outputs */

/* ---- Artifact sorting: all debug tools ---- */

OPTION_GROUP(struct debug_values, artifact_options);
OPTION_GROUP(struct debug_values, expected_artifact_options); /* warns without artifacts: debug build, repeat */

/* ---- Iterative debugging ---- */

OPTION_GROUP(struct debug_values, intermediate_onnx_options);   /* polygraphy_debug.onnx: reduce, quantization */
OPTION_GROUP(struct debug_values, intermediate_engine_options); /* polygraphy_debug.engine: build, precision, tactics */
OPTION_GROUP(struct debug_values, intermediate_library_options); /* copy of a library: debug releases */
OPTION_GROUP(struct debug_values, intermediate_list_options);    /* list of disabled optimizations: debug passes */

OPTION_GROUP(struct debug_values, iteration_options); /* all debug tools */

OPTION_GROUP(struct debug_values, replay_options); /* all of these but debug build */

/* The row of --jobs in a tool's options, which fill `settings`. `where` and `more` are sentences of its help: which
 * conditions N > 1 has, and other facts. */
/* clang-format off */
#define JOBS_ROW(settings, where, more)                                                                                \
    {                                                                                                                  \
        .names = {"-j", "--jobs"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N", .fallback = "1",     \
        OPTION_FIELD(settings, debug.session.jobs),                                                                    \
        .help = "run up to N checks in parallel, speculatively. " where                                                \
                "The result, the replay and the log do not depend on N" more,                                          \
    }
/* clang-format on */

/* Refuses a number of --jobs outside of the range, and with `engines` more than one job where kernels are timed. */
int jobs_check(const struct parse *parse, const struct session_settings *session, bool engines, struct error *err);

OPTION_GROUP(struct debug_values, until_options); /* debug build, repeat */

/* ---- surgeon extract's own ---- */

/* A tensor as specified by the user; the model supplies what is left open. */
struct tensor_metadata {
    const char *name;
    bool has_shape;
    struct shape shape;         /* -1 for a dynamic dimension */
    const char *const *symbols; /* shape.rank names of dynamic dimensions, NULL for others */
    enum data_type type;        /* UNDEFINED: open */
};

struct tensor_metadata_list {
    const struct tensor_metadata *items;
    size_t count; /* 0: not given */
};

struct extract_values {
    struct tensor_metadata_list inputs, outputs; /* each name once; no shapes for outputs */
    bool has_no_inputs;                          /* --inputs was given without names */
};

OPTION_GROUP(struct extract_values, extract_options);

/* ---- surgeon insert's own ---- */

struct node_attribute_list {
    const struct node_attribute *items; /* each name once */
    size_t count;
};

struct insert_values {
    struct words inputs, outputs; /* names */
    const char *op, *name;        /* NULL: no name */
    struct node_attribute_list attributes;
};

OPTION_GROUP(struct insert_values, insert_options);

/* ---- surgeon weight-strip's own ---- */

struct weight_strip_values {
    const char *exclude_list; /* path; NULL: none */
};

OPTION_GROUP(struct weight_strip_values, weight_strip_options);

/* ---- surgeon sanitize's own ---- */

enum partitioning { PARTITIONING_BASIC, PARTITIONING_RECURSIVE };

struct sanitize_values {
    bool cleanup, toposort;
    bool inline_bodies;
    bool fold_constants, simplify;
    int64_t passes; /* maximum; -1: until a pass changes nothing */
    bool has_partitioning;
    enum partitioning partitioning;
    bool no_fold_shapes, no_per_pass_shape_inference;
    bool has_size_threshold;
    int64_t size_threshold; /* bytes */
};

OPTION_GROUP(struct sanitize_values, sanitize_options);

/* ---- run's own ---- */

extern const struct option_group run_options; /* no values: every option is refused */

#endif
