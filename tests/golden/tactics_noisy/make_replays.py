#!/usr/bin/env python3
"""Makes the replays beside this script: 20 builds of three layers that choose their tactics by lot and one that never
varies. Builds whose conv2 is the Winograd tactic fail with probability 0.85, the others with 0.08."""
import json
import os
import random

NAMES = {1: "jit:avx512_core", 2: "jit:avx2", 3: "gemm:jit", 4: "jit_wino_4x3", 5: "ref:any", 6: "jit:sse41"}
LAYERS = {  # the tactics to choose from, and the strides of both tensors
    "conv1 + relu1": ([1, 2, 3], [200704, 3136, 56, 1]),
    "conv2 + relu2": ([1, 2, 4], [200704, 3136, 56, 1]),
    "fc": ([3, 5], [1000, 1]),
    "softmax": ([6], [1000, 1]),
}


def tensor(strides):
    return {
        "dtype": "DataType.FLOAT",
        "strides": strides,
        "vectorized_dim": -1,
        "components_per_element": 1,
        "polygraphy_class": "TensorInfo",
    }


def algorithm(index, tactic, strides):
    return {
        "implementation": 100 + index,
        "tactic": tactic,
        "inputs": [tensor(strides)],
        "outputs": [tensor(strides)],
        "name": NAMES[tactic],
        "polygraphy_class": "Algorithm",
    }


random.seed(11)
for build in range(20):
    chosen = {layer: random.choice(tactics) for layer, (tactics, _) in LAYERS.items()}
    bad = random.random() < (0.85 if chosen["conv2 + relu2"] == 4 else 0.08)
    replay = {
        layer: algorithm(index, chosen[layer], strides) for index, (layer, (_, strides)) in enumerate(LAYERS.items())
    }
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bad" if bad else "good", f"{build:02}.json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump({"replay": replay, "polygraphy_class": "TacticReplayData"}, file)
