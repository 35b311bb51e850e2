/* comparator/data/loader.c: see loader.h. */
#include "comparator/data/loader.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/memory_limit.h"
#include "base/text/names.h"
#include "comparator/data/cast.h"
#include "comparator/data/derived_values.h"
#include "comparator/data/feed_match.h"
#include "comparator/data/input_shape.h"
#include "format/data/stream.h"
#include "tensor/generate/data_generator.h"

struct data_loader {
    struct data_loader_settings settings;
    struct log *log;
    struct feed_dicts feeds; /* loaded or kept */
    bool kept;
    bool is_replaced;              /* by data_loader_replace(): as if they were loaded */
    struct input_stream *stream;   /* instead of loaded feeds; NULL: none */
    struct tensor_list held;       /* of one iteration */
    int64_t held_iteration;        /* -1: none */
    struct derived_inputs derived; /* no items: nothing */
    bool derives;                  /* it is used */
};

static bool is_loaded(const struct data_loader *loader)
{
    return loader->settings.files.count > 0 || loader->is_replaced;
}

int data_loader_new(const struct data_loader_settings *settings, struct log *log, struct data_loader **ret,
                    struct error *err)
{
    struct data_loader *loader = memory_alloc_zero(1, sizeof(*loader));
    int rc = 0;

    *loader = (struct data_loader){.settings = *settings, .log = log, .held_iteration = -1};
    for (size_t i = 0; i < settings->files.count && rc == 0; i++) {
        log_once(log, LOG_INFO, "Loading input data from %s", settings->files.items[i]);
        if (!settings->streamed)
            rc = data_file_add_inputs(&loader->feeds, settings->files.items[i], err);
    }
    if (rc == 0 && settings->streamed && is_loaded(loader))
        rc = input_stream_open(&settings->files, &loader->stream, err);
    if (rc < 0) {
        data_loader_free(loader);
        return rc;
    }
    *ret = loader;
    return 0;
}

void data_loader_free(struct data_loader *loader)
{
    if (loader == NULL)
        return;
    input_stream_free(loader->stream);
    tensor_list_release(&loader->held);
    feed_dicts_release(&loader->feeds);
    derived_inputs_release(&loader->derived);
    free(loader);
}

void data_loader_replace(struct data_loader *loader, const struct tensor_list *feed)
{
    struct tensor_list *only;

    input_stream_free(loader->stream);
    loader->stream = NULL;
    loader->held_iteration = -1;
    feed_dicts_release(&loader->feeds);
    only = VECTOR_APPEND(&loader->feeds);
    *only = (struct tensor_list){0};
    for (size_t i = 0; i < feed->count; i++) {
        const struct tensor *tensor = &feed->items[i].tensor;
        struct tensor borrowed;

        tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &borrowed);
        tensor_list_add(only, text_of(feed->items[i].name), &borrowed);
    }
    loader->is_replaced = true;
}

bool data_loader_generates(const struct data_loader *loader)
{
    return !is_loaded(loader);
}

/* ---- What the model says ---- */

static const struct derived_input *find_derived(const struct data_loader *loader, const char *name)
{
    for (size_t i = 0; loader->derives && i < loader->derived.count; i++)
        if (strcmp(loader->derived.items[i].name, name) == 0)
            return &loader->derived.items[i];
    return NULL;
}

static int choose_shape(const struct data_loader *loader, const struct backend_io *input, struct log *log,
                        struct input_shape_choice *ret, struct error *err)
{
    const struct derived_input *derived = find_derived(loader, input->name);

    return input_shape_choose(&loader->settings, derived != NULL && derived->has_shape ? &derived->shape : NULL, input,
                              log, ret, err);
}

const struct shape *data_loader_given_shape(const struct data_loader *loader, const char *name)
{
    return input_shape_given(&loader->settings, name);
}

static size_t list_given_shapes(const struct data_loader *loader, const struct model *model,
                                struct derivation_shape *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < model->inputs.count; i++) {
        char *name SCOPED_FREE = NULL;
        struct text text = model->values.items[model->inputs.items[i]].name;
        const struct shape *given;

        name = memory_copy(text.data, text.size);
        given = input_shape_given(&loader->settings, name);
        if (given != NULL)
            ret[count++] = (struct derivation_shape){(uint32_t)i, *given};
    }
    return count;
}

/* Whether the user decides on the values of this input of integers. */
static bool has_user_range(const struct data_loader_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->ranges.count; i++)
        if (settings->ranges.items[i].name[0] == '\0' || strcmp(settings->ranges.items[i].name, name) == 0)
            return true;
    return settings->has_integer_range;
}

