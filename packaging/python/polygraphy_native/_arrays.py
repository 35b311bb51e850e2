"""Arrays and models as files that the program reads and writes: safetensors, which are mapped, and raw data."""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import numpy.typing

from polygraphy_native.errors import Error

Array = numpy.typing.NDArray[Any]
Arrays = Mapping[str, numpy.typing.ArrayLike]

# Safetensors' name of each type, numpy's or that of ml_dtypes.
_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "uint32": "U32",
    "int32": "I32",
    "uint64": "U64",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e8m0fnu": "F8_E8M0",
}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}

# The program's names of types that safetensors do not have: two elements share a byte.
_HALF_BYTES = {"int4": "int4", "uint4": "uint4"}


def dtype_of(name: str) -> numpy.dtype[Any]:
    """Returns the numpy type of that name; bfloat16, float8 and int4 are those of ml_dtypes.

    Raises Error if that package is not installed or has no such type.
    """
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes

        dtype: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, name))
        return dtype
    except ImportError:
        raise Error(f"arrays of type {name} need the package ml_dtypes: pip install ml_dtypes") from None
    except AttributeError:
        raise Error(f"the installed ml_dtypes has no type {name}: pip install --upgrade ml_dtypes") from None


def as_array(name: str, value: numpy.typing.ArrayLike) -> Array:
    """Returns an array, in C order and without a copy if it is one; torch tensors on the CPU are."""
    array = numpy.asarray(value)
    if array.dtype.hasobject or array.dtype.kind in "US":
        raise Error(f"'{name}' is an array of {array.dtype}: pass such data in a file")
    return numpy.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def iterations_of(data: Arrays | Sequence[Arrays]) -> list[dict[str, Array]]:
    """Returns the iterations as dicts of arrays: one mapping is one iteration."""
    iterations = [data] if isinstance(data, Mapping) else list(data)
    if not iterations:
        raise Error("there are no arrays: pass a dict by name, or a list of them")
    return [{name: as_array(name, value) for name, value in arrays.items()} for arrays in iterations]


def _write(path: str, tensors: Sequence[tuple[str, Array]], metadata: dict[str, str]) -> None:
    header: dict[str, Any] = {"__metadata__": metadata}
    at = 0
    for name, array in tensors:
        dtype = _NAMES.get(array.dtype.name)
        if dtype is None:
            raise Error(f"'{name}': the type {array.dtype.name} is not supported here; pass such data in a file")
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 64)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)))
        out.write(text)
        for _, array in tensors:
            out.write(array.reshape(-1).view(numpy.uint8).data)


def write_inputs(folder: str, data: Arrays | Sequence[Arrays]) -> list[str]:
    """Writes input data, and returns the words for --load-inputs."""
    iterations = iterations_of(data)
    if any(array.dtype.name in _HALF_BYTES for arrays in iterations for array in arrays.values()):
        return [_write_raw(folder, i, name, array) for i, arrays in enumerate(iterations) for name, array in arrays.items()]
    path = os.path.join(folder, "inputs.safetensors")
    tensors = [(f"{i}/{name}", array) for i, arrays in enumerate(iterations) for name, array in arrays.items()]
    _write(path, tensors, {"polygraphy": "inputs", "iterations": str(len(iterations))})
    return [path]


def _write_raw(folder: str, iteration: int, name: str, array: Array) -> str:
    path = os.path.join(folder, f"input_{iteration}_{len(os.listdir(folder))}.bin")
    if array.dtype.name in _HALF_BYTES:
        halves = array.reshape(-1).view(numpy.uint8) & 15
        halves = numpy.append(halves, numpy.zeros(halves.size % 2, numpy.uint8))
        data: Array = halves[0::2] | halves[1::2] << 4
    else:
        data = array
    data.tofile(path)
    dtype = {"float8_e4m3fn": "float8e4m3fn", "float8_e5m2": "float8e5m2"}.get(array.dtype.name, array.dtype.name)
    return f"{name}:{path}:{dtype}:[{','.join(map(str, array.shape))}]"


class Runner:
    """The outputs of a runner: its name, seconds of each iteration (None: unknown), and arrays by name."""

    def __init__(self, name: str, seconds: list[float | None]) -> None:
        self.name = name
        self.seconds = seconds
        self.iterations: list[dict[str, Array]] = [{} for _ in seconds]


def runner_of(name: str, data: Arrays | Sequence[Arrays], seconds: list[float | None] | None = None) -> Runner:
    """Returns outputs as those of a runner."""
    iterations = iterations_of(data)
    runner = Runner(name, seconds or [None] * len(iterations))
    runner.iterations = iterations
    return runner


def write_results(path: str, runners: Sequence[Runner]) -> None:
    """Writes outputs for --load-outputs."""
    listed = json.dumps([{"name": runner.name, "runtimes": runner.seconds} for runner in runners])
    tensors = [
        (f"{i}/{k}/{output}", array)
        for i, runner in enumerate(runners)
        for k, arrays in enumerate(runner.iterations)
        for output, array in arrays.items()
    ]
    _write(path, tensors, {"polygraphy": "results", "runners": listed})


def _map(path: str) -> tuple[dict[str, Any], Array]:
    """Returns the header and the bytes of the data. The mapping is private and outlives the file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size).decode("utf-8", "surrogateescape"))
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return header, numpy.frombuffer(mapping, numpy.uint8)[8 + size :]


def _tensor(entry: dict[str, Any], data: Array) -> Array:
    begin, end = entry["data_offsets"]
    name = _TYPES.get(entry["dtype"])
    if name is None:
        raise Error(f"an output has the type {entry['dtype']}, which numpy and ml_dtypes do not have")
    array: Array = data[begin:end].view(dtype_of(name)).reshape(entry["shape"])
    return array


def read_results(path: str) -> list[Runner]:
    """Maps what --save-outputs has written as safetensors."""
    header, data = _map(path)
    listed = json.loads(header.pop("__metadata__")["runners"])
    runners = [Runner(runner["name"], runner["runtimes"]) for runner in listed]
    for name, entry in sorted(header.items(), key=lambda item: int(item[1]["data_offsets"][0])):
        runner, iteration, output = name.split("/", 2)
        runners[int(runner)].iterations[int(iteration)][output] = _tensor(entry, data)
    return runners


def read_inputs(path: str) -> list[dict[str, Array]]:
    """Maps what --save-inputs, --iter-inputs or --iter-golden has written as safetensors: a dict for each iteration."""
    header, data = _map(path)
    metadata = header.pop("__metadata__", {})
    if metadata.get("polygraphy") == "results":
        return [arrays for runner in read_results(path) for arrays in runner.iterations]
    count = int(metadata.get("iterations", "1"))
    iterations: list[dict[str, Array]] = [{} for _ in range(count)]
    numbered = count > 1 or (len(header) > 0 and all(name.split("/", 1)[0].isdigit() and "/" in name for name in header))
    for name, entry in header.items():
        number, _, rest = name.partition("/") if numbered else ("0", "", name)
        iterations[int(number)][rest] = _tensor(entry, data)
    return iterations
