#!/bin/sh
# adb.sh MODEL INPUTS OUTPUTS: runs a model on an Android phone, as a runner of polygraphy. Not tried by its authors.
#
#     polygraphy run model.onnx --onnxrt --runner 'examples/runners/adb.sh {model} {inputs:npy} {outputs:npy}'
#
# PROGRAM is on the phone: it takes a model, a folder of .npy files, and the folder that it is to leave, with a .npy file
# for each output, called after it. When there is no phone nothing is said about the model: 125.
: "${PROGRAM:=/data/local/tmp/run_model}"
model=$1 inputs=$2 outputs=$3
adb get-state >/dev/null || exit 125
there=$(adb shell mktemp -d -p /data/local/tmp) || exit 125
trap 'adb shell rm -rf "$there"' EXIT
adb push "$model" "$there/model.onnx" >/dev/null || exit 125
adb push "$inputs" "$there/inputs" >/dev/null || exit 125
adb shell "$PROGRAM" "$there/model.onnx" "$there/inputs" "$there/outputs" || exit
adb pull "$there/outputs" "$outputs" >/dev/null
