"""What goes wrong with what runs in clusters can be brought about: names, other hands."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.tests.kube.flux.playing import APPS, fluxed
from lab.tests.kube.troubles import BEARS, CORE, Troubled

NEO = "talos-neo"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices"
SYSTEM = "/api/v1/namespaces/kube-system/pods"


# -- names -------------------------------------------------------------------------------------


@pytest.fixture
def with_names() -> Troubled:
    lab = Troubled()
    lab.install(
        "coredns",
        "kube-system",
        "oci://ghcr.io/coredns/charts/coredns",
        fullnameOverride="coredns",
        k8sAppLabelOverride="kube-dns",
        replicaCount=2,
        service={"name": "kube-dns"},
        serviceAccount={"create": True},
        tolerations=BEARS,
    )
    assert answering(lab) == 2
    return lab


def answering(lab: Troubled) -> int:
    """How many of those who know names can be asked."""
    result = [
        item
        for item in lab.get(SLICES)["items"]
        if item["metadata"]["labels"]["kubernetes.io/service-name"] == "kube-dns"
    ]
    return sum(end["conditions"]["ready"] for item in result for end in item.get("endpoints") or [])


def drain_names(lab: Troubled) -> None:
    for item in lab.get(SYSTEM)["items"]:
        name = item["metadata"]["name"]
        if name.startswith("coredns-"):
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            assert lab.ask("POST", f"{SYSTEM}/{name}/eviction", body)[0] == 201
    lab.world.settle()


def test_nobody_knows_names_when_all_who_do_were_drained(with_names: Troubled) -> None:
    lab = with_names
    for machine in lab.world.talos.machines:
        lab.patch(f"/api/v1/nodes/{machine.hostname}", {"spec": {"unschedulable": True}})
    drain_names(lab)
    assert answering(lab) == 0
    lab.patch(f"/api/v1/nodes/{NEO}", {"spec": {"unschedulable": None}})
    lab.world.settle()
    assert answering(lab) == 2


def test_nobody_knows_names_while_new_ones_are_not_ready(with_names: Troubled) -> None:
    lab = with_names
    lab.let("pod", "hang", "action=ready", "image=*coredns*", times="always")
    drain_names(lab)
    assert answering(lab) == 0


# -- other hands -------------------------------------------------------------------------------


def test_flux_takes_a_value_back_at_its_interval_and_not_while_it_is_suspended(
    tmp_path: Path,
) -> None:
    cluster = fluxed(tmp_path)
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wool, namespace: default}\n"
    cluster.commit({"wool.yaml": f"{head}data: {{colour: white}}\n"})
    cluster.source()
    cluster.app(interval="10m")
    path = f"{CORE}/configmaps/wool"

    def colour_after(seconds: float) -> str:
        cluster.patch(path, {"data": {"colour": "black"}})
        cluster.run(seconds)
        return str(cluster.get(path)["data"]["colour"])

    assert colour_after(60) == "black"
    assert colour_after(660) == "white"
    cluster.patch(f"{APPS}/app", {"spec": {"suspend": True}})
    assert colour_after(3600) == "black"
    cluster.patch(f"{APPS}/app", {"spec": {"suspend": False}})
    cluster.run(30)
    assert cluster.get(path)["data"]["colour"] == "white"
