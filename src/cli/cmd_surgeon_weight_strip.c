/* cmd_surgeon_weight_strip.c: take the values out of a model's weights. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "onnx/external_tensor.h"
#include "onnx/model_edit.h"
#include "onnx/model_rebuild.h"
#include "onnx/sparsity.h"
#include "onnx/stripped_weight.h"

#define LARGEST_LIST ((size_t)256 << 20)

struct stripping {
    struct model *model;
    struct log *log;
    struct sparsity_candidates candidates; /* weights that may have the 2:4 pattern */
    struct bitset excluded;                /* values */
    size_t stripped, sparse;
    uint64_t bytes;
};

/* ---- What stays ---- */

static void exclude(struct stripping *stripping, struct text name)
{
    uint32_t value = model_find_value(stripping->model, name);

    if (value == VALUE_NONE || stripping->model->values.items[value].initializer == INITIALIZER_NONE)
        log_message(stripping->log, LOG_WARNING, "--exclude-list: the model has no weight '" TEXT_FORMAT "'",
                    TEXT_ARGS(name));
    else
        bitset_add(&stripping->excluded, value);
}

static int read_exclusions(struct stripping *stripping, const char *path, struct error *err)
{
    char *text;
    size_t size;
    int rc = path != NULL ? file_read(path, LARGEST_LIST, &text, &size, err) : 0;

    if (rc < 0 || path == NULL)
        return rc < 0 ? error_context(err, "--exclude-list") : 0;
    for (char *line = text; line < text + size;) {
        size_t length = strcspn(line, "\r\n");

        if (length > 0)
            exclude(stripping, (struct text){line, length});
        line += length + 1;
    }
    free(text);
    return 0;
}

/* ---- Stripping ---- */

/* The axes along which the weight has the 2:4 pattern. */
static int find_sparse_axes(const struct stripping *stripping, uint32_t initializer, uint32_t *ret, struct error *err)
{
    const struct model *model = stripping->model;

    *ret = 0;
    for (size_t i = 0; i < stripping->candidates.count; i++) {
        const struct sparsity_candidate *candidate = &stripping->candidates.items[i];
        struct tensor weight;
        int rc;

        if (candidate->initializer != initializer)
            continue;
        rc = external_tensor_read_constant(model, &model->initializers.items[initializer], &weight, err);
        if (rc < 0)
            return error_context(err, "%s", model->display_name);
        if (sparsity_holds(&weight, candidate->axis))
            *ret |= (uint32_t)1 << candidate->axis;
        tensor_release(&weight);
    }
    return 0;
}

static int strip(struct stripping *stripping, uint32_t index, struct error *err)
{
    struct model *model = stripping->model;
    const struct initializer *initializer = &model->initializers.items[index];
    struct tensor_header header;
    struct stripped_weight weight;
    int rc;

    if (initializer->sparse || bitset_has(&stripping->excluded, initializer->value) ||
        stripped_weight_read(initializer->message, &weight))
        return 0;
    rc = tensor_proto_read(initializer->message, &header, err);
    if (rc < 0)
        return error_context(err, "%s", model->display_name);
    if (!stripped_weight_applies(&header))
        return 0;
    weight = (struct stripped_weight){.type = header.type, .shape = header.shape};
    rc = find_sparse_axes(stripping, index, &weight.sparse_axes, err);
    if (rc < 0)
        return rc;
    stripping->stripped++;
    stripping->sparse += weight.sparse_axes != 0;
    stripping->bytes += tensor_bytes(header.type, shape_elements(&header.shape));
    model_set_initializer(model, initializer->value,
                          stripped_weight_make(&model->arena, model->values.items[initializer->value].name, &weight));
    return 0;
}

static int strip_all(struct stripping *stripping, const char *exclude_list, struct error *err)
{
    int rc = read_exclusions(stripping, exclude_list, err);

    if (rc == 0)
        rc = sparsity_find(stripping->model, &stripping->candidates, err);
    for (uint32_t i = 0; rc == 0 && i < stripping->model->initializers.count; i++)
        rc = strip(stripping, i, err);
    if (rc == 0)
        log_message(stripping->log, LOG_INFO, "Stripped %zu weight tensor(s) of %llu bytes; %zu with 2:4 sparsity",
                    stripping->stripped, (unsigned long long)stripping->bytes, stripping->sparse);
    return rc;
}

static int surgeon_weight_strip_run(const struct command_context *context, struct error *err)
{
    const struct weight_strip_values *values = parse_values(context->parse, &weight_strip_options);
    struct stripping stripping = {.log = context->log};
    int rc = model_file_load(context, &stripping.model, err);

    if (rc < 0)
        return rc;
    bitset_init(&stripping.excluded, stripping.model->values.count);
    rc = model_lower_constants(stripping.model, err);
    if (rc == 0)
        rc = strip_all(&stripping, values->exclude_list, err);
    if (rc == 0)
        rc = model_file_save_whole(context, stripping.model, err);
    bitset_release(&stripping.excluded);
    free(stripping.candidates.items);
    model_free(stripping.model);
    return rc;
}

static const struct option_group *const groups[] = {&logging_options, &onnx_model_options, &onnx_load_options,
                                                    &onnx_save_required_options, &weight_strip_options};

const struct command cmd_surgeon_weight_strip = {
    .name = "weight-strip",
    .summary = "take the values out of a model's weights",
    .description =
        "Weights of 1024 bytes and more keep their name, type and shape, and lose their values. So the structure of a "
        "model "
        "can be passed on, or reported with an issue, in a small file. Integers wider than 8 bits stay, because they "
        "are "
        "shapes and indices.\n\n"
        "A stripped weight has no data, and the doc_string `polygraphy:stripped`. If it had the 2:4 sparsity pattern, "
        "` 2:4:<axis>` follows for each axis that had it. `surgeon weight-reconstruct` puts other values in their "
        "place.",
    .example = "polygraphy surgeon weight-strip model.onnx -o stripped.onnx",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .run = surgeon_weight_strip_run,
};
