/* comparator/data/feed_match.c: see feed_match.h. */
#include "comparator/data/feed_match.h"

#include <string.h>

#include "comparator/data/cast.h"
#include "comparator/data/input_shape.h"
#include "tensor/values/element_text.h"

static bool names_overlap(const char *a, const char *b)
{
    return text_contains_ignoring_case(text_of(a), text_of(b)) || text_contains_ignoring_case(text_of(b), text_of(a));
}

/* Whether the entry, whose name is not that of an input, may be meant for `input`. */
static bool could_serve(const struct named_tensor *entry, const struct backend_io *input)
{
    return entry->tensor.type == input->type && input_shape_fits(input, &entry->tensor.shape);
}

/* The number of inputs without an entry of their own for which `entry` may be meant by its name. */
static size_t count_rivals(const struct tensor_list *feed, const struct feed_inputs *inputs,
                           const struct named_tensor *entry)
{
    size_t rivals = 0;

    for (size_t i = 0; i < inputs->count; i++)
        rivals += tensor_list_find(feed, text_of(inputs->items[i].name)) == NULL &&
                  could_serve(entry, &inputs->items[i]) && names_overlap(entry->name, inputs->items[i].name);
    return rivals;
}

/* Finds an entry for input `k` with a different name. */
static const struct named_tensor *find_similar(const struct tensor_list *feed, const struct feed_inputs *inputs,
                                               size_t k)
{
    const struct backend_io *input = &inputs->items[k];
    const struct named_tensor *by_name = NULL, *by_type = NULL;
    size_t name_count = 0, type_count = 0;
    struct name_map names; /* of inputs */

    name_map_init(&names);
    for (size_t i = 0; i < inputs->count; i++)
        name_map_add(&names, text_of(inputs->items[i].name), 0);
    VECTOR_EACH (const struct named_tensor, entry, *feed) {
        if (name_map_find(&names, text_of(entry->name)) != NAME_MAP_NONE || !could_serve(entry, input))
            continue;
        by_type = entry;
        type_count++;
        if (names_overlap(entry->name, input->name)) {
            by_name = entry;
            name_count++;
        }
    }
    name_map_release(&names);
    if (name_count > 0)
        return name_count == 1 && count_rivals(feed, inputs, by_name) == 1 ? by_name : NULL;
    return type_count == 1 && by_type == &feed->items[k] ? by_type : NULL;
}

/* Unnamed arrays are assigned to the inputs in order, if there is one for each. */
static const struct named_tensor *find_unnamed(const struct tensor_list *feed, const struct feed_inputs *inputs,
                                               size_t k)
{
    if (feed->count != inputs->count)
        return NULL;
    for (size_t i = 0; i < feed->count; i++)
        if (!feed->items[i].is_unnamed || tensor_list_find(feed, text_of(inputs->items[i].name)) != NULL)
            return NULL;
    log_once(inputs->log, LOG_INFO, "The array '%s' has no name: it is used for input '%s', %s", feed->items[k].name,
             inputs->items[k].name, feed->count > 1 ? "by its place" : "the only one");
    return &feed->items[k];
}

/* Numbers from text have no type: they are converted to the input's type, if it can represent them. */
static int fit_numbers(const struct backend_io *input, struct tensor *tensor, struct error *err)
{
    struct tensor converted;
    size_t bad;
    int rc = tensor_cast_numbers(tensor, input->type, &converted, &bad, err);

    if (rc < 0)
        return error_context(err, "input '%s'", input->name);
    if (bad < tensor_elements(tensor)) {
        SCOPED_STRING(text);
        struct shape position;

        element_to_text_alone(tensor, bad, &text);
        string_add(&text, " at ");
        shape_position(&tensor->shape, bad, &position);
        shape_to_text(&position, &text);
        tensor_release(&converted);
        rc = error_set(err, ERR_INVALID, "input '%s' takes %s, which does not hold the %s", input->name,
                       data_type_name(input->type), text.data);
        return rc;
    }
    tensor_release(tensor);
    *tensor = converted;
    return 0;
}

