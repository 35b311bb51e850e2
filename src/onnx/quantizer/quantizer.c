/* onnx/quantizer/quantizer.c: see quantizer.h. */
#include "onnx/quantizer/quantizer.h"

#include "onnx/proto/node_attribute.h"

const char *quantizer_form_name(enum quantizer_form form)
{
    static const char *const names[] = {"pair", "stored", "fixed"};

    return names[form];
}

const char *quantizer_role_name(enum quantizer_role role)
{
    static const char *const names[] = {"activation", "weight", "bias"};

    return names[role];
}

static bool node_is_quantizer(const struct node *node, const char *op_type)
{
    return text_equal_string(node->op_type, op_type) &&
           (domain_is_standard(node->domain) || text_equal_string(node->domain, "com.microsoft"));
}

bool node_quantizes(const struct node *node)
{
    return node_is_quantizer(node, "QuantizeLinear") && node->inputs.count > 0 && node->outputs.count > 0;
}

bool node_dequantizes(const struct node *node)
{
    return node_is_quantizer(node, "DequantizeLinear") && node->inputs.count > 0 && node->outputs.count > 0;
}

enum data_type quantizer_type_behind(const struct quantizer *quantizer, const struct node *dequantize)
{
    enum data_type stated = (enum data_type)node_attribute_integer(dequantize->message, "output_dtype", DATA_UNDEFINED);

    return stated != DATA_UNDEFINED ? stated : quantizer->scale_type;
}
