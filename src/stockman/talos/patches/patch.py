"""A patch before it is applied, and errors of patches."""

from __future__ import annotations

from stockman.config.source.tree import TreeNode
from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class Patch:
    """One patch: its text and position."""

    label: str
    """The name the user knows: `talos.patches.all[0]`, or its file name."""
    file: str
    text: str
    first_line: int = 1
    """The line of the file where the text starts."""
    first_column: int = 1
    """The column where each of its lines starts."""
    place: Position | None = None
    """None: the text is part of the file. Otherwise the position of all its values."""
    node: TreeNode | None = None
    """The patch if it was parsed before, as one document; the text is ignored then."""


class InvalidValue(Exception):
    """A value of a patch or a configuration that Talos would refuse, without a label yet."""

    def __init__(
        self, *, code: str, what: str, why: str, fix: str, at: Position | None = None
    ) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix
        self.at = at

    def error(self, label: str, at: Position | None) -> PatchRefused:
        """Return the error of the patch with a label, at a position."""
        is_named = at is not None and at.file == label
        return PatchRefused(
            Problem(
                code=self.code,
                what=self.what if is_named else f"{label}: {self.what}",
                where=at or label,
                why=self.why,
                fix=self.fix,
            )
        )


class PatchRefused(StockmanError):
    """A patch is invalid; the problem names its file, line and path."""


def path_text(path: tuple[str | int, ...]) -> str:
    """Return a path as text, `machine.network.interfaces[0]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text or "the document"
