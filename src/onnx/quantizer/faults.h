/* onnx/quantizer/faults.h: names what is wrong with a stored constant, compared with the values of a float model.
 *
 * A block is wrong if the squared error of its elements is more than FAULT_NOISE times that of rounding to levels that
 * span its values symmetrically. If any block is wrong, each kind of fault is undone in the wrong blocks, and the error
 * is measured again. A fault is named if undoing it leaves at most 1 of 20 wrong blocks wrong; of several, the one that
 * leaves the smallest error.
 */
#ifndef ONNX_QUANTIZER_FAULTS_H
#define ONNX_QUANTIZER_FAULTS_H

#include "onnx/quantizer/quantizer.h"

#define FAULT_NOISE 4

enum stored_fault_kind {
    FAULT_NONE,             /* no block is wrong, or the error is small */
    FAULT_SCALES,           /* scales are `factor` to `largest_factor` times what they should be */
    FAULT_COARSE,           /* rounded with scales `factor` to `largest_factor` times as large as the values need */
    FAULT_ZERO_POINTS,      /* zero points are `offset` larger than they should be */
    FAULT_HALVES,           /* the two halves of each byte are swapped */
    FAULT_BLOCKS_SWAPPED,   /* two blocks, `first` and `second` */
    FAULT_BLOCKS_PERMUTED,  /* each wrong block is at the place of another one */
    FAULT_BLOCKS_SHIFTED,   /* blocks are `offset` places further along the axis, cyclically */
    FAULT_ELEMENTS_SHIFTED, /* elements are `offset` places further along the axis, cyclically */
    FAULT_UNKNOWN,          /* none of these */
};

/* What of a block is at another place. */
enum moved_part { MOVED_INTEGERS, MOVED_SCALES, MOVED_BOTH };

struct block_place {
    size_t line, block;
};

struct stored_fault {
    enum stored_fault_kind kind;
    size_t blocks, wrong;             /* all, and the wrong ones */
    struct block_place first, second; /* of FAULT_BLOCKS_SWAPPED, in the first line with them */
    enum moved_part moved;            /* of moved blocks */
    double factor, largest_factor;
    bool is_factor_exact; /* all stored integers are the nearest ones with it; else it is estimated */
    int64_t offset;
    int64_t zero_point;   /* of FAULT_ZERO_POINTS: the stored one, if all wrong blocks have the same; else -1 */
    double before, after; /* signal to noise of the constant, in dB, as stored and with the fault undone */
};

/* Compares `stored`, the integers of the quantizer, with `values`. False if they cannot be compared: the quantizer has
 * no blocks, or shapes differ. */
bool stored_fault_find(const struct quantizer *quantizer, const struct tensor *stored, const struct tensor *values,
                       struct stored_fault *ret);

/* Whether it is known what is wrong. */
static inline bool stored_fault_is_named(const struct stored_fault *fault)
{
    return fault->kind != FAULT_NONE && fault->kind != FAULT_UNKNOWN;
}

#endif
