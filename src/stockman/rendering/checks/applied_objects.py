"""What the cluster gets: files followed from Flux's entry, as Flux and kustomize follow them."""

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
"""Directories that are applied without anything in the tree saying so."""
_REMOTE = pattern(r"^[a-z+]+://|^git@|^[a-z0-9-]+(\.[a-z0-9-]+)+/|\?ref=")


@record
class AppliedObject:
    """An object with the namespace that it ends up in, and the app that applies it."""

    one: TreeObject
    namespace: str
    """Empty: it belongs to the whole cluster, or nobody names one."""
    home: str
    """Where objects of the whole cluster look for Secrets: the namespace of their app."""
    app: str
    """Flux Kustomization; empty: it stands before Flux."""

    @property
    def identity(self) -> ObjectIdentity:
        return ObjectIdentity(self.one.group, self.one.kind, self.namespace, self.one.name)


class MissingPath(NamedTuple):
    """A path that a file names, and that is not there."""

    path: str
    named: str
    ours: bool


class GeneratedObject(NamedTuple):
    """A Secret or ConfigMap that kustomize makes from files."""

    kind: str
    namespace: str
    name: str
    keys: frozenset[str] | None
    """None: they stand in a file that is not looked into."""


@record
class AppliedTree:
    """Everything that is applied, and what could not be."""

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
        """A directory that Flux is pointed at: with a kustomization, or all that is in it."""
        if f"{folder}/kustomization.yaml" in self.library.paths:
            self._kustomization(folder, namespace, app)
            return
        for path in self._files(folder):
            self._file(path, namespace, app)
        for below in self._below(folder):
            self.folder(below, namespace, app)

    def _kustomization(self, folder: str, namespace: str, app: str) -> None:
        path = f"{folder}/kustomization.yaml"
        for one in self.library.objects.get(path, ()):
            inner = namespace or text_at(one.content, "namespace")
            for named in (
                *texts_at(one.content, "resources"),
                *texts_at(one.content, "components"),
            ):
                self._resource(one, folder, named, (inner, app))
            for named in _other_files(one.content):
                self._exists(one, folder, named)
            self.generated.update(_generator_objects(one.content, inner))

    def _resource(self, one: TreeObject, folder: str, named: str, context: tuple[str, str]) -> None:
        target = posixpath.normpath(posixpath.join(folder, named))
        if f"{target}/kustomization.yaml" in self.library.paths:
            self._kustomization(target, *context)
        elif target in self.library.paths:
            self._file(target, *context)
        elif not _REMOTE.search(named):
            self.missing[MissingPath(one.path, named, one.ours)] = None

    def _exists(self, one: TreeObject, folder: str, named: str) -> None:
        target = posixpath.normpath(posixpath.join(folder, named))
        if target not in self.library.paths and not _REMOTE.search(named):
            self.missing[MissingPath(one.path, named, one.ours)] = None

    def _file(self, path: str, namespace: str, app: str) -> None:
        for index, one in enumerate(self.library.objects.get(path, ())):
            if one.is_a(KUSTOMIZE, "Kustomization", "Component"):
                continue
            place = self._namespace(one, namespace)
            self.objects[path, index, place] = AppliedObject(
                one=one, namespace=place, home=place or namespace, app=app
            )
            if one.is_a(FLUX, "Kustomization"):
                self._flux(one, place)

    def _namespace(self, one: TreeObject, namespace: str) -> str:
        known = load_kind(one.api_version, one.kind)
        if known is not None and not known.namespaced:
            return ""
        # kustomize puts its namespace in the place of the one that an object names.
        return namespace or one.namespace

    def _flux(self, one: TreeObject, namespace: str) -> None:
        source = mapping_at(one.spec, "sourceRef")
        if text_at(source, "name") != "flux-system":
            return
        folder = posixpath.normpath(text_at(one.spec, "path"))
        if (folder, one.name) in self._apps:
            return
        self._apps.add((folder, one.name))
        if folder not in self.library.folders:
            self.missing[MissingPath(one.path, text_at(one.spec, "path"), one.ours)] = None
            return
        self.folder(folder, text_at(one.spec, "targetNamespace"), f"{namespace}/{one.name}")

    def _files(self, folder: str) -> Iterator[str]:
        for path in self.library.objects:
            if path.rpartition("/")[0] == folder:
                yield path

    def _below(self, folder: str) -> Iterator[str]:
        for one in sorted(self.library.folders):
            if one.rpartition("/")[0] == folder:
                yield one


def find_applied_objects(library: ObjectTree) -> AppliedTree:
    """Everything that Flux, started at its entry, applies."""
    walk = _FluxWalk(library)
    walk.everything()
    return AppliedTree(
        objects=tuple(walk.objects.values()),
        generated=frozenset(walk.generated),
        missing=tuple(walk.missing),
    )


def _generator_objects(content: Content, namespace: str) -> Iterator[GeneratedObject]:
    for key, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        for one in mappings_at(content, key):
            files = {_key_of(named) for named in texts_at(one, "files")}
            literals = {named.partition("=")[0] for named in texts_at(one, "literals")}
            opaque = text_at(one, "env") or any(True for _ in texts_at(one, "envs"))
            keys = None if opaque else frozenset(files | literals)
            place = namespace or text_at(one, "namespace")
            yield GeneratedObject(kind, place, text_at(one, "name"), keys)


def _key_of(named: str) -> str:
    key, equals, _ = named.rpartition("=")
    return key if equals else posixpath.basename(named)


def _other_files(content: Content) -> Iterator[str]:
    """Further files that a kustomization reads."""
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
