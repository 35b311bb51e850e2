"""Finds out why a neural network gives wrong answers once an inference engine has compiled it.

    import polygraphy_native as pn

    result = pn.reduce("model.onnx", check=lambda candidate: matches(candidate.path), mode="minimal")
    print(result, result.nodes)

The functions run commands of the program in a process of it, and call checks in this one. Their results are dataclasses with
the members of the program's JSON documents. `python -m polygraphy_native` runs the program itself.
"""

from polygraphy_native._native import library, program
from polygraphy_native._session import Candidate, Check, Feeds, Model, Option, Progress
from polygraphy_native.commands import (
    accuracy,
    compare,
    extract,
    first_divergence,
    fold,
    lint,
    passes,
    precision,
    quantization,
    reduce,
    run,
)
from polygraphy_native.errors import Error, Inconclusive
from polygraphy_native.testing import assert_matches

__all__ = [
    "Candidate",
    "Check",
    "Error",
    "Feeds",
    "Inconclusive",
    "Model",
    "Option",
    "Progress",
    "accuracy",
    "assert_matches",
    "compare",
    "extract",
    "first_divergence",
    "fold",
    "library",
    "lint",
    "passes",
    "precision",
    "program",
    "quantization",
    "reduce",
    "run",
]
