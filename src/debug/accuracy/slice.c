/* debug/accuracy/slice.c: a slice of an output that is wrong by its own scale, while the output agrees as a whole,
 * becomes an output of its own. The study begins anew with that model, in which it is compared like any other output.
 */
#include <math.h>

#include "base/memory.h"
#include "debug/accuracy/hypotheses.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/node.h"
#include "onnx/model/unused_names.h"
#include "onnx/write/model.h"

/* Adds Gather(output, [index]) along the axis, as another output of the model. */
static int add_slice(struct model *model, uint32_t output, const struct slice_error *slice, struct error *err)
{
    const int64_t index = (int64_t)slice->index;
    const struct node_attribute axis = {
        .name = TEXT("axis"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = (int64_t)slice->axis};
    struct text base = model->values.items[output].name, names[3];
    struct unused_names unused;
    struct value_type type;
    struct tensor tensor;
    uint32_t value;
    int rc;

    unused_names_init(&unused, model, &model->arena);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        names[i] = unused_names_make(&unused, base, (const char *const[]){"_slice", "_slice_index", "_slice_node"}[i]);
    unused_names_release(&unused);
    tensor_borrow(DATA_INT64, &(struct shape){.rank = 1, .dims = {1}}, &index, sizeof(index), &tensor);
    rc = model_set_tensor(model, model_add_value(model, names[1]), &tensor, err);
    if (rc < 0)
        return rc;
    rc = model_add_node(model,
                        node_build(&model->arena, &(struct node_recipe){.op_type = TEXT("Gather"),
                                                                        .name = names[2],
                                                                        .inputs = (struct text[]){base, names[1]},
                                                                        .input_count = 2,
                                                                        .outputs = &names[0],
                                                                        .output_count = 1,
                                                                        .attributes = &axis,
                                                                        .attribute_count = 1}),
                        err);
    if (rc < 0)
        return rc;
    value = model_find_value(model, names[0]);
    value_info_decode(model->values.items[output].info, &type);
    if (slice->axis < type.shape.rank)
        type.shape.dims[slice->axis] = 1;
    model_set_type(model, value, &type);
    value_list_add(&model->outputs, value);
    return 0;
}

/* Writes FOLDER/slice.onnx. */
static int write_slice_model(struct study *study, const char *output, const struct slice_error *slice, const char *path,
                             struct error *err)
{
    const struct external_settings external = {.file_name = NULL};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model;
    uint32_t value;
    int rc = model_open(study->settings->model, study->settings->external_data_dir, &model, err);

    if (rc < 0)
        return rc;
    value = model_find_value(model, text_of(output));
    rc = value == VALUE_NONE ? error_set(err, ERR_MISSING, "'%s' is not an output of the model", output)
                             : add_slice(model, value, slice, err);
    if (rc == 0) {
        subgraph_init_whole(&whole, model);
        rc = model_save(&whole, path, &external, false, err);
    }
    model_free(model);
    return rc;
}

void study_forget_answers(struct study *study)
{
    study_close_model(study);
    study->whole = study->minimal = (struct failing_case){0};
    study->values = study->layerwise = study->suspect_outputs = study->layers = NULL;
    study->all_tensors = NULL;
    study->smallest_output = (double)INFINITY;
    study->failure_rate = study->largest_error = 0;
    study->refused = study->outputs_cure = study->reference_is_invalid = false;
}

bool study_begin_slice(struct study *study, const char *output, const struct slice_error *slice)
{
    struct accuracy_settings *settings = arena_alloc_zero(&study->arena, 1, sizeof(*settings));
    const char *path = study_path(study, "slice.onnx");
    struct error err;

    if (study->slice != NULL)
        return false;
    if (write_slice_model(study, output, slice, path, &err) < 0) {
        study_log(study, "The slice cannot be made an output: %s", err.message);
        return false;
    }
    *settings = *study->settings;
    settings->model = path;
    settings->external_data_dir = NULL;
    study_forget_answers(study);
    study->settings = settings;
    study->slice = study_text(
        study,
        "output '%s' agrees as a whole, but index %zu of its axis %zu, whose largest magnitude is "
        "%.3g, has an error of %.2g: %.2g of its own scale",
        output, slice->index, slice->axis, slice->scale, slice->difference, slice->difference / slice->scale);
    study->begins_anew = true;
    study_log(study, "%s", study->slice);
    study_add_note(study, "%s: the cause is that of this slice, which is a separate output in '%s'", study->slice,
                   path);
    return true;
}
