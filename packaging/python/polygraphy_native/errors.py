"""Exceptions."""

from __future__ import annotations


class Error(Exception):
    """What the program reports: str() is its message.

    code: one of POLYGRAPHY_ERROR_... of the C interface: -20 is an error of the command. exit_code: that of the program
    (docs/exit-codes.md), -N if signal N has ended it.
    """

    def __init__(self, message: str, *, code: int = -20, exit_code: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code


class Inconclusive(Exception):
    """Raised by a check: the candidate cannot be judged, because it is invalid or fails in another way."""
