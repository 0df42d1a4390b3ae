"""Files of a component in the repository: apps, each with one Flux Kustomization."""

from __future__ import annotations

from stockman.model.record import record

Object = dict[str, object]
"""A Kubernetes object, or a kustomize file; secret values are `Secret`s."""


def manifest(version: str, kind: str, name: str, **spec: object) -> Object:
    """Return a Kubernetes object with a spec."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


SECRET_MARK = ".sops."
"""Part of the file name of encrypted files."""


@record
class Sheet:
    """One YAML file of an app."""

    name: str
    """File name, `helmrelease.yaml`."""
    objects: tuple[Object, ...]
    listed: bool = True
    """Whether the app's kustomization lists it as a resource."""

    @property
    def is_secret(self) -> bool:
        return SECRET_MARK in self.name


@record
class PlainFile:
    """A file of the repository that is not applied to the cluster."""

    path: str
    """Path in the repository, `monitoring/rules.yaml`."""
    text: str


@record
class App:
    """A directory of objects that Flux applies together."""

    name: str
    """Name of its Flux Kustomization."""
    namespace: str
    sheets: tuple[Sheet, ...]
    folder: str = "app"
    """Directory below that of the component."""
    after: tuple[str, ...] = ()
    """Names of the apps it depends on."""
    pending: str = ""
    """Reason why it is suspended. Empty: it is not."""
    scattered: bool = False
    """Whether its objects set their namespaces themselves; otherwise all are in the app's."""
    extras: tuple[Object, ...] = ()
    """Other parts of its kustomization file, merged in order (generators, patches)."""
