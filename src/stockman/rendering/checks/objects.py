"""Kubernetes objects in a tree of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import yaml

from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.tree import FileTree, RenderedFile

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DIRECTORIES = ("kubernetes/", "bootstrap/")
_ENDINGS = (".yaml", ".yml")
_MAX_DEPTH = 100
_MAX_VALUES = 200_000
"""Per object; the largest rendered object has a hundredth of it."""

Content = Mapping[str, object]


class ObjectIdentity(NamedTuple):
    """What distinguishes an object from all others of a cluster."""

    group: str
    kind: str
    namespace: str
    """Empty: cluster-scoped."""
    name: str


@record
class TreeObject:
    """One object of a file."""

    path: str
    ours: bool
    """Whether it is rendered; other objects are the user's own and only used for lookups."""
    content: Content

    @property
    def api_version(self) -> str:
        return text_at(self.content, "apiVersion")

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def kind(self) -> str:
        return text_at(self.content, "kind")

    @property
    def name(self) -> str:
        return text_at(mapping_at(self.content, "metadata"), "name")

    @property
    def namespace(self) -> str:
        """Namespace in the file; empty: none."""
        return text_at(mapping_at(self.content, "metadata"), "namespace")

    @property
    def spec(self) -> Content:
        return mapping_at(self.content, "spec")

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}".strip()

    def is_a(self, group: str, *kinds: str) -> bool:
        return self.group == group and self.kind in kinds


@record
class UnparsedFile:
    """A rendered file that is not valid YAML."""

    path: str
    line: int
    """0: unknown."""
    why: str


@record
class ObjectTree:
    """All objects of a tree, by file."""

    objects: Mapping[str, tuple[TreeObject, ...]]
    """Files without objects have an empty entry."""
    paths: frozenset[str]
    """All files, including those without objects."""
    folders: frozenset[str]
    unparsed: tuple[UnparsedFile, ...]

    def __iter__(self) -> Iterator[TreeObject]:
        for items in self.objects.values():
            yield from items


def read_objects(tree: FileTree, user_files: Mapping[str, str]) -> ObjectTree:
    """Return the objects of rendered files and of the user's own files."""
    objects: dict[str, tuple[TreeObject, ...]] = {}
    unparsed = []
    for file in tree:
        if _holds_objects(file.path):
            try:
                objects[file.path] = tuple(_objects(file.path, _documents(file), ours=True))
            except (yaml.YAMLError, ValueError, RecursionError) as error:
                unparsed.append(_invalid_yaml(file.path, error))
    for path, content in user_files.items():
        if _holds_objects(path) and tree.get(path) is None:
            objects[path] = _read_user_files(path, content)
    paths = frozenset((*(file.path for file in tree), *user_files))
    return ObjectTree(
        objects=objects, paths=paths, folders=_folders(paths), unparsed=tuple(unparsed)
    )


def mapping_at(content: Content, key: str) -> Content:
    """Return a mapping inside of another one; empty if the value is not a mapping."""
    value = content.get(key)
    return value if isinstance(value, dict) else {}


def mappings_at(content: Content, key: str) -> Iterator[Content]:
    """Return the mappings of a list."""
    value = content.get(key)
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def text_at(content: Content, key: str) -> str:
    """Return a string inside of a mapping; empty if the value is not a string."""
    value = content.get(key)
    return value if isinstance(value, str) else ""


def texts_at(content: Content, key: str) -> Iterator[str]:
    """Return the strings of a list."""
    value = content.get(key)
    for item in value if isinstance(value, list) else ():
        if isinstance(item, str):
            yield item


def _holds_objects(path: str) -> bool:
    return path.startswith(_DIRECTORIES) and path.endswith(_ENDINGS)


def _plain_value(file: RenderedFile) -> str:
    return file.text.reveal() if isinstance(file.text, Secret) else file.text


def _documents(file: RenderedFile) -> Iterable[object]:
    return file.documents if file.documents is not None else _read(_plain_value(file))


def _read(content: str) -> Iterable[object]:
    return cast("Iterable[object]", yaml.load_all(content, Loader=_LOADER))


def _objects(path: str, documents: Iterable[object], *, ours: bool) -> Iterator[TreeObject]:
    for document in documents:
        if isinstance(document, dict) and "apiVersion" in document and "kind" in document:
            _reject_alias_bombs(document)
            yield TreeObject(path=path, ours=ours, content=document)


def _read_user_files(path: str, content: str) -> tuple[TreeObject, ...]:
    try:
        return tuple(_objects(path, _read(content), ours=False))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()


def _invalid_yaml(path: str, error: Exception) -> UnparsedFile:
    """Return the position of a YAML error without its message, which could contain a secret."""
    if isinstance(error, _AliasBomb):
        return UnparsedFile(path=path, line=0, why=str(error))
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    why = "it is not valid YAML, and Flux and kustomize read every file of this directory"
    return UnparsedFile(path=path, line=mark.line + 1 if mark is not None else 0, why=why)


class _AliasBomb(ValueError):
    """Aliases that refer to themselves or multiply the content."""


def _reject_alias_bombs(content: object) -> None:
    left = _MAX_VALUES
    waiting = [(content, 0)]
    while waiting:
        value, depth = waiting.pop()
        left -= 1
        if depth > _MAX_DEPTH or left < 0:
            raise _AliasBomb(
                f"its values are nested deeper than {_MAX_DEPTH}, or repeat themselves"
            )
        if isinstance(value, dict):
            waiting.extend((child, depth + 1) for child in value.values())
        elif isinstance(value, list):
            waiting.extend((child, depth + 1) for child in value)


def _folders(paths: Iterable[str]) -> frozenset[str]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)
