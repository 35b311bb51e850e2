/* cli/options/groups.h: the option groups that commands are put together from, and the values that each one yields.
 *
 * The module cli/options/ has the option groups that commands share, one file for each subject; options that only one
 * command has are beside that command where it needs no other. Groups fill the settings that the work takes. It uses
 * cli/parse/ and cli/terminal/, and the layers whose settings it fills.
 *
 * Everything in the values belongs to the parse. It has been checked: a command meets no malformed word. Paths are not
 * opened here. A group that exists in several variants (another spelling, another default) fills the same struct.
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
    struct log_settings settings; /* what follows from all of it */
};

OPTION_GROUP(struct logging_values, logging_options);

/* ---- JSON twin of the result: tools that print one ---- */

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

/* A report with the command and the machine in it, when these options ask for one; else NULL, with which all functions
 * of report/report.h do nothing. */
struct report *report_begin(const struct command_context *context, const struct report_values *values,
                            const char *title);

/* The same whatever the options say: for a command that has a page of its own anyway. */
struct report *report_begin_always(const struct command_context *context, const char *title);

/* Writes the files that were asked for, and frees the report (may be NULL) in any case. */
int report_finish(const struct command_context *context, const struct report_values *values, struct report *report,
                  struct error *err);

/* ---- JUnit: what was tested, for CI systems ---- */

struct junit;

struct junit_values {
    const char *path; /* NULL: not wanted */
};

OPTION_GROUP(struct junit_values, junit_options);

/* What main() reads of every command: the first member of its settings. */
struct common_settings {
    struct logging_values logging;
    struct junit_values junit;
    uint64_t max_memory; /* --max-memory, which bounds all of the process; 0: what is available */
};

struct common_settings *common_settings_of(const struct parse *parse);

/* For main(): what a command adds its cases to, when --junit was given; else NULL. The cases are called after the
 * model, so that a CI system knows them again. */
struct junit *junit_begin(const struct command_context *context, const char *command);

/* For main(): writes the file, whatever became of the command: `rc` is what it returned. An error is a case of its own;
 * so is a bad exit status for which no case stands. Frees context->junit, and returns `rc`, or the error for which the
 * file could not be written. */
int junit_finish(struct command_context *context, const char *command, int rc, double seconds, struct error *err);

/* The verdict of a report as a case, with its proof. `passed`: it is what the command is for; else it is a failure, or,
 * where the report does not say that anything failed, nothing that was tested. */
void junit_add_verdict(struct junit *junit, const struct report *report, bool passed);

/* A runner's name without the time at which it was made up, which is another each time. */
struct text junit_runner(const char *name);

/* Appends the command line, so that it can be typed. */
void command_line_add(const struct command_context *context, struct string_builder *ret);

/* Refuses the path of a file that could not be written in the end: it is empty, or is to lie in what is no folder. */
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
    MODEL_LAYER_INFO, /* no choice, but told by its name: layer information of an engine, for `inspect model` alone */
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

/* ---- Data loader: struct data_loader_settings, but for shapes ---- */

OPTION_GROUP(struct data_loader_settings, data_loader_options);

/* ---- Comparator: inference ---- */

OPTION_GROUP(struct driver_settings, inference_options);

/* ---- Comparator: comparisons ---- */

/* Of enum comparison_function, as on the command line; ends with NULL. */
extern const char *const compare_function_names[];

/* Whether --compare is simple: values within tolerances. */
bool comparison_is_of_values(const struct parse *parse);

struct comparison_values {
    struct comparison_settings settings; /* what, how exactly, and when it ends */
    bool validate;                       /* look for NaN and infinities */
    bool first_divergence;
    struct words load_outputs; /* paths */
    struct top_ks postprocess;

    const char *heat_map_folder, *error_plot_folder; /* NULL: not wanted */
};

OPTION_GROUP(struct comparison_values, comparison_options);

/* What the options say of outputs by name: one for each option that does, given or not. `ret` has room for
 * COMPARISON_RULES, which borrow from `values`. */
#define COMPARISON_RULES 12
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
    struct named_integers unbounded_dds_upper_bound; /* surgeon sanitize */
};

OPTION_GROUP(struct onnx_load_values, onnx_load_options);          /* no output options: debug tools, most others */
OPTION_GROUP(struct onnx_load_values, onnx_load_outputs_options);  /* with --onnx-outputs: run, convert */
OPTION_GROUP(struct onnx_load_values, onnx_load_sanitize_options); /* with --outputs and the upper bound */

/* ---- ONNX shape inference ---- */

