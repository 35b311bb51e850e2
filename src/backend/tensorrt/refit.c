/* backend/tensorrt/refit.c: see refit.h. */
#include "backend/tensorrt/refit.h"

#include "backend/tensorrt/interfaces.h"
#include "backend/tensorrt/network.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/names.h"

#define WISH "weights of an ONNX model"
#define MOST_NAMES 64 /* of missing weights */

static bool read_weights(void *parser, const struct backend_model *model)
{
    char *place SCOPED_FREE = NULL;

    if (model->path != NULL)
        return TENSORRT_CALL(IParserRefitter, refitFromFile, parser, model->path);
    place = file_join(model->external_folder != NULL ? model->external_folder : ".", "model.onnx");
    return TENSORRT_CALL(IParserRefitter, refitFromBytes, parser, model->data, model->size, place);
}

static int parse_weights(const struct tensorrt *trt, void *refitter, void *logger, const struct backend_model *model,
                         struct error *err)
{
    void *parser = tensorrt_object(trt->create_parser_refitter(refitter, logger, trt->parser_number));
    int32_t count;
    int rc = 0;

    if (parser == NULL)
        return tensorrt_failure(err, "TensorRT gives no refitter of models");
    if (!read_weights(parser, model)) {
        count = TENSORRT_GET(IParserRefitter, getNbErrors, parser);
        rc = count > 0 ? tensorrt_report_parser_error(TENSORRT_CALL(IParserRefitter, getError, parser, 0), count,
                                                      "TensorRT does not take weights of", err)
                       : tensorrt_failure(err, "TensorRT does not take the weights of the model");
    }
    TENSORRT_GET(IParserRefitter, destructor, parser);
    return rc;
}

static int refuse_missing(void *refitter, struct error *err)
{
    const char *names[MOST_NAMES];
    int32_t count = TENSORRT_CALL(VRefitter, getMissingWeights, refitter, MOST_NAMES, names);
    SCOPED_STRING(text);
    struct short_list list = {.text = &text, .most = 8};

    if (count <= 0)
        return 0;
    for (int32_t i = 0; i < count && i < MOST_NAMES; i++)
        short_list_add(&list, names[i]);
    short_list_end(&list);
    return error_set(err, ERR_BACKEND, "the model lacks %d weights that the engine needs: %s", count, text.data);
}

static int refit_engine(const struct tensorrt *trt, void *refitter, void *logger, const struct backend_model *model,
                        struct error *err)
{
    int rc;

    TENSORRT_CALL(VRefitter, setErrorRecorder, refitter, tensorrt_error_recorder());
    rc = parse_weights(trt, refitter, logger, model, err);
    if (rc == 0)
        rc = refuse_missing(refitter, err);
    if (rc < 0)
        return rc;
    return TENSORRT_GET(VRefitter, refitCudaEngine, refitter)
               ? 0
               : tensorrt_failure(err, "TensorRT does not refit the engine");
}

int tensorrt_refit(const struct tensorrt *trt, void *engine, const struct backend_model *model, struct log *log,
                   struct error *err)
{
    void *logger = tensorrt_logger(log), *refitter;
    int rc;

    if (tensorrt_require(TENSORRT_METHOD(VRefitter, refitCudaEngine), WISH, err) < 0)
        return err->code;
    if (trt->create_refitter == NULL || trt->create_parser_refitter == NULL)
        return error_set(err, ERR_MISSING,
                         WISH ": TensorRT's library or its ONNX parser, if one was found, has no refitter");
    if (!TENSORRT_GET(VCudaEngine, isRefittable, engine))
        return error_set(err, ERR_UNSUPPORTED,
                         WISH ": the engine takes none; build it with --refittable or --strip-plan");
    tensorrt_errors_clear();
    refitter = tensorrt_object(trt->create_refitter(engine, logger, trt->number));
    if (refitter == NULL)
        return tensorrt_failure(err, "TensorRT gives no refitter");
    rc = refit_engine(trt, refitter, logger, model, err);
    tensorrt_delete(refitter);
    return rc;
}