/* Converts *tensor to the type of `input`. */
static int fit_type(const struct backend_io *input, struct log *log, struct tensor *tensor, struct error *err)
{
    struct tensor converted;
    size_t clipped;
    int rc = tensor_cast(tensor, input->type, &converted, &clipped, err);

    if (rc < 0)
        return error_context(err, "input '%s'", input->name);
    log_once(log, LOG_WARNING, "Input tensor: %s | The data are %s, but the model takes %s: converting them",
             input->name, data_type_name(tensor->type), data_type_name(input->type));
    if (clipped > 0)
        log_once(log, LOG_WARNING, "Input tensor: %s | %zu values lie outside of the range of %s", input->name, clipped,
                 data_type_name(input->type));
    tensor_release(tensor);
    *tensor = converted;
    return 0;
}

/* The shape of a tensor of `elements` elements for an input: the input's, with at most one dynamic dimension
 * inferred. */
static bool work_out_shape(const struct backend_io *input, size_t elements, struct shape *ret)
{
    struct shape fixed = input->shape;
    size_t unknown = fixed.rank, known;

    for (size_t i = 0; i < fixed.rank; i++) {
        if (fixed.dims[i] >= 0)
            continue;
        if (unknown < fixed.rank)
            return false;
        unknown = i;
        fixed.dims[i] = 1;
    }
    known = shape_elements(&fixed);
    if (known == SIZE_MAX)
        return false;
    if (unknown < fixed.rank) {
        if (known == 0 || elements % known != 0)
            return false;
        fixed.dims[unknown] = (int64_t)(elements / known);
    } else if (known != elements) {
        return false;
    }
    *ret = fixed;
    return true;
}

static int refuse_shape(const struct backend_io *input, const struct shape *shape, struct error *err)
{
    SCOPED_STRING(text);

    shape_to_text(shape, &text);
    string_add(&text, ", the model takes ");
    input_shape_to_text(input, &text);
    return error_set(err, ERR_INVALID, "input '%s': the data have shape %s", input->name, text.data);
}

static int fit_shape(const struct backend_io *input, struct log *log, struct tensor *tensor, struct error *err)
{
    struct tensor arranged;
    SCOPED_STRING(text);
    struct shape shape;
    int rc;

    if (!work_out_shape(input, tensor_elements(tensor), &shape))
        return refuse_shape(input, &tensor->shape, err);
    rc = tensor_match_shape(tensor, &shape, &arranged, err);
    if (rc < 0)
        return error_context(err, "input '%s'", input->name);
    shape_to_text(&tensor->shape, &text);
    string_add(&text, " to ");
    shape_to_text(&shape, &text);
    log_once(log, LOG_WARNING, "Input tensor: %s | Changing the shape of the data from %s", input->name, text.data);
    if (arranged.free_owner != NULL) {
        tensor_release(tensor);
        *tensor = arranged;
    } else {
        tensor->shape = shape; /* the same data */
    }
    return 0;
}

int feed_match(const struct tensor_list *feed, const struct feed_inputs *inputs, size_t k, struct tensor *ret,
               struct error *err)
{
    const struct backend_io *input = &inputs->items[k];
    const struct named_tensor *entry = tensor_list_find(feed, text_of(input->name));
    const struct tensor *found;
    struct tensor tensor;
    int rc = 0;

    if (entry == NULL) {
        entry = inputs->by_name ? NULL : find_unnamed(feed, inputs, k);
        if (entry == NULL)
            entry = inputs->by_name ? NULL : find_similar(feed, inputs, k);
        if (entry == NULL)
            return 0;
    }
    if (!entry->is_unnamed && strcmp(entry->name, input->name) != 0)
        log_once(inputs->log, LOG_WARNING,
                 "Buffer name (%s) does not match expected input name (%s). It is taken all the same, as the only one "
                 "that could be meant",
                 entry->name, input->name);
    found = &entry->tensor;
    tensor_borrow(found->type, &found->shape, found->data, found->size, &tensor);
    if (tensor.type != input->type)
        rc = entry->is_untyped ? fit_numbers(input, &tensor, err) : fit_type(input, inputs->log, &tensor, err);
    if (rc == 0 && entry->is_unnamed && !input_shape_fits(input, &tensor.shape))
        rc = refuse_shape(input, &tensor.shape, err);
    if (rc == 0 && !input_shape_fits(input, &tensor.shape))
        rc = fit_shape(input, inputs->log, &tensor, err);
    if (rc < 0) {
        tensor_release(&tensor);
        return rc;
    }
    *ret = tensor;
    return 1;
}
