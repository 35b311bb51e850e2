/* debug/accuracy/values.c: see values.h. */
#include "debug/accuracy/values.h"

#include "onnx/model/model.h"

static int run_with_all_tensors(struct investigation *investigation, const char *extension, struct experiment **ret,
                                struct error *err)
{
    struct call call;

    investigation->values =
        investigation_text(investigation, "%s/values%s", investigation->settings->folder, extension);
    investigation->layerwise =
        investigation_text(investigation, "%s/layerwise%s", investigation->settings->folder, extension);
    call_begin(&call, investigation, "values", "All tensors in the reference");
    call_add(&call, "run", investigation->settings->model, NULL);
    call_add_words(&call, investigation->settings->loading);
    call_add_words(&call, investigation->settings->reference);
    call_add(&call, "--onnx-outputs", "mark", "all", "--load-inputs", investigation->whole.inputs, "--save-outputs",
             investigation->values, NULL);
    return call_run(&call, ret, err);
}

int accuracy_make_values(struct investigation *investigation, struct error *err)
{
    struct experiment *experiment;
    struct call call;
    int rc;

    if (investigation->values != NULL)
        return 0;
    rc = run_with_all_tensors(investigation, ".safetensors", &experiment, err);
    if (rc == 0 && experiment->exit_status != 0)
        rc = run_with_all_tensors(investigation, ".json", &experiment, err);
    if (rc == 0 && experiment->exit_status != 0)
        rc = error_set(err, ERR_BACKEND, "the reference does not give out all tensors: %s",
                       experiment->complaint != NULL ? experiment->complaint : experiment->command);
    if (rc < 0) {
        investigation->values = investigation->layerwise = NULL;
        return rc;
    }
    experiment->outcome = "done";
    investigation->all_tensors = experiment;
    call_begin(&call, investigation, "layerwise", "The same as input data for any part");
    call.has_result = false;
    call_add(&call, "data", "to-input", investigation->whole.inputs, investigation->values, "-o",
             investigation->layerwise, NULL);
    return call_succeed(&call, &experiment, err);
}

/* The data of a part are its inputs, and nothing of the rest of the model. */
static int select_inputs(struct investigation *investigation, const char *path, const char *output,
                         struct experiment **ret, struct error *err)
{
    struct model *model;
    struct call call;
    int rc = model_open(path, NULL, &model, err);

    if (rc < 0)
        return rc;
    call_begin(&call, investigation, "inputs", "Its input data");
    call.has_result = false;
    call_add(&call, "data", "to-input", investigation->layerwise, "-o", output, "--only", NULL);
    for (size_t i = 0; i < model->inputs.count; i++)
        call_add(&call, arena_text(&investigation->arena, model->values.items[model->inputs.items[i]].name), NULL);
    model_free(model);
    return call_succeed(&call, ret, err);
}

int accuracy_make_case(struct investigation *investigation, const char *model, const char *name,
                       struct failing_case *ret, struct error *err)
{
    const char *folder = investigation->settings->folder;
    struct experiment *experiment;
    struct call call;
    int rc;

    *ret = (struct failing_case){.model = model,
                                 .inputs = investigation_text(investigation, "%s/%s_inputs.json", folder, name),
                                 .golden = investigation_text(investigation, "%s/%s_golden.json", folder, name),
                                 .tolerance = investigation->layer_tolerance};
    rc = select_inputs(investigation, model, ret->inputs, &experiment, err);
    if (rc < 0)
        return rc;
    call_begin(&call, investigation, "golden", investigation_text(investigation, "Golden outputs of %s", name));
    call_add(&call, "run", model, NULL);
    call_add_words(&call, investigation->settings->reference);
    call_add(&call, "--load-inputs", ret->inputs, "--save-outputs", ret->golden, NULL);
    return call_succeed(&call, &experiment, err);
}
