"""What tells resources of a build apart."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.kube.flux.kustomize.tables import table
from stockman_lab.kube.objects import Object, metadata_of

_NOWHERE = "_non_namespaceable_"
_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Selector:
    """Kinds that a rule is about; an empty part means any."""

    kind: str = ""
    group: str = ""
    version: str = ""

    @staticmethod
    def of(text: str) -> Selector:
        """Read `Kind group version`, where `*` and what is left away mean any."""
        parts = [part if part != "*" else "" for part in text.split(" ")]
        return Selector(*parts)


@dataclass(frozen=True, slots=True)
class Identity:
    """Kind, name and namespace of a resource."""

    group: str
    version: str
    kind: str
    name: str
    namespace: str = ""

    @staticmethod
    def of(content: Object) -> Identity:
        """That of an object."""
        group, _, version = str(content.get("apiVersion") or "").rpartition("/")
        metadata = metadata_of(content)
        name, namespace = metadata.get("name") or "", metadata.get("namespace") or ""
        return Identity(group, version, str(content.get("kind") or ""), str(name), str(namespace))

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_cluster_wide(self) -> bool:
        """Whether kustomize knows that the kind lies in no namespace."""
        return self.kind in table().cluster_wide.get(self.api_version, ())

    @property
    def place(self) -> str:
        """The namespace that counts when resources are compared."""
        if self.is_cluster_wide:
            return _NOWHERE
        return self.namespace or _DEFAULT

    def is_same(self, other: Identity) -> bool:
        return self.place == other.place and (
            (self.group, self.version, self.kind, self.name)
            == (other.group, other.version, other.kind, other.name)
        )

    def is_selected(self, by: Selector) -> bool:
        return (
            by.kind in {"", self.kind}
            and by.group in {"", self.group}
            and by.version in {"", self.version}
        )

    @property
    def kind_text(self) -> str:
        """The kind as texts name it."""
        return f"{self.kind or '[noKind]'}.{self.version or '[noVer]'}.{self.group or '[noGrp]'}"

    def __str__(self) -> str:
        return f"{self.kind_text}/{self.name or '[noName]'}.{self.namespace or '[noNs]'}"
