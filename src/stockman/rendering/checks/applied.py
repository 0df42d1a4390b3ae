"""What the cluster gets: files followed from Flux's entry, as Flux and kustomize follow them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.rendering.checks.kinds import kind_of
from stockman.rendering.checks.objects import (
    Content,
    Identity,
    Library,
    TreeObject,
    part,
    parts,
    text,
    texts,
)

FLUX = "kustomize.toolkit.fluxcd.io"
KUSTOMIZE = "kustomize.config.k8s.io"
ENTRIES = ("kubernetes/flux/cluster", "bootstrap")
"""Directories that are applied without anything in the tree saying so."""
_REMOTE = pattern(r"^[a-z+]+://|^git@|^[a-z0-9-]+(\.[a-z0-9-]+)+/|\?ref=")


@record
class Applied:
    """An object with the namespace that it ends up in, and the app that applies it."""

    one: TreeObject
    namespace: str
    """Empty: it belongs to the whole cluster, or nobody names one."""
    home: str
    """Where objects of the whole cluster look for Secrets: the namespace of their app."""
    app: str
    """Flux Kustomization; empty: it stands before Flux."""

    @property
    def identity(self) -> Identity:
        return Identity(self.one.group, self.one.kind, self.namespace, self.one.name)


class Missing(NamedTuple):
    """A path that a file names, and that is not there."""

    path: str
    named: str
    ours: bool


class Generated(NamedTuple):
    """A Secret or ConfigMap that kustomize makes from files."""

    kind: str
    namespace: str
    name: str
    keys: frozenset[str] | None
    """None: they stand in a file that is not looked into."""


@record
class Application:
    """Everything that is applied, and what could not be."""

    objects: tuple[Applied, ...]
    generated: frozenset[Generated]
    missing: tuple[Missing, ...]


class _Walk:
    def __init__(self, library: Library) -> None:
        self.library = library
        self.objects: dict[tuple[str, int, str], Applied] = {}
        self.generated: set[Generated] = set()
        self.missing: dict[Missing, None] = {}
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
            inner = namespace or text(one.content, "namespace")
            for named in (*texts(one.content, "resources"), *texts(one.content, "components")):
                self._resource(one, folder, named, (inner, app))
            for named in _beside(one.content):
                self._exists(one, folder, named)
            self.generated.update(_generated(one.content, inner))

    def _resource(self, one: TreeObject, folder: str, named: str, context: tuple[str, str]) -> None:
        target = posixpath.normpath(posixpath.join(folder, named))
        if f"{target}/kustomization.yaml" in self.library.paths:
            self._kustomization(target, *context)
        elif target in self.library.paths:
            self._file(target, *context)
        elif not _REMOTE.search(named):
            self.missing[Missing(one.path, named, one.ours)] = None

    def _exists(self, one: TreeObject, folder: str, named: str) -> None:
        target = posixpath.normpath(posixpath.join(folder, named))
        if target not in self.library.paths and not _REMOTE.search(named):
            self.missing[Missing(one.path, named, one.ours)] = None

    def _file(self, path: str, namespace: str, app: str) -> None:
        for index, one in enumerate(self.library.objects.get(path, ())):
            if one.is_a(KUSTOMIZE, "Kustomization", "Component"):
                continue
            place = self._namespace(one, namespace)
            self.objects[path, index, place] = Applied(
                one=one, namespace=place, home=place or namespace, app=app
            )
            if one.is_a(FLUX, "Kustomization"):
                self._flux(one, place)

    def _namespace(self, one: TreeObject, namespace: str) -> str:
        known = kind_of(one.api_version, one.kind)
        if known is not None and not known.namespaced:
            return ""
        # kustomize puts its namespace in the place of the one that an object names.
        return namespace or one.namespace

    def _flux(self, one: TreeObject, namespace: str) -> None:
        source = part(one.spec, "sourceRef")
        if text(source, "name") != "flux-system":
            return
        folder = posixpath.normpath(text(one.spec, "path"))
        if (folder, one.name) in self._apps:
            return
        self._apps.add((folder, one.name))
        if folder not in self.library.folders:
            self.missing[Missing(one.path, text(one.spec, "path"), one.ours)] = None
            return
        self.folder(folder, text(one.spec, "targetNamespace"), f"{namespace}/{one.name}")

    def _files(self, folder: str) -> Iterator[str]:
        for path in self.library.objects:
            if path.rpartition("/")[0] == folder:
                yield path

    def _below(self, folder: str) -> Iterator[str]:
        for one in sorted(self.library.folders):
            if one.rpartition("/")[0] == folder:
                yield one


def application(library: Library) -> Application:
    """Everything that Flux, started at its entry, applies."""
    walk = _Walk(library)
    walk.everything()
    return Application(
        objects=tuple(walk.objects.values()),
        generated=frozenset(walk.generated),
        missing=tuple(walk.missing),
    )


def _generated(content: Content, namespace: str) -> Iterator[Generated]:
    for key, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
        for one in parts(content, key):
            files = {_key_of(named) for named in texts(one, "files")}
            literals = {named.partition("=")[0] for named in texts(one, "literals")}
            opaque = text(one, "env") or any(True for _ in texts(one, "envs"))
            keys = None if opaque else frozenset(files | literals)
            place = namespace or text(one, "namespace")
            yield Generated(kind, place, text(one, "name"), keys)


def _key_of(named: str) -> str:
    key, equals, _ = named.rpartition("=")
    return key if equals else posixpath.basename(named)


def _beside(content: Content) -> Iterator[str]:
    """Further files that a kustomization reads."""
    for generator in (*parts(content, "configMapGenerator"), *parts(content, "secretGenerator")):
        for named in (*texts(generator, "files"), *texts(generator, "envs")):
            yield named.rpartition("=")[2]
    for patch in (*parts(content, "patches"), *parts(content, "replacements")):
        if named := text(patch, "path"):
            yield named
    for key in ("configurations", "transformers", "generators"):
        yield from texts(content, key)