static void log_derived(const struct data_loader *loader)
{
    const struct derived_inputs *derived = &loader->derived;

    if (!derived->defaults_fit)
        log_once(loader->log, LOG_INFO, "Input data are derived from the model: %s", derived->refusal);
    VECTOR_EACH (const struct derived_input, item, *derived) {
        const char *values = has_user_range(&loader->settings, item->name) ? NULL : item->value_rule;
        SCOPED_STRING(text);

        if (item->size_rule == NULL && values == NULL)
            continue;
        shape_to_text(&item->shape, &text);
        log_once(loader->log, LOG_INFO, "Input '%s' | shape %s%s%s%s%s", item->name, text.data,
                 item->size_rule != NULL ? ": " : "", item->size_rule != NULL ? item->size_rule : "",
                 values != NULL ? " | values " : "", values != NULL ? values : "");
    }
}

static void fill_masks(struct derived_inputs *derived)
{
    ARRAY_EACH (struct derived_input, item, derived->items, derived->count)
        if (item->values == DERIVED_MASK && item->low > 0) {
            item->low = 0;
            item->value_rule = "ones";
        }
}

void data_loader_derive(struct data_loader *loader, const struct model *model)
{
    struct derivation_shape *given SCOPED_FREE = NULL;
    size_t count;

    if (is_loaded(loader) || loader->derived.count > 0 || !derived_inputs_are_needed(model))
        return;
    given = memory_alloc_zero(model->inputs.count + 1, sizeof(*given));
    count = list_given_shapes(loader, model, given);
    derived_inputs_init(&loader->derived, model, given, count);
    if (loader->settings.whole_masks)
        fill_masks(&loader->derived);
    loader->derives = loader->settings.generated == GENERATED_REPRESENTATIVE || !loader->derived.defaults_fit;
    if (loader->derives)
        log_derived(loader);
}

bool data_loader_derives(const struct data_loader *loader)
{
    return loader->derives;
}

const struct derived_inputs *data_loader_derived(const struct data_loader *loader)
{
    return &loader->derived;
}

bool data_loader_guesses(const struct data_loader *loader, const struct backend_io *inputs, size_t count,
                         struct string_builder *ret)
{
    bool guesses = false;

    for (size_t i = 0; i < count && !is_loaded(loader); i++) {
        struct input_shape_choice choice;

        if (choose_shape(loader, &inputs[i], NULL, &choice, NULL) < 0 || !choice.guessed)
            continue;
        string_add(ret, guesses ? " " : "");
        input_shape_to_option(inputs[i].name, &choice.shape, ret);
        guesses = true;
    }
    return guesses;
}

int64_t data_loader_iterations(const struct data_loader *loader)
{
    if (loader->stream != NULL)
        return (int64_t)input_stream_count(loader->stream);
    return is_loaded(loader) ? (int64_t)loader->feeds.count : loader->settings.iterations;
}

const struct feed_dicts *data_loader_kept(const struct data_loader *loader)
{
    return &loader->feeds;
}

/* The range of values; false if it is the default. */
static bool find_range(const struct data_loader_settings *settings, const struct backend_io *input, double *ret_minimum,
                       double *ret_maximum)
{
    const struct data_loader_range *range = NULL;

    *ret_minimum = 0;
    *ret_maximum = 1;
    VECTOR_EACH (const struct data_loader_range, r, settings->ranges)
        if (strcmp(r->name, input->name) == 0 || (range == NULL && r->name[0] == '\0'))
            range = r;
    if (data_type_is_integer(input->type) && settings->has_integer_range) {
        *ret_minimum = (double)settings->integer_minimum;
        *ret_maximum = (double)settings->integer_maximum;
    } else if (data_type_is_float(input->type) && settings->has_float_range) {
        *ret_minimum = settings->float_minimum;
        *ret_maximum = settings->float_maximum;
    } else if (range != NULL) {
        *ret_minimum = range->minimum;
        *ret_maximum = range->maximum;
    } else {
        return false;
    }
    return true;
}

/* Creates the value of a shape tensor. */
static int make_values(const struct shape *values, enum data_type type, struct tensor *ret, struct error *err)
{
    struct tensor numbers;
    size_t clipped;
    int rc;

    tensor_borrow(DATA_INT64, &(struct shape){.rank = 1, .dims = {(int64_t)values->rank}}, values->dims,
                  values->rank * sizeof(values->dims[0]), &numbers);
    rc = tensor_cast(&numbers, type, ret, &clipped, err);
    if (rc == 0 && clipped > 0) {
        tensor_release(ret);
        rc = error_set(err, ERR_INVALID, "a number given as its shape does not fit %s", data_type_name(type));
    }
    return rc;
}

static int generate_one(const struct data_loader *loader, const struct backend_io *input,
                        struct mersenne_twister *random, struct tensor *ret, struct error *err)
{
    const struct derived_input *derived = find_derived(loader, input->name);
    struct input_shape_choice choice;
    double minimum, maximum;
    bool has_range;
    int rc = choose_shape(loader, input, loader->log, &choice, err);

