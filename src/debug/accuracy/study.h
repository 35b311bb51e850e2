/* debug/accuracy/study.h: a study of one failure: its experiments, each a command of this program, and what is known.
 *
 *   struct study_step *step = step_begin(study, "lint", "check lint: mistakes in the model");
 *
 *   step_add(step, "check", "lint", study->settings->model, NULL);
 *   if (step_run(step) && step->exit_status != 0)
 *       ...
 *
 * An experiment has a folder, `FOLDER/steps/03-lint`, with its log, its result and, once it has ended, `done.json`. The
 * same command at the same place is not run again: that is how a study that was killed is resumed.
 *
 * The first error (an experiment that cannot be run, an interruption, a budget that is used up) is kept in the study.
 * From then on nothing is run, logged or concluded any more, and all agreements are UNKNOWN: what is known stays as it
 * was. So callers need not look at each call; they look before they set anything of the study themselves.
 */
#ifndef DEBUG_ACCURACY_STUDY_H
#define DEBUG_ACCURACY_STUDY_H

#include "base/error.h"
#include "base/log.h"
#include "debug/candidate/watched_files.h"
#include "debug/record/session_lock.h"
#include "engine/precision/precision.h"
#include "format/json/reader.h"
#include "onnx/model/subgraph.h"

/* The suspect is run at most this often with one build: a failure in half of the runs is missed once in 500 times. */
#define RUNS_OF_ONE_BUILD 10

/* ---- The question ---- */

/* What the command line says; everything is borrowed. Words are as they are typed. */
struct accuracy_settings {
    const char *model;
    const char *folder;            /* for all files of the study */
    bool resume;                   /* a session that came to its end, too */
    const char *external_data_dir; /* of the model; NULL: its own folder */
    const char *engine_library;    /* path of TensorRT's library where --trt means it; or NULL */
    struct words reference;        /* the runner that is believed, with its options: --onnxrt */
    struct words suspect;          /* the other one: --trt --fp16 */
    struct words suspect_in_float; /* the same without lower precisions; empty where it has none */
    struct words engine;           /* of the suspect: what an engine is built with, for `debug build` and the like */
    struct words explored;         /* the same without what decides on tactics, where these are drawn at random */
    struct words excluded;         /* tactics that the suspect does without anyway: names of --exclude-tactics */
    struct words serving;          /* of the suspect: what a built engine is run with: --plugins */
    struct words loading;          /* how the model is loaded, for both */
    struct words data;             /* where input data come from */
    bool data_are_given;           /* not random */
    struct words steps;            /* of a decoder, one of which is studied: --steps 8; empty: none */
    const char *step_inputs;       /* path for the inputs of that step; NULL: in the folder of the study */
    struct words tolerance;        /* empty: derived from the model and the precision */
    const char *precision;         /* the lowest one that the suspect may compute in: "float16" */
    double unit_roundoff;          /* of that */
    enum precision declared_precision; /* of a suspect that is a command: --runner-precision */
    bool suspect_has_engine;           /* it is --trt */
    bool suspect_is_built;             /* that, or it has a --runner-build */
    bool suspect_is_builtin;           /* and that is the built-in engine: its tactics can be explored */
    bool reference_is_onnxrt, suspect_is_onnxrt;
    bool reference_is_command, suspect_is_command; /* --runner */
    bool products_saturate;                        /* uint8 x int8, on this processor: system_saturates_products() */
    int64_t builds, runs;                          /* how often the suspect is built, and run with each build */
    int64_t explored_builds;                       /* with random tactics, where the suspect is the built-in engine */
    double deadline;                               /* seconds; 0: none */
    int64_t max_checks;                            /* 0: no limit */
    const char *program;                           /* path of this program */
    int (*self_main)(int argc, char **argv);
    void (*self_prepare)(void *words);
};

/* A model, and data for which it fails. */
struct failing_case {
    const char *model;
    const char *inputs; /* for --load-inputs */
    const char *golden; /* for --load-outputs */
    struct words tolerance;
    int64_t runs; /* how often a check runs the inputs, and `golden` has outputs; 0: once */
};

/* ---- The answer ---- */

