"""Named formats, asked one text at a time."""

from __future__ import annotations

from stockman_lab.pve.schema.formats import formats_of
from stockman_lab.pve.schema.shape import Shape


def problem(form: str, text: str, profile: str = "9.1") -> str | None:
    """What a format says about a text; None if the text is fit."""
    check = formats_of(profile).check(Shape("string", form=form))
    assert check is not None
    found = check(text, "key")
    return found if found is None else found.removeprefix("invalid format - ").removesuffix("\n")
