"""What is said of a patch that does not apply."""

from __future__ import annotations

from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.model.problem import Problem


class Misfit(Exception):
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
