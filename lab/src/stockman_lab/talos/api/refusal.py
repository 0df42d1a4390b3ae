"""Ends of calls that are not replies."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode


class Refusal(Exception):
    """A call that ends with a code other than OK."""

    def __init__(self, code: GrpcCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        """The error as Go programs print it."""
        return f"rpc error: code = {self.code.words} desc = {self.message}"


class Cut(Exception):
    """A connection that breaks instead of answering."""
