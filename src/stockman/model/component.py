"""Components of the cluster: on or off, and their settings."""

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
    """One component of the catalog. Keys that a component does not use are ignored by it."""

    enabled: bool | None = None
    """None: as the catalog decides from the rest of the configuration."""
    version: Version | None = None
    """Chart version. None: the one stockman was tested with."""
    namespace: Name | None = None
    """None: the component's usual namespace."""
    token_id: Annotated[str, TOKEN_ID] | None = None
    """Proxmox token of this component. None: it needs none, or stockman makes one."""
    token_secret: Secret | None = None
    """Secret of that token; or token and secret in one, `user@realm!name=UUID`."""
    storage: DatastoreText | None = None
    """Proxmox storage it provisions from. None: it needs none."""
    settings: dict[str, object] = field(default_factory=dict)
    """The component's own settings; `stockman explain component NAME` lists them."""
    secrets: dict[Name, Secret] = field(default_factory=dict)
    """Confidential settings of the component, by name."""
    values: dict[str, object] = field(default_factory=dict)
    """Chart values that win over stockman's."""


CATALOG_DIRECTORY = Path(__file__).parent.parent / "catalog"
"""Each component that stockman installs has a folder here, with its facts as data."""
_PRODUCT_NAMES = {"talos": "Talos", "kubernetes": "Kubernetes", "proxmox": "Proxmox VE"}


class ComponentArtifact(NamedTuple):
    """A further chart or image that a component consists of."""

    repository: str
    """Address of the chart's repository, or name of the image."""
    tag: str


class ComponentFacts(NamedTuple):
    """The newest release of a component that the tables know."""

    name: str
    chart: str
    """Empty: it is not installed by a chart."""
    repository: str
    """`oci://` address of the chart itself, or `https://` address of its Helm repository."""
    tag: str
    """The chart's version as its registry spells it. Empty: not known, or no chart."""
    app_version: str
    """The version of the program in the chart as its authors spell it. Empty: not known."""
    namespace: str
    """Empty: wherever the user wants it, or cluster-wide."""
    pod_security: str
    """Level its namespace has to allow. Empty: not known, or the namespace is exempt."""
    licence: str
    """SPDX name. Empty: not known."""
    needs: Mapping[str, Version]
    """Oldest release of `talos`, `kubernetes` and `proxmox` it works with, where known."""
    kubernetes_tested: tuple[Version, Version] | None
    """First and last Kubernetes line its authors test with. None: not known."""
    note: str
    release: str
    """Name of its release and of its directory in the repository."""
    condition: str
    """What turns it on without being asked for. Empty: stockman does not install it."""
    requires: tuple[str, ...]
    """Components that it cannot do without."""
    talos_role: str
    """Role with which it reaches the Talos API from inside of the cluster. Empty: it does not."""
    artifacts: Mapping[str, ComponentArtifact]
    """What it consists of besides its chart, by name."""

    @property
    def version(self) -> Version | None:
        """What a user pins: the chart's version, or without a chart the program's."""
        text = self.tag or ("" if self.chart else self.app_version)
        return Version.parse(text) if text else None


@cache
def all_component_facts() -> tuple[ComponentFacts, ...]:
    """Every component of the catalog and of the table, by name."""
    installed = (loads(path.read_bytes()) for path in CATALOG_DIRECTORY.glob("*/facts.json"))
    rows = (*installed, *read_table("components")["rows"])
    return tuple(sorted(map(_parse_component, rows), key=lambda facts: facts.name))


def find_component_facts(name: str) -> ComponentFacts | None:
    """The component of that name, or of the chart of that name."""
    for facts in all_component_facts():
        if facts.name == name:
            return facts
    return next((facts for facts in all_component_facts() if facts.chart == name), None)


def component_compatibility(
    component: ComponentFacts, surroundings: Mapping[str, Version | None]
) -> Compatibility:
    """Whether a component works on the `talos`, `kubernetes` and `proxmox` it is given.

    What is not given is not judged. A Kubernetes newer than its authors test with is `NEWER`.
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
