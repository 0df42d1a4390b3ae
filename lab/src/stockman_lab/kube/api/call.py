"""One request about objects, with all that it takes to answer it."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.kube.admission.draft import AdmissionContext, Draft
from stockman_lab.kube.api.messages import Request
from stockman_lab.kube.api.negotiating import Wanted
from stockman_lab.kube.api.routes import Route
from stockman_lab.kube.failures import Named
from stockman_lab.kube.objects import Object
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.type import Type
from stockman_lab.kube.schema.types import Types
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Store


@dataclass(slots=True)
class Call:
    """A request that was understood."""

    request: Request
    route: Route
    wanted: Wanted
    types: Types
    store: Store
    context: AdmissionContext
    warnings: list[str] = field(default_factory=list)
    is_dry: bool = False
    """Whether nothing is to be changed."""

    def __post_init__(self) -> None:
        self.is_dry = self.request.asked("dryRun") == "All"

    @property
    def resource(self) -> Resource:
        return self.route.resource

    @property
    def namespace(self) -> str:
        return self.route.namespace

    @property
    def name(self) -> str:
        return self.route.name

    @property
    def named(self) -> Named:
        """How refusals name the objects."""
        return named(self.resource)

    @property
    def shape(self) -> Type:
        """The type of the objects."""
        resource = self.resource
        return self.types.type_of(resource.group, resource.version, resource.kind)

    def key(self, name: str = "") -> bytes:
        """The key of an object."""
        return object_key(self.resource, self.namespace, name or self.name)

    @property
    def prefix(self) -> bytes:
        """What keys of all objects that are meant begin with."""
        return object_prefix(self.resource, self.namespace)

    def draft(self, content: Object, old: Entry | None = None) -> Draft:
        """An object on its way in."""
        user = self.request.user
        return Draft(
            self.resource,
            content,
            self.context,
            None if old is None else old.content,
            self.namespace,
            self.route.subresource,
            user.name,
            user.groups,
            user.uid,
            self.warnings,
            self.shape,
        )


def named(resource: Resource) -> Named:
    """How refusals name the objects of a resource."""
    return Named(resource.plural, resource.group, resource.kind)


def object_key(resource: Resource, namespace: str, name: str) -> bytes:
    """The key of an object in etcd."""
    group = resource.group if resource.is_custom else ""
    return ObjectKey(resource.plural, name, namespace, group).key


def object_prefix(resource: Resource, namespace: str = "") -> bytes:
    """What the keys of all objects of a resource begin with, of one namespace or of all."""
    return object_key(resource, namespace, "") + b"/"


def seen_as(entry: Entry, resource: Resource) -> Entry:
    """An object in the version of a resource: custom kinds have the same fields in all."""
    if entry.content.get("apiVersion") == resource.api_version:
        return entry
    content = {**entry.content, "apiVersion": resource.api_version}
    return Entry(entry.key, entry.revision, entry.created, content)