    if (rc < 0)
        return rc;
    has_range = find_range(&loader->settings, input, &minimum, &maximum);
    if (choice.values != NULL)
        rc = make_values(choice.values, input->type, ret, err);
    else if (derived != NULL && derived->values != DERIVED_ANY && !has_range)
        rc = derived_values_generate(derived, input->type, &choice.shape, random, ret, err);
    else
        rc = tensor_generate(random, input->type, &choice.shape, (struct number_range){minimum, maximum}, ret, err);
    return rc < 0 ? error_context(err, "input '%s'", input->name) : 0;
}

/* The total size of data of some inputs in bytes; SIZE_MAX: overflow. */
struct size_sum {
    size_t bytes, largest;
    const struct backend_io *input; /* the largest input */
    struct shape shape;
};

static void add_to_sum(struct size_sum *sum, const struct backend_io *input, const struct shape *shape)
{
    size_t size = tensor_bytes(input->type, shape_elements(shape));

    if (__builtin_add_overflow(sum->bytes, size, &sum->bytes))
        sum->bytes = SIZE_MAX;
    if (sum->input != NULL && size <= sum->largest)
        return;
    sum->largest = size;
    sum->input = input;
    sum->shape = *shape;
}

static void describe_sum(const struct size_sum *sum, int64_t iterations, struct string_builder *ret)
{
    string_add_format(ret, "generated data for input '%s' (%s of shape ", sum->input->name,
                      data_type_name(sum->input->type));
    shape_to_text(&sum->shape, ret);
    string_add_char(ret, ')');
    if (sum->bytes > sum->largest)
        string_add(ret,
                   iterations > 1 ? ", with those of other inputs and iterations," : ", with those of other inputs,");
}

static int refuse_unasked(const struct size_sum *sum, struct error *err)
{
    SCOPED_STRING(what);
    SCOPED_STRING(option);

    describe_sum(sum, 1, &what);
    input_shape_to_option(sum->input->name, &sum->shape, &option);
    return error_set(
        err, ERR_MEMORY,
        "%s would take %.1f GiB: more than 1 GiB is generated only for those who ask for it, by giving its "
        "shape, %s, or with --max-memory %.0fG",
        what.data, (double)sum->bytes / 0x1p30, option.data, ceil((double)sum->bytes / 0x1p30 + 0.5));
}

static int refuse_all(const struct size_sum *sum, size_t bytes, int64_t iterations, struct error *err)
{
    SCOPED_STRING(what);

    describe_sum(sum, iterations, &what);
    return memory_limit_refuse(bytes, what.data, err);
}

/* Checks whether data for `iterations` iterations may be generated at once. */
static int check_sizes(const struct data_loader *loader, const struct backend_io *inputs, size_t count,
                       int64_t iterations, struct error *err)
{
    struct size_sum all = {0}, unasked = {0};
    size_t bytes;

    for (size_t i = 0; i < count; i++) {
        struct input_shape_choice choice;

        /* Errors are reported when it is generated. */
        if (choose_shape(loader, &inputs[i], NULL, &choice, NULL) < 0 || choice.values != NULL)
            continue;
        add_to_sum(&all, &inputs[i], &choice.shape);
        if (!choice.given)
            add_to_sum(&unasked, &inputs[i], &choice.shape);
    }
    if (!memory_limit_is_set() && unasked.bytes > DATA_LOADER_UNASKED)
        return refuse_unasked(&unasked, err);
    if (__builtin_mul_overflow(all.bytes, (size_t)iterations, &bytes))
        bytes = SIZE_MAX;
    return memory_limit_allows(bytes) ? 0 : refuse_all(&all, bytes, iterations, err);
}

