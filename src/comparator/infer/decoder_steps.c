/* comparator/infer/decoder_steps.c: see decoder_steps.h. */
#include "comparator/infer/decoder_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "comparator/data/cast.h"
#include "tensor/values/elements.h"

/* ---- The next inputs ---- */

/* A tensor of integers with `added` more places along `axis`, or with the last one alone (`added` 0), plus `increment`.
 * New places are 1. */
static int advance_integers(const struct tensor *from, size_t axis, size_t added, int64_t increment, struct tensor *ret,
                            struct error *err)
{
    size_t inner = shape_extent(&from->shape, axis + 1, from->shape.rank), length = (size_t)from->shape.dims[axis];
    size_t kept = added > 0 ? length : 1, skipped = length - kept, clipped;
    struct tensor numbers SCOPED(tensor_release) = {0};
    struct shape shape = from->shape;
    int64_t *values;
    int rc;

    shape.dims[axis] = (int64_t)(kept + added);
    rc = tensor_allocate(DATA_INT64, &shape, &numbers, err);
    if (rc < 0)
        return rc;
    values = tensor_writable(&numbers);
    for (size_t outer = 0; outer < shape_extent(&from->shape, 0, axis); outer++) {
        int64_t *to = values + outer * (kept + added) * inner;

        elements_to_integers(from, (outer * length + skipped) * inner, kept * inner, (uint64_t *)to);
        for (size_t i = 0; i < kept * inner; i++)
            to[i] += increment;
        for (size_t i = kept * inner; i < (kept + added) * inner; i++)
            to[i] = 1;
    }
    return tensor_cast(&numbers, from->type, ret, &clipped, err);
}

/* All elements, as the only place along an axis in front. */
static int advance_lengths(const struct tensor *from, int64_t increment, struct tensor *ret, struct error *err)
{
    struct shape shape = {.rank = 2, .dims = {1, (int64_t)tensor_elements(from)}};
    struct tensor row;
    int rc;

    tensor_borrow(from->type, &shape, from->data, from->size, &row);
    rc = advance_integers(&row, 0, 0, increment, ret, err);
    if (rc == 0)
        ret->shape = from->shape;
    return rc;
}

static int make_tokens(const struct decoder_steps *steps, const struct tensor *from, struct tensor *ret,
                       struct error *err)
{
    struct shape shape = from->shape;
    struct tensor chosen;
    size_t clipped;

    shape.dims[shape.rank - 1] = 1;
    if (steps->tokens.data == NULL || tensor_elements(&steps->tokens) != shape_elements(&shape))
        return error_set(err, ERR_INVALID,
                         "the logits '%s' give %zu tokens for the next step, which needs %zu: pass the output of the "
                         "logits to --step-roles, as in logits:logits",
                         steps->decoder->logits, steps->tokens.data != NULL ? tensor_elements(&steps->tokens) : 0,
                         shape_elements(&shape));
    tensor_borrow(DATA_INT64, &shape, steps->tokens.data, steps->tokens.size, &chosen);
    return tensor_cast(&chosen, from->type, ret, &clipped, err);
}

static int refuse_unknown(const char *input, struct error *err)
{
    return error_set(err, ERR_INVALID, "input '%s' has no data in the steps of the decoder", input);
}

/* The number of tokens in a step. */
static int64_t count_tokens(const struct decoder_steps *steps, const struct tensor_list *feed)
{
    const struct decoder_input *tokens = decoder_find_role(steps->decoder, DECODER_TOKENS);
    const struct named_tensor *fed = tensor_list_find(feed, text_of(tokens->name));

    return fed != NULL && fed->tensor.shape.rank > 0 ? fed->tensor.shape.dims[fed->tensor.shape.rank - 1] : 0;
}

