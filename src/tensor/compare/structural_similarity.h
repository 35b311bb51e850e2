/* tensor/compare/structural_similarity.h: the structural similarity of images. */
#ifndef TENSOR_COMPARE_STRUCTURAL_SIMILARITY_H
#define TENSOR_COMPARE_STRUCTURAL_SIMILARITY_H

#include "tensor/values/tensor.h"

#define SSIM_WINDOW 11 /* pixels; the side of the window */

/* Whether a tensor has images: numbers, two to five dimensions, of which the last two are height and width, or the two
 * in front of a last one of at most four channels, with at least SSIM_WINDOW pixels each. */
bool tensor_is_images(const struct tensor *tensor);

struct structural_similarity {
    double mean, minimum; /* over the planes (a channel of an image), -1 .. 1; NaN if a value is NaN or infinite */
    size_t worst;         /* the plane of the minimum, in row-major order of the other axes */
    size_t planes;
};

/* SSIM (Z. Wang et al., Image Quality Assessment: From Error Visibility to Structural Similarity, 2004): a Gaussian
 * window of 11 x 11 pixels with a standard deviation of 1.5, K1 = 0.01, K2 = 0.03, positions where the window is inside
 * the image; as scikit-image's structural_similarity() with gaussian_weights=True, sigma=1.5,
 * use_sample_covariance=False. The dynamic range is the difference of the reference's greatest and least value; equal
 * constant outputs have similarity 1. `b` is the reference; shapes are equal. ERR_UNSUPPORTED unless both are
 * images. */
int structural_similarity_compute(const struct tensor *a, const struct tensor *b, struct structural_similarity *ret,
                                  struct error *err);

#endif