enum cause_kind {
    CAUSE_UNKNOWN,
    CAUSE_NAN,        /* the model itself makes NaN or infinities, in the reference, too */
    CAUSE_NODE,       /* these nodes are computed wrongly, each alone */
    CAUSE_OVERFLOW,   /* values beyond the range of the type of lower precision */
    CAUSE_UNDERFLOW,  /* values too small for it */
    CAUSE_PRECISION,  /* these nodes need the higher precision */
    CAUSE_TACTIC,     /* a kernel of the engine */
    CAUSE_FUSION,     /* right one by one, wrong when they are fused */
    CAUSE_RACE,       /* runs of the same build differ */
    CAUSE_REFUSED,    /* the suspect does not run the model */
    CAUSE_REFERENCE,  /* the reference: its own optimizations, or nodes that it computes wrongly */
    CAUSE_PART,       /* these nodes together; no single one is to blame */
    CAUSE_SATURATION, /* of uint8 x int8 products in ONNX Runtime, on this processor */
    CAUSE_CONDITION,  /* what follows magnifies rounding beyond the tolerance */
};

/* What makes the whole model pass. Zeroed: no fix is known. */
struct cause_fix {
    const char *what;     /* "another tactic" */
    struct words options; /* for the suspect, in addition to its own */
    const char *model;    /* to run instead of the original; NULL: the original */
    int64_t comparisons;  /* of the whole model that have agreed so already */
    bool holds;           /* it has passed, so often that this is not by chance */
};

/* All of it lives as long as the study. */
struct cause {
    enum cause_kind kind;
    const char *sentence; /* "'scores' (MatMul) reaches 72489; float16 ends at 65504" */
    struct words nodes;   /* names of the model's */
    struct words tensors;
    const char *tactic;           /* NULL: none */
    struct word_list evidence;    /* a sentence each */
    const char *small_error_node; /* one of several nodes, which agrees alone by the tolerance; NULL: none */
    /* Largest errors of the model's outputs, see comparison_error(): of the suspect, and of the reference with what the
     * suspect makes in one of these nodes after the other, added up; 0: not measured. */
    double whole_error, explained_error;
    bool whole_agrees; /* with these nodes right; of one that was refused: it runs; of NaN: a second runner makes it */
    bool is_judged;    /* by the exact value of each of its nodes */
    bool proven;       /* the minimal case failed in a fresh process, and the whole model agrees without it */
    struct cause_fix fix;
};

enum failure_pattern {
    FAILS_NEVER,
    FAILS_ALWAYS,
    FAILS_BY_BUILD, /* some builds fail, in all of their runs */
    FAILS_BY_RUN,   /* runs of one build differ */
};

enum study_outcome {
    OUTCOME_OPEN,
    OUTCOME_CAUSE,
    OUTCOME_NOTHING_FAILS,
    OUTCOME_NO_CAUSE,    /* it fails for an unknown reason */
    OUTCOME_NO_QUESTION, /* nothing to compare with: the model does not run, or the reference is not reproducible */
};

struct study {
    const struct accuracy_settings *settings;
    const struct accuracy_settings *question; /* as typed; `settings` has another model where a slice is looked at */
    struct log *log;
    struct arena arena; /* of all words and names */
    struct fork_server *server;
    struct staying_host *host; /* of runners that stay; NULL: there are none */
    struct session_lock lock;
    int family_lock;             /* children inherit it: see folder.c */
    bool is_resumed;             /* experiments of an earlier session are kept */
    bool runs_anew;              /* those of this hypothesis are run all the same */
    struct watched_files inputs; /* that answers depend on */
    double start;                /* stopwatch_now() */
    struct error error;          /* the first one; its code is 0 until then */
    const char *hypothesis;
    VECTOR(struct study_step *) steps;
    bool out_of_budget; /* that is the error */

    /* Of study_open_model(): the original, its Constant nodes being initializers. */
    struct model *model; /* NULL: not open */
    struct subgraph graph;
    struct bitset node; /* of study_node() */

