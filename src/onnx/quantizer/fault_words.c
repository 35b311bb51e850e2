/* onnx/quantizer/fault_words.c: see fault_words.h. */
#include "onnx/quantizer/fault_words.h"

#include <stdlib.h>

const char *stored_fault_key(enum stored_fault_kind kind)
{
    static const char *const keys[] = {
        [FAULT_NONE] = "none",
        [FAULT_SCALES] = "scales",
        [FAULT_COARSE] = "coarse-scales",
        [FAULT_ZERO_POINTS] = "zero-points",
        [FAULT_HALVES] = "halves-swapped",
        [FAULT_BLOCKS_SWAPPED] = "blocks-swapped",
        [FAULT_BLOCKS_PERMUTED] = "blocks-permuted",
        [FAULT_BLOCKS_SHIFTED] = "blocks-shifted",
        [FAULT_ELEMENTS_SHIFTED] = "elements-shifted",
        [FAULT_UNKNOWN] = "unknown",
    };

    return keys[kind];
}

/* "8", "2 to 9" */
static void add_factors(double least, double largest, struct string_builder *ret)
{
    string_add_format(ret, "%.2g", least);
    if (largest > least)
        string_add_format(ret, " to %.2g", largest);
}

static void describe_scales(const struct stored_fault *fault, struct string_builder *ret)
{
    if (fault->kind == FAULT_COARSE) {
        string_add(ret, "was rounded with scales about ");
        add_factors(fault->factor, fault->largest_factor, ret);
        string_add(ret, " times as large as its values need");
        return;
    }
    string_add_format(ret, "has scales that are %s", fault->is_factor_exact ? "" : "about ");
    if (fault->largest_factor < 1)
        add_factors(1 / fault->largest_factor, 1 / fault->factor, ret);
    else
        add_factors(fault->factor, fault->largest_factor, ret);
    string_add(ret, fault->largest_factor < 1 ? " times too small"
                    : fault->factor > 1       ? " times too large"
                                              : " times what they should be");
}

static void describe_zero_point_words(const struct stored_fault *fault, struct string_builder *ret)
{
    if (fault->zero_point >= 0 && fault->offset != 0)
        string_add_format(ret, "has zero point %lld in place of %lld", (long long)fault->zero_point,
                          (long long)(fault->zero_point - fault->offset));
    else if (fault->offset != 0)
        string_add_format(ret, "has zero points that are too %s by %lld", fault->offset > 0 ? "large" : "small",
                          llabs((long long)fault->offset));
    else
        string_add(ret, "has wrong zero points");
}

static void describe_moved(const struct stored_fault *fault, struct string_builder *ret)
{
    static const char *const parts[] = {
        [MOVED_INTEGERS] = "the integers of ", [MOVED_SCALES] = "the scales of ", [MOVED_BOTH] = ""};

    string_add_format(ret, "has %s", parts[fault->moved]);
    if (fault->kind == FAULT_BLOCKS_SHIFTED)
        string_add_format(ret, "blocks shifted by %lld along the axis", (long long)fault->offset);
    else if (fault->kind == FAULT_BLOCKS_PERMUTED)
        string_add(ret, "blocks at the places of other blocks");
    else if (fault->first.line == fault->second.line)
        string_add_format(ret, "blocks %zu and %zu swapped", fault->first.block, fault->second.block);
    else
        string_add_format(ret, "block %zu of line %zu and block %zu of line %zu swapped", fault->first.block,
                          fault->first.line, fault->second.block, fault->second.line);
}

void stored_fault_describe(const struct stored_fault *fault, struct string_builder *ret)
{
    switch (fault->kind) {
    case FAULT_SCALES:
    case FAULT_COARSE:
        describe_scales(fault, ret);
        break;
    case FAULT_ZERO_POINTS:
        describe_zero_point_words(fault, ret);
        break;
    case FAULT_HALVES:
        string_add(ret, "has the two halves of each byte swapped");
        break;
    case FAULT_ELEMENTS_SHIFTED:
        string_add_format(ret, "has elements shifted by %lld along the axis", (long long)fault->offset);
        break;
    case FAULT_BLOCKS_SWAPPED:
    case FAULT_BLOCKS_PERMUTED:
    case FAULT_BLOCKS_SHIFTED:
        describe_moved(fault, ret);
        break;
    default:
        string_add(ret, "differs by more than rounding");
    }
    string_add_format(ret, " (%zu of %zu blocks)", fault->wrong, fault->blocks);
}
