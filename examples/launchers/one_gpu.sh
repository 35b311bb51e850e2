#!/bin/sh
# one_gpu.sh COMMAND...: runs a command on one of this machine's GPUs, which nobody else who comes through here uses as long
# as it runs. For `--launcher ./one_gpu.sh -j N`, N being the number of GPUs (GPUS, default 4). The lock of a GPU is a file
# that stays open while the command runs; when all are taken, it ends with code 125 (`--skip-code 125`).
number=${GPUS:-4}
gpu=0
while [ "$gpu" -lt "$number" ]; do
    exec 9>"${TMPDIR:-/tmp}/polygraphy_gpu$gpu.$(id -u).lock"
    flock -n 9 && CUDA_VISIBLE_DEVICES=$gpu exec "$@"
    gpu=$((gpu + 1))
done
exit 125
