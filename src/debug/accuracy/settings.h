/* debug/accuracy/settings.h: what is asked. */
#ifndef DEBUG_ACCURACY_SETTINGS_H
#define DEBUG_ACCURACY_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/text.h"

/* What the command line says; everything is borrowed. Words are as they are typed. */
struct accuracy_settings {
    const char *model;
    const char *folder;            /* where everything goes */
    struct words reference;        /* the runner that is believed, with its options: --onnxrt */
    struct words suspect;          /* the one that is asked about: --trt --fp16 */
    struct words suspect_in_float; /* the same without lower precisions; of no word where it has none */
    struct words engine;           /* of the suspect: what an engine is built with, for `debug build` and the like */
    struct words explored;         /* the same but for what decides on tactics, where lots do */
    struct words excluded;         /* tactics that the suspect does not take anyway: names of --exclude-tactics */
    struct words serving;          /* of the suspect: what an engine that is built already is run with: --plugins */
    struct words loading;          /* how the model is loaded, for both */
    struct words data;             /* where input data come from */
    bool data_are_given;           /* not made up */
    struct words tolerance;        /* none: derived from the model and the precision */
    const char *precision;         /* the lowest that the suspect may compute in: "float16" */
    double unit_roundoff;          /* of that */
    bool suspect_has_engine;       /* it is --trt */
    bool suspect_is_built;         /* that, or it has a --runner-build */
    bool suspect_is_builtin;       /* and that is the built-in engine: its tactics can be explored */
    bool reference_is_onnxrt, suspect_is_onnxrt;
    bool products_saturate;  /* uint8 x int8, on this processor: system_saturates_products() */
    int64_t builds, runs;    /* how often the suspect is built, and run with each build */
    int64_t explored_builds; /* with tactics drawn by lot, where the suspect is the built-in engine */
    double deadline;         /* seconds; 0: none */
    int64_t max_checks;      /* 0: no limit */
    const char *program;     /* path of this program */
    int (*self_main)(int argc, char **argv);
    void (*self_prepare)(void *words);
};

#endif
