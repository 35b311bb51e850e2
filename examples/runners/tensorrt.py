#!/usr/bin/env python3
"""Builds and runs an ONNX model with TensorRT's Python module, as a runner of polygraphy. Not tried by its authors, who
had no GPU; whoever has one may have to change a line.

    polygraphy run model.onnx --onnxrt --runner-build 'examples/runners/tensorrt.py build {model} {engine}' \\
        --runner 'examples/runners/tensorrt.py run {engine} {inputs:npz} {outputs:npz}'

Needs TensorRT 10 or later with its Python module, and PyTorch for memory on the GPU.
"""

import sys

import numpy
import torch

sys.path.pop(0)  # this file has the module's name
import tensorrt

logger = tensorrt.Logger(tensorrt.Logger.WARNING)


def build(model, engine):
    builder = tensorrt.Builder(logger)
    network = builder.create_network()
    parser = tensorrt.OnnxParser(network, logger)
    if not parser.parse_from_file(model):
        sys.exit("\n".join(str(parser.get_error(i)) for i in range(parser.num_errors)))
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    if plan is None:
        sys.exit("TensorRT cannot build an engine of the model")
    with open(engine, "wb") as file:
        file.write(plan)


def run(engine, inputs, outputs):
    with open(engine, "rb") as file:
        plan = tensorrt.Runtime(logger).deserialize_cuda_engine(file.read())
    context = plan.create_execution_context()
    tensors = {name: torch.from_numpy(value).cuda() for name, value in numpy.load(inputs).items()}
    for name, tensor in tensors.items():
        context.set_input_shape(name, tuple(tensor.shape))
    names = [plan.get_tensor_name(i) for i in range(plan.num_io_tensors)]
    results = [name for name in names if plan.get_tensor_mode(name) == tensorrt.TensorIOMode.OUTPUT]
    for name in results:
        type_of_numpy = numpy.dtype(tensorrt.nptype(plan.get_tensor_dtype(name)))
        type_of_torch = torch.from_numpy(numpy.zeros(0, type_of_numpy)).dtype
        tensors[name] = torch.empty(tuple(context.get_tensor_shape(name)), dtype=type_of_torch, device="cuda")
    for name, tensor in tensors.items():
        context.set_tensor_address(name, tensor.data_ptr())
    stream = torch.cuda.current_stream()
    if not context.execute_async_v3(stream.cuda_stream):
        sys.exit("TensorRT cannot run the engine")
    stream.synchronize()
    numpy.savez(outputs, **{name: tensors[name].cpu().numpy() for name in results})


{"build": build, "run": run}[sys.argv[1]](*sys.argv[2:])
