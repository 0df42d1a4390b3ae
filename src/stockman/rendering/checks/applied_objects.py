"""Find the objects that Flux applies, following files from its entry as Flux and kustomize do."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.rendering.checks.kinds import load_kind
from stockman.rendering.checks.objects import (
    Content,
    ObjectIdentity,
    ObjectTree,
    TreeObject,
    mapping_at,
    mappings_at,
    text_at,
    texts_at,
)

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