/* An input other than a cache, of the one in the step before. */
static int advance_input(const struct decoder_steps *steps, const struct decoder_input *input,
                         const struct tensor_list *before, struct tensor *ret, struct error *err)
{
    const struct named_tensor *fed = tensor_list_find(before, text_of(input->name));
    const struct tensor *from;

    if (fed == NULL)
        return refuse_unknown(input->name, err);
    from = &fed->tensor;
    switch (input->role) {
    case DECODER_TOKENS:
        return make_tokens(steps, from, ret, err);
    case DECODER_MASK:
        return advance_integers(from, input->axis, 1, 0, ret, err);
    case DECODER_POSITIONS:
        return advance_integers(from, from->shape.rank - 1, 0, 1, ret, err);
    case DECODER_PAST_LENGTH:
        return advance_lengths(from, count_tokens(steps, before), ret, err);
    case DECODER_TOTAL_LENGTH:
        return advance_lengths(from, 1, ret, err);
    case DECODER_CONSTANT:
    case DECODER_CACHE:
    case DECODER_UNKNOWN:
        break;
    }
    return tensor_copy(from, ret, err);
}

/* ---- The inputs of the reference ---- */

/* Consecutive numbers along the last axis, from `first` on; `step` 0: the same everywhere. */
static int make_integers(const struct tensor *like, int64_t first, int64_t step, struct tensor *ret, struct error *err)
{
    struct tensor numbers SCOPED(tensor_release) = {0};
    int64_t length = like->shape.rank > 0 ? like->shape.dims[like->shape.rank - 1] : 1;
    size_t clipped;
    int rc = tensor_allocate(DATA_INT64, &like->shape, &numbers, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < tensor_elements(&numbers); i++)
        ((int64_t *)tensor_writable(&numbers))[i] = first + step * ((int64_t)i % length);
    return tensor_cast(&numbers, like->type, ret, &clipped, err);
}

/* The number of entries in the caches. */
static int64_t count_entries(const struct decoder *decoder, const struct tensor_list *feed)
{
    ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count) {
        const struct named_tensor *fed = tensor_list_find(feed, text_of(input->name));

        if (input->role == DECODER_CACHE && input->axis != SIZE_MAX && fed != NULL)
            return fed->tensor.shape.dims[input->axis];
    }
    return 0;
}

static const struct decoder_input *find_input(const struct decoder *decoder, const char *name)
{
    ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
        if (strcmp(input->name, name) == 0)
            return input;
    return NULL;
}

/* Masks and positions without a rule for their values were generated at random. */
static int copy_input(const struct decoder_steps *steps, const struct data_loader *loader,
                      const struct tensor_list *feed, const struct named_tensor *item, struct tensor *ret,
                      struct error *err)
{
    const struct decoder_input *input = find_input(steps->decoder, item->name);
    bool is_random = data_loader_generates(loader) && input != NULL && !input->has_rule;

    if (is_random && input->role == DECODER_MASK)
        return make_integers(&item->tensor, 1, 0, ret, err);
    if (is_random && input->role == DECODER_POSITIONS)
        return make_integers(&item->tensor, count_entries(steps->decoder, feed), 1, ret, err);
    return tensor_copy(&item->tensor, ret, err);
}

static bool is_encoded(const struct decoder_steps *steps, const char *name)
{
    return steps->encoded != NULL && tensor_list_find(steps->encoded, text_of(name)) != NULL;
}

/* Loaded data need not have what an encoder has computed. */
static int feed_prefill(const struct decoder_steps *steps, struct data_loader *loader, const struct fed_runner *runner,
                        struct tensor_list *ret, struct error *err)
{
    struct backend_io *inputs SCOPED_FREE = memory_alloc_zero(runner->count + 1, sizeof(*inputs));
    size_t count = 0;

    for (size_t i = 0; i < runner->count; i++)
        if (data_loader_generates(loader) || !is_encoded(steps, runner->inputs[i].name))
            inputs[count++] = runner->inputs[i];
    return data_loader_feed(loader, inputs, count, 0, ret, err);
}

