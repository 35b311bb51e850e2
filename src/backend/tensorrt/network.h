/* backend/tensorrt/network.h: a model parsed by TensorRT's parser into a network of its layers. */
#ifndef BACKEND_TENSORRT_NETWORK_H
#define BACKEND_TENSORRT_NETWORK_H

#include "backend/backend.h"
#include "backend/tensorrt/library.h"
#include "backend/tensorrt/settings.h"

struct tensorrt_network {
    const struct tensorrt_settings *settings;
    void *builder, *network, *parser;
};

/* Fills `err` with an IParserError, the first of `count`: `what`, then node, operator, function and TensorRT's text.
 * ERR_BACKEND. */
int tensorrt_report_parser_error(void *error, int32_t count, const char *what, struct error *err);

/* The same of the parser's first error. */
int tensorrt_refuse_model(void *parser, struct error *err);

/* The model's functions in which the error arose, outermost first. */
struct words tensorrt_parser_error_functions(void *error);

/* A network without layers, and its parser. Errors are those of tensorrt_network_open() but for what the model does. */
int tensorrt_network_create(const struct tensorrt *trt, const struct tensorrt_settings *settings,
                            struct tensorrt_network *ret, struct error *err);

/* Parses `source`, and marks outputs and debug tensors as the settings say. The settings and the source outlive
 * the network. ERR_UNSUPPORTED: the library has no builder or no parser; ERR_BACKEND: the parser refuses the model: the
 * message has node, operator, function and TensorRT's text; ERR_INVALID: names that the network does not have. */
int tensorrt_network_open(const struct tensorrt *trt, const struct tensorrt_settings *settings,
                          const struct backend_model *source, struct tensorrt_network *ret, struct error *err);
void tensorrt_network_release(struct tensorrt_network *network); /* harmless on a zeroed struct */

/* A tensor of the network: an input, or an output of a layer; NULL: there is none. */
void *tensorrt_network_find(const struct tensorrt_network *network, const char *name);

/* The type of a layer by its name ("CONVOLUTION"); "?" for one that is not known. `layer` is an ILayer. */
const char *tensorrt_layer_type(void *layer);

/* Whether the layer is called `name`, or was made of the ONNX node `name`. */
bool tensorrt_layer_is(void *layer, const char *name);

#endif