    const char *tolerance_why;      /* in words, for the report */
    struct words layer_tolerance;   /* of tensors inside of it, relative to the largest magnitude of each */
    struct words part_tolerance;    /* of a few nodes alone, in the same way */
    struct failing_case whole;      /* the user's model */
    const char *repeated_golden;    /* its outputs for RUNS_OF_ONE_BUILD times its inputs, see step_add_inputs() */
    bool reference_is_invalid;      /* its outputs have NaN or infinities */
    const char *values;             /* of all tensors in the reference, for --load-outputs; NULL: not made yet */
    const char *layerwise;          /* the same and the inputs, for --load-inputs */
    struct study_step *all_tensors; /* which made them: its result has their ranges */
    enum failure_pattern pattern;
    double failure_rate;         /* of the suspect's runs when that was measured; of its builds where these differ */
    double largest_error;        /* measured then, relative to the largest magnitude of its output */
    bool refused;                /* the suspect does not run the model at all */
    bool outputs_cure;           /* it agrees when all tensors are outputs */
    struct failing_case minimal; /* .model NULL: none yet */
    const char *layers;          /* layer information of an engine of it; NULL: none was built */
    struct study_step *errors;   /* of all tensors; NULL: not measured */
    enum study_outcome outcome;
    const char *verdict; /* one sentence */
    struct cause cause;
    void (*found_by)(struct study *study); /* the hypothesis that has found the cause */
    struct word_list not_tested;           /* a clause each: what was not ruled out, and what would test it */
    struct word_list notes;                /* other facts about the question, a sentence each */
    double smallest_output;                /* of the reference, see study_smallest_output() */
    const char *suspect_outputs;           /* of its first build; NULL: not saved */
    const char *slice; /* a sentence about what fails by its own scale, see slice.c; NULL: an output as a whole */
    bool begins_anew;  /* `settings` has another model: all hypotheses are tested from the first one on */
};

/* Terminates children that are left, too. NULL is allowed. */
void study_free(struct study *study);

bool study_has_failed(const struct study *study);

/* Opens the model, once. False after an error. */
bool study_open_model(struct study *study);

/* Nothing of it is known any more. */
void study_close_model(struct study *study);

