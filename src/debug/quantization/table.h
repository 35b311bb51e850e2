/* debug/quantization/table.h: what each quantizer of a model does, to its own tensor and at the outputs.
 *
 * Every quantizer with a switch (switched_model.h) is run alone and left out: two runs of one session for each of
 * them, and for each sample. Quantization is simulated there; how near that is to the model as the runtime runs it is
 * measured as well. docs/quantization.md explains the numbers.
 */
#ifndef DEBUG_QUANTIZATION_TABLE_H
#define DEBUG_QUANTIZATION_TABLE_H

#include "debug/quantization/runs.h"
#include "debug/quantization/tensors.h"

/* Ratios of signal and noise are dB; NAN: not measured. */
struct quantization_row {
    size_t quantizer;
    const char *why_not; /* it is not switched, so that its effect is not known; NULL: it is */
    struct quantized_tensor tensor;
    double alone;       /* at the output where it is least, with only this one on; against all off */
    size_t output;      /* that one */
    double alone_noise; /* noise over signal there; 0 where it was not measured */
    double gain;        /* by how much the least of all outputs rises when only this one is off */
    const char *alone_crash, *left_out_crash; /* how the runtime has crashed in these runs; NULL: it has not */
};

struct quantization_output {
    const char *name;
    bool counts;               /* floating numbers; indices and the like only count where there is nothing else */
    double quantized;          /* all on, as simulated, against the reference; NAN: there is none */
    double as_run;             /* the model as the runtime runs it, against the reference; NAN: it does not */
    double simulation;         /* the same, against all on as simulated */
    double all_off;            /* all off against the float model; NAN: there is none */
    double again;              /* all off against the same once more: INFINITY as long as chance has no part in it */
    size_t compared, left_out; /* elements of the reference that are finite numbers, and that are not */
};

struct quantization_table {
    /* Those with which alone the runtime crashes; then the costliest first; behind these, in the model's order, those
     * without a switch. */
    struct quantization_row *rows;
    size_t count;
    size_t switched; /* of them have one */
    size_t crashed;  /* of them the runtime crashes with alone */
    struct quantization_output *outputs;
    size_t output_count;
    size_t samples, runs;
    double seconds;
    const char *why_not_run;  /* the model as it is; NULL: it does */
    const char *all_on_crash; /* how the runtime has crashed with all quantizers on; NULL: it has not */
    struct arena arena;
};

/* Runs all of that. With a backend that is at work in a process of its own (backend/onnxrt/apart/backend.h) a crash
 * costs what it was to measure; that of what the others are measured against is an error. ERR_INTERRUPTED when a signal
 * asks to end; errors of the data loader and of the backend; ERR_INVALID when the outputs of the two models do not go
 * together. `ret` is to be released after success. */
int quantization_measure(const struct quantization_study *study, struct quantization_table *ret, struct error *err);
void quantization_table_release(struct quantization_table *table);

#endif
