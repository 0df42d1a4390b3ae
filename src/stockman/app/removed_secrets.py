"""Encrypted files that were pruned: their last bytes are kept, for a component that comes back.

Encrypting the same text again gives other bytes. What is kept is as encrypted as it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.many_files import read_files
from stockman.app.secret_names import is_secret_name
from stockman.model.errors import StockmanError
from stockman.rendering.ownership import Act, Action

if TYPE_CHECKING:
    from stockman.app.secret_store import SecretStore

_PLACE = ".stockman/removed"


def kept_secrets(
    directory: Path, missing: Iterable[str], store: Callable[[], SecretStore]
) -> dict[str, bytes]:
    """The last bytes of files that are missing, as far as they are for the right recipients."""
    if not (directory / _PLACE).is_dir():
        return {}
    found = read_files(directory, (f"{_PLACE}/{path}" for path in missing))
    kept = {path.removeprefix(f"{_PLACE}/"): content for path, content in found.items()}
    return {path: content for path, content in kept.items() if _as_ruled(store(), path, content)}


def _as_ruled(store: SecretStore, path: str, content: bytes) -> bool:
    from stockman.app.secret_reading import unlocked

    if not store.keyring.identities:
        return False
    try:
        recipients = unlocked(content, path, store.keyring).metadata.recipients
        return set(recipients) == set(store.recipe(path).recipients)
    except StockmanError:
        return False


def to_keep(done: Iterable[Action]) -> dict[str, bytes]:
    """What is to be kept of files that go, by the path at which it is."""
    return {
        f"{_PLACE}/{one.path}": one.before
        for one in done
        if one.act is Act.REMOVE and one.before is not None and is_secret_name(one.path)
    }


def to_forget(directory: Path, written: Mapping[str, bytes]) -> list[str]:
    """What was kept of files that are there again."""
    kept = (f"{_PLACE}/{path}" for path in written if is_secret_name(path))
    return [path for path in kept if (directory / path).is_file()]
