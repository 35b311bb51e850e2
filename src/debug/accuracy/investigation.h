/* debug/accuracy/investigation.h: experiments, each a command of this program, and what is known so far.
 *
 *   struct call call;
 *
 *   call_begin(&call, investigation, "lint", "Nothing is wrong with the model itself");
 *   call_add(&call, "check", "lint", subject->model, NULL);
 *   rc = call_run(&call, &experiment, err);
 *   if (rc == 0 && experiment->exit_status != 0)
 *       ...
 *
 * An experiment has a folder, `FOLDER/steps/03-lint`, with its log, its result and, when it has ended, `done.json`. The
 * same command at the same place is not run a second time: that is how a session that was killed goes on.
 */
#ifndef DEBUG_ACCURACY_INVESTIGATION_H
#define DEBUG_ACCURACY_INVESTIGATION_H

#include "base/error.h"
#include "base/log.h"
#include "debug/accuracy/cause.h"
#include "debug/accuracy/settings.h"
#include "debug/loop/session_lock.h"
#include "format/json/reader.h"

/* So often, at the most, the suspect is run with one and the same build: a failure in half of the runs is missed by one
 * time in 500. */
#define RUNS_OF_ONE_BUILD 10

/* A call of this program that is put together. */
struct call {
    struct investigation *investigation;
    const char *name;       /* of the experiment's folder, behind its number */
    const char *why;        /* what it is to show, for the log and the report */
    bool has_result;        /* it takes --json, and gets it */
    bool is_fresh;          /* a process that is started anew, not forked off one that has loaded everything */
    struct word_list words; /* behind "polygraphy"; the strings are the investigation's */
    const char *replay;     /* its --save-debug-replay: it goes on with that when it was cut off; NULL: it has none */
    bool has_budget;        /* what is left of ours */
};

enum agreement {
    AGREES,
    DIFFERS,
    REFUSES, /* the runner does not take the model, or fails */
};

struct experiment {
    const char *name;   /* of its folder: "03-lint" */
    const char *folder; /* its path */
    const char *step;   /* the question that it belongs to */
    const char *why;
    const char *command; /* as it can be typed */
    int exit_status;     /* 128 + N: ended by signal N */
    double seconds;
    int64_t checks, builds;    /* runs of the suspect, and builds of its engine; for whoever reads the result to fill */
    const char *outcome;       /* one line for the report, by whoever reads the result; NULL: none */
    const char *complaint;     /* the error that it ended with; NULL: none */
    struct word_list warnings; /* that it logged, but for those about single comparisons */
    bool has_result;
    struct json_reader result; /* of --json, when has_result */
    enum agreement agreement;  /* of call_judge() */
};

/* A model, and data for which it fails. */
struct failing_case {
    const char *model;
    const char *inputs; /* for --load-inputs */
    const char *golden; /* for --load-outputs */
    struct words tolerance;
    int64_t runs; /* how often a check runs the inputs, and `golden` has outputs; 0: once */
};

int64_t failing_case_runs(const struct failing_case *subject);

enum occurrence {
    OCCURS_NEVER,
    OCCURS_ALWAYS,
    OCCURS_BY_BUILD, /* some builds fail, in all of their runs */
    OCCURS_BY_RUN,   /* runs of one build differ */
};

enum outcome {
    OUTCOME_OPEN,
    OUTCOME_CAUSE,
    OUTCOME_NOTHING_FAILS,
    OUTCOME_NO_CAUSE,    /* it fails, and nobody knows why */
    OUTCOME_NO_QUESTION, /* there is nothing to compare with: the model does not run, or the reference changes */
};

struct investigation {
    const struct accuracy_settings *settings;
    struct log *log;
    struct arena arena; /* all words and names */
    struct fork_server *server;
    struct session_lock lock;
    int family_lock; /* children inherit it: see accuracy.c */
    double start;    /* stopwatch_now() */
    const char *step;
    struct {
        struct experiment **items;
        size_t count, capacity;
    } experiments;
    bool out_of_budget;

