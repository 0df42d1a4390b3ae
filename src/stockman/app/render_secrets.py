"""Secret files of a rendering: encrypted, and byte for byte the old ones where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.keyring import Keyring
from stockman.app.secret_lock import read_lock
from stockman.crypto.seal import is_on_disk, reads
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.tree import FileTree

if TYPE_CHECKING:
    from stockman.app.secret_store import SecretStore


@record
class Sealed:
    """Encrypted files by path."""

    contents: Mapping[str, bytes]
    uncompared: tuple[str, ...]
    """Files that could not be opened, so that only their bytes are known."""


@record
class Vault:
    """Where secret files are, and who opens them; the store is made when something has to be."""

    directory: Path
    keyring: Keyring
    store: Callable[[], SecretStore]

    def holds(self, files: Mapping[str, tuple[bytes, str]]) -> bool:
        """Whether the lock knows that these bytes on disk were made from these very texts."""
        seals, identities = read_lock(self.directory).seals, self.keyring.identities
        return all(
            (seal := seals.get(path)) is not None
            and is_on_disk(seal, content)
            and reads(seal, path, text.encode(), identities)
            for path, (content, text) in files.items()
        )


def sealed_files(tree: FileTree, disk: Mapping[str, bytes], vault: Vault) -> Sealed:
    """Every secret file of a tree as it should be on disk."""
    contents: dict[str, bytes] = {}
    uncompared = []
    for file in tree:
        if not isinstance(file.text, Secret):
            continue
        old = disk.get(file.path)
        if not vault.keyring.identities:
            uncompared.append(file.path)
            if old is not None:
                contents[file.path] = old
            continue
        text = file.text.reveal()
        if old is not None and vault.holds({file.path: (old, text)}):
            contents[file.path] = old
        else:
            contents[file.path] = vault.store().encrypted(file.path, text.encode(), old)
    return Sealed(contents=contents, uncompared=tuple(uncompared))


def seal_files(contents: Mapping[str, tuple[bytes, str]], vault: Vault) -> None:
    """Write down what secret files say now, so that the next time they need not be opened."""
    if vault.keyring.identities and not vault.holds(contents):
        vault.store().record(
            {path: (content, text.encode()) for path, (content, text) in contents.items()}
        )