struct shape_inference_values {
    bool enabled;                             /* static inference; off when the fallback is forced */
    bool force_fallback;                      /* run the model once and take the shapes from the results */
    bool no_onnxruntime;                      /* --no-onnxruntime-shape-inference */
    bool shape_inference, no_shape_inference; /* the two switches as typed */
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
OPTION_GROUP(struct onnx_save_values, convert_save_options);       /* no path of its own: convert */

/* ---- ONNX Runtime ---- */

struct onnxrt_values {
    struct onnxrt_settings runtime;
    int64_t max_memory;               /* bytes; 0: what is available */
    struct words disabled_optimizers; /* become an entry of the session configuration */
};

OPTION_GROUP(struct onnxrt_values, onnxrt_options); /* run, check lint */
OPTION_GROUP(struct onnxrt_values,
             onnxrt_reference_options);                     /* no --providers: debug reduce, which runs the original */
OPTION_GROUP(struct onnxrt_values, onnxrt_library_options); /* no --session-config, either: shapes and values only */

/* Commands that have this group have ONNX Runtime in a process of its own (backend/onnxrt/apart/backend.h). */
struct onnxrt_bounds_values {
    bool apart;       /* the command has the group */
    bool has_seconds; /* else they depend on the model */
    double seconds;
};

OPTION_GROUP(struct onnxrt_bounds_values, onnxrt_bounds_options);

/* ---- All of that about a model ---- */

/* How a model is loaded, run and saved. What a command has no options for stays zeroed, as if nothing was asked for. */
struct model_file_settings {
    struct model_values model;
    struct onnx_load_values load;
    struct shape_inference_values inference;
    struct onnx_save_values save;
    struct data_loader_settings data;
    struct onnxrt_values onnxrt;
    struct onnxrt_bounds_values bounds;
};

/* A data loader as these options and the model's shapes (in whichever spelling the command has) describe it. Files are
 * loaded. It borrows from the parse. */
int data_loader_from_options(const struct command_context *context, const struct model_file_settings *file,
                             struct data_loader **ret, struct error *err);

/* The same, but data are generated, whatever files there are. */
int data_loader_to_generate(const struct command_context *context, const struct model_file_settings *file,
                            struct data_loader **ret, struct error *err);

/* ---- Runners ---- */

/* What --runner gives, and --runner-build for one of them. */
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
    struct runner_lines commands;      /* of those called "runner", in this order */
    struct runner_lines builds;        /* as typed */
    const char *const *build_commands; /* of each of the commands: how an engine is made for it, or NULL */
    double timeout;                    /* seconds; 0: none */
};

OPTION_GROUP(struct runner_values, runner_options);

/* ---- TensorFlow: no values, all of it is refused ---- */

extern const struct option_group tensorflow_run_options;     /* run */
extern const struct option_group tensorflow_convert_options; /* convert */
extern const struct option_group tensorflow_inspect_options; /* inspect model */

/* ---- The session of debug tools ---- */

/* What tells the failure that is looked for from others. In the order of --signature's choices. */
enum failure_signature { SIGNATURE_AUTO, SIGNATURE_EXIT_CODE, SIGNATURE_REGEX, SIGNATURE_OFF };

/* What all debug tools are told of their session; their session gets `session` from debug_session_settings(). */
struct debug_values {
    struct common_settings common;
    struct json_values json;
    struct report_values report;
    struct session_settings session;
    enum failure_signature signature;
    struct repetition until; /* --until of debug build and repeat */
    bool exit_code;          /* the outcome decides about the exit status */
    bool copy_weights;       /* rather than link external data to candidates */
};

OPTION_GROUP(struct debug_values, check_options);
OPTION_GROUP(struct debug_values, optional_check_options); /* without --check nobody is asked: debug passes compares */

/* ---- Artifact sorting: all debug tools ---- */

OPTION_GROUP(struct debug_values, artifact_options);
OPTION_GROUP(struct debug_values, expected_artifact_options); /* warns when there are none: debug build, repeat */

/* ---- Iterative debugging ---- */

OPTION_GROUP(struct debug_values, intermediate_onnx_options);   /* polygraphy_debug.onnx: reduce, quantization */
OPTION_GROUP(struct debug_values, intermediate_engine_options); /* polygraphy_debug.engine: build, precision, tactics */
OPTION_GROUP(struct debug_values, intermediate_list_options);   /* of what is switched off: debug passes */

OPTION_GROUP(struct debug_values, iteration_options); /* all debug tools */

OPTION_GROUP(struct debug_values, replay_options); /* all of these but debug build */

/* The row of --jobs in a tool's own options, which fill `settings`; sentences of its help say where there may be
 * several, and what else there is to know. */
/* clang-format off */
#define JOBS_ROW(settings, where, more)                                                                                \
    {                                                                                                                  \
        .names = {"-j", "--jobs"}, .kind = OPTION_ONE, .type = OPTION_INTEGER, .value_name = "N", .fallback = "1",     \
        OPTION_FIELD(settings, debug.session.jobs),                                                                    \
        .help = "run so many checks at a time: those that will probably be needed next. " where                        \
                "The result, the replay and the log are the same" more,                                                \
    }
/* clang-format on */

/* Whether the number of --jobs makes sense. With `engines`, there may be several only where no kernel is timed. */
int jobs_check(const struct parse *parse, const struct session_settings *session, bool engines, struct error *err);

OPTION_GROUP(struct debug_values, until_options); /* debug build, repeat */

/* ---- surgeon extract's own ---- */

/* What the user says of a tensor; what is left open is looked up in the model. */
struct tensor_metadata {
    const char *name;
    bool has_shape;
    struct shape shape;         /* -1 for a dynamic dimension */
    const char *const *symbols; /* shape.rank names of dynamic dimensions, NULL where there is none */
    enum data_type type;        /* UNDEFINED: open */
};

struct tensor_metadata_list {
    const struct tensor_metadata *items;
    size_t count; /* 0: not given */
};

struct extract_values {
    struct tensor_metadata_list inputs, outputs; /* each name once; no shapes for outputs */
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
    bool fold_constants;
    int64_t passes; /* at most; -1: until one changes nothing */
    bool has_partitioning;
    enum partitioning partitioning;
    bool no_fold_shapes, no_per_pass_shape_inference;
    bool has_size_threshold;
    int64_t size_threshold; /* bytes */
};

OPTION_GROUP(struct sanitize_values, sanitize_options);

/* ---- run's own ---- */

extern const struct option_group run_options; /* no values: all of it is refused */

#endif
