/* onnx/quantizer/faults.c: see faults.h. */
#include "onnx/quantizer/faults.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/quantizer/cells.h"
#include "tensor/quantization/noise.h"
#include "tensor/values/elements.h"

enum {
    MOST_SAMPLES = 64, /* wrong blocks whose places are searched for one by one */
    MANY = 20,         /* a fault is named if at most one of so many wrong blocks stays wrong */
};

#define LEAST_LIKENESS 0.9 /* cosine of a block's values and the integers that belong to it */
#define EXACT 1e-10        /* error over signal that is not measured: values that were rounded before */
#define HALF_A_STEP 0.501
#define UNUSUAL_NOISE 0.1 /* error over signal of wrong blocks below which other rounding explains it, as of GPTQ */
#define ALIKE_FACTORS 1.3 /* largest over least factor of scales that are off by the same factor */
#define FITTED_ERROR 0.7  /* share of the error that fitting has to leave at most, to be more than fitting */

struct fault_search {
    struct stored_cells cells;
    VECTOR(struct block_place) wrong;
    double half_range;                /* half of the number of steps between the least and the largest level */
    double signal, error;             /* sums of squares of all blocks */
    double wrong_signal, wrong_error; /* of the wrong ones */
    double *values, *numbers;         /* of a block; numbers are integers without the zero point */
};

/* How to undo a fault in a block. */
struct undoing {
    enum stored_fault_kind kind;
    double (*error_of)(const struct fault_search *search, const struct undoing *undoing, struct block_place place);
    int64_t offset;
    enum moved_part moved;
    bool in_last_axis;                 /* of FAULT_HALVES: bytes hold neighbours in the last axis, not along the line */
    const struct block_place *sources; /* for each wrong block, where it is */
    double remaining_error;            /* sum of all wrong blocks, with the fault undone */
    size_t remaining;                  /* blocks that stay wrong */
};

/* ---- A block ---- */

static double scale_of(const struct fault_search *search, struct block_place place)
{
    return (double)((const float *)
                        search->cells.quantizer->scale.data)[cell_scale(&search->cells, place.line, place.block)];
}

static double zero_point_of(const struct fault_search *search, struct block_place place)
{
    return (double)quantizer_zero_point(search->cells.quantizer, cell_scale(&search->cells, place.line, place.block));
}

static double squared_error(const double *values, const double *numbers, size_t count, double scale)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double error = scale * numbers[i] - values[i];

        sum += error * error;
    }
    return sum;
}

