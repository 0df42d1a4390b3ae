"""A tree of files, told apart from the world: paths from its root, and their bytes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping


class Files:
    """Files by their paths, such as `apps/kustomization.yaml`; folders follow from them."""

    def __init__(
        self, contents: Mapping[str, bytes], root: str = "/tmp/kustomization"
    ) -> None:  # a name in texts, never opened
        self.contents = contents
        self.root = root
        """Where the tree would lie, as texts about it name it."""
        self.folders = {""}
        for path in contents:
            above = posixpath.dirname(path)
            while above not in self.folders:
                self.folders.add(above)
                above = posixpath.dirname(above)

    def shown(self, path: str) -> str:
        """A path as texts name it."""
        return posixpath.join(self.root, path) if path else self.root

    def is_file(self, path: str) -> bool:
        return path in self.contents

    def is_folder(self, path: str) -> bool:
        return path in self.folders

    def below(self, folder: str) -> Iterator[str]:
        """Names of files and folders that lie in a folder, in order."""
        begin = f"{folder}/" if folder else ""
        names = {
            path[len(begin) :].partition("/")[0] for path in self.contents if path.startswith(begin)
        }
        yield from sorted(names)


def joined(folder: str, path: str) -> str | None:
    """A path that is told from a folder, from the root; None: it leads out of the tree."""
    normpath = (
        posixpath.normpath(posixpath.join("/", folder, path)) if not _leaves(folder, path) else ""
    )
    return normpath.lstrip("/") if normpath else None


def _leaves(folder: str, path: str) -> bool:
    normpath = posixpath.normpath(posixpath.join(folder or ".", path))
    return normpath == ".." or normpath.startswith("../")
