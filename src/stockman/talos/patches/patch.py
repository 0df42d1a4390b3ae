"""A patch before anybody applied it."""

from __future__ import annotations

from stockman.config.source.tree import TreeNode
from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.record import record


@record
class Patch:
    """One patch: its text, and where that stands."""

    label: str
    """What people call it: `talos.patches.all[0]`, or the name of its file."""
    file: str
    text: str
    first_line: int = 1
    """The line of the file at which the text starts."""
    first_column: int = 1
    """The column at which each of its lines starts."""
    place: Position | None = None
    """None: the text stands in the file as it is. Otherwise all of it is said to stand here."""
    node: TreeNode | None = None
    """The patch where it was read already, as one document; the text counts for nothing then."""


class InvalidValue(Exception):
    """Something in a patch or a configuration that Talos would refuse, before it has a label."""

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
        """The error of the patch that goes by `label`, at a place."""
        is_said = at is not None and at.file == label
        return PatchRefused(
            Problem(
                code=self.code,
                what=self.what if is_said else f"{label}: {self.what}",
                where=at or label,
                why=self.why,
                fix=self.fix,
            )
        )


class PatchRefused(StockmanError):
    """A patch does not apply; the problem names its file, its line and the path inside."""


def path_text(path: tuple[str | int, ...]) -> str:
    """A path as people write it, `machine.network.interfaces[0]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text or "the document"
