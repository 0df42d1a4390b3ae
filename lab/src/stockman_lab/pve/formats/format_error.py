"""What is wrong with a text."""

from __future__ import annotations

from collections.abc import Mapping


class FormatError(ValueError):
    """A text that does not fit its format: one sentence, or one for each property."""

    def __init__(self, message: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.errors = dict(errors or {})

    @property
    def text(self) -> str:
        """All of it, as Perl prints the exception: every line ends with a line feed."""
        return "".join(
            [f"{self.message}\n", *(f"{name}: {error}\n" for name, error in self.errors.items())]
        )
