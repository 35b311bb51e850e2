"""The C interface (include/polygraphy/command.h) by ctypes: commands of the program, and where both are."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sysconfig
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from polygraphy_native.errors import Error

INFO, WARNING, ERROR, CRITICAL = 20, 30, 40, 50
"""Levels of log lines, those of Polygraphy and of Python's logging."""

LogFunction = Callable[[int, str], object]
CheckFunction = Callable[[dict[str, Any]], tuple[int, str]]

_INTERRUPTED = -8

_Check = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p))
_Log = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)
_Cancelled = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)


class _Command(ctypes.Structure):
    _fields_ = [
        ("program", ctypes.c_char_p),
        ("words", ctypes.POINTER(ctypes.c_char_p)),
        ("check", _Check),
        ("check_name", ctypes.c_char_p),
        ("log", _Log),
        ("cancelled", _Cancelled),
        ("context", ctypes.c_void_p),
    ]


class _Result(ctypes.Structure):
    _fields_ = [("exit_code", ctypes.c_int32), ("document", ctypes.c_char_p)]


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 2048)]


def program() -> str:
    """Returns the path of the program that this package has installed; POLYGRAPHY_PROGRAM names another one.

    Raises FileNotFoundError if it is in none of the folders for programs of this environment and of the user.
    """
    named = os.environ.get("POLYGRAPHY_PROGRAM")
    if named:
        return named
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    for folder in folders:
        path = os.path.join(folder, "polygraphy-native")
        if os.path.isfile(path):
            return path
    raise FileNotFoundError("polygraphy-native is in none of these folders: " + ", ".join(folders))


def library() -> str:
    """Returns the path of libpolygraphy.so.0; POLYGRAPHY_LIBRARY names another one.

    Raises FileNotFoundError if this package does not contain it.
    """
    path = os.environ.get("POLYGRAPHY_LIBRARY") or os.path.join(os.path.dirname(__file__), "lib", "libpolygraphy.so.0")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"'{path}' does not exist: this package was built without the library")
    return path


_loaded: ctypes.CDLL | None = None


def _load() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        loaded = ctypes.CDLL(library())
        loaded.polygraphy_run_command.argtypes = [
            ctypes.POINTER(_Command),
            ctypes.POINTER(_Result),
            ctypes.POINTER(_Error),
        ]
        loaded.polygraphy_run_command.restype = ctypes.c_int32
        loaded.polygraphy_command_result_release.argtypes = [ctypes.POINTER(_Result)]
        loaded.polygraphy_command_result_release.restype = None
        _loaded = loaded
    return _loaded


class _Interruption:
    """Ctrl-C during a call: as a flag while C code runs, as KeyboardInterrupt while a function of the user's runs.

    A KeyboardInterrupt inside of a callback of ctypes would be lost. Python calls handlers of signals in the main thread
    only; in another one nothing is changed.
    """

    def __init__(self) -> None:
        self.pending = False
        self._usual: Any = None

    def _note(self, number: int, frame: object) -> None:
        self.pending = True

    def __enter__(self) -> _Interruption:
        if threading.current_thread() is threading.main_thread():
            usual = signal.getsignal(signal.SIGINT)
            if callable(usual):
                self._usual = usual
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *ignored: object) -> None:
        if self._usual is not None:
            signal.signal(signal.SIGINT, self._usual)

    @contextmanager
    def usual(self) -> Iterator[None]:
        if self._usual is None:
            yield
            return
        signal.signal(signal.SIGINT, self._usual)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self._note)


class _Callbacks:
    """The functions of a call. What they raise ends the command, and is raised again when it has ended."""

    def __init__(
        self,
        interruption: _Interruption,
        check: CheckFunction | None,
        log: LogFunction | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._interruption = interruption
        self._check, self._log, self._cancelled = check, log, cancelled
        self._output = b""
        self.raised: BaseException | None = None

    def check(self, context: int, request: bytes, output: Any) -> int:
        assert self._check is not None
        try:
            with self._interruption.usual():
                code, text = self._check(json.loads(request.decode("utf-8", "surrogateescape")))
            self._output = text.replace("\0", "\\x00").encode("utf-8", "replace")
            output[0] = self._output
            return code
        except BaseException as error:  # noqa: B902 - raised again by run_command()
            self.raised = error
            return -1

    def log(self, context: int, level: int, message: bytes) -> None:
        if self._log is None or self.raised is not None:
            return
        try:
            with self._interruption.usual():
                self._log(level, message.decode("utf-8", "replace"))
        except BaseException as error:  # noqa: B902
            self.raised = error

    def cancelled(self, context: int) -> bool:
        if self._interruption.pending or self.raised is not None:
            return True
        if self._cancelled is None:
            return False
        try:
            return bool(self._cancelled())
        except BaseException as error:  # noqa: B902
            self.raised = error
            return True


class Outcome:
    """What a command has given: its document, a JSON object, and its exit code."""

    def __init__(self, exit_code: int, document: dict[str, Any]) -> None:
        self.exit_code = exit_code
        self.document = document


def run_command(
    words: Sequence[str],
    *,
    check: CheckFunction | None = None,
    check_name: str = "function",
    log: LogFunction | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Outcome:
    """Runs a command of the program.

    words: of the command line, without the program, --json and --check, as ["debug", "reduce", "model.onnx"].
    check: gets a request (docs/verdicts.md) and returns an exit code from 0 to 255 and text for the log; it is called in
    this process and thread. log: gets the level and the text of each line of the log. cancelled: asked several times a
    second; true ends the command.

    Raises Error with the program's message if the command has written no document, KeyboardInterrupt after Ctrl-C, and
    what `check`, `log` or `cancelled` has raised; in all cases the process has ended and has removed its files.
    """
    loaded = _load()
    result, error = _Result(), _Error()
    with _Interruption() as interruption:
        callbacks = _Callbacks(interruption, check, log, cancelled)
        encoded = [os.fsencode(word) for word in words]
        command = _Command(
            program=os.fsencode(program()),
            words=(ctypes.c_char_p * (len(encoded) + 1))(*encoded, None),
            check=_Check(callbacks.check) if check is not None else _Check(0),
            check_name=os.fsencode(check_name),
            log=_Log(callbacks.log) if log is not None else _Log(0),
            cancelled=_Cancelled(callbacks.cancelled),
        )
        code = loaded.polygraphy_run_command(ctypes.byref(command), ctypes.byref(result), ctypes.byref(error))
        exit_code = result.exit_code
        text = result.document
        loaded.polygraphy_command_result_release(ctypes.byref(result))
    if callbacks.raised is not None:
        raise callbacks.raised
    if interruption.pending:
        raise KeyboardInterrupt
    if code < 0:
        message = error.message.decode("utf-8", "replace")
        raise Error("cancelled" if code == _INTERRUPTED else message, code=code, exit_code=exit_code)
    return Outcome(exit_code, json.loads(text.decode("utf-8", "surrogateescape")))