static double add_up_products(const double *a, const double *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static double largest_magnitude(const double *values, size_t count)
{
    double ret = 0;

    for (size_t i = 0; i < count; i++)
        ret = fmax(ret, fabs(values[i]));
    return ret;
}

/* The step of levels that span the values symmetrically. */
static double fitting_step(const struct fault_search *search, size_t count)
{
    return largest_magnitude(search->values, count) / search->half_range;
}

static double error_as_stored(const struct fault_search *search, struct block_place place)
{
    cell_integers(&search->cells, place.line, place.block, search->numbers);
    return squared_error(search->values, search->numbers, cell_size(&search->cells, place.block),
                         scale_of(search, place));
}

/* Whether the block of `values` with this error is wrong. */
static bool error_is_wrong(const struct fault_search *search, size_t count, double error)
{
    double step = fitting_step(search, count);

    return !(error <= FAULT_NOISE * (double)count * step * step / 12) &&
           error > EXACT * add_up_products(search->values, search->values, count);
}

/* ---- The faults, undone in one block, whose values and numbers are read ---- */

static double undo_scales(const struct fault_search *search, const struct undoing *undoing, struct block_place place)
{
    size_t count = cell_size(&search->cells, place.block);
    double squares = add_up_products(search->numbers, search->numbers, count);
    double scale = squares > 0 ? add_up_products(search->values, search->numbers, count) / squares : 0;

    (void)undoing;
    if (scale * scale_of(search, place) < 0)
        scale = 0;
    return squared_error(search->values, search->numbers, count, scale);
}

/* If each number is the nearest one: the error with numbers rounded with a fitting scale. */
static double undo_coarse(const struct fault_search *search, const struct undoing *undoing, struct block_place place)
{
    size_t count = cell_size(&search->cells, place.block);
    double scale = scale_of(search, place), step = fitting_step(search, count), sum = 0;

    (void)undoing;
    for (size_t i = 0; i < count; i++) {
        double error = search->values[i] - rint(search->values[i] / step) * step;

        if (fabs(search->numbers[i] - search->values[i] / scale) > HALF_A_STEP)
            return error_as_stored(search, place);
        sum += error * error;
    }
    return sum;
}

/* The difference of zero points that fits best. */
static double fitting_offset(const struct fault_search *search, struct block_place place)
{
    size_t count = cell_size(&search->cells, place.block);
    double scale = scale_of(search, place), sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += search->numbers[i] - search->values[i] / scale;
    return rint(sum / (double)count);
}

static double undo_zero_points(const struct fault_search *search, const struct undoing *undoing,
                               struct block_place place)
{
    double offset = fitting_offset(search, place);

    (void)undoing;
    for (size_t i = 0; i < cell_size(&search->cells, place.block); i++)
        search->numbers[i] -= offset;
    return squared_error(search->values, search->numbers, cell_size(&search->cells, place.block),
                         scale_of(search, place));
}

/* Reads the stored integer of another element in place of each element. */
static double error_of_others(const struct fault_search *search, struct block_place place,
                              size_t (*other)(const struct stored_cells *cells, size_t line, size_t at, int64_t offset),
                              int64_t offset)
{
    const struct stored_cells *cells = &search->cells;
    size_t total = tensor_elements(cells->stored);
    double zero_point = zero_point_of(search, place);

    for (size_t i = 0; i < cell_size(cells, place.block); i++) {
        size_t element = other(cells, place.line, cells->order[cells->starts[place.block] + i], offset);

        if (element >= total)
            return error_as_stored(search, place);
        elements_to_float64(cells->stored, element, 1, &search->numbers[i]);
        search->numbers[i] -= zero_point;
    }
    return squared_error(search->values, search->numbers, cell_size(cells, place.block), scale_of(search, place));
}

static size_t neighbour_in_line(const struct stored_cells *cells, size_t line, size_t at, int64_t offset)
{
    (void)offset;
    return (at ^ 1) < cells->length ? line_element(cells, line, at ^ 1) : SIZE_MAX;
}

static size_t neighbour_in_tensor(const struct stored_cells *cells, size_t line, size_t at, int64_t offset)
{
    (void)offset;
    return line_element(cells, line, at) ^ 1;
}

/* `offset` is 1 or -1. */
static size_t moved_place(size_t place, size_t count, int64_t offset)
{
    return (place + (offset > 0 ? 1 : count - 1)) % count;
}

static size_t shifted_in_line(const struct stored_cells *cells, size_t line, size_t at, int64_t offset)
{
    return line_element(cells, line, moved_place(at, cells->length, offset));
}

static double undo_halves(const struct fault_search *search, const struct undoing *undoing, struct block_place place)
{
    return error_of_others(search, place, undoing->in_last_axis ? neighbour_in_tensor : neighbour_in_line, 0);
}

static double undo_shifted_elements(const struct fault_search *search, const struct undoing *undoing,
                                    struct block_place place)
{
    return error_of_others(search, place, shifted_in_line, undoing->offset);
}

/* The error of a block whose integers, parameters (scale and zero point), or both are those of another block. */
static double error_with_parts(const struct fault_search *search, struct block_place place, struct block_place source,
                               enum moved_part moved)
{
    size_t count = cell_size(&search->cells, place.block);
    struct block_place integers = moved != MOVED_SCALES ? source : place;
    struct block_place parameters = moved != MOVED_INTEGERS ? source : place;
    double difference = zero_point_of(search, integers) - zero_point_of(search, parameters);

    if (cell_size(&search->cells, source.block) != count)
        return error_as_stored(search, place);
    cell_integers(&search->cells, integers.line, integers.block, search->numbers);
    for (size_t i = 0; i < count; i++)
        search->numbers[i] += difference;
    return squared_error(search->values, search->numbers, count, scale_of(search, parameters));
}

static double undo_shifted_blocks(const struct fault_search *search, const struct undoing *undoing,
                                  struct block_place place)
{
    struct block_place source = place;

    source.block = moved_place(place.block, search->cells.blocks, undoing->offset);
    return error_with_parts(search, place, source, undoing->moved);
}

/* The index of a wrong block: they are sorted by line and block. */
static size_t find_wrong(const struct fault_search *search, struct block_place place)
{
    size_t low = 0, high = search->wrong.count;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        struct block_place at = search->wrong.items[middle];

        if (at.line > place.line || (at.line == place.line && at.block > place.block))
            high = middle;
        else
            low = middle;
    }
    return low;
}

