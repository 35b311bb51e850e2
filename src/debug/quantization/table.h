/* debug/quantization/table.h: effect of each quantizer of a model, on its own tensor and at the outputs.
 *
 * Every quantizer with a switch (switched_model.h) is measured as the only one enabled and as the only one disabled:
 * two runs of one session for each quantizer and sample. Quantization is simulated; the difference from the runtime's
 * own run of the model is measured as well. docs/quantization.md explains the numbers.
 */
#ifndef DEBUG_QUANTIZATION_TABLE_H
#define DEBUG_QUANTIZATION_TABLE_H

#include "debug/quantization/runs.h"
#include "debug/quantization/tensors.h"

/* Signal-to-noise ratios in dB; NAN: not measured. */
struct quantization_row {
    size_t quantizer;
    const char *why_not; /* reason why it has no switch, so that its effect is unknown; NULL: it has one */
    struct quantized_tensor tensor;
    double alone;  /* lowest ratio of all outputs with only this one enabled, against all disabled */
    size_t output; /* the output of `alone` */
    /* The same for the worst slice (tensor/compare/slices.h), with its largest error in place of sums of squares; NAN:
     * the outputs have no slices with separate scales. */
    double slice;
    double alone_noise; /* noise over signal there; 0: not measured */
    double gain;        /* increase of the lowest ratio of all outputs with only this one disabled */
    const char *alone_crash, *left_out_crash; /* crash of the runtime in these runs; NULL: none */
};

struct quantization_output {
    const char *name;
    bool counts;               /* floating numbers; indices and similar only count if there is nothing else */
    double quantized;          /* simulated, all enabled, against the reference; NAN: none */
    double as_run;             /* the runtime's own run against the reference; NAN: does not run */
    double simulation;         /* the runtime's own run against the simulation with all enabled */
    double all_off;            /* all disabled against the float model; NAN: none */
    double bias_kept;          /* `simulation` without QUANTIZATION_BIAS_OPTIMIZER, if `simulation` is far */
    double again;              /* all disabled, against a repetition: INFINITY if reproducible */
    size_t compared, left_out; /* elements of the reference that are finite, and that are not */
};

struct quantization_table {
    /* Sorted: quantizers that crash the runtime if only they are enabled; then by quantization_cost(); then those
     * without a switch, in the model's order. */
    struct quantization_row *rows;
    size_t count;
    size_t switched; /* number of rows with a switch */
    size_t crashed;  /* number of rows with a crash in `alone` */
    struct quantization_output *outputs;
    size_t output_count;
    size_t samples, runs;
    double seconds;
    const char *why_not_run;  /* of the unmodified model; NULL: it runs */
    const char *all_on_crash; /* crash of the runtime with all quantizers enabled; NULL: none */
    struct arena arena;
};

/* The lower one of the ratios of a row at the outputs: the lower, the higher its cost. */
double quantization_cost(const struct quantization_row *row);

/* Whether two results that should be equal differ by more than quantization noise, of which `quantized` is the ratio,
 * or all signal is lost. */
bool quantization_is_far(double ratio, double quantized);

/* The output of this row of `outputs`: the one with its name, else the one at its place; NULL: there is none. */
const struct tensor *quantization_find_output(const struct quantization_table *table, const struct tensor_list *outputs,
                                              size_t i);

/* Measures the table. With a backend in a separate process (backend/onnxrt/apart/backend.h), a crash only costs the
 * measurement of that run; a crash of a reference run is an error. ERR_INTERRUPTED after a signal; errors of the data
 * loader and of the backend; ERR_INVALID if the outputs of the two models do not match. Release `ret` after success. */
int quantization_measure(const struct quantization_study *study, struct quantization_table *ret, struct error *err);
void quantization_table_release(struct quantization_table *table);

#endif
