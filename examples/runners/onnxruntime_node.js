#!/usr/bin/env node
// Runs an ONNX model with ONNX Runtime for Node.js, whose graph optimizations are off, as a runner of polygraphy:
//
//     polygraphy run model.onnx --onnxrt --runner 'examples/runners/onnxruntime_node.js {model} {inputs} {outputs}'
//
// Needs `npm install onnxruntime-node`, beside this file or where NODE_PATH names its node_modules. (With
// --ignore-scripts npm leaves the CUDA provider away, which is not needed.) LEVEL=all turns optimizations on.

const fs = require('fs');
const runtime = require('onnxruntime-node');

// A safetensors file is the length of its header (8 bytes), the header as JSON, and the data.
const types = {
  F16: ['float16', Uint16Array], F32: ['float32', Float32Array], F64: ['float64', Float64Array], BOOL: ['bool', Uint8Array],
  U8: ['uint8', Uint8Array], I8: ['int8', Int8Array], U16: ['uint16', Uint16Array], I16: ['int16', Int16Array],
  U32: ['uint32', Uint32Array], I32: ['int32', Int32Array], U64: ['uint64', BigUint64Array], I64: ['int64', BigInt64Array],
};

function load(path) {
  const file = fs.readFileSync(path);
  const end = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, end));
  delete header.__metadata__;
  return Object.fromEntries(Object.entries(header).map(([name, {dtype, shape, data_offsets: [from, to]}]) => {
    if (!(dtype in types))
      throw new Error(`input '${name}': ${dtype} is not known here`);
    const [type, Numbers] = types[dtype];
    const bytes = new Uint8Array(file.subarray(end + from, end + to)); // a copy, which is aligned
    return [name, new runtime.Tensor(type, new Numbers(bytes.buffer), shape)];
  }));
}

function save(path, tensors) {
  const header = {}, parts = [];
  let size = 0;
  for (const [name, {type, data, dims}] of Object.entries(tensors)) {
    const dtype = Object.keys(types).find((key) => types[key][0] === type);
    if (dtype === undefined)
      throw new Error(`output '${name}': ${type} is not known here`);
    header[name] = {dtype, shape: Array.from(dims), data_offsets: [size, size + data.byteLength]};
    size += data.byteLength;
    parts.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }
  const text = Buffer.from(JSON.stringify(header)), length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  fs.writeFileSync(path, Buffer.concat([length, text, ...parts]));
}

async function main([model, inputs, outputs]) {
  const session = await runtime.InferenceSession.create(model, {graphOptimizationLevel: process.env.LEVEL || 'disabled'});
  save(outputs, await session.run(load(inputs)));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
