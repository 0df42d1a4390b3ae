"""What a component puts into the repository: apps, each with one Flux Kustomization."""

from __future__ import annotations

from stockman.model.record import record

Object = dict[str, object]
"""A Kubernetes object, or a file of kustomize; confidential leaves are `Secret`s."""

SECRET_MARK = ".sops."
"""The part of a file's name that says that it is encrypted."""


@record
class Sheet:
    """One YAML file of an app."""

    name: str
    """File name, `helmrelease.yaml`."""
    objects: tuple[Object, ...]
    listed: bool = True
    """Whether the app's kustomization names it as a resource."""

    @property
    def is_secret(self) -> bool:
        return SECRET_MARK in self.name


@record
class PlainFile:
    """A file of the repository that no cluster applies."""

    path: str
    """From the root of the repository, `monitoring/rules.yaml`."""
    text: str


@record
class App:
    """A directory of objects that Flux applies together."""

    name: str
    """Of its Flux Kustomization."""
    namespace: str
    sheets: tuple[Sheet, ...]
    folder: str = "app"
    """Directory below the component's own."""
    after: tuple[str, ...] = ()
    """Apps that have to be ready first, by name."""
    pending: str = ""
    """What it waits for before it may run, in words; it is suspended until then."""
    scattered: bool = False
    """Whether its objects name their namespaces themselves; otherwise all go into the app's."""
    extras: tuple[Object, ...] = ()
    """Further parts of its kustomization file, merged in order (generators, patches)."""
