#!/usr/bin/env bash
# tests/tensorrt_stand_in/folders.sh FOLDER LIBRARY CUDART: makes FOLDER/<release>/ for each release, with the libraries
# under the names that NVIDIA's have. They are hard links, so that a process that loads several has one library.
set -eu
folder=$1 library=$2 cudart=$3
rm -rf "$folder"
for release in 8.6 9.3 10.0 10.8.0 10.9 10.16 11.0 11.1 12.0; do
    mkdir -p "$folder/$release"
    for name in libnvinfer libnvonnxparser libnvinfer_plugin; do
        ln "$library" "$folder/$release/$name.so.${release%%.*}"
    done
    ln "$cudart" "$folder/$release/libcudart.so.12"
done
for release in rtx-1.4 rtx-1.7; do
    mkdir -p "$folder/$release"
    ln "$library" "$folder/$release/libtensorrt_rtx.so.1"
    ln "$library" "$folder/$release/libtensorrt_onnxparser_rtx.so.1"
    ln "$cudart" "$folder/$release/libcudart.so.13"
done
