"""The functions of the package. Each runs a command of the program and returns its result.

Arguments that they share:

model       onnx.ModelProto, bytes, or a path
feeds       input data: a dict of arrays by name, a list of such dicts (iterations), or a path of a file of --load-inputs; the
            arrays are numpy's, of the types that ml_dtypes adds (bfloat16, float8, int4) too, in the shapes of the
            model's inputs. None: random data, generated as the command line does
report      True: `result.report` is the report page; a path: it is written there, too; None: only in notebooks
log         called with the level (20: information, 30: warning, 40: error) and the text of each line of the log
progress    called with a Progress for each message
**options   further options of the command, by their long names: see Option

All raise Error with the program's message, KeyboardInterrupt after Ctrl-C, and what check, log or progress has raised; the
program has then ended and removed its files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from polygraphy_native import results
from polygraphy_native._arrays import Array, Arrays, read_results, runner_of, write_results
from polygraphy_native._native import LogFunction
from polygraphy_native._session import (
    Check,
    Feeds,
    Model,
    Option,
    Path,
    ProgressFunction,
    Session,
    exit_code_of,
    option_words,
)
from polygraphy_native.errors import Error


def _model_bytes(path: str) -> bytes | None:
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def reduce(
    model: Model,
    check: Check,
    *,
    mode: str = "bisect",
    output: Path | None = None,
    feeds: Feeds = None,
    with_data: bool = False,
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    progress: ProgressFunction | None = None,
    **options: Option,
) -> results.ReduceResult:
    """Reduces a failing model to the smallest one that still fails the check (`polygraphy debug reduce`).

    check: a function of a Candidate that is called in this process and thread, or a command: see Check. The original is
    checked first. mode: "bisect" (few checks), "linear" (every node), or "minimal": a 1-minimal set of nodes. output: where
    to write the result; None: it is `result.model`, as bytes. with_data: with mode "minimal", a candidate has `inputs` and
    `golden`, the values of its inputs and outputs in the original, and so has the result. feeds: data with which cut
    branches are computed.

    Options are, for instance, simplify=["weights"], all=True, max_checks=100, deadline=60, flaky=True,
    model_input_shapes={"x": (1, 3)}. A result whose `outcome` is not "reduced" has no model.
    """
    with Session() as session:
        target = os.fspath(output) if output is not None else session.path("reduced.onnx")
        words = ["debug", "reduce", session.model(model), "-o", target, "--mode", mode]
        words += ["--iter-artifact", session.path("candidate.onnx")]
        if "save_debug_replay" not in options:
            words += ["--save-debug-replay", ""]
        if with_data:
            words += ["--iter-inputs", session.path("candidate_inputs.safetensors")]
            words += ["--iter-golden", session.path("candidate_golden.safetensors")]
        words += session.feeds(feeds) + session.report(report) + option_words(options)
        data = _LastData()
        outcome = session.run(words, check=data.watch(check) if with_data else check, log=log, progress=progress)
        return results.make_result(
            results.ReduceResult,
            outcome.document,
            outcome.exit_code,
            session.report_text(),
            model=_model_bytes(target) if output is None else None,
            path=os.fspath(output) if output is not None and os.path.exists(target) else None,
            inputs=data.inputs,
            golden=data.golden,
        )


class _LastData:
    """Data of the last candidate that failed, which is the result."""

    def __init__(self) -> None:
        self.inputs: list[dict[str, Array]] | None = None
        self.golden: list[dict[str, Array]] | None = None

    def watch(self, check: Check) -> Check:
        if not callable(check):
            return check
        function = check

        def watched(candidate: Any) -> bool | int | None:
            try:
                verdict = function(candidate)
            except AssertionError:
                self._keep(candidate)
                raise
            if exit_code_of(verdict) not in (0, 125):
                self._keep(candidate)
            return verdict

        watched.__qualname__ = getattr(check, "__qualname__", type(check).__name__)
        return watched

    def _keep(self, candidate: Any) -> None:
        self.inputs, self.golden = candidate.inputs, candidate.golden


def _runner_words(runners: Sequence[str], providers: Sequence[str] | None) -> list[str]:
    words: list[str] = []
    for runner in runners:
        words += [f"--{runner}"] if runner in ("onnxrt", "trt") else ["--runner", runner]
    return words + (["--providers", *providers] if providers else [])


def run(
    model: Model,
    feeds: Feeds = None,
    *,
    runners: Sequence[str] = ("onnxrt",),
    providers: Sequence[str] | None = None,
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    progress: ProgressFunction | None = None,
    **options: Option,
) -> results.RunResult:
    """Runs a model (`polygraphy run`): result["y"] is an output, and several runners are compared with each other.

    runners: "onnxrt" (ONNX Runtime), "trt" (TensorRT, or the built-in engine), or a command of --runner. providers:
    execution providers of ONNX Runtime, in order of preference. The arrays of the result are mapped from a file that was
    removed: they are not copied, and writing to them is private.

    Options are, for instance, fp16=True, atol=1e-3, validate=True, onnx_outputs=["mark", "all"], iterations=10,
    load_outputs="reference.json".
    """
    with Session() as session:
        saved = session.path("outputs.safetensors")
        words = ["run", session.model(model), "--save-outputs", saved, *session.feeds(feeds)]
        words += session.report(report) + option_words(options) + _runner_words(runners, providers)
        outcome = session.run(words, log=log, progress=progress)
        return results.make_result(
            results.RunResult, outcome.document, outcome.exit_code, session.report_text(), runners=read_results(saved)
        )


def first_divergence(
    model: Model,
    feeds: Feeds = None,
    *,
    runners: Sequence[str] = ("onnxrt", "trt"),
    providers: Sequence[str] | None = None,
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    progress: ProgressFunction | None = None,
    **options: Option,
) -> results.CompareResult:
    """Compares all tensors of two runners (`polygraphy run --first-divergence`): `result.first_node` is the first node whose
    outputs differ while all its inputs match; None: there is none.

    Arguments are those of run(). With load_outputs=FILE a single runner is compared with the results in that file. All
    tensors of an engine become outputs, which it fuses less then; accuracy() finds the node either way.
    """
    with Session() as session:
        words = ["run", session.model(model), "--first-divergence", *session.feeds(feeds)]
        if "trt" in runners and "onnx_outputs" not in options:
            words += ["--onnx-outputs", "mark", "all"]
        words += session.report(report) + option_words(options) + _runner_words(runners, providers)
        outcome = session.run(words, log=log, progress=progress)
        return results.make_result(results.CompareResult, outcome.document, outcome.exit_code, session.report_text())


Outputs = Any
"""Outputs: a dict of arrays by name, a list of such dicts (iterations), a RunResult, or a path of a file of
--load-outputs."""


def outputs_file(session: Session, outputs: Outputs, name: str) -> str:
    """Returns a file of --load-outputs."""
    if isinstance(outputs, (str, os.PathLike)):
        return os.fspath(outputs)
    if isinstance(outputs, results.RunResult):
        outputs = outputs.runners[0].iterations
    if not isinstance(outputs, (Mapping, Sequence)):
        raise Error(f"{type(outputs).__name__} are no outputs: pass arrays by name, a list of such dicts, or a path")
    path = session.path(f"outputs_{len(os.listdir(session.folder))}.safetensors")
    write_results(path, [runner_of(name, outputs)])
    return path


def compare(
    a: Arrays | Outputs,
    b: Arrays | Outputs,
    *,
    names: tuple[str, str] = ("a", "b"),
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    **options: Option,
) -> results.CompareResult:
    """Compares outputs as `polygraphy run` does: the result is true if all match.

    Options are those of a comparison: atol, rtol, norm_tolerance, compare="snr", snr_threshold={"y": 30}, validate=True,
    infinities_compare_equal=True, require_all=True. Each comparison of the result has shapes, statistics, the largest
    differences and their positions, and metrics.
    """
    with Session() as session:
        files = [outputs_file(session, a, names[0]), outputs_file(session, b, names[1])]
        words = ["run", "--load-outputs", *files, *session.report(report), *option_words(options)]
        outcome = session.run(words, log=log)
        return results.make_result(results.CompareResult, outcome.document, outcome.exit_code, session.report_text())


def _write_model(
    command: Sequence[str], model: Model, output: Path | None, words: Sequence[str], log: LogFunction | None
) -> results.ModelResult:
    with Session() as session:
        target = os.fspath(output) if output is not None else session.path("written.onnx")
        outcome = session.run([*command, session.model(model), "-o", target, *words], log=log)
        return results.make_result(
            results.ModelResult,
            outcome.document,
            outcome.exit_code,
            None,
            model=_model_bytes(target) if output is None else None,
            path=os.fspath(output) if output is not None else None,
        )


def fold(
    model: Model, *, output: Path | None = None, log: LogFunction | None = None, **options: Option
) -> results.ModelResult:
    """Computes tensors that depend only on constants (`polygraphy surgeon sanitize --fold-constants`).

    output: where to write the model; None: it is `result.model`, as bytes. Options are, for instance,
    override_input_shapes={"x": (1, 3)}, cleanup=True, fold_size_threshold="1M".
    """
    return _write_model(["surgeon", "sanitize"], model, output, ["--fold-constants", *option_words(options)], log)


def extract(
    model: Model,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    output: Path | None = None,
    log: LogFunction | None = None,
    **options: Option,
) -> results.ModelResult:
    """Returns the nodes between tensors as a model (`polygraphy surgeon extract`).

    inputs, outputs: names of tensors, whose shape and type are those in the model; None: the model's own. NAME:SHAPE:TYPE
    gives others, as x:[1,3]:float32. Raises Error if an output depends on an input that is not listed.
    """
    words: list[str] = []
    if inputs is not None:
        words += ["--inputs", *(item if item.count(":") >= 2 else item + ":auto:auto" for item in inputs)]
    if outputs is not None:
        words += ["--outputs", *(item if ":" in item else item + ":auto" for item in outputs)]
    return _write_model(["surgeon", "extract"], model, output, [*words, *option_words(options)], log)


def lint(model: Model, feeds: Feeds = None, *, log: LogFunction | None = None, **options: Option) -> results.LintResult:
    """Finds mistakes in a model, and the nodes that cause them (`polygraphy check lint`).

    Each node is run by ONNX Runtime, in a worker process: a crash is a finding, too.
    """
    with Session() as session:
        words = ["check", "lint", session.model(model), *session.feeds(feeds), *option_words(options)]
        outcome = session.run(words, log=log)
        return results.make_result(results.LintResult, outcome.document, outcome.exit_code, None)


def accuracy(
    model: Model,
    feeds: Feeds = None,
    *,
    reference: str = "onnxrt",
    suspect: str = "trt",
    providers: Sequence[str] | None = None,
    output: Path | None = None,
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    progress: ProgressFunction | None = None,
    **options: Option,
) -> results.AccuracyResult:
    """Finds out why a runner gives other outputs than a reference (`polygraphy debug accuracy`).

    reference, suspect: as in run(). output: a folder for the minimal case and the experiments; None: it is removed. Options
    are those of the runners and tolerances: fp16=True, atol=1e-3, deadline=60.
    """
    with Session() as session:
        folder = os.fspath(output) if output is not None else session.path("accuracy")
        words = ["debug", "accuracy", session.model(model), "-o", folder, *session.feeds(feeds)]
        words += session.report(report) + option_words(options) + _runner_words([reference, suspect], providers)
        outcome = session.run(words, log=log, progress=progress)
        path = folder if output is not None else None
        return results.make_result(
            results.AccuracyResult, outcome.document, outcome.exit_code, session.report_text(), path=path
        )


def _search(
    kind: type[results.R],
    command: str,
    artifact: str,
    model: Model,
    feeds: Feeds,
    check: Check | None,
    output: Path | None,
    report: bool | Path | None,
    log: LogFunction | None,
    progress: ProgressFunction | None,
    words: Sequence[str],
) -> results.R:
    with Session() as session:
        line = ["debug", command, session.model(model), *session.feeds(feeds), *session.report(report)]
        if command != "precision":
            line += ["-o", os.fspath(output) if output is not None else session.path(command)]
        if check is not None:
            line += ["--iter-artifact", session.path(artifact)]
        if "--save-debug-replay" not in words:
            line += ["--save-debug-replay", ""]
        outcome = session.run([*line, *words], check=check, log=log, progress=progress)
        return results.make_result(kind, outcome.document, outcome.exit_code, session.report_text())


def passes(
    model: Model,
    feeds: Feeds = None,
    *,
    check: Check | None = None,
    trt: bool = False,
    providers: Sequence[str] | None = None,
    output: Path | None = None,
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    progress: ProgressFunction | None = None,
    **options: Option,
) -> results.PassesResult:
    """Finds the optimizations of a compiler that make a model wrong (`polygraphy debug passes`): `result.off`.

    check: without it, outputs are compared with those of the model without optimizations, within atol and rtol; a function
    gets a Candidate whose `disabled` are the optimizations to leave out. trt: of the engine, instead of ONNX Runtime.
    output: a folder for the model as the runtime rewrites it; None: it is removed.
    """
    words = [*(["--trt"] if trt else []), *option_words({**options, "providers": providers})]
    return _search(
        results.PassesResult, "passes", "disabled.txt", model, feeds, check, output, report, log, progress, words
    )


def quantization(
    model: Model,
    feeds: Feeds = None,
    *,
    float_model: Path | None = None,
    check: Check | None = None,
    providers: Sequence[str] | None = None,
    output: Path | None = None,
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    progress: ProgressFunction | None = None,
    **options: Option,
) -> results.QuantizationResult:
    """Measures what each quantizer of a model costs, and finds those to leave out (`polygraphy debug quantization`).

    float_model: a path of the model that was quantized, whose outputs are the reference. check, or a tolerance such as
    atol=0.01, makes it search; a function gets a Candidate with the model. output: a folder for the repaired model;
    None: it is removed.
    """
    words = option_words({**options, "float": float_model, "providers": providers})
    return _search(
        results.QuantizationResult, "quantization", "candidate.onnx", model, feeds, check, output, report, log, progress, words
    )


def precision(
    model: Model,
    check: Check,
    feeds: Feeds = None,
    *,
    mode: str = "minimal",
    report: bool | Path | None = None,
    log: LogFunction | None = None,
    progress: ProgressFunction | None = None,
    **options: Option,
) -> results.PrecisionResult:
    """Finds the layers that need a higher precision (`polygraphy debug precision`): `result.layers`.

    check: a function gets a Candidate whose `path` is an engine, or with emit="onnx" a model with Cast nodes, which any
    runtime can run. mode: "bisect", "linear" or "minimal". Options are fp16=True, output_onnx="mixed.onnx", emit="onnx".
    """
    name = "candidate.onnx" if options.get("emit") == "onnx" else "candidate.engine"
    words = ["--mode", mode, *option_words(options)]
    return _search(results.PrecisionResult, "precision", name, model, feeds, check, None, report, log, progress, words)


__all__ = [
    "accuracy",
    "compare",
    "extract",
    "first_divergence",
    "fold",
    "lint",
    "passes",
    "precision",
    "quantization",
    "reduce",
    "run",
]
