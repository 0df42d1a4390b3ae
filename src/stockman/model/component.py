"""Components of a cluster: their settings, and facts about charts and requirements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache
from json import loads
from pathlib import Path
from typing import Annotated, NamedTuple

from stockman.model.compatibility import Compatibility, Verdict
from stockman.model.formats import TOKEN_ID, DatastoreText, Name
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.tables import TableRow, read_table
from stockman.model.version import Version


@record
class Component(Traced):
    """One component of the catalog. A component ignores keys that it does not use."""

    enabled: bool | None = None
    """Whether the component is installed. None: derived from the rest of the configuration."""
    version: Version | None = None
    """Chart version. None: the version that stockman was tested with."""
    namespace: Name | None = None
    """Namespace of the component. None: its usual namespace."""
    token_id: Annotated[str, TOKEN_ID] | None = None
    """Proxmox token of the component. None: not needed, or created by stockman."""
    token_secret: Secret | None = None
    """Secret of the token, or token and secret combined, `user@realm!name=UUID`."""
    storage: DatastoreText | None = None
    """Proxmox storage in which the component creates volumes. None: not needed."""
    settings: dict[str, object] = field(default_factory=dict)
    """Settings of the component; `stockman explain component NAME` lists them."""
    secrets: dict[Name, Secret] = field(default_factory=dict)
    """Confidential settings of the component, by name."""
    values: dict[str, object] = field(default_factory=dict)
    """Helm values that override those of stockman."""


CATALOG_DIRECTORY = Path(__file__).parent.parent / "catalog"
"""Contains one directory with a facts file per component."""
_PRODUCT_NAMES = {"talos": "Talos", "kubernetes": "Kubernetes", "proxmox": "Proxmox VE"}


class ComponentArtifact(NamedTuple):
    """An additional chart or image of a component."""

    repository: str
    """Address of the chart repository, or name of the image."""
    tag: str


class ComponentFacts(NamedTuple):
    """Facts about the newest known release of a component."""

    name: str
    chart: str
    """Empty: the component is not installed by a chart."""
    repository: str
    """`oci://` address of the chart itself, or `https://` address of its Helm repository."""
    tag: str
    """Chart version as published in its registry. Empty: unknown, or no chart."""
    app_version: str
    """Version of the packaged program. Empty: unknown."""
    namespace: str
    """Empty: any namespace, or cluster-wide."""
    pod_security: str
    """Pod security level that its namespace must allow. Empty: unknown, or the namespace is
    exempt."""
    licence: str
    """SPDX identifier. Empty: unknown."""
    needs: Mapping[str, Version]
    """Oldest compatible release of `talos`, `kubernetes` and `proxmox`, where known."""
    kubernetes_tested: tuple[Version, Version] | None
    """First and last Kubernetes release line that upstream tests. None: unknown."""
    note: str
    release: str
    """Name of its Helm release and of its directory in the repository."""
    condition: str
    """Name of the condition that enables it by default. Empty: stockman does not install it."""
    requires: tuple[str, ...]
    """Names of the components that it depends on."""
    talos_role: str
    """Role with which it accesses the Talos API from inside the cluster. Empty: no access."""
    artifacts: Mapping[str, ComponentArtifact]
    """Additional charts and images, by name."""

    @property
    def version(self) -> Version | None:
        """Version that a user pins: the chart version, or the program version if there is no
        chart."""
        text = self.tag or ("" if self.chart else self.app_version)
        return Version.parse(text) if text else None


@cache
def all_component_facts() -> tuple[ComponentFacts, ...]:
    """Return the facts of every component of the catalog and of the table, sorted by name."""
    installed = (loads(path.read_bytes()) for path in CATALOG_DIRECTORY.glob("*/facts.json"))
    rows = (*installed, *read_table("components")["rows"])
    return tuple(sorted(map(_parse_component, rows), key=lambda facts: facts.name))


def find_component_facts(name: str) -> ComponentFacts | None:
    """Return the facts of a component by its name or the name of its chart; None: unknown."""
    for facts in all_component_facts():
        if facts.name == name:
            return facts
    return next((facts for facts in all_component_facts() if facts.chart == name), None)


def component_compatibility(
    component: ComponentFacts, surroundings: Mapping[str, Version | None]
) -> Compatibility:
    """Check whether a component works with the given versions of Talos, Kubernetes and Proxmox.

    Products without a version are not checked. A Kubernetes release newer than upstream tests is
    `NEWER`.
    """
    for product, oldest in component.needs.items():
        installed = surroundings.get(product)
        if installed is not None and installed.line < oldest.line:
            return Compatibility(
                verdict=Verdict.REFUSED,
                reason=f"{component.name} needs {_PRODUCT_NAMES[product]} {oldest} or newer,"
                f" not {installed}",
            )
    kubernetes = surroundings.get("kubernetes")
    tested = component.kubernetes_tested
    if kubernetes is not None and tested is not None and kubernetes.line > tested[1].line:
        return Compatibility(
            verdict=Verdict.NEWER,
            reason=f"{component.name} is tested with Kubernetes {tested[0]} to {tested[1]},"
            f" not {kubernetes}",
        )
    return Compatibility(
        verdict=Verdict.OK, reason=f"nothing known speaks against {component.name}"
    )


def _parse_component(row: TableRow) -> ComponentFacts:
    tested = row.get("kubernetes_tested")
    return ComponentFacts(
        name=row["name"],
        chart=row.get("chart", ""),
        repository=row.get("repository", ""),
        tag=row.get("version", ""),
        app_version=row.get("app", ""),
        namespace=row.get("namespace", ""),
        pod_security=row.get("pod_security", ""),
        licence=row.get("licence", ""),
        needs={name: Version.parse(text) for name, text in row.get("needs", {}).items()},
        kubernetes_tested=tested and (Version.parse(tested[0]), Version.parse(tested[1])),
        note=row.get("note", ""),
        release=row.get("release", row["name"]),
        condition=row.get("when", ""),
        requires=tuple(row.get("requires", ())),
        talos_role=row.get("talos_role", ""),
        artifacts={
            name: ComponentArtifact(repository=artifact["repository"], tag=artifact["version"])
            for name, artifact in row.get("further", {}).items()
        },
    )
