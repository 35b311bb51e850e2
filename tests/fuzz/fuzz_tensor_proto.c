/* tests/fuzz/fuzz_tensor_proto.c: TensorProtos. What was decoded is written, and has to decode to the same tensor
 * again. */
#include <stdlib.h>

#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor tensor, again;
    struct string_builder written;
    struct error error;

    if (tensor_proto_decode((struct span){data, size}, &tensor, &error) < 0)
        return 0;
    string_init(&written);
    tensor_proto_write_header(&written, TEXT("again"), &tensor);
    if (tensor.type != DATA_STRING)
        wire_write_bytes(&written, TENSOR_RAW_DATA, tensor.data, tensor.size);
    if (tensor_proto_decode((struct span){(const uint8_t *)written.data, written.size}, &again, &error) < 0 ||
        !tensor_identical(&tensor, &again))
        abort();
    tensor_release(&again);
    tensor_release(&tensor);
    string_release(&written);
    return 0;
}
