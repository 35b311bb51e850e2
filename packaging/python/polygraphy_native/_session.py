"""A call of a command: models, arrays and options as words of the command line, in a folder that is removed at the end."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy

from polygraphy_native import _native
from polygraphy_native._arrays import Array, Arrays, iterations_of, read_inputs, write_inputs
from polygraphy_native.errors import Error, Inconclusive

if TYPE_CHECKING:
    import onnx

Path = Union[str, "os.PathLike[str]"]
Model = Union["onnx.ModelProto", bytes, str, "os.PathLike[str]"]
"""A model: onnx.ModelProto, its bytes, or a path."""

Feeds = Union["Arrays", Sequence["Arrays"], str, "os.PathLike[str]", None]
"""Input data: arrays by name, a list of such dicts (one for each iteration), or a file of --load-inputs; None: generated."""

Option = Union[bool, int, float, str, "os.PathLike[str]", None, Sequence[Any], Mapping[str, Any]]
"""An option of the command line by its long name with underscores: `atol=1e-3` is --atol 1e-3, `fp16=True` is --fp16, a list
is several words, and a dict is NAME:VALUE words: `atol={"y": 1e-3}`, `input_shapes={"x": (1, 3)}`. None and False leave it
out. `words=[...]` are words as they are, such as the options of a fix."""

# The control of debug/belief/trust.c: is a check that never fails one that reads its candidate?
_CONTROL = b"This is no model. "

_MOST_BYTES = 2**31 - 1  # of a protobuf message


@dataclass(frozen=True)
class Progress:
    """A message of the log while a command runs. In searches, `iteration` counts from 1, and `remaining` is the expected
    number of further ones; None elsewhere."""

    message: str
    iteration: int | None = None
    remaining: int | None = None


ProgressFunction = Callable[[Progress], object]


class Candidate:
    """What a check gets: a smaller model that passes or fails.

    path: the ONNX file (for commands that build engines: the engine); it is there until the check returns. disabled: for
    passes() and quantization(), what the candidate leaves out, else None. iteration: from 0; -1: outside of the search.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        self.path: str = request["artifact"]
        self.disabled: list[str] | None = None if request["disabled"] is None else _names_of(request["disabled"])
        self.iteration: int = request["iteration"]
        self._inputs: str | None = request["inputs"]
        self._golden: str | None = request["golden"]

    def load(self) -> onnx.ModelProto:
        """Returns the model as onnx.ModelProto. Raises ImportError without the package onnx."""
        import onnx

        return onnx.load(self.path)

    def read(self) -> bytes:
        """Returns the bytes of the file."""
        with open(self.path, "rb") as file:
            return file.read()

    @property
    def inputs(self) -> list[dict[str, Array]]:
        """The values of its inputs in the original model, for each set of input data. Needs `with_data=True`."""
        return _data_of(self._inputs)

    @property
    def golden(self) -> list[dict[str, Array]]:
        """The same of its outputs."""
        return _data_of(self._golden)


def _data_of(path: str | None) -> list[dict[str, Array]]:
    if path is None:
        raise Error("the candidate comes without data: pass with_data=True")
    return read_inputs(path)


Check = Union[str, Sequence[str], Callable[[Candidate], Union[bool, int, None]]]
"""A check: a function of a Candidate, which is called in this process, or a command (a line for the shell, or words) in which
{artifact} stands for the candidate's path.

A function passes by True or None and fails by False or AssertionError (as of numpy.testing), whose text the log has.
Another number is an exit code: 0 passes, 125 is inconclusive, and different numbers are different failures. Inconclusive is
raised for a candidate that cannot be judged. Any other exception ends the search, and is raised by the call.
"""


def _verdict(check: Callable[[Candidate], bool | int | None], request: dict[str, Any]) -> tuple[int, str]:
    candidate = Candidate(request)
    try:
        verdict = check(candidate)
    except AssertionError as error:
        return 1, str(error)
    except Inconclusive as error:
        return 125, str(error)
    except Exception as error:
        if candidate.disabled is None and _is_control(candidate.path):
            return 1, str(error)
        raise
    return exit_code_of(verdict), ""