static double undo_moved_blocks(const struct fault_search *search, const struct undoing *undoing,
                                struct block_place place)
{
    return error_with_parts(search, place, undoing->sources[find_wrong(search, place)], undoing->moved);
}

/* ---- Blocks at other places ---- */

static double block_cosine(const double *a, const double *b, size_t count)
{
    double squares = add_up_products(a, a, count) * add_up_products(b, b, count);

    return squares > 0 ? add_up_products(a, b, count) / sqrt(squares) : 0;
}

static void compare_with(const struct fault_search *search, struct block_place place, struct block_place candidate,
                         double *best, struct block_place *ret)
{
    size_t count = cell_size(&search->cells, place.block);
    double like;

    if (cell_size(&search->cells, candidate.block) != count)
        return;
    cell_integers(&search->cells, candidate.line, candidate.block, search->numbers);
    like = fabs(block_cosine(search->values, search->numbers, count)); /* scales may be negative */
    if (like <= *best)
        return;
    *best = like;
    *ret = candidate;
}

/* The block whose integers belong to a wrong block: of its line, or of the first wrong ones; else itself. */
static struct block_place find_source(const struct fault_search *search, size_t wrong)
{
    struct block_place place = search->wrong.items[wrong], ret = place;
    double best = LEAST_LIKENESS;

    cell_values(&search->cells, place.line, place.block, search->values);
    for (size_t i = 0; i < search->cells.blocks; i++)
        compare_with(search, place, (struct block_place){place.line, i}, &best, &ret);
    for (size_t i = 0; i < search->wrong.count && i < MOST_SAMPLES; i++)
        compare_with(search, place, search->wrong.items[i], &best, &ret);
    return ret;
}

/* The sources of wrong blocks if the blocks of all lines are moved in the same way: `map` has that of each one. */
static struct block_place *sources_of_map(const struct fault_search *search, const size_t *map)
{
    struct block_place *ret = memory_alloc_zero(search->wrong.count, sizeof(*ret));

    for (size_t i = 0; i < search->wrong.count; i++)
        ret[i] = (struct block_place){search->wrong.items[i].line, map[search->wrong.items[i].block]};
    return ret;
}

static size_t *identical_map(const struct fault_search *search)
{
    size_t *ret = memory_alloc_zero(search->cells.blocks, sizeof(*ret));

    for (size_t i = 0; i < search->cells.blocks; i++)
        ret[i] = i;
    return ret;
}

/* Where the integers of each wrong block are. Few are searched for one by one; of many, one for each
 * block of a line. */
static struct block_place *find_sources(const struct fault_search *search)
{
    size_t *map SCOPED_FREE = identical_map(search);
    struct block_place *ret;

    if (search->wrong.count > MOST_SAMPLES) {
        bool *has SCOPED_FREE = memory_alloc_zero(search->cells.blocks, sizeof(*has));

        for (size_t i = 0; i < search->wrong.count; i++) {
            struct block_place place = search->wrong.items[i], source;

            if (has[place.block])
                continue;
            has[place.block] = true;
            source = find_source(search, i);
            map[place.block] = source.line == place.line ? source.block : place.block;
        }
        return sources_of_map(search, map);
    }
    ret = memory_alloc_zero(search->wrong.count, sizeof(*ret));
    for (size_t i = 0; i < search->wrong.count; i++)
        ret[i] = find_source(search, i);
    return ret;
}

/* Scales of another block are not recognized by likeness: the first line with two wrong blocks is assumed to have them
 * swapped, and all other lines the same ones. */
static struct block_place *swap_wrong(const struct fault_search *search)
{
    size_t *map SCOPED_FREE = identical_map(search);
    const struct block_place *wrong = search->wrong.items;

    for (size_t i = 0; i + 1 < search->wrong.count; i++) {
        bool is_first = i == 0 || wrong[i - 1].line != wrong[i].line;
        bool is_last = i + 2 == search->wrong.count || wrong[i + 2].line != wrong[i].line;

        if (!is_first || !is_last || wrong[i + 1].line != wrong[i].line)
            continue;
        map[wrong[i].block] = wrong[i + 1].block;
        map[wrong[i + 1].block] = wrong[i].block;
        break;
    }
    return sources_of_map(search, map);
}

