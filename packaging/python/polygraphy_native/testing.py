"""Assertions for tests, which pytest users also have as the fixture `polygraphy` (see pytest_plugin.py)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from polygraphy_native import commands, results
from polygraphy_native._session import Feeds, Model, Option, Path, Session
from polygraphy_native.errors import Error


def _is_runner(reference: Any) -> bool:
    return isinstance(reference, str) and (reference in ("onnxrt", "trt") or "{" in reference)


def _load_reference(reference: Any, feeds: Feeds) -> Any:
    """Returns outputs of the reference: those of a function on each set of input data, or of another model."""
    if callable(reference):
        if feeds is None or isinstance(feeds, (str, os.PathLike)):
            raise Error("a function as the reference needs feeds: pass arrays by name")
        iterations = [feeds] if isinstance(feeds, Mapping) else feeds
        return [reference(dict(arrays)) for arrays in iterations]
    if isinstance(reference, (Mapping, results.RunResult)) or _is_outputs(reference):
        return reference
    return commands.run(reference, feeds, runners=["onnxrt"])


def _is_outputs(reference: Any) -> bool:
    if isinstance(reference, Sequence) and not isinstance(reference, (str, bytes)):
        return True
    return isinstance(reference, (str, os.PathLike)) and not os.fspath(reference).endswith(".onnx")


def assert_matches(
    model: Model,
    reference: Any = "onnxrt",
    feeds: Feeds = None,
    *,
    runner: str = "onnxrt",
    providers: Sequence[str] | None = None,
    report: Path | None = None,
    **options: Option,
) -> results.CompareResult:
    """Raises AssertionError, with the node that is wrong, if a model's outputs differ from a reference.

    reference: a runner ("onnxrt", "trt", a command) that runs the same model; another model; outputs (arrays by name, a list
    of such dicts, a file of --load-outputs); or a function from arrays by name to outputs by name. runner: what runs the
    model. Where the reference runs the same model, the message has the first node whose outputs differ while its inputs
    match; elsewhere the node that makes the wrong output. report: where to write the report page of a failure.

    Options are those of run(): atol=1e-3, fp16=True, and so on. Returns the result if it matches.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    same_model = _is_runner(reference)
    shared: dict[str, Any] = {"providers": providers, **options}
    if same_model and reference == runner:
        raise Error(f"the runner and the reference are both {runner!r}: pass another runner or reference")
    if same_model:
        result: results.CompareResult = commands.run(model, feeds, runners=[runner, reference], report=report, **shared)
    else:
        outputs = _load_reference(reference, feeds)
        with Session() as session:
            path = commands.outputs_file(session, outputs, "reference")
            result = commands.run(model, feeds, runners=[runner], load_outputs=path, report=report, **shared)
    if result.passed and result.comparisons and not result.failures():
        if report is not None and os.path.exists(report):
            os.remove(report)
        return result
    raise AssertionError(_message(model, reference, feeds, runner, same_model, result, report, shared))


def _message(
    model: Model,
    reference: Any,
    feeds: Feeds,
    runner: str,
    same_model: bool,
    result: results.CompareResult,
    report: Path | None,
    shared: dict[str, Any],
) -> str:
    what = reference if same_model else "the reference"
    lines = [f"the outputs of {runner} do not match those of {what}"]
    if same_model:
        try:
            found = commands.first_divergence(model, feeds, runners=[runner, reference], **shared)
            if found.first_node is not None:
                lines.append(f"first wrong node: {results.label_of(found.first_node)}")
        except Error as error:
            lines.append(f"the first wrong node is not known: {error}")
    lines += [results.line_of(entry) for entry in result.failures()]
    if report is not None and os.path.exists(report):
        lines.append(f"report: {os.path.abspath(report)}")
    return "\n    ".join(lines)


__all__ = ["assert_matches"]
