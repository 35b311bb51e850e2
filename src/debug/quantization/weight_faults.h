/* debug/quantization/weight_faults.h: faults of stored weights, found by comparison with the float model. */
#ifndef DEBUG_QUANTIZATION_WEIGHT_FAULTS_H
#define DEBUG_QUANTIZATION_WEIGHT_FAULTS_H

#include "debug/quantization/subject.h"
#include "onnx/quantizer/faults.h"

struct weight_fault {
    size_t quantizer;
    struct stored_fault fault;
};

struct weight_faults {
    VECTOR(struct weight_fault) list; /* in the order of the quantizers */
    size_t compared;                  /* stored constants with blocks that have a counterpart in the float model */
};

/* Compares each stored constant with its twin. Constants that cannot be read are not compared. */
void weight_faults_find(const struct quantization_subject *subject, struct weight_faults *ret);
void weight_faults_release(struct weight_faults *faults);

#endif
