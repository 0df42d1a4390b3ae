"""Clusters that tests of this folder look at: made once, all at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.real.apply import api_scene
from tests.real.apply.api_scene import Cluster
from tests.real.apply.herd import Herd, Made, Making, herd, with_password, with_token
from tests.real.apply.killed import KilledOften, ResumedElsewhere
from tests.real.apply.scene import Kind
from tools.pytest_plugin import RealTool

KINDS = {
    "elsewhere": Kind(preset="single", talos="1.13.9", pve="9.1", network="127.107.8.0/24"),
    "1.11": Kind(preset="single", talos="1.11.6", pve="9.1", network="127.107.11.0/24"),
    "1.12": Kind(preset="single", talos="1.12.11", pve="9.1", network="127.107.12.0/24"),
    "1.13": Kind(preset="three-node", talos="1.13.9", pve="9.1", network="127.107.13.0/24"),
    "1.14": Kind(preset="single", talos="1.14.1", pve="9.1", network="127.107.14.0/24"),
    "8.4": Kind(preset="three-node", talos="1.14.1", pve="8.4", network="127.107.84.0/24"),
    "killed": Kind(preset="single", talos="1.14.1", pve="9.1", network="127.107.9.0/24"),
}
"""The newest Talos of every minor, and the older Proxmox VE; first the one that takes longest."""
_AFTER_THE_PUSH = "kubernetes/install/cilium: started"
_MOMENTS = (
    "access/token/pve/stockman@pve!stockman: started",
    "images/fetch/",
    "vms/create/talos-1: started",
    "talos/seed/talos-1: started",
    "talos/bootstrap: started",
    "kubernetes/push: started",
    "kubernetes/install/cilium: started",
    "kubernetes/install/flux-instance: started",
    "kubernetes/test/coredns: started",
)
"""One of every stage, and those that last or happen only once."""


@pytest.fixture(scope="session")
def clusters(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    real_tool: RealTool,
) -> Iterator[Herd]:
    """Those clusters that the tests of this session are about."""
    named = {_cluster_of(one) for one in request.session.items}
    wanted = {
        name: (kind, _making(name, real_tool)) for name, kind in KINDS.items() if name in named
    }
    with herd(wanted, tmp_path_factory.mktemp("clusters")) as herds:
        yield herds


@pytest.fixture(scope="session", autouse=True)
def coming(clusters: Herd) -> None:
    """Clusters begin to be made at once: tests that need none of them come first meanwhile."""


@pytest.fixture(scope="session")
def cluster_api(real_tool: RealTool) -> Iterator[Cluster]:
    """A real API server for actions of the Kubernetes stage."""
    with api_scene.cluster_api(real_tool) as found:
        yield found


@pytest.fixture
def made(
    request: pytest.FixtureRequest,
    clusters: Herd,
    record_property: Callable[[str, object], None],
) -> Made:
    """The cluster that a test is about; the summary tells how long it took, beside the others."""
    name = _cluster_of(request.node)
    cluster = clusters[name]
    record_property(f"cluster {name}", f"{cluster.seconds:.0f} s")
    return cluster


def _making(name: str, real_tool: RealTool) -> Making:
    match name:
        case "elsewhere":
            return ResumedElsewhere(real_tool("versitygw"), _AFTER_THE_PUSH)
        case "killed":
            return KilledOften(_MOMENTS)
        case "1.13":
            return with_password
    return with_token


def _cluster_of(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    return "" if callspec is None else str(callspec.params.get("cluster", ""))