/* ---- Trying each fault ---- */

static void measure_undone(const struct fault_search *search, struct undoing *undoing)
{
    undoing->remaining_error = 0;
    undoing->remaining = 0;
    for (size_t i = 0; i < search->wrong.count; i++) {
        struct block_place place = search->wrong.items[i];
        double error;

        cell_values(&search->cells, place.line, place.block, search->values);
        cell_integers(&search->cells, place.line, place.block, search->numbers);
        error = undoing->error_of(search, undoing, place);
        undoing->remaining_error += error;
        undoing->remaining += error_is_wrong(search, cell_size(&search->cells, place.block), error);
    }
}

static bool is_shift(const struct undoing *undoing)
{
    return undoing->kind == FAULT_BLOCKS_SHIFTED || undoing->kind == FAULT_ELEMENTS_SHIFTED;
}

/* Where blocks or elements were shifted, the end of each line may be lost. */
static bool undoing_cures(const struct fault_search *search, const struct undoing *undoing)
{
    return undoing->remaining * MANY <= search->wrong.count ||
           (is_shift(undoing) && search->cells.blocks > 2 && undoing->remaining <= search->cells.lines &&
            undoing->remaining * 2 < search->wrong.count);
}

static bool has_block(const struct fault_search *search, struct block_place place, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (search->wrong.items[i].block == place.block)
            return true;
    return false;
}

/* Whether a shift also fits the blocks that are right as stored, of the lines with wrong blocks: it is one of lines. */
static bool shift_fits_lines(const struct fault_search *search, const struct undoing *undoing)
{
    size_t misfits = 0, lines = 0;

    for (size_t first = 0, end; first < search->wrong.count; first = end) {
        struct block_place place = search->wrong.items[first];

        for (end = first; end < search->wrong.count && search->wrong.items[end].line == place.line;)
            end++;
        lines++;
        for (place.block = 0; place.block < search->cells.blocks; place.block++) {
            if (has_block(search, place, first, end))
                continue;
            cell_values(&search->cells, place.line, place.block, search->values);
            misfits += error_is_wrong(search, cell_size(&search->cells, place.block),
                                      undoing->error_of(search, undoing, place));
        }
    }
    return misfits <= lines;
}

/* `share`: of the error of the best one so far that this one may have at most. */
static void try_fault(const struct fault_search *search, struct undoing undoing, double share, struct undoing *best)
{
    measure_undone(search, &undoing);
    if (undoing_cures(search, &undoing) && (!is_shift(&undoing) || shift_fits_lines(search, &undoing)) &&
        (best->kind == FAULT_UNKNOWN || undoing.remaining_error < share * best->remaining_error))
        *best = undoing;
}

/* Faults without free parameters come first; a scale or zero point that is fitted to each block has to be better. */
static struct undoing try_all_faults(const struct fault_search *search, const struct block_place *sources,
                                     const struct block_place *pairs)
{
    static const struct undoing in_bytes[] = {
        {.kind = FAULT_HALVES, .error_of = undo_halves},
        {.kind = FAULT_HALVES, .error_of = undo_halves, .in_last_axis = true},
        {.kind = FAULT_ELEMENTS_SHIFTED, .error_of = undo_shifted_elements, .offset = 1},
        {.kind = FAULT_ELEMENTS_SHIFTED, .error_of = undo_shifted_elements, .offset = -1},
    };
    static const struct undoing fitted[] = {
        {.kind = FAULT_SCALES, .error_of = undo_scales},
        {.kind = FAULT_COARSE, .error_of = undo_coarse},
        {.kind = FAULT_ZERO_POINTS, .error_of = undo_zero_points},
    };
    struct undoing best = {.kind = FAULT_UNKNOWN, .remaining_error = search->wrong_error};

    for (size_t i = 0; i < ARRAY_LEN(in_bytes); i++)
        try_fault(search, in_bytes[i], 1, &best);
    for (int moved = MOVED_INTEGERS; moved <= MOVED_BOTH; moved++) {
        struct undoing undoing = {
            .kind = FAULT_BLOCKS_SHIFTED, .error_of = undo_shifted_blocks, .moved = (enum moved_part)moved};

        for (undoing.offset = -1; search->cells.blocks > 2 && undoing.offset <= 1; undoing.offset += 2)
            try_fault(search, undoing, 1, &best);
        undoing = (struct undoing){.kind = FAULT_BLOCKS_SWAPPED,
                                   .error_of = undo_moved_blocks,
                                   .moved = (enum moved_part)moved,
                                   .sources = moved == MOVED_SCALES ? pairs : sources};
        try_fault(search, undoing, 1, &best);
    }
    for (size_t i = 0; i < ARRAY_LEN(fitted); i++)
        try_fault(search, fitted[i], FITTED_ERROR, &best);
    return best;
}