static int add_encoded(const struct decoder_steps *steps, struct tensor_list *ret, struct error *err)
{
    for (size_t i = 0; steps->encoded != NULL && i < steps->encoded->count; i++) {
        struct tensor copy;

        if (tensor_copy(&steps->encoded->items[i].tensor, &copy, err) < 0)
            return err->code;
        tensor_list_add(ret, text_of(steps->encoded->items[i].name), &copy);
    }
    return 0;
}

static int add_prefill(struct decoder_steps *steps, struct data_loader *loader, const struct fed_runner *runner,
                       struct error *err)
{
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    struct tensor_list *first;
    int rc = feed_prefill(steps, loader, runner, &feed, err);

    if (rc < 0)
        return rc;
    first = VECTOR_APPEND(&steps->feeds);
    *first = (struct tensor_list){0};
    for (size_t i = 0; i < feed.count; i++) {
        struct tensor copy;

        if (is_encoded(steps, feed.items[i].name))
            continue;
        if (copy_input(steps, loader, &feed, &feed.items[i], &copy, err) < 0)
            return err->code;
        tensor_list_add(first, text_of(feed.items[i].name), &copy);
    }
    return add_encoded(steps, first, err);
}

static const struct tensor *find_cache(const struct decoder_steps *steps, size_t runner,
                                       const struct decoder_input *input, struct error *err)
{
    const struct named_tensor *present =
        runner < steps->caches.count ? tensor_list_find(&steps->caches.items[runner], text_of(input->present)) : NULL;

    if (present == NULL)
        error_set(err, ERR_INVALID, "runner %zu has no output '%s', which is the cache '%s' of the next step",
                  runner + 1, input->present, input->name);
    return present != NULL ? &present->tensor : NULL;
}

static int add_next(struct decoder_steps *steps, struct data_loader *loader, const struct fed_runner *runner,
                    struct error *err)
{
    const struct decoder *decoder = steps->decoder;
    struct tensor_list loaded SCOPED(tensor_list_release) = {0};
    struct tensor_list next SCOPED(tensor_list_release) = {0};
    size_t step = steps->feeds.count;
    int rc = 0;

    if (steps->has_tokens)
        rc = data_loader_feed(loader, runner->inputs, runner->count, (int64_t)step, &loaded, err);
    for (size_t i = 0; i < decoder->count && rc == 0; i++) {
        const struct decoder_input *input = &decoder->inputs[i];
        const struct named_tensor *given = tensor_list_find(&loaded, text_of(input->name));
        struct tensor tensor;

        if (input->role == DECODER_CACHE) {
            const struct tensor *cache = find_cache(steps, 0, input, err);

            rc = cache != NULL ? tensor_copy(cache, &tensor, err) : err->code;
        } else if (given != NULL) {
            rc = tensor_copy(&given->tensor, &tensor, err);
        } else {
            rc = advance_input(steps, input, &steps->feeds.items[step - 1], &tensor, err);
        }
        if (rc == 0)
            tensor_list_add(&next, text_of(input->name), &tensor);
    }
    if (rc < 0)
        return error_context(err, "step %zu", step);
    *VECTOR_APPEND(&steps->feeds) = next;
    next = (struct tensor_list){0};
    return 0;
}

/* ---- Each runner ---- */

/* Whether a runner gets its own cache for this input, not that of the reference. */
static bool is_own(const struct decoder_iteration *iteration, const struct decoder_input *input)
{
    return input != NULL && input->role == DECODER_CACHE && !iteration->of_reference && iteration->step > 0 &&
           (iteration->own == NULL || strcmp(iteration->own, input->name) == 0);
}

