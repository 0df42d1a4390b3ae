"""Secret files of a rendering: encrypted, and byte for byte the old ones where nothing changed."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.app.secret_store import SecretStore
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.tree import FileTree


@record
class Sealed:
    """Encrypted files by path."""

    contents: Mapping[str, bytes]
    uncompared: tuple[str, ...]
    """Files that could not be opened, so that only their bytes are known."""


def sealed_files(tree: FileTree, disk: Mapping[str, bytes], store: SecretStore) -> Sealed:
    """Every secret file of a tree as it should be on disk."""
    contents: dict[str, bytes] = {}
    uncompared = []
    for file in tree:
        if not isinstance(file.text, Secret):
            continue
        old = disk.get(file.path)
        if not store.keyring.identities:
            uncompared.append(file.path)
            if old is not None:
                contents[file.path] = old
            continue
        contents[file.path] = store.encrypted(file.path, file.text.reveal().encode(), old)
    return Sealed(contents=contents, uncompared=tuple(uncompared))
