/* debug/quantization/subject.c: see subject.h. */
#include "debug/quantization/subject.h"

#include "onnx/edit/model.h"

static int open_lowered(const char *path, struct model **ret, struct error *err)
{
    int rc = model_open(path, NULL, ret, err);

    return rc < 0 ? rc : model_lower_constants(*ret, err);
}

int quantization_subject_open(const char *path, const char *float_path, struct quantization_subject *ret,
                              struct error *err)
{
    int rc;

    *ret = (struct quantization_subject){0};
    rc = open_lowered(path, &ret->model, err);
    if (rc == 0 && float_path != NULL)
        rc = open_lowered(float_path, &ret->float_model, err);
    if (rc == 0)
        rc = expansion_make(ret->model, &ret->expansion, err);
    if (rc < 0)
        goto failed;
    quantizers_find(ret->model, NULL, &ret->quantizers);
    expansion_name_quantizers(&ret->expansion, ret->model, &ret->quantizers);
    if (ret->quantizers.count == 0) {
        rc = error_set(err, ERR_INVALID,
                       "'%s' has no quantizers%s (QuantizeLinear, DequantizeLinear or quantized operators)", path,
                       ret->quantizers.inside > 0 ? " outside of subgraphs and functions" : "");
        goto failed;
    }
    if (ret->float_model != NULL)
        quantizers_match(&ret->quantizers, ret->model, ret->float_model, &ret->twins);
    return 0;
failed:
    quantization_subject_release(ret);
    return rc;
}

void quantization_subject_release(struct quantization_subject *subject)
{
    if (subject->model == NULL)
        return;
    if (subject->twins.count > 0)
        quantizer_twins_release(&subject->twins);
    quantizers_release(&subject->quantizers);
    expansion_release(&subject->expansion);
    model_free(subject->float_model);
    model_free(subject->model);
    *subject = (struct quantization_subject){0};
}

const struct quantizer_twin *quantization_twin(const struct quantization_subject *subject, size_t quantizer)
{
    return quantizer < subject->twins.count ? &subject->twins.items[quantizer] : NULL;
}
