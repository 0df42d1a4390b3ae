"""What one test process makes once from the same files, however many lives ask for it.

What is rendered follows from the files of a directory alone: scenes have no environment, and their
key is among the files. So whoever finds the very same bytes finds the very same rendering, and the
same bundle.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path

from stockman.app.rendering.render import RenderedTree, Rendering
from stockman.app.runs.workspace import RunWorkspace
from stockman.app.secrets.bundle import bundle_path
from stockman.app.secrets.keyring import AGE_KEY
from stockman.app.workspace.secret_names import dialect_of
from stockman.ports.system import Clock, Entropy
from stockman.talos.secrets.bundle import SecretsBundle

_MOST = 32
_known: OrderedDict[bytes, Rendering] = OrderedDict()
_bundles: dict[tuple[bytes, bytes], SecretsBundle] = {}


class RememberedWorkspace(RunWorkspace):
    """Everything of a directory, without what was opened or rendered before from the same bytes."""

    def __init__(
        self, directory: Path, environment: Mapping[str, str], clock: Clock, entropy: Entropy
    ) -> None:
        super().__init__(directory, environment, clock, entropy)
        self.tree = RememberedTree(directory, self.render_context)

    @property
    def bundle(self) -> SecretsBundle:
        if self._bundle is None and not self.environment:
            encrypted = self.directory / bundle_path(dialect_of(self.directory))
            key = encrypted.read_bytes(), (self.directory / AGE_KEY).read_bytes()
            self._bundle = _bundles.get(key)
            _bundles[key] = super().bundle
        return super().bundle


class RememberedTree(RenderedTree):
    """The rendered files of one directory, without rendering again what was rendered before."""

    def rendering(self) -> Rendering:
        if self._context.environment:
            return super().rendering()
        key = digest(self._directory)
        if key not in _known:
            _known[key] = super().rendering()
            while len(_known) > _MOST:
                _known.popitem(last=False)
        _known.move_to_end(key)
        return _known[key]


def digest(directory: Path) -> bytes:
    """What tells the files of a directory from others, but for the history of its repository."""
    blake2b = hashlib.blake2b()
    for path, content in sorted(_contents(str(directory), "")):
        blake2b.update(f"{len(path)} {path} {len(content)} ".encode())
        blake2b.update(content)
    return blake2b.digest()


def _contents(directory: str, above: str) -> Iterator[tuple[str, bytes]]:
    with os.scandir(directory) as listed:
        for one in listed:
            path = f"{above}/{one.name}"
            if one.is_symlink():
                yield path, b"-> " + os.fsencode(os.readlink(one.path))
            elif not one.is_dir():
                yield path, _content(one.path)
            elif path != "/.git":
                yield f"{path}/", b""
                yield from _contents(one.path, path)


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()
