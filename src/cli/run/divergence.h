/* cli/run/divergence.h: results of --first-divergence after all tensors of a model were compared: the nodes where the
 * difference begins, the inputs of the first one that produces NaN, and whether the unchanged model shows the same.
 */
#ifndef CLI_RUN_DIVERGENCE_H
#define CLI_RUN_DIVERGENCE_H

#include "comparator/compare/element_json.h"
#include "comparator/infer/driver.h"

/* The element of an input from which an invalid element of the output is computed. */
struct input_element {
    uint32_t input; /* value of the model */
    struct element_value value;
};

/* The results for other programs. Initially zeroed. */
struct divergence_findings {
    bool compared, validated; /* whether a difference or an invalid value was searched for */
    struct blamed_nodes differing, invalid;

    /* The outputs of the first invalid node, in the results or when it was run again. */
    bool seen_again;
    uint32_t bad_output; /* value of the model */
    struct shape bad_shape;
    size_t bad_element;
    struct element_value bad_value;
    VECTOR(struct input_element) inputs; /* of elementwise operators */

    bool rechecked;                          /* the model as it is was run, and: */
    bool comparable, matched, finds_invalid; /* results for the model's own outputs */
};

/* Whether the model's own outputs differ, and no tensor does as soon as all of them are outputs. */
bool divergence_is_hidden(const struct divergence_findings *findings);

void divergence_findings_release(struct divergence_findings *findings);

/* Writes them as an object. `model` is the one that all tensors were compared of, `file` as its file has it; NULL: not
 * known. What elements differ is taken from `report`. */
void divergence_findings_write(const struct divergence_findings *findings, const struct model *model,
                               const struct model *file, const struct run_report *report, struct json_writer *json);

struct divergence_report {
    const struct driver_settings *driver;  /* with which all tensors were compared */
    struct model *model;                   /* with all tensors as outputs */
    const char *path;                      /* of the model as it is */
    const struct backend_request *request; /* options */
    struct data_loader *loader;
    const struct run_results *results; /* that were compared; NULL: they were not kept, since they came in groups */
    struct log *log;
};

/* Shows what went into the first node that makes NaN: from the results, or else running the model up to it again. Then
 * also the model as it is is run. */
int divergence_report(const struct divergence_report *report, const struct first_divergence *divergence,
                      struct divergence_findings *ret, struct error *err);

#endif
