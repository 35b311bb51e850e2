"""For users of Polygraphy's Python interface: its RunResults, as objects and as JSON files.

    from polygraphy_native import comparator

    results = comparator.load("results.json")        # of polygraphy.comparator.RunResults.save(), or of --save-outputs
    comparator.compare_accuracy(results, atol=1e-3)   # of polygraphy.comparator.Comparator.run(), too

docs/python-scripts.md has scripts and their counterparts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from polygraphy_native import results
from polygraphy_native._arrays import Array, Runner, read_results, runner_of, write_results
from polygraphy_native._native import LogFunction
from polygraphy_native._session import Option, Path, Session, option_words
from polygraphy_native.errors import Error


class RunResults:
    """Outputs of several runners: pairs of a name and a list of iterations, each a dict of arrays, as in Polygraphy."""

    def __init__(self, runners: Iterable[Runner]) -> None:
        self.runners = list(runners)

    def __iter__(self) -> Iterator[tuple[str, list[dict[str, Array]]]]:
        return iter([(runner.name, runner.iterations) for runner in self.runners])

    def __len__(self) -> int:
        return len(self.runners)

    def __getitem__(self, key: int | str) -> Any:
        """Returns the iterations of the runner of that name, or the pair of that number."""
        if isinstance(key, int):
            return list(self)[key]
        for name, iterations in self:
            if name == key:
                return iterations
        raise KeyError(key)

    def save(self, path: Path) -> None:
        """Writes a file that Polygraphy reads (.json), or safetensors (.safetensors)."""
        with Session() as session:
            source = session.path("results.safetensors")
            write_results(source, self.runners)
            session.run(["data", "concat", source, "-o", os.fspath(path)])


def load(path: Path) -> RunResults:
    """Reads outputs from a file of Polygraphy or of `run --save-outputs`. Raises Error."""
    with Session() as session:
        copy = session.path("results.safetensors")
        session.run(["data", "concat", os.fspath(path), "-o", copy])
        return RunResults(read_results(copy))


def as_results(value: Any) -> RunResults:
    """Returns outputs as RunResults: those of this module, of Polygraphy, a RunResult of run(), or a path."""
    if isinstance(value, RunResults):
        return value
    if isinstance(value, results.RunResult):
        return RunResults(value.runners)
    if isinstance(value, (str, os.PathLike)):
        return load(value)
    try:
        pairs = [(name, list(iterations)) for name, iterations in value]
    except (TypeError, ValueError):
        raise Error(f"{type(value).__name__} is not RunResults: pass those of Polygraphy, of run(), or a path") from None
    return RunResults(
        runner_of(str(name), [_arrays_of(item) for item in iterations], [_seconds_of(item) for item in iterations])
        for name, iterations in pairs
    )


def _arrays_of(iteration: Mapping[str, Any]) -> dict[str, Any]:
    arrays = {name: iteration[name] for name in iteration}
    return {name: array.numpy() if hasattr(array, "numpy") else array for name, array in arrays.items()}


def _seconds_of(iteration: Any) -> float | None:
    seconds = getattr(iteration, "runtime", None)
    return float(seconds) if seconds is not None else None


def to_polygraphy(value: Any) -> Any:
    """Returns outputs as polygraphy.comparator.RunResults. Raises ImportError without the package polygraphy."""
    from polygraphy.comparator import RunResults as Theirs

    with Session() as session:
        path = session.path("results.json")
        as_results(value).save(path)
        return Theirs.load(path)


def compare_accuracy(
    run_results: Any, *, report: bool | Path | None = None, log: LogFunction | None = None, **options: Option
) -> results.CompareResult:
    """Compares each runner with the next one, as Comparator.compare_accuracy() does: true if all outputs match.

    run_results: RunResults of Polygraphy or of this module, a RunResult of run(), or a file. Options are those of `run`: for
    CompareFunc.simple(atol=1e-3) atol=1e-3, for CompareFunc.indices() compare="indices", for l2_threshold of
    distance_metrics compare="l2", l2_threshold=1e-3; postprocess="top-5" for PostprocessFunc.top_k(5).
    """
    with Session() as session:
        path = session.path("results.safetensors")
        write_results(path, as_results(run_results).runners)
        words = ["run", "--load-outputs", path, *session.report(report), *option_words(options)]
        outcome = session.run(words, log=log)
        return results.make_result(results.CompareResult, outcome.document, outcome.exit_code, session.report_text())


def validate(run_results: Any, *, log: LogFunction | None = None) -> bool:
    """Returns whether no output has NaN or infinities, as Comparator.validate(check_nan=True, check_inf=True) does."""
    result = compare_accuracy(run_results, log=log, validate=True)
    if not result.validation:
        raise Error("nothing was validated: the results have no outputs")
    return all(entry["passed"] for entry in result.validation)


__all__ = ["RunResults", "as_results", "compare_accuracy", "load", "to_polygraphy", "validate"]