/* A path in the folder of the study. */
const char *study_path(struct study *study, const char *name);
const char *study_text(struct study *study, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "'a' (Conv), 'b' (Add) and 'c' (Relu)"; of more than twenty, how many more there are. Without `operators`: names
 * alone. */
const char *study_list(struct study *study, struct words names, struct words operators);

/* Lists of words live as long as the study. study_keep() takes the list over; study_words() has words up to NULL. */
struct words study_keep(struct study *study, struct word_list *list);
struct words study_words(struct study *study, const char *first, ...) __attribute__((sentinel));
struct words study_add_words(struct study *study, struct words words, struct words more);
bool has_word(struct words words, const char *word);

/* ERR_INVALID where an input of the study has changed while it runs: what was found is about two things then. Of files
 * that the line of a runner names, which may be its own to write, there is a warning. (inputs.c) */
int study_refuse_changes(struct study *study, struct error *err);

/* What follows belongs to this hypothesis; one line of the log says so. */
void study_begin_hypothesis(struct study *study, const char *title);

/* A line of the log about it. Arguments of this macro and of the next ones are those of study_text(), whose text lives
 * as long as the study. */
#define study_log(study, ...) study_log_text(study, study_text(study, __VA_ARGS__))
void study_log_text(struct study *study, const char *text);

/* How often the suspect was run, and built, in all experiments so far. */
int64_t study_checks(const struct study *study);
int64_t study_builds(const struct study *study);

/* How many experiments are those of an earlier session. */
size_t study_kept_steps(const struct study *study);

#define study_conclude(study, outcome, ...) study_conclude_text(study, outcome, study_text(study, __VA_ARGS__))
void study_conclude_text(struct study *study, enum study_outcome outcome, const char *text);
#define study_add_evidence(study, ...) study_add_evidence_text(study, study_text(study, __VA_ARGS__))
void study_add_evidence_text(struct study *study, const char *text);

/* Adds a line to a list of the study, once only; `title` is what the log calls it. */
void study_add_once(struct study *study, struct word_list *list, const char *title, const char *text);
#define study_add_not_tested(study, ...)                                                                               \
    study_add_once(study, &(study)->not_tested, "Not tested", study_text(study, __VA_ARGS__))
#define study_add_note(study, ...) study_add_once(study, &(study)->notes, "Note", study_text(study, __VA_ARGS__))

/* "tactic": as --json and reports call it. */
const char *cause_kind_name(enum cause_kind kind);

/* ---- Experiments ---- */

enum agreement {
    UNKNOWN, /* after an error */
    AGREES,
    DIFFERS,
    REFUSES, /* the runner does not accept the model, or fails */
};

/* An experiment. It is put together, then run: step_run(), or what calls it, is the last call but for results. */
struct study_step {
    struct study *study;
    const char *folder;     /* its path */
    const char *name;       /* of the folder: "03-lint" */
    const char *hypothesis; /* that it belongs to */
    const char *why;        /* what it is to show, for the log and the report */
    struct word_list words; /* behind "polygraphy" */

    /* How it is run. */
    bool has_no_result; /* the command has no --json */
    bool is_control;    /* it runs the reference: it counts neither as a check nor as a build of the suspect */
    bool is_fresh;      /* in a process that is started from scratch, not forked off one that has loaded everything */
    bool has_budget;    /* what is left of ours becomes --deadline and --max-checks, at the moment when it begins */
    const char *replay; /* its --save-debug-replay: loaded when the command was interrupted; NULL: it has none */

    /* What it has shown. */
    bool is_kept;        /* to an earlier session */
    const char *command; /* as it can be typed */
    int exit_status;     /* 128 + N: terminated by signal N; -1: it was not run */
    double seconds;
    int64_t checks, builds; /* runs of the suspect, and builds of its engine; for whoever reads the result to fill */
    const char *outcome;    /* one line for the report, by whoever reads the result; NULL: none */
    const char *complaint;  /* the error that it ended with; NULL: none */
    struct words warnings;  /* that it logged, except for those about single comparisons */
    bool has_result;
    struct json_reader result; /* of --json, when has_result */
    enum agreement agreement;  /* of step_judge() */
};

/* Begins one without words. It lives as long as the study, and so do its words. Its folder is there, for its files. */
struct study_step *step_begin(struct study *study, const char *name, const char *why);

/* Begins a `run` of the original model by a runner. Where data come from is to be added. */
struct study_step *step_begin_model(struct study *study, const char *name, const char *why, struct words runner);

/* Begins a `run MODEL` that compares a case. The runner is to be added. */
struct study_step *step_begin_comparison(struct study *study, const struct failing_case *subject, const char *name,
                                         const char *why);

/* The same with the suspect, or as a control with the reference, as the runner. */
struct study_step *step_begin_suspect(struct study *study, const struct failing_case *subject, const char *name,
                                      const char *why);
struct study_step *step_begin_control(struct study *study, const struct failing_case *subject, const char *name,
                                      const char *why);

void step_add(struct study_step *step, const char *first, ...) __attribute__((sentinel)); /* up to NULL */
void step_add_words(struct study_step *step, struct words more);

/* An option with values of the model's or the user's, whatever they begin with. */
void step_add_option(struct study_step *step, const char *option, struct words values);

/* The runner that the cause is about: the suspect, or the reference and --validate where the model is to blame. */
void step_add_blamed_runner(struct study_step *step);

/* What compares a case: --load-inputs, --load-outputs and its tolerance. */
void step_add_case(struct study_step *step, const struct failing_case *subject);

/* --load-inputs with a file, `times` times. */
void step_add_inputs(struct study_step *step, const char *inputs, int64_t times);

/* "FOLDER/name", for a file of its own. */
const char *step_path(struct study_step *step, const char *name);

/* Runs the command to its end, or reads what is kept of it. Any exit status is a result, no error. False after an
 * error. */
bool step_run(struct study_step *step);

/* Runs a command without --json that writes `path`. Returns `path`, or NULL if the command fails. `outcome` and
 * `outcome_of_failure`, which may be NULL: step->outcome after success and after failure. */
const char *step_make(struct study_step *step, const char *path, const char *outcome, const char *outcome_of_failure);

/* Runs a comparison: the suspect was built and run once. A command that makes no sense, as with an option that does not
 * exist, or an input without data, is an error; in step_try(), it REFUSES. */
enum agreement step_judge(struct study_step *step);
enum agreement step_try(struct study_step *step);

/* Runs what has to work: an error with its complaint unless its exit status is 0. */
bool step_require(struct study_step *step);

int64_t failing_case_runs(const struct failing_case *subject);

/* ---- Results ---- */

/* A member of an object, down a path of names: NULL where it is missing. */
json_t *result_find(const json_t *object, const char *path);
double result_number(struct study_step *step, const json_t *object, const char *path, double otherwise);

/* How many there are of something; 0 where that is missing, or not such a number. */
int64_t result_count(struct study_step *step, const json_t *object, const char *path);

/* "" where it is missing. Lives as long as the experiment. */
const char *result_text(struct study_step *step, const json_t *object, const char *path);

/* The texts at `path` in each member of an array; "" is the member itself. */
struct words result_words(struct study_step *step, const json_t *array, const char *path);

/* The same of the result itself. */
bool step_says(const struct study_step *step, const char *path); /* whether it is true */
int64_t step_count(struct study_step *step, const char *path);
const char *step_text(struct study_step *step, const char *path);

#endif
