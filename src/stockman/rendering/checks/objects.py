"""Kubernetes objects in a tree of files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import yaml

from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.checks.kinds import load_kind
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


FLUX = "kustomize.toolkit.fluxcd.io"
KUSTOMIZE = "kustomize.config.k8s.io"
ENTRIES = ("kubernetes/flux/cluster", "bootstrap")
"""Directories that are applied without a reference in the tree."""
_REMOTE = pattern(r"^[a-z+]+://|^git@|^[a-z0-9-]+(\.[a-z0-9-]+)+/|\?ref=")


@record
class AppliedObject:
    """An object with its final namespace and the app that applies it."""

    object: TreeObject
    namespace: str
    """Empty: cluster-scoped, or no namespace is set."""
    home: str
    """Namespace in which a cluster-scoped object looks for Secrets: that of its app."""
    app: str
    """Name of the Flux Kustomization; empty: applied before Flux."""

    @property
    def identity(self) -> ObjectIdentity:
        return ObjectIdentity(self.object.group, self.object.kind, self.namespace, self.object.name)


class MissingPath(NamedTuple):
    """A path that a file refers to and that does not exist."""

    path: str
    named: str
    ours: bool


class GeneratedObject(NamedTuple):
    """A Secret or ConfigMap that kustomize generates from files."""

    kind: str
    namespace: str
    name: str
    keys: frozenset[str] | None
    """None: unknown, they are in a file that is not parsed."""


@record
class AppliedTree:
    """All applied objects, and references that could not be followed."""

    objects: tuple[AppliedObject, ...]
    generated: frozenset[GeneratedObject]
    missing: tuple[MissingPath, ...]


class _FluxWalk:
    def __init__(self, library: ObjectTree) -> None:
        self.library = library
        self.objects: dict[tuple[str, int, str], AppliedObject] = {}
        self.generated: set[GeneratedObject] = set()
        self.missing: dict[MissingPath, None] = {}
        self._apps: set[tuple[str, str]] = set()

    def everything(self) -> None:
        for folder in ENTRIES:
            for path in self._files(folder):
                self._file(path, "", "")

    def folder(self, folder: str, namespace: str, app: str) -> None:
        """Follow a directory: its kustomization, or all files in it."""
        if f"{folder}/kustomization.yaml" in self.library.paths:
            self._kustomization(folder, namespace, app)
            return
        for path in self._files(folder):
            self._file(path, namespace, app)
        for below in self._below(folder):
            self.folder(below, namespace, app)

    def _kustomization(self, folder: str, namespace: str, app: str) -> None:
        path = f"{folder}/kustomization.yaml"
        for item in self.library.objects.get(path, ()):
            inner = namespace or text_at(item.content, "namespace")
            for named in (
                *texts_at(item.content, "resources"),
                *texts_at(item.content, "components"),
            ):
                self._resource(item, folder, named, (inner, app))
            for named in _other_files(item.content):
                self._exists(item, folder, named)
            self.generated.update(_generator_objects(item.content, inner))

    def _resource(
        self, item: TreeObject, folder: str, named: str, context: tuple[str, str]
    ) -> None:
        target = posixpath.normpath(posixpath.join(folder, named))
        if f"{target}/kustomization.yaml" in self.library.paths:
            self._kustomization(target, *context)
        elif target in self.library.paths:
            self._file(target, *context)
        elif not _REMOTE.search(named):
            self.missing[MissingPath(item.path, named, item.ours)] = None

    def _exists(self, item: TreeObject, folder: str, named: str) -> None:
        target = posixpath.normpath(posixpath.join(folder, named))
        if target not in self.library.paths and not _REMOTE.search(named):
            self.missing[MissingPath(item.path, named, item.ours)] = None

    def _file(self, path: str, namespace: str, app: str) -> None:
        for index, item in enumerate(self.library.objects.get(path, ())):
            if item.is_a(KUSTOMIZE, "Kustomization", "Component"):
                continue
            target_namespace = self._namespace(item, namespace)
            self.objects[path, index, target_namespace] = AppliedObject(
                object=item, namespace=target_namespace, home=target_namespace or namespace, app=app
            )
            if item.is_a(FLUX, "Kustomization"):
                self._flux(item, target_namespace)

    def _namespace(self, item: TreeObject, namespace: str) -> str:
        known = load_kind(item.api_version, item.kind)
        if known is not None and not known.namespaced:
            return ""
        # kustomize replaces the namespace of an object with its own.
        return namespace or item.namespace

    def _flux(self, item: TreeObject, namespace: str) -> None:
        source = mapping_at(item.spec, "sourceRef")
        if text_at(source, "name") != "flux-system":
            return
        folder = posixpath.normpath(text_at(item.spec, "path"))
        if (folder, item.name) in self._apps:
            return
        self._apps.add((folder, item.name))
        if folder not in self.library.folders:
            self.missing[MissingPath(item.path, text_at(item.spec, "path"), item.ours)] = None
            return
        self.folder(folder, text_at(item.spec, "targetNamespace"), f"{namespace}/{item.name}")

    def _files(self, folder: str) -> Iterator[str]:
        for path in self.library.objects:
            if path.rpartition("/")[0] == folder:
                yield path

    def _below(self, folder: str) -> Iterator[str]:
        for directory in sorted(self.library.folders):
            if directory.rpartition("/")[0] == folder:
                yield directory


def find_applied_objects(library: ObjectTree) -> AppliedTree:
    """Return all objects that Flux applies."""
    walk = _FluxWalk(library)
    walk.everything()
    return AppliedTree(
        objects=tuple(walk.objects.values()),
        generated=frozenset(walk.generated),
        missing=tuple(walk.missing),
    )


def _generator_objects(content: Content, namespace: str) -> Iterator[GeneratedObject]:
    for key, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        for generator in mappings_at(content, key):
            files = {_key_of(named) for named in texts_at(generator, "files")}
            literals = {named.partition("=")[0] for named in texts_at(generator, "literals")}
            opaque = text_at(generator, "env") or any(True for _ in texts_at(generator, "envs"))
            keys = None if opaque else frozenset(files | literals)
            target_namespace = namespace or text_at(generator, "namespace")
            yield GeneratedObject(kind, target_namespace, text_at(generator, "name"), keys)


def _key_of(named: str) -> str:
    key, equals, _ = named.rpartition("=")
    return key if equals else posixpath.basename(named)


def _other_files(content: Content) -> Iterator[str]:
    """Return other files that a kustomization reads."""
    for generator in (
        *mappings_at(content, "configMapGenerator"),
        *mappings_at(content, "secretGenerator"),
    ):
        for named in (*texts_at(generator, "files"), *texts_at(generator, "envs")):
            yield named.rpartition("=")[2]
    for patch in (*mappings_at(content, "patches"), *mappings_at(content, "replacements")):
        if named := text_at(patch, "path"):
            yield named
    for key in ("configurations", "transformers", "generators"):
        yield from texts_at(content, key)