def _names_of(text: str) -> list[str]:
    """Returns the names of POLYGRAPHY_DISABLED: separated by ";", or, if they are too long, lines of the file after "@"."""
    if text.startswith("@"):
        with open(text[1:], encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()
    return text.split(";") if text else []


def exit_code_of(verdict: bool | int | None) -> int:
    """Returns what a check's verdict is as an exit code. numpy's booleans are not Python's."""
    if verdict is None or isinstance(verdict, (bool, numpy.bool_)):
        return 0 if verdict is None or verdict else 1
    if not isinstance(verdict, (int, numpy.integer)) or verdict > 255:
        raise Error(f"the check returned {verdict!r}: return True, False, None or an exit code up to 255")
    return int(verdict) & 255  # negative: ended by a signal, as subprocess reports it


def _is_control(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_CONTROL)) == _CONTROL


def option_words(options: Mapping[str, Option]) -> list[str]:
    """Returns the words of options (see Option)."""
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        if name != "words":
            words.append("--" + name.replace("_", "-"))
        if value is not True:
            words += _value_words(value)
    return words


def _value_words(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}:{_word(item)}" for name, item in value.items()]
    if isinstance(value, (str, bytes, os.PathLike)) or not isinstance(value, Sequence):
        return [_word(value)]
    return [_word(item) for item in value]


def _word(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(str, value)) + "]"
    if isinstance(value, (bytes, os.PathLike)):
        return os.fsdecode(value)
    return str(value)


def is_notebook() -> bool:
    """Whether a page can be shown: this is a notebook, not a terminal with IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config


class Session:
    """A folder for the files of a call, and the call itself.

    The folder is one of temporary files, or in `folder`. It is removed at the end, with everything in it.
    """

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="polygraphy-python-")
        self._report: str | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *ignored: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name: str) -> str:
        """Returns the path of a file in the folder."""
        return os.path.join(self.folder, name)

    def model(self, model: Model) -> str:
        """Returns a path of the model, which is written if it is not a file."""
        if isinstance(model, (str, os.PathLike)):
            path = os.fspath(model)
            if not os.path.exists(path):
                raise Error(f"'{path}' does not exist", code=-2)
            return path
        path = self.path(f"model_{len(os.listdir(self.folder))}.onnx")
        if isinstance(model, (bytes, bytearray, memoryview)):
            data = bytes(model)
        elif model.ByteSize() > _MOST_BYTES:
            import onnx

            onnx.save(model, path, save_as_external_data=True, location=os.path.basename(path) + ".data")
            return path
        else:
            data = model.SerializeToString()
        with open(path, "wb") as out:
            out.write(data)
        return path

    def feeds(self, feeds: Feeds) -> list[str]:
        """Returns the words for --load-inputs, with the option; none for generated data."""
        if feeds is None:
            return []
        if isinstance(feeds, (str, os.PathLike)):
            return ["--load-inputs", os.fspath(feeds)]
        iterations_of(feeds)
        return ["--load-inputs", *write_inputs(self.folder, feeds)]

    def report(self, report: bool | Path | None) -> list[str]:
        """Returns the words for --report: in a file, or read by report_text()."""
        if report is False or (report is None and not is_notebook()):
            return []
        self._report = self.path("report.html") if report is True or report is None else os.fspath(report)
        return ["--report", self._report]

    def report_text(self) -> str | None:
        """Returns the page; None: there is none."""
        if self._report is None or not os.path.exists(self._report):
            return None
        with open(self._report, encoding="utf-8") as file:
            return file.read()

    def run(
        self,
        words: Sequence[str],
        *,
        check: Check | None = None,
        log: _native.LogFunction | None = None,
        progress: ProgressFunction | None = None,
    ) -> _native.Outcome:
        """Runs the command. Exceptions: see _native.run_command()."""
        show = _log_function(log, progress)
        if check is None:
            return _native.run_command(words, log=show)
        if callable(check):
            function = check
            name = getattr(check, "__qualname__", type(check).__name__)
            return _native.run_command(
                words, check=lambda request: _verdict(function, request), check_name=f"function {name}", log=show
            )
        command = [check] if isinstance(check, str) else list(check)
        return _native.run_command([*words, "--check", *command], log=show)


_RUNNING = re.compile(r"RUNNING \| Iteration (\d+)(?: \| Approximately (\d+) iteration)?")


def _log_function(log: _native.LogFunction | None, progress: ProgressFunction | None) -> _native.LogFunction | None:
    if progress is None:
        return log
    tell = progress

    def show(level: int, line: str) -> None:
        if log is not None:
            log(level, line)
        if level >= _native.INFO:
            found = _RUNNING.search(line)
            iteration = int(found[1]) if found else None
            remaining = int(found[2]) if found and found[2] else None
            tell(Progress(line.strip(), iteration, remaining))

    return show