/* ---- Describing the fault ---- */

/* The stored scale of a block over the one that fits; 0: none fits. Rounding errors do not correlate with the values,
 * so that the product with the values is an estimate without bias. */
static double scale_factor(const struct fault_search *search, enum stored_fault_kind kind, struct block_place place)
{
    size_t count = cell_size(&search->cells, place.block);
    double scale = scale_of(search, place), squares, step;

    cell_values(&search->cells, place.line, place.block, search->values);
    cell_integers(&search->cells, place.line, place.block, search->numbers);
    squares = add_up_products(search->values, search->values, count);
    step = fitting_step(search, count);
    if (!(squares > 0))
        return 0;
    return kind == FAULT_COARSE ? scale / step
                                : scale * add_up_products(search->values, search->numbers, count) / squares;
}

static int compare_factors(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Whether each stored integer of a block is the nearest one if its scale is divided by this factor; at the ends of the
 * range, values beyond count, too. */
static bool factor_fits_block(const struct fault_search *search, struct block_place place, double factor)
{
    double scale = scale_of(search, place) / factor;

    cell_values(&search->cells, place.line, place.block, search->values);
    cell_integers(&search->cells, place.line, place.block, search->numbers);
    for (size_t i = 0; i < cell_size(&search->cells, place.block); i++) {
        double quotient = search->values[i] / scale;

        if (fabs(quotient - search->numbers[i]) > HALF_A_STEP &&
            !(fabs(quotient) > fabs(search->numbers[i]) && fabs(search->numbers[i]) >= search->half_range - 1))
            return false;
    }
    return true;
}

/* A whole number, or one over it, that fits nearly all wrong blocks replaces a factor that is only estimated. */
static void make_factor_exact(const struct fault_search *search, struct stored_fault *ret)
{
    double whole = ret->factor >= 1 ? rint(ret->factor) : 1 / rint(1 / ret->factor);
    size_t misfits = 0;

    for (size_t i = 0; i < search->wrong.count; i++)
        misfits += !factor_fits_block(search, search->wrong.items[i], whole);
    if (misfits * MANY > search->wrong.count)
        return;
    ret->factor = ret->largest_factor = whole;
    ret->is_factor_exact = true;
}

/* Factors that differ little, which rounding explains, are one: their median. */
static void describe_factors(const struct fault_search *search, enum stored_fault_kind kind, struct stored_fault *ret)
{
    double *factors SCOPED_FREE = memory_alloc_zero(search->wrong.count, sizeof(*factors));
    size_t count = 0;

    for (size_t i = 0; i < search->wrong.count; i++) {
        factors[count] = scale_factor(search, kind, search->wrong.items[i]);
        count += factors[count] > 0;
    }
    if (count == 0)
        return;
    qsort(factors, count, sizeof(*factors), compare_factors);
    ret->factor = factors[0];
    ret->largest_factor = factors[count - 1];
    if (factors[count - 1 - count / MANY] < ALIKE_FACTORS * factors[count / MANY])
        ret->factor = ret->largest_factor = factors[count / 2];
    if (ret->factor == ret->largest_factor && kind == FAULT_SCALES) /* NOLINT: one factor */
        make_factor_exact(search, ret);
}

static void describe_zero_points(const struct fault_search *search, struct stored_fault *ret)
{
    for (size_t i = 0; i < search->wrong.count; i++) {
        struct block_place place = search->wrong.items[i];
        size_t scale = cell_scale(&search->cells, place.line, place.block);
        int64_t stored = quantizer_zero_point(search->cells.quantizer, scale), offset;

        cell_values(&search->cells, place.line, place.block, search->values);
        cell_integers(&search->cells, place.line, place.block, search->numbers);
        offset = -(int64_t)fitting_offset(search, place);
        if (i == 0) {
            ret->offset = offset;
            ret->zero_point = stored;
        } else if (offset != ret->offset || stored != ret->zero_point) {
            ret->zero_point = -1;
        }
        if (offset != ret->offset)
            ret->offset = 0;
    }
    if (data_type_is_signed(search->cells.quantizer->type))
        ret->zero_point = -1; /* of packed integers, the stored zero point is another number */
}

/* Two blocks of a line, the same ones in all lines, are swapped; else they are permuted. */
static void describe_moved_blocks(const struct fault_search *search, const struct undoing *undoing,
                                  struct stored_fault *ret)
{
    const struct block_place *first = &search->wrong.items[0], *second = &undoing->sources[0];

    ret->first = *first;
    ret->second = *second;
    for (size_t i = 0; i < search->wrong.count; i++) {
        struct block_place place = search->wrong.items[i], source = undoing->sources[i];
        bool is_in_line = first->line == second->line && place.line == source.line;
        bool is_pair = (place.block == first->block && source.block == second->block) ||
                       (place.block == second->block && source.block == first->block);

        if (!is_pair || !(is_in_line || search->wrong.count == 2))
            ret->kind = FAULT_BLOCKS_PERMUTED;
    }
}

static void describe_fault(const struct fault_search *search, const struct undoing *undoing, struct stored_fault *ret)
{
    struct noise noise = {.signal = search->signal,
                          .noise = search->error - search->wrong_error + undoing->remaining_error,
                          .compared = 1};

    ret->kind = undoing->kind;
    ret->offset = undoing->offset;
    ret->moved = undoing->moved;
    ret->after = noise_ratio(&noise);
    if (undoing->kind == FAULT_SCALES || undoing->kind == FAULT_COARSE)
        describe_factors(search, undoing->kind, ret);
    else if (undoing->kind == FAULT_ZERO_POINTS)
        describe_zero_points(search, ret);
    else if (undoing->kind == FAULT_BLOCKS_SWAPPED)
        describe_moved_blocks(search, undoing, ret);
}

/* ---- The search ---- */

static void find_wrong_blocks(struct fault_search *search)
{
    const struct stored_cells *cells = &search->cells;

    for (size_t line = 0; line < cells->lines; line++)
        for (size_t block = 0; block < cells->blocks; block++) {
            struct block_place place = {line, block};
            size_t count = cell_size(cells, block);
            double signal, error;

            cell_values(cells, line, block, search->values);
            cell_integers(cells, line, block, search->numbers);
            signal = add_up_products(search->values, search->values, count);
            error = squared_error(search->values, search->numbers, count, scale_of(search, place));
            search->signal += signal;
            search->error += error;
            if (!error_is_wrong(search, count, error))
                continue;
            search->wrong_signal += signal;
            search->wrong_error += error;
            *VECTOR_APPEND(&search->wrong) = place;
        }
}

static void search_fault(struct fault_search *search, struct stored_fault *ret)
{
    struct block_place *sources SCOPED_FREE = find_sources(search);
    struct block_place *pairs SCOPED_FREE = swap_wrong(search);
    struct undoing best = try_all_faults(search, sources, pairs);

    describe_fault(search, &best, ret);
    if (best.kind == FAULT_UNKNOWN && search->wrong_error < UNUSUAL_NOISE * search->wrong_signal)
        ret->kind = FAULT_NONE;
}

bool stored_fault_find(const struct quantizer *quantizer, const struct tensor *stored, const struct tensor *values,
                       struct stored_fault *ret)
{
    struct fault_search search = {0};
    struct noise noise;

    *ret = (struct stored_fault){.kind = FAULT_NONE};
    if (elements_arithmetic(stored->type) != ARITHMETIC_INTEGER || data_type_bits(stored->type) > 8 ||
        !stored_cells_init(&search.cells, quantizer, stored, values))
        return false;
    search.half_range = ((double)(1U << data_type_bits(stored->type)) - 1) / 2;
    search.values = memory_alloc_zero(search.cells.largest + 1, sizeof(*search.values));
    search.numbers = memory_alloc_zero(search.cells.largest + 1, sizeof(*search.numbers));
    find_wrong_blocks(&search);
    noise = (struct noise){.signal = search.signal, .noise = search.error, .compared = 1};
    ret->before = ret->after = noise_ratio(&noise);
    ret->blocks = search.cells.lines * search.cells.blocks;
    ret->wrong = search.wrong.count;
    if (search.wrong.count > 0)
        search_fault(&search, ret);
    free(search.values);
    free(search.numbers);
    free(search.wrong.items);
    stored_cells_release(&search.cells);
    return true;
}