    const char *tolerance_why;      /* in words, for the report */
    struct words layer_tolerance;   /* of tensors inside of it, relative to the largest magnitude of each */
    struct words part_tolerance;    /* of a few nodes alone, in the same way */
    struct failing_case whole;      /* the user's model */
    const char *repeated_golden;    /* its outputs for RUNS_OF_ONE_BUILD times its inputs, see
                                    call_add_inputs() */
    const char *values;             /* of all tensors in the reference, for --load-outputs; NULL: see values.h */
    const char *layerwise;          /* the same and the inputs, for --load-inputs */
    struct experiment *all_tensors; /* which made them: its result has their ranges */
    enum occurrence occurrence;
    double failure_rate;         /* of the suspect's runs when that was asked; of its builds where these differ */
    double largest_error;        /* that was seen then, relative to the largest magnitude of its output */
    bool refused;                /* it does not even run the model */
    struct failing_case minimal; /* .model NULL: none yet */
    const char *layers;          /* layer information of an engine of it; NULL: none was built */
    struct experiment *errors;   /* of all tensors; NULL: not measured */
    enum outcome outcome;
    const char *verdict; /* one sentence */
    struct cause cause;
};

/* Also ends what is left of children. NULL is fine. */
void investigation_free(struct investigation *investigation);

/* A path in the folder of the investigation. */
const char *investigation_path(struct investigation *investigation, const char *name);
const char *investigation_text(struct investigation *investigation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "'a' (Conv), 'b' (Add) and 'c' (Relu)"; of more than five, how many more there are. `operators` of no word: names
 * alone. */
const char *investigation_list(struct investigation *investigation, struct words names, struct words operators);

/* All that follows belongs to this question; one line of the log says so. */
void investigation_begin_step(struct investigation *investigation, const char *question);

/* How often the suspect was run, and built, in all experiments so far. */
int64_t investigation_checks(const struct investigation *investigation);
int64_t investigation_builds(const struct investigation *investigation);

/* ---- Commands ---- */

/* Begins one without words. It ends with call_run() or what calls that, or with call_keep(). */
void call_begin(struct call *ret, struct investigation *investigation, const char *name, const char *why);

/* Words that are no command of their own, but options or names to keep: ends with call_keep(). */
void call_begin_words(struct call *ret, struct investigation *investigation);
void call_add(struct call *call, const char *first, ...) __attribute__((sentinel)); /* up to NULL */
void call_add_words(struct call *call, struct words more);

/* What compares a case: --load-inputs, --load-outputs and its tolerance. */
void call_add_case(struct call *call, const struct failing_case *subject);

/* Begins a `run MODEL` with that. The runner is to be added. */
void call_begin_comparison(struct call *ret, struct investigation *investigation, const struct failing_case *subject,
                           const char *name, const char *why);

/* Adds the runner that the cause is about: the suspect, or the reference and --validate where the model is to blame. */
void call_add_blamed(struct call *call);

/* The input data of the whole model, `times` times over. */
void call_add_inputs(struct call *call, int64_t times);

/* What the budget leaves when it begins, as --deadline and --max-checks of a search. */
void call_add_budget(struct call *call);

/* The words, NULL-terminated, for as long as the investigation lives. */
struct words call_keep(struct call *call);

/* The folder that the experiment will have, for files of its own; it is there. */
const char *call_folder(struct call *call);

/* ---- Experiments ---- */

/* Runs a command to its end, or takes what is kept of it. `*ret` lives as long as the investigation. Whatever the exit
 * status is, that is no error; ERR_INTERRUPTED, and ERR_UNSUPPORTED where the budget is used up, which sets
 * `out_of_budget`. */
int call_run(struct call *call, struct experiment **ret, struct error *err);

/* Runs a comparison and fills in `agreement`: the suspect was built and run once. An error where the question made no
 * sense: an option that is not there, an input without data. */
int call_judge(struct call *call, struct experiment **ret, struct error *err);

/* Runs what has to work: an error with what it complains about unless its exit status is 0. */
int call_succeed(struct call *call, struct experiment **ret, struct error *err);

/* ---- Results ---- */

/* A member of an object, down a path of names: NULL where it is not there. */
json_t *result_find(const json_t *object, const char *path);
double result_number(struct experiment *experiment, const json_t *object, const char *path, double otherwise);

/* How many there are of something; 0 where that is not there, or is no such number. */
int64_t result_count(struct experiment *experiment, const json_t *object, const char *path);

/* "" where it is not there. Lives as long as the experiment. */
const char *result_text(struct experiment *experiment, const json_t *object, const char *path);

/* ---- What is known ---- */

void investigation_conclude(struct investigation *investigation, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cause_add_proof(struct investigation *investigation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