static int generate_inputs(const struct data_loader *loader, const struct backend_io *inputs, size_t count,
                           int64_t iteration, struct tensor_list *ret, struct error *err)
{
    struct mersenne_twister random;

    mersenne_twister_seed(&random, (uint32_t)(loader->settings.seed + iteration));
    for (size_t i = 0; i < count; i++) {
        struct tensor tensor;
        int rc = generate_one(loader, &inputs[i], &random, &tensor, err);

        if (rc < 0)
            return rc;
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
    return 0;
}

static int generate_checked(const struct data_loader *loader, const struct backend_io *inputs, size_t count,
                            int64_t iteration, struct tensor_list *ret, struct error *err)
{
    int rc = check_sizes(loader, inputs, count, 1, err);

    return rc < 0 ? rc : generate_inputs(loader, inputs, count, iteration, ret, err);
}

static int check_tensors(const struct backend_io *inputs, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (inputs[i].not_a_tensor != NULL)
            return error_set(err, ERR_UNSUPPORTED, "input '%s' is no tensor but a %s, for which there are no data",
                             inputs[i].name, inputs[i].not_a_tensor);
    return 0;
}

int data_loader_keep(struct data_loader *loader, const struct backend_io *inputs, size_t count, struct error *err)
{
    int rc = check_tensors(inputs, count, err);

    if (rc < 0 || is_loaded(loader) || loader->kept)
        return rc;
    rc = check_sizes(loader, inputs, count, loader->settings.iterations, err);
    if (rc < 0)
        return rc;
    input_names_check(&loader->settings, inputs, count, loader->log);
    for (int64_t i = 0; i < loader->settings.iterations; i++) {
        struct tensor_list *feed = VECTOR_APPEND(&loader->feeds);

        *feed = (struct tensor_list){0};
        rc = generate_inputs(loader, inputs, count, i, feed, err);
        if (rc < 0) {
            feed_dicts_release(&loader->feeds);
            return rc;
        }
    }
    loader->kept = true;
    return 0;
}

static int refuse_missing(const struct data_loader *loader, const struct tensor_list *feed,
                          const struct backend_io *input, int64_t iteration, struct error *err)
{
    SCOPED_STRING(names);
    SCOPED_STRING(shape);
    bool has_unnamed = false;

    for (size_t i = 0; i < feed->count; i++) {
        name_list_add(&names, feed->items[i].name);
        has_unnamed = has_unnamed || feed->items[i].is_unnamed;
    }
    input_shape_to_text(input, &shape);
    return error_set(err, ERR_MISSING,
                     "input '%s' (dtype=%s, shape=%s) is not among the loaded data; iteration %lld contains [%s]: %s%s",
                     input->name, data_type_name(input->type), shape.data, (long long)iteration, names.data,
                     has_unnamed ? "name the input of an array without a name, as in INPUT:FILE, or " : "",
                     loader->settings.advice != NULL ? loader->settings.advice
                                                     : "rename an array in the file, or pass NAME:FILE");
}

/* Takes inputs from loaded or kept data. Missing inputs are generated, unless data were loaded. */
static int serve_inputs(const struct data_loader *loader, const struct backend_io *inputs, size_t count,
                        int64_t iteration, struct tensor_list *ret, struct error *err)
{
    const struct tensor_list *feed =
        loader->held_iteration == iteration ? &loader->held : &loader->feeds.items[iteration];
    struct feed_inputs wanted = {inputs, count, loader->settings.by_name, loader->log};
    struct tensor_list generated SCOPED(tensor_list_release) = {0};
    int rc = 0;

    for (size_t i = 0; i < count; i++) {
        struct tensor tensor;

        rc = feed_match(feed, &wanted, i, &tensor, err);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            if (is_loaded(loader))
                rc = refuse_missing(loader, feed, &inputs[i], iteration, err);
            else if (generated.count == 0)
                rc = generate_checked(loader, inputs, count, iteration, &generated, err);
            if (rc < 0)
                return rc;
            tensor = generated.items[i].tensor;
            generated.items[i].tensor = (struct tensor){0};
        }
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
    return 0;
}

int data_loader_hold(struct data_loader *loader, const struct backend_io *inputs, size_t count, int64_t iteration,
                     const struct tensor_list **ret, struct error *err)
{
    int rc = check_tensors(inputs, count, err);

    if (rc < 0)
        return rc;
    if (loader->stream == NULL && (is_loaded(loader) || loader->kept)) {
        *ret = &loader->feeds.items[iteration];
        return 0;
    }
    loader->held_iteration = -1;
    tensor_list_release(&loader->held);
    if (loader->stream != NULL) {
        rc = input_stream_read(loader->stream, (size_t)iteration, &loader->held, err);
    } else {
        input_names_check(&loader->settings, inputs, count, loader->log);
        rc = generate_checked(loader, inputs, count, iteration, &loader->held, err);
    }
    if (rc < 0)
        return rc;
    loader->held_iteration = iteration;
    *ret = &loader->held;
    return 0;
}

int data_loader_feed(struct data_loader *loader, const struct backend_io *inputs, size_t count, int64_t iteration,
                     struct tensor_list *ret, struct error *err)
{
    const struct tensor_list *held;
    int rc = check_tensors(inputs, count, err);

    if (rc == 0 && loader->stream != NULL && loader->held_iteration != iteration)
        rc = data_loader_hold(loader, inputs, count, iteration, &held, err);
    if (rc < 0)
        return rc;
    if (is_loaded(loader) || loader->kept || loader->held_iteration == iteration) {
        rc = serve_inputs(loader, inputs, count, iteration, ret, err);
    } else {
        input_names_check(&loader->settings, inputs, count, loader->log);
        rc = generate_checked(loader, inputs, count, iteration, ret, err);
    }
    if (rc < 0)
        tensor_list_release(ret);
    return rc;
}
