"""Objects of a tree of files, as its text says them."""

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
"""In one object; the largest that is rendered has a hundredth of it."""

Content = Mapping[str, object]


class ObjectIdentity(NamedTuple):
    """What tells an object from all others of a cluster."""

    group: str
    kind: str
    namespace: str
    """Empty: it belongs to the whole cluster."""
    name: str


@record
class TreeObject:
    """One object of one file."""

    path: str
    ours: bool
    """Whether it is rendered; the others are the user's own, and only looked up."""
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
        """As the file names it; empty: it names none."""
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
    """A rendered file that no reader of YAML understands."""

    path: str
    line: int
    """0: nowhere in particular."""
    why: str


@record
class ObjectTree:
    """Every object of a tree, by file."""

    objects: Mapping[str, tuple[TreeObject, ...]]
    """Files without an object in them have an empty entry."""
    paths: frozenset[str]
    """All files, also those that hold no objects."""
    folders: frozenset[str]
    unparsed: tuple[UnparsedFile, ...]

    def __iter__(self) -> Iterator[TreeObject]:
        for found in self.objects.values():
            yield from found


def read_objects(tree: FileTree, others: Mapping[str, str]) -> ObjectTree:
    """The objects of rendered files, and of the user's own beside them."""
    objects: dict[str, tuple[TreeObject, ...]] = {}
    unparsed = []
    for file in tree:
        if _holds_objects(file.path):
            try:
                objects[file.path] = tuple(_objects(file.path, _documents(file), ours=True))
            except (yaml.YAMLError, ValueError, RecursionError) as error:
                unparsed.append(_invalid_yaml(file.path, error))
    for path, content in others.items():
        if _holds_objects(path) and tree.get(path) is None:
            objects[path] = _read_user_files(path, content)
    paths = frozenset((*(file.path for file in tree), *others))
    return ObjectTree(
        objects=objects, paths=paths, folders=_folders(paths), unparsed=tuple(unparsed)
    )


def mapping_at(content: Content, key: str) -> Content:
    """A mapping inside of another; empty where it is something else."""
    found = content.get(key)
    return found if isinstance(found, dict) else {}


def mappings_at(content: Content, key: str) -> Iterator[Content]:
    """The mappings of a list."""
    found = content.get(key)
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            yield one


def text_at(content: Content, key: str) -> str:
    """A text inside of a mapping; empty where it is something else."""
    found = content.get(key)
    return found if isinstance(found, str) else ""


def texts_at(content: Content, key: str) -> Iterator[str]:
    """The texts of a list."""
    found = content.get(key)
    for one in found if isinstance(found, list) else ():
        if isinstance(one, str):
            yield one


def _holds_objects(path: str) -> bool:
    return path.startswith(_DIRECTORIES) and path.endswith(_ENDINGS)


def _plain_value(file: RenderedFile) -> str:
    return file.text.reveal() if isinstance(file.text, Secret) else file.text


def _documents(file: RenderedFile) -> Iterable[object]:
    return file.documents if file.documents is not None else _read(_plain_value(file))


def _read(content: str) -> Iterable[object]:
    return cast("Iterable[object]", yaml.load_all(content, Loader=_LOADER))


def _objects(path: str, documents: Iterable[object], *, ours: bool) -> Iterator[TreeObject]:
    for one in documents:
        if isinstance(one, dict) and "apiVersion" in one and "kind" in one:
            _reject_alias_bombs(one)
            yield TreeObject(path=path, ours=ours, content=one)


def _read_user_files(path: str, content: str) -> tuple[TreeObject, ...]:
    try:
        return tuple(_objects(path, _read(content), ours=False))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()


def _invalid_yaml(path: str, error: Exception) -> UnparsedFile:
    """The place of a mistake; what the reader says of it could hold a secret."""
    if isinstance(error, _AliasBomb):
        return UnparsedFile(path=path, line=0, why=str(error))
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    why = "it is not YAML, and Flux and kustomize read every file of this directory"
    return UnparsedFile(path=path, line=mark.line + 1 if mark is not None else 0, why=why)


class _AliasBomb(ValueError):
    """Aliases that lead into themselves, or that multiply."""


def _reject_alias_bombs(content: object) -> None:
    left = _MAX_VALUES
    waiting = [(content, 0)]
    while waiting:
        value, depth = waiting.pop()
        left -= 1
        if depth > _MAX_DEPTH or left < 0:
            raise _AliasBomb(
                f"its values are nested deeper than {_MAX_DEPTH}, or repeated for ever"
            )
        if isinstance(value, dict):
            waiting.extend((one, depth + 1) for one in value.values())
        elif isinstance(value, list):
            waiting.extend((one, depth + 1) for one in value)


def _folders(paths: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)
