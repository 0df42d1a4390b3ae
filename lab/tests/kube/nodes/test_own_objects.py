"""Where the API servers of a cluster are, as the cluster tells it."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.nodes.own_objects import ServerPlace, identity, keep_own_objects

from lab.tests.kube.asking import Served, served

SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
THREE = tuple(ServerPlace(f"cp{number}", f"10.42.0.{number}") for number in (1, 2, 3))


def kept(lab: Served, *servers: ServerPlace) -> None:
    keep_own_objects(lab.api, servers, lab.now)


def addresses(lab: Served) -> list[Any]:
    return [endpoint["addresses"] for endpoint in lab.ask("GET", SLICE)["endpoints"]]


def test_there_is_an_address_for_each_server_that_answers() -> None:
    lab = served()
    kept(lab, *THREE)
    everybody = addresses(lab)
    kept(lab, *THREE[1:])

    assert everybody == [["10.42.0.1"], ["10.42.0.2"], ["10.42.0.3"]]
    assert addresses(lab) == [["10.42.0.2"], ["10.42.0.3"]]
    subsets = lab.ask("GET", "/api/v1/namespaces/default/endpoints/kubernetes")["subsets"]
    assert [address["ip"] for address in subsets[0]["addresses"]] == ["10.42.0.2", "10.42.0.3"]
    assert subsets[0]["ports"] == [{"name": "https", "port": 6443, "protocol": "TCP"}]


def test_servers_and_leaders_have_leases_that_are_fresh() -> None:
    lab = served()
    kept(lab, *THREE)
    first = {one["metadata"]["name"]: one["spec"] for one in lab.ask("GET", LEASES)["items"]}
    lab.now += 60
    kept(lab, *THREE)
    second = {one["metadata"]["name"]: one["spec"] for one in lab.ask("GET", LEASES)["items"]}

    names = {*(identity(one.hostname) for one in THREE)}
    assert first.keys() == {*names, "kube-controller-manager", "kube-scheduler"}
    assert all(second[name]["renewTime"] > first[name]["renewTime"] for name in first)
    leaders = [one["kube-scheduler"]["acquireTime"] for one in (first, second)]
    assert leaders[0] == leaders[1]


def test_somebody_else_leads_when_the_leader_is_gone() -> None:
    lab = served()
    kept(lab, *THREE)
    kept(lab, *THREE[1:])

    holder_identity = lab.ask("GET", f"{LEASES}/kube-scheduler")["spec"]["holderIdentity"]
    assert holder_identity.startswith("cp2_")


def test_nothing_is_written_when_nothing_changed() -> None:
    lab = served()
    kept(lab, *THREE)
    before = lab.api.store.revision()
    kept(lab, *THREE)

    assert lab.api.store.revision() == before
