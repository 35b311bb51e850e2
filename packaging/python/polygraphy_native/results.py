"""Results: dataclasses with the members of the JSON documents, which docs/formats.md describes.

A member that a document does not have is None. `document` is the whole document.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from polygraphy_native._arrays import Array, Runner
from polygraphy_native.errors import Error

if TYPE_CHECKING:
    import onnx

Record = dict[str, Any]


@dataclass(frozen=True, repr=False)
class Result:
    """What a command has found. `str()` is the answer in lines of text; in a notebook the report page is shown."""

    document: Record
    exit_code: int
    """That of the program (docs/exit-codes.md): 0 if nothing failed, or the search came to its end."""
    report: str | None
    """The report page as HTML; None unless one was asked for (`report=`), which notebooks do by themselves."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._lines()[0]}>"

    def _lines(self) -> list[str]:
        return [f"exit code {self.exit_code}"]

    def _repr_html_(self) -> str:
        if self.report is None:
            return f"<pre>{html.escape(str(self))}</pre>"
        page = html.escape(self.report, quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="600" style="border:1px solid #ccc"></iframe>'


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """The result of a debug tool."""

    version: int
    tool: str
    verdict: str
    """"cause": proven; "passed": nothing fails, or nothing is needed; "failed": the cause is not known or not proven;
    "unknown": not decided."""
    answer: str | None
    evidence: list[str]
    not_tested: list[str]
    fix: list[str]
    reproduce: list[str]
    notes: list[str]
    cautions: list[str]
    outcome: str | None

    def _lines(self) -> list[str]:
        lines = [self.answer or self.verdict]
        for title, items in (
            ("Evidence", self.evidence),
            ("Fix", self.fix),
            ("Not tested", self.not_tested),
            ("Caution", self.cautions),
            ("Note", self.notes),
        ):
            lines += [f"    {title}: {item}" for item in items]
        return lines


class _HasModel:
    """A result with a model, as bytes that contain all weights, or as the file that `output` named."""

    model: bytes | None
    path: str | None

    def load(self) -> onnx.ModelProto:
        """Returns the model as onnx.ModelProto. Raises Error if there is none, ImportError without the package onnx."""
        import onnx

        if self.path is not None:
            return onnx.load(self.path)
        if self.model is None:
            raise Error("this result has no model")
        return onnx.load_from_string(self.model)


@dataclass(frozen=True, repr=False)
class ReduceResult(_HasModel, Answer):
    """The result of reduce(): `nodes` of the smallest model that fails, as records with `name` and `op_type`."""

    original_nodes: int
    one_minimal: bool
    """Removing any single node makes the check pass."""
    always_failing_ruled_out_by: str | None
    nodes: list[Record]
    more_culprits: list[Record] | None
    passed: int
    failed: int
    skipped: int
    checks: Record
    model: bytes | None = field(compare=False)
    path: str | None
    inputs: list[dict[str, Array]] | None = field(compare=False)
    """With `with_data`: the values of the model's inputs in the original, for each set of input data."""
    golden: list[dict[str, Array]] | None = field(compare=False)
    """The same of its outputs."""


@dataclass(frozen=True, repr=False)
class AccuracyResult(Answer):
    cause: Record | None
    tolerance: str | None
    checks: int
    builds: int
    seconds: float
    steps: list[Record]
    path: str | None
    """The folder with the minimal case, its data, and a script that reproduces the failure."""


@dataclass(frozen=True, repr=False)
class PassesResult(Answer):
    decisions: list[str] | None
    off: list[str] | None
    minimal: bool | None
    culprits: list[list[str]] | None
    singles: list[str] | None
    remedies: list[Record] | None
    reduced: list[Record] | None


@dataclass(frozen=True, repr=False)
class QuantizationResult(Answer):
    outputs: list[Record]
    quantizers: list[Record]
    traps: list[Record]
    left_out: list[str] | None
    repaired: Record | None
    exclusions: list[Record] | None


@dataclass(frozen=True, repr=False)
class PrecisionResult(Answer):
    mode: str
    precision: str
    found: bool
    none_needed: bool
    minimal: bool | None
    lowered: int
    selected: int
    layers: list[Record]
    layer_precisions: list[str] | None


@dataclass(frozen=True, repr=False)
class LintResult(Result):
    """The result of lint(). Each of `lint_entries` has "level" ("exception" or "warning"), "message", "nodes", "source"."""

    summary: Record
    lint_entries: list[Record]

    @property
    def passed(self) -> bool:
        """There is no mistake; warnings do not count."""
        return self.exit_code == 0

    def _lines(self) -> list[str]:
        lines = [f"{len(self.lint_entries)} findings"]
        for entry in self.lint_entries:
            nodes = ", ".join(entry["nodes"])
            lines.append(f"    {entry['level']}: {nodes}{': ' if nodes else ''}{entry['message'].strip()}")
        return lines


@dataclass(frozen=True, repr=False)
class ModelResult(_HasModel, Result):
    """A model that was written: `read` and `written` describe the files, `changes` how they differ."""

    read: Record
    written: Record
    changes: Record
    folding: Record | None
    model: bytes | None = field(compare=False)
    path: str | None

    def _lines(self) -> list[str]:
        return [f"{self.read.get('nodes')} nodes before, {self.written.get('nodes')} after"]


@dataclass(frozen=True, repr=False)
class CompareResult(Result):
    """The result of compare(), and of run() with several runners."""

    passed: bool
    """All outputs match and, with `validate`, are finite."""
    compare: str
    comparisons: list[Record]
    validation: list[Record] | None
    outputs: list[Record] | None
    """Statistics of the outputs of a single runner. The arrays are in `runners` of RunResult."""
    first_divergence: Record | None

    def __bool__(self) -> bool:
        return self.passed

    def _divergences(self) -> Iterator[Record]:
        found = self.first_divergence or {}
        yield from found.get("nodes") or []
        yield from found.get("invalid") or []

    @property
    def first_node(self) -> Record | None:
        """With first_divergence(): the first node whose outputs differ while its inputs match."""
        return next((entry["node"] for entry in self._divergences()), None)

    def failures(self) -> list[Record]:
        """Returns the comparisons and validations that failed."""
        return [entry for entry in [*self.comparisons, *(self.validation or [])] if not entry["passed"]]

    def _lines(self) -> list[str]:
        failures = self.failures()
        if self.passed and not failures:
            return [f"{len(self.comparisons)} comparisons match"]
        lines = [f"{len(failures)} of {len(self.comparisons) + len(self.validation or [])} checks of outputs failed"]
        for entry in self._divergences():
            lines.append(f"    first at {label_of(entry['node'])}")
        return lines + [f"    {line_of(entry)}" for entry in failures]


def label_of(node: Record) -> str:
    """Returns a node's name and operator, or its operator and number if it has no name."""
    return f"'{node['name']}' ({node['operator']})" if node["name"] else f"'{node['operator']} #{node['index']}'"


def line_of(entry: Record) -> str:
    """Returns a comparison or validation of an output in a line."""
    node = entry.get("node")
    text = f"output '{entry['output']}'" + (f" of {label_of(node)}" if node else "")
    if "differences" not in entry:
        return f"{text}: {entry['nans']} NaN and {entry['infinities']} infinities in {entry['elements']} elements"
    if entry["differences"] is None:
        metrics = ", ".join(f"{key} {value}" for key, value in (entry.get("metrics") or {}).items())
        return f"{text}: {entry['compare']}: {metrics or 'shapes or types differ'}"
    found = entry["differences"]
    worst = found["worst"] or {}
    return (
        f"{text}: {found['mismatches']} of {found['elements']} elements differ, worst at "
        f"{tuple(worst.get('position', ()))}: {worst.get('first')} vs. {worst.get('second')}"
    )


@dataclass(frozen=True, repr=False)
class RunResult(CompareResult):
    """The result of run(). `result["y"]` is an output of the first runner in the first iteration."""

    runners: list[Runner] = field(compare=False)

    def __getitem__(self, output: str) -> Array:
        return self.runners[0].iterations[0][output]

    def keys(self) -> list[str]:
        """Returns the names of the outputs."""
        return list(self.runners[0].iterations[0])


R = TypeVar("R", bound=Result)


def make_result(kind: type[R], document: Record, exit_code: int, report: str | None, **more: Any) -> R:
    """Fills the fields that the document has; `more` are the others."""
    known: Record = {"document": document, "exit_code": exit_code, "report": report, **more}
    values: Record = {item.name: known[item.name] if item.name in known else document.get(item.name) for item in dataclasses.fields(kind)}
    return kind(**values)


__all__: Sequence[str] = [
    "AccuracyResult",
    "Answer",
    "CompareResult",
    "LintResult",
    "ModelResult",
    "PassesResult",
    "PrecisionResult",
    "QuantizationResult",
    "ReduceResult",
    "Result",
    "RunResult",
    "Runner",
]
