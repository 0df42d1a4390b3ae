"""What goes wrong with what runs in clusters can be brought about: names, Ceph, other hands."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.tests.kube.flux.playing import APPS, fluxed
from lab.tests.kube.troubles import BEARS, CEPHS, CORE, Troubled, ceph, ceph_lab

NEO = "talos-neo"
OF_ROOK = "/api/v1/namespaces/rook-ceph/pods"
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


# -- Ceph --------------------------------------------------------------------------------------


@pytest.fixture
def with_ceph() -> Troubled:
    return ceph_lab()


def test_ceph_is_well_with_daemons_on_all_nodes(with_ceph: Troubled) -> None:
    pods = with_ceph.get(OF_ROOK)["items"]
    apps = [pod["metadata"]["labels"].get("app", "") for pod in pods]
    counts = {kind: apps.count(f"rook-ceph-{kind}") for kind in ("mon", "mgr", "osd")}
    assert counts == {"mon": 3, "mgr": 2, "osd": 3}
    assert ceph(with_ceph)["health"] == "HEALTH_OK"
    (result,) = with_ceph.get(CEPHS)["items"]
    assert result["status"]["phase"] == "Ready"


def test_ceph_warns_while_a_machine_is_away_and_until_all_copies_are_there_again(
    with_ceph: Troubled,
) -> None:
    lab = with_ceph
    number = lab.let("network", "fail", f"machine={NEO}", times="always")
    lab.world.advance(180)
    lab.machine = lab.found("talos-niobe")
    told = ceph(lab)
    assert (told["health"], told["previousHealth"]) == ("HEALTH_WARN", "HEALTH_OK")
    assert told["details"]["OSD_DOWN"]["message"] == "1 osds down"
    assert "MON_DOWN" in told["details"]
    lab.world.take_back(number)
    lab.world.advance(15)
    assert ceph(lab)["health"] == "HEALTH_WARN"
    lab.world.settle()
    assert ceph(lab)["health"] == "HEALTH_OK"
    assert "details" not in ceph(lab)


def test_ceph_never_recovers_after_a_reboot(with_ceph: Troubled) -> None:
    lab = with_ceph
    number = lab.let("ceph", "hang", "namespace=rook-ceph", times="always")
    lab.reboot(NEO)
    lab.world.advance(3600)
    told = ceph(lab)
    assert (told["health"], list(told["details"])) == ("HEALTH_WARN", ["PG_DEGRADED"])
    lab.take_back(number)
    assert ceph(lab)["health"] == "HEALTH_OK"


def test_ceph_takes_longer_to_recover(with_ceph: Troubled) -> None:
    lab = with_ceph
    lab.let("ceph", "delay", seconds=7200, times="always")
    before = lab.world.now
    lab.reboot(NEO)
    assert ceph(lab)["health"] == "HEALTH_OK"
    assert lab.world.now - before > 7200


def test_ceph_is_in_error_while_a_fault_lasts(with_ceph: Troubled) -> None:
    lab = with_ceph
    number = lab.let("ceph", "fail", "object=rook-ceph", times="always")
    lab.world.settle()
    told = ceph(lab)
    assert told["health"] == "HEALTH_ERR"
    assert told["details"]["PG_DAMAGED"]["severity"] == "HEALTH_ERR"
    lab.take_back(number)
    assert ceph(lab)["health"] == "HEALTH_OK"


def test_nobody_says_how_ceph_is_without_its_operator(with_ceph: Troubled) -> None:
    lab = with_ceph
    path = "/apis/apps/v1/namespaces/rook-ceph/deployments/rook-ceph-operator"
    lab.patch(path, {"spec": {"replicas": 0}})
    lab.world.settle()
    lab.let("ceph", "fail", times="always")
    lab.world.settle()
    assert ceph(lab)["health"] == "HEALTH_OK"


def test_a_drain_meets_the_budget_of_ceph(with_ceph: Troubled) -> None:
    lab = with_ceph
    disks = [
        item["metadata"]["name"]
        for item in lab.get(OF_ROOK)["items"]
        if item["metadata"]["labels"].get("app", "") == "rook-ceph-osd"
    ]
    for machine in lab.world.talos.machines:
        lab.patch(f"/api/v1/nodes/{machine.hostname}", {"spec": {"unschedulable": True}})
    answers = []
    for name in disks[:2]:
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        answers.append(lab.ask("POST", f"{OF_ROOK}/{name}/eviction", body)[0])
        lab.world.settle()
    assert answers == [201, 429]


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
