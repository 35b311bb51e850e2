"""The pytest plugin: the fixture `polygraphy`, and --polygraphy-report DIR for report pages of failures."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import pytest

from polygraphy_native import results, testing
from polygraphy_native._session import Feeds, Model, Option


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("polygraphy")
    group.addoption(
        "--polygraphy-report",
        metavar="DIR",
        default=None,
        help="write a report page of each failure of polygraphy.assert_matches() to this folder",
    )


class Polygraphy:
    """The fixture's value."""

    def __init__(self, folder: str | None, name: str) -> None:
        self._folder = folder
        self._name = name
        self._count = 0

    def assert_matches(
        self,
        model: Model,
        reference: Any = "onnxrt",
        feeds: Feeds = None,
        *,
        runner: str = "onnxrt",
        providers: Sequence[str] | None = None,
        **options: Option,
    ) -> results.CompareResult:
        """Does what testing.assert_matches() does. With --polygraphy-report a failure has a report, whose path is printed."""
        __tracebackhide__ = True
        report = None
        if self._folder is not None:
            os.makedirs(self._folder, exist_ok=True)
            self._count += 1
            number = f"_{self._count}" if self._count > 1 else ""
            report = os.path.join(self._folder, re.sub(r"[^A-Za-z0-9_.-]+", "_", self._name) + number + ".html")
        return testing.assert_matches(
            model, reference, feeds, runner=runner, providers=providers, report=report, **options
        )


@pytest.fixture
def polygraphy(request: pytest.FixtureRequest) -> Polygraphy:
    """Compares models: polygraphy.assert_matches("model.onnx", "trt", feeds, fp16=True, atol=1e-3)."""
    return Polygraphy(request.config.getoption("--polygraphy-report"), request.node.nodeid)
