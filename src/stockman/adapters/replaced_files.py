"""Files that take the place of others: whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from stockman.adapters.new_files import DRAFT_SUFFIX, create_file


def replace_file(path: Path, content: bytes, *, tag: str) -> None:
    """Write a file in the place of the one that is there, which keeps its rights.

    A link stays a link: what it leads to is replaced. Nobody sees a half-written file.
    """
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{tag}.whole{DRAFT_SUFFIX}")
    if not create_file(draft, content, private=False, tag=tag):
        raise FileExistsError(draft)
    try:
        with suppress(FileNotFoundError):
            draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
