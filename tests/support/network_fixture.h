/* support/network_fixture.h: networks of made models, and networks as text. */
#ifndef SUPPORT_NETWORK_FIXTURE_H
#define SUPPORT_NETWORK_FIXTURE_H

#include "engine/network/compile.h"
#include "support/captured_log.h"
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

struct network_settings with_onnxruntime(void);
const struct layer *find_layer(const struct network *network, struct text name);
struct network *network_of(struct model *model, const struct network_settings *settings);
struct network *made_network(struct made_model *made);

/* "conv + relu: convolution(x w b) -> y [relu 0 0]\n" for each layer. To be freed. */
char *network_text(const struct network *network);
void assert_layers(const struct network *network, const char *expected);

/* Builds the network, compares it with `expected`, and frees everything. */
void assert_made_layers(struct made_model *made, const char *expected);
void run_bytes(const void *data, size_t size, const struct tensor_list *feed, struct tensor_list *ret);

/* The largest difference between the outputs of two models, relative to the largest value. */
double difference_of(const struct tensor_list *a, const struct tensor_list *b);

/* Fails unless the network's model computes the same values as the made one. */
void assert_same_values(struct made_model *made, const struct network *network);

#endif
