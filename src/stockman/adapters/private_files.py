"""Files that nobody else may read: written whole, and never readable by others for a moment."""

from __future__ import annotations

from pathlib import Path

from stockman.adapters.new_files import DRAFT_SUFFIX, create_file

_PRIVATE = 0o600
_OTHERS = 0o077


def replace_private_file(path: Path, content: bytes, *, tag: str) -> None:
    """Write a file with mode 0600, in the place of one that may be there.

    A link stays a link: what it leads to is replaced. `tag` tells two processes apart.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{tag}.whole{DRAFT_SUFFIX}")
    if not create_file(draft, content, private=True, tag=tag):
        raise FileExistsError(draft)
    try:
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def close_to_others(path: Path) -> bool:
    """Take the rights of others away; False: they had none."""
    if not path.stat().st_mode & _OTHERS:
        return False
    path.chmod(_PRIVATE)
    return True
