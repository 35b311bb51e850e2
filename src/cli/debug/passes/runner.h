/* cli/debug/passes/runner.h: what `debug passes` knows of a runner: a table of functions, in a file of its own.
 *
 * The module cli/debug/passes/ is what `debug passes` asks runners for and how it tells what it found; the search
 * is in debug/passes/.
 *
 * A runner has sources of decisions, and a source may belong to several runners:
 *
 *   const struct decision_source optimizer_source = {.name = "optimizers", .owns = is_optimizer, ...};
 *
 * A decision is a name without ';' and line breaks. `polygraphy run` of that runner does without those that it finds in
 * POLYGRAPHY_DISABLED (cli/options/runners/disabled.h), which is all that the search needs to know.
 */
#ifndef CLI_DEBUG_PASSES_RUNNER_H
#define CLI_DEBUG_PASSES_RUNNER_H

#include "base/container/bitset.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "cli/options/groups.h"
#include "cli/options/runners/engine.h"
#include "cli/parse/command.h"
#include "debug/passes/passes.h"
#include "debug/passes/rewritten.h"

struct debug_passes_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct runner_values runners;
    struct comparison_values comparison;
    struct engine_values engine;

    /* its own */
    const char *folder;
    struct words decisions, among;
    bool reduce;
};

/* What the session is about. */
struct passes_subject {
    const struct command_context *context;
    const struct debug_passes_settings *settings;
    const char *model;   /* its path */
    struct arena *arena; /* lives as long as the session */
    bool saturates;      /* uint8 x int8 products saturate on this processor: system_saturates_products() */
    void **memory; /* the runner's: what one of its sources has found, for the others; in the arena. At first NULL */
};

/* Decisions in the order in which they are tried: neighbours are switched off together first. */
struct decisions {
    struct arena *arena;
    struct word_list names; /* each once */
    struct word_list unfit; /* that cannot be names, and are left out */
};

/* Copies the name, unless it is there. */
void decisions_add(struct decisions *decisions, const char *name);

/* One whose name cannot be handed over; `shown` is what to call it. */
void decisions_leave_out(struct decisions *decisions, const char *shown);

/* How something is switched off for good: in this program's words, and as others spell it. */
enum remedy_form { REMEDY_OPTION, REMEDY_C, REMEDY_PYTHON, REMEDY_TRTEXEC, REMEDY_FORMS };

struct remedies {
    struct arena *arena;
    struct remedy {
        enum remedy_form form;
        const char *line; /* an option: "--fp16", what it is added to being known */
    } * items;
    size_t count, capacity;
};

void remedies_add(struct remedies *remedies, enum remedy_form form, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Decisions of one kind. */
struct decision_source {
    const char *name; /* as --among takes it: "optimizers" */
    bool on_request;  /* only where --among names it */
    bool (*owns)(const char *decision);

    /* Adds those that may act on the model. */
    int (*find)(const struct passes_subject *subject, struct decisions *ret, struct error *err);

    /* Warns of a name that looks like one of its decisions, and is none that is known. NULL: all are. */
    void (*doubt)(const char *decision, struct log *log);

    /* `off` are all decisions of this source that have to be off, at least one. */
    void (*add_remedies)(struct words off, struct remedies *ret);
};

/* What is known of another reason that would look the same: that kernels which layers have with what was found, and
 * others without it, are wrong by themselves. */
struct other_kernels {
    enum kernel_evidence {
        KERNELS_NOT_ASKED,    /* the runner does not tell, or kernels are what was found */
        KERNELS_SAME,         /* layers that begin with the same node have the same */
        KERNELS_FORCED_PASS,  /* forced upon the layers that there are without it, they pass */
        KERNELS_FORCED_FAIL,  /* so they fail as well: it is them */
        KERNELS_NOT_RULED_OUT /* and `why_not` */
    } evidence;
    const char *why_not;
    const char *differences; /* "'conv' (onednn:jit)": where they are others without it */
    const char *replay;      /* that forces them; NULL: there is none */
};

/* What a runner makes of the model with and without what was found. */
struct rewriting {
    bool is_known;                        /* else nothing below is */
    struct rewritten_nodes nodes;         /* to be released in any case */
    const char *with_path, *without_path; /* models that have these nodes; NULL: there are none */
    struct other_kernels kernels;
};

struct passes_runner {
    const char *name;                         /* "ONNX Runtime" */
    const char *option;                       /* that chooses it in `polygraphy run` */
    const char *const *fixed;                 /* NULL-terminated options that it always has; NULL: none */
    const struct option_group *const *groups; /* NULL-terminated: what it takes of the command line */

    /* An option and its value with which it decides no more than with all decisions switched off: the reference has it
     * in place of the user's. NULL-terminated; NULL: there is none. */
    const char *const *reference_option;
    const struct decision_source *const *sources; /* NULL-terminated */

    /* With `off` switched off and with nothing. Files may go to `folder`, which is there. Where a replay of tactics was
     * made, whether the model passes with it is left to be seen. NULL: that is not known. */
    int (*compare)(const struct passes_subject *subject, struct words off, const char *folder, struct rewriting *ret,
                   struct error *err);
};

/* ---- Of any runner ---- */

/* What the command line says of decisions that are to be tried. */
struct decision_wishes {
    struct words names;  /* these; none: what the runner finds */
    struct words kinds;  /* of these sources; none: of all but those that are there on request */
    bool check_is_given; /* --check, which may know names that the runner does not */
};

/* Adds what is to be tried, at least one. ERR_INVALID names a kind or a name that the runner has not, ERR_UNSUPPORTED:
 * it has found none. Warns of names that are left out, and of optimizers that nobody knows. */
int passes_find_decisions(const struct passes_subject *subject, const struct passes_runner *runner,
                          const struct decision_wishes *wishes, struct decisions *ret, struct error *err);

/* How these are switched off for good, by all sources that have some of them. */
void passes_find_remedies(const struct passes_runner *runner, struct words off, struct remedies *ret);

/* ---- Commands of this program ---- */

/* Appends `polygraphy run MODEL` of the runner, with what the command line says to it; for the reference, with the
 * option that the reference has. */
void passes_add_run(const struct passes_subject *subject, const struct passes_runner *runner, const char *model,
                    bool for_reference, struct word_list *ret);

/* Writes a list for POLYGRAPHY_DISABLED=@FILE, without those of the set `left_out` (NULL: all are in it). */
int decisions_write(struct words names, const struct bitset *left_out, const char *path, struct error *err);

/* Runs the words, which begin with "polygraphy", without what the file `list` names. Any end is no error. */
int passes_run_command(const struct passes_subject *subject, struct word_list *words, const char *list,
                       struct process_result *ret, struct error *err);

/* ---- Runners ---- */

extern const struct passes_runner onnxrt_passes_runner;   /* onnxrt.c */
extern const struct passes_runner builtin_passes_runner;  /* builtin.c */
extern const struct passes_runner tensorrt_passes_runner; /* tensorrt.c */

#endif