int decoder_steps_feed(struct decoder_steps *steps, struct data_loader *loader, const struct fed_runner *runner,
                       size_t iteration, struct tensor_list *ret, struct error *err)
{
    const struct decoder_iteration *item = &steps->iterations[iteration];
    const struct tensor_list *feed;
    int rc = 0;

    if (steps->feeds.count == 0)
        rc = add_prefill(steps, loader, runner, err);
    else if (item->step == steps->feeds.count)
        rc = add_next(steps, loader, runner, err);
    if (rc < 0)
        return rc;
    feed = &steps->feeds.items[item->step];
    for (size_t i = 0; i < runner->count; i++) {
        const char *name = runner->inputs[i].name;
        const struct decoder_input *input = find_input(steps->decoder, name);
        const struct named_tensor *fed = tensor_list_find(feed, text_of(name));
        const struct tensor *tensor = fed != NULL ? &fed->tensor : NULL;
        struct tensor borrowed;

        if (tensor == NULL)
            return refuse_unknown(name, err);
        if (runner->index > 0 && is_own(item, input))
            tensor = find_cache(steps, runner->index, input, err);
        if (tensor == NULL)
            return err->code;
        tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &borrowed);
        tensor_list_add(ret, text_of(name), &borrowed);
    }
    return 0;
}

/* The index of the largest logit at the last place, for each row. NaN is never chosen. */
static int choose_tokens(struct decoder_steps *steps, const struct tensor *logits, struct error *err)
{
    size_t rank = logits->shape.rank, words = rank > 0 ? (size_t)logits->shape.dims[rank - 1] : 0;
    size_t places = rank > 2 ? (size_t)logits->shape.dims[rank - 2] : 1;
    size_t rows = words * places > 0 ? tensor_elements(logits) / (words * places) : 0;
    double *row SCOPED_FREE = NULL;
    int rc;

    if (words == 0 || rows == 0 || elements_arithmetic(logits->type) == ARITHMETIC_NONE)
        return error_set(err, ERR_INVALID, "output '%s' has no logits to choose a token of", steps->decoder->logits);
    tensor_release(&steps->tokens);
    rc = tensor_allocate(DATA_INT64, &(struct shape){.rank = 1, .dims = {(int64_t)rows}}, &steps->tokens, err);
    if (rc < 0)
        return rc;
    row = memory_alloc_zero(words, sizeof(*row));
    for (size_t r = 0; r < rows; r++) {
        size_t best = 0;

        elements_to_float64(logits, (r * places + places - 1) * words, words, row);
        for (size_t i = 1; i < words; i++)
            if (row[i] > row[best] || row[best] != row[best])
                best = i;
        ((int64_t *)tensor_writable(&steps->tokens))[r] = (int64_t)best;
    }
    return 0;
}

/* Replaces the cache of this name. */
static int keep_present(struct tensor_list *presents, const struct named_tensor *output, struct error *err)
{
    struct named_tensor *kept = tensor_list_find(presents, text_of(output->name));
    struct tensor copy;
    int rc = tensor_copy(&output->tensor, &copy, err);

    if (rc < 0)
        return rc;
    if (kept == NULL) {
        tensor_list_add(presents, text_of(output->name), &copy);
        return 0;
    }
    tensor_release(&kept->tensor);
    kept->tensor = copy;
    return 0;
}

int decoder_steps_take(struct decoder_steps *steps, size_t runner, const struct tensor_list *outputs, struct error *err)
{
    const struct decoder *decoder = steps->decoder;
    int rc = 0;

    while (steps->caches.count <= runner)
        *VECTOR_APPEND(&steps->caches) = (struct tensor_list){0};
    for (size_t i = 0; i < outputs->count && rc == 0; i++) {
        const struct named_tensor *output = &outputs->items[i];

        if (runner == 0 && strcmp(output->name, decoder->logits) == 0)
            rc = choose_tokens(steps, &output->tensor, err);
        ARRAY_EACH (const struct decoder_input, input, decoder->inputs, decoder->count)
            if (rc == 0 && input->role == DECODER_CACHE && strcmp(input->present, output->name) == 0)
                rc = keep_present(&steps->caches.items[runner], output, err);
    }
    return rc;
}

void decoder_steps_release(struct decoder_steps *steps)
{
    VECTOR_EACH (struct tensor_list, presents, steps->caches)
        tensor_list_release(presents);
    free(steps->caches.items);
    feed_dicts_release(&steps->feeds);
    tensor_release(&steps->tokens);
}
