"""Files of the repository whose text becomes part of machine configurations."""

from __future__ import annotations

from pathlib import Path

from stockman.config.source.text import MAX_BYTES
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.talos.machine.files import named_files


def machine_files(directory: Path, desired: Desired) -> dict[str, str]:
    """The texts of the files that configurations contain, by name.

    A file that is not there is left out: the machine that needs it is refused then.
    """
    texts: dict[str, str] = {}
    for name in named_files(desired):
        try:
            with (directory / name).open("rb") as file:
                texts[name] = _text(name, file.read(MAX_BYTES + 1))
        except FileNotFoundError:
            continue
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Refused(_unreadable(name, reason)) from None
    return texts


def _text(name: str, content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise Refused(_unreadable(name, f"it has more than {MAX_BYTES} bytes"))
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused(_unreadable(name, "it is not a text in UTF-8")) from None


def _unreadable(name: str, why: str) -> Problem:
    return Problem(
        code="talos.file",
        what=f"{name} cannot become part of a machine configuration",
        where=name,
        why=why,
        fix="check that it is a text file that you may read",
    )
