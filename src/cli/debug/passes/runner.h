/* cli/debug/passes/runner.h: interface of runners for `debug passes`: a table of functions, one file for each.
 *
 * The module cli/debug/passes/ contains the runners and the answer of `debug passes`; the search is in debug/passes/.
 *
 * A runner has sources of optimizations ("decisions"), and a source may belong to several runners:
 *
 *   const struct decision_source optimizer_source = {.name = "optimizers", .owns = is_optimizer, ...};
 *
 * A decision is a name without ';' and line breaks. `polygraphy run` of that runner disables those that it finds in
 * POLYGRAPHY_DISABLED (cli/options/runners/disabled.h); the search needs nothing else.
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

    /* own options */
    const char *folder;
    struct words decisions, among;
    bool reduce;
};

/* The subject of the session. */
struct passes_subject {
    const struct command_context *context;
    const struct debug_passes_settings *settings;
    const char *model;   /* its path */
    struct arena *arena; /* lives as long as the session */
    bool saturates;      /* uint8 x int8 products saturate on this processor: system_saturates_products() */
    void **memory;       /* for the runner's sources to share results; in the arena. Initially NULL */
};

/* Decisions in the order in which they are tried: neighbours are disabled together first. */
struct decisions {
    struct arena *arena;
    struct word_list names; /* without duplicates */
    struct word_list unfit; /* those that cannot be names, and are omitted */
};

/* Adds a copy of the name, unless it exists. */
void decisions_add(struct decisions *decisions, const char *name);

/* Adds one that is omitted because of its name; `shown` is for messages. */
void decisions_leave_out(struct decisions *decisions, const char *shown);

/* Ways to disable something permanently: options of this program, and forms for others. */
enum remedy_form { REMEDY_OPTION, REMEDY_C, REMEDY_PYTHON, REMEDY_TRTEXEC, REMEDY_FORMS };

struct remedies {
    struct arena *arena;
    struct remedy {
        enum remedy_form form;
        const char *line; /* for an option: "--fp16" */
    } * items;
    size_t count, capacity;
};

void remedies_add(struct remedies *remedies, enum remedy_form form, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Decisions of one kind. */
struct decision_source {
    const char *name; /* value of --among: "optimizers" */
    bool on_request;  /* only if --among names it */
    bool (*owns)(const char *decision);

    /* Adds those that may affect the model. */
    int (*find)(const struct passes_subject *subject, struct decisions *ret, struct error *err);

    /* Warns of an unknown name that looks like one of its decisions. NULL: all are known. */
    void (*doubt)(const char *decision, struct log *log);

    /* `off`: all decisions of this source to disable, at least one. NULL: there is no permanent way. */
    void (*add_remedies)(struct words off, struct remedies *ret);
};

/* Result for another possible cause: kernels that layers have with the culprits, and not without them, may be wrong. */
struct other_kernels {
    enum kernel_evidence {
        KERNELS_NOT_ASKED,    /* unknown for this runner, or the culprits are kernels */
        KERNELS_SAME,         /* layers with the same first node have the same kernels */
        KERNELS_FORCED_PASS,  /* forced on the layers without the culprits, they pass */
        KERNELS_FORCED_FAIL,  /* forced, they fail as well: they are the cause */
        KERNELS_NOT_RULED_OUT /* unknown; see `why_not` */
    } evidence;
    const char *why_not;
    const char *differences; /* kernels that differ: "'conv' (onednn:jit)" */
    const char *replay;      /* replay that forces them; NULL: none */
};

/* The model as rewritten by a runner, with and without the culprits. */
struct rewriting {
    bool is_known;                        /* if false, the rest is not set */
    struct rewritten_nodes nodes;         /* release in any case */
    const char *with_path, *without_path; /* models with these nodes; NULL: none */
    struct other_kernels kernels;
};

struct passes_runner {
    const char *name;                         /* "ONNX Runtime" */
    const char *option;                       /* option of `polygraphy run` that selects it */
    const char *const *fixed;                 /* NULL-terminated options that are always set; NULL: none */
    const struct option_group *const *groups; /* NULL-terminated: groups of options that it uses */

    /* An option and value that disable as much as disabling all decisions: the reference has it in place of the user's.
     * NULL-terminated; NULL: none. */
    const char *const *reference_option;
    const struct decision_source *const *sources; /* NULL-terminated */

    /* Compares the model with `off` disabled and with nothing disabled. Files may be written to `folder`, which exists.
     * If a replay of tactics is created, the caller checks the model with it. Where `off` replaces no nodes, nothing is
     * set. NULL: unknown. */
    int (*compare)(const struct passes_subject *subject, struct words off, const char *folder, struct rewriting *ret,
                   struct error *err);
};

/* ---- Of any runner ---- */

/* Options that choose decisions to try. */
struct decision_wishes {
    struct words names;  /* names, or kinds for all of their names; none: those that the runner finds */
    struct words kinds;  /* kinds; none: all but those on request */
    bool check_is_given; /* --check, which may know names that the runner does not */
};

/* Adds the decisions to try, at least one. ERR_INVALID: unknown kind or name; ERR_UNSUPPORTED: none found. Warns of
 * omitted names and of unknown optimizers. */
int passes_find_decisions(const struct passes_subject *subject, const struct passes_runner *runner,
                          const struct decision_wishes *wishes, struct decisions *ret, struct error *err);

/* Finds permanent ways to disable these, from all sources. */
void passes_find_remedies(const struct passes_runner *runner, struct words off, struct remedies *ret);

/* ---- Commands of this program ---- */

/* Appends `polygraphy run MODEL` of the runner, with the options of the command line; for the reference, with its
 * option. */
void passes_add_run(const struct passes_subject *subject, const struct passes_runner *runner, const char *model,
                    bool for_reference, struct word_list *ret);

/* Writes a list for POLYGRAPHY_DISABLED=@FILE, without the set `left_out` (NULL: complete). */
int decisions_write(struct words names, const struct bitset *left_out, const char *path, struct error *err);

/* Runs the words, which begin with "polygraphy", with the list in the file `list` disabled. Any exit status is
 * accepted. */
int passes_run_command(const struct passes_subject *subject, struct word_list *words, const char *list,
                       struct process_result *ret, struct error *err);

/* ---- Runners ---- */

extern const struct passes_runner onnxrt_passes_runner;   /* onnxrt.c */
extern const struct passes_runner builtin_passes_runner;  /* builtin.c */
extern const struct passes_runner tensorrt_passes_runner; /* tensorrt.c */

#endif
