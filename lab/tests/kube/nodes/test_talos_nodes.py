"""Talos machines as nodes: what they register, and what their reboots do to pods."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from functools import cache
from ipaddress import IPv4Network
from typing import Any

import pytest
from stockman_lab.kube.api.messages import Request, User
from stockman_lab.kube.clusters.clusters import KubernetesCluster
from stockman_lab.kube.nodes import core_dns
from stockman_lab.kube.nodes.leases import micro_time
from stockman_lab.kube.nodes.manifests import apply_manifests, manifests
from stockman_lab.talos import acting
from stockman_lab.talos.machine import Machine
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

from lab.tests.kube.nodes.running import condition

NETWORK = IPv4Network("127.67.0.0/16")
NODES = "/api/v1/nodes"
SYSTEM = "/api/v1/namespaces/kube-system/pods"
SETS = "/apis/apps/v1/namespaces/default/replicasets"


@cache
def _file() -> bytes:
    world = preset_world(PresetOptions("three-node", NETWORK))
    stage_cluster(world, Staging(preset="three-node", network=NETWORK, talos_version="1.13.9"))
    world.settle()
    cluster = cluster_of(world)
    for machine in world.talos.machines:
        _network(cluster, machine)
    world.settle()
    return world_file(world.state)


def cluster_of(world: World) -> KubernetesCluster:
    cluster = world.kubernetes.cluster_of(world.talos.machines[0])
    assert cluster is not None
    return cluster


def _network(cluster: KubernetesCluster, machine: Machine) -> None:
    spec = {
        "nodeName": machine.hostname,
        "hostNetwork": True,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "net", "image": "example/cilium/cilium:v1"}],
    }
    ask(cluster, "POST", SYSTEM, {"metadata": {"name": f"net-{machine.hostname}"}, "spec": spec})


def loaded() -> tuple[World, KubernetesCluster]:
    """A world with a cluster whose nodes are ready, as it comes out of a file."""
    world = World(read_world(_file()))
    return world, cluster_of(world)


def ask(cluster: KubernetesCluster, method: str, path: str, body: object = None) -> Any:
    sent = b"" if body is None else json.dumps(body).encode()
    headers = {"user-agent": "kubectl", "content-type": "application/json"}
    user = User("admin", ("system:masters",))
    return json.loads(cluster.api.handle(Request(method, path, {}, headers, sent, user)).body)


def ready(node: Any) -> str:
    return str(condition(node, "Ready")["status"])


def test_machines_are_nodes_that_say_what_they_are() -> None:
    world, cluster = loaded()
    machine = world.talos.machines[0]
    node = ask(cluster, "GET", f"{NODES}/{machine.hostname}")
    info = node["status"]["nodeInfo"]
    assert info["osImage"] == "Talos (v1.13.9)"
    assert info["systemUUID"] == machine.state.uuid
    assert node["status"]["capacity"]["cpu"] == str(machine.state.cores)
    assert node["status"]["addresses"][0] == {"type": "InternalIP", "address": machine.address}
    assert "node-role.kubernetes.io/control-plane" in node["metadata"]["labels"]
    assert ready(node) == "True"
    assert machine.state.kubernetes.node_ready


def test_the_control_plane_is_shown_as_pods() -> None:
    world, cluster = loaded()
    name = world.talos.machines[0].hostname
    pod = ask(cluster, "GET", f"{SYSTEM}/kube-apiserver-{name}")
    assert pod["metadata"]["labels"]["k8s-app"] == "kube-apiserver"
    assert "talos.dev/config-version" in pod["metadata"]["annotations"]
    assert pod["metadata"]["annotations"]["kubernetes.io/config.source"] == "http"
    assert pod["spec"]["nodeName"] == name
    assert pod["status"]["phase"] == "Running"


def test_a_machine_without_power_is_lost_after_fifty_seconds() -> None:
    world, cluster = loaded()
    machine = world.talos.machines[2]
    machine.land.power_off(machine)
    machine.land.settle(machine)
    world.advance(40)
    assert ready(ask(cluster, "GET", f"{NODES}/{machine.hostname}")) == "True"
    world.advance(20)
    assert ready(ask(cluster, "GET", f"{NODES}/{machine.hostname}")) == "Unknown"


def test_a_reboot_restarts_the_pods_of_a_machine() -> None:
    world, cluster = loaded()
    machine = world.talos.machines[2]
    acting.reboot(machine, "default")
    world.settle()
    assert machine.state.kubernetes.node_ready
    pod = ask(cluster, "GET", f"{SYSTEM}/net-{machine.hostname}")
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 1
    assert pod["status"]["containerStatuses"][0]["ready"]


def test_a_machine_that_shuts_down_evicts_its_pods_first() -> None:
    world, cluster = loaded()
    bears = [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]
    spec = {"containers": [{"name": "web", "image": "example/web:1"}], "tolerations": bears}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    body = {"selector": {"matchLabels": labels}, "replicas": 3, "template": template}
    ask(cluster, "POST", SETS, {"metadata": {"name": "web"}, "spec": body})
    world.settle()
    machine = world.talos.machines[2]
    acting.shut_down(machine, force=False)
    world.advance(2)
    node = ask(cluster, "GET", f"{NODES}/{machine.hostname}")
    assert node["spec"]["unschedulable"]
    assert node["metadata"]["annotations"]["talos.dev/cordoned"] == "true"
    world.advance(200)
    assert not machine.state.is_on
    pods = ask(cluster, "GET", "/api/v1/namespaces/default/pods")["items"]
    node_names = {
        pod["spec"].get("nodeName") for pod in pods if pod["status"]["phase"] == "Running"
    }
    assert machine.hostname not in node_names
    assert len(pods) >= 3


def test_whoever_reads_leases_finds_them_fresh() -> None:
    world, cluster = loaded()
    name = world.talos.machines[0].hostname
    path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}"
    before = ask(cluster, "GET", path)["spec"]["renewTime"]
    world.advance(3600)
    user = User("admin", ("system:masters",))
    renew_time = json.loads(cluster.handle(Request("GET", path, user=user)).body)["spec"][
        "renewTime"
    ]
    assert before < renew_time
    assert renew_time == micro_time(world.now - world.now % 10)


def test_an_account_that_may_gets_a_talosconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    world, cluster = loaded()
    machine = world.talos.machines[0]
    config = machine.config
    assert config is not None
    features = replace(
        config.features,
        talos_api_access=True,
        talos_api_roles=("os:reader",),
        talos_api_namespaces=("default",),
    )
    desired = replace(config, features=features)
    monkeypatch.setattr(Machine, "config", property(lambda _: desired))
    apply_manifests(cluster.api, machine)
    accounts = "/apis/talos.dev/v1alpha1/namespaces/default/serviceaccounts"
    for name, role in (("good", "os:reader"), ("bad", "os:admin")):
        head = {"apiVersion": "talos.dev/v1alpha1", "kind": "ServiceAccount"}
        body = {**head, "metadata": {"name": name}, "spec": {"roles": [role]}}
        ask(cluster, "POST", accounts, body)
    world.settle()
    secret = ask(cluster, "GET", "/api/v1/namespaces/default/secrets/good")
    assert "talos.default" in base64.b64decode(secret["data"]["config"]).decode()
    bad = ask(cluster, "GET", f"{accounts}/bad")
    assert bad["status"]["failureReason"] == "Roles not allowed: [os:admin]"


@pytest.mark.parametrize(
    ("subnets", "addresses", "families", "policy"),
    [
        (("10.96.0.0/12",), ["10.96.0.10"], ["IPv4"], "SingleStack"),
        (("fd00:1::/112",), ["fd00:1::a"], ["IPv6"], "SingleStack"),
        (
            ("fd00:1::/112", "10.42.0.0/16"),
            ["10.42.0.10", "fd00:1::a"],
            ["IPv4", "IPv6"],
            "RequireDualStack",
        ),
    ],
)
def test_the_dns_has_the_tenth_address_of_each_family(
    subnets: tuple[str, ...], addresses: list[str], families: list[str], policy: str
) -> None:
    world, _ = loaded()
    config = world.talos.machines[0].config
    assert config is not None

    spec = core_dns.service(
        replace(config, kubernetes=replace(config.kubernetes, service_subnets=subnets))
    )["spec"]

    assert (spec["clusterIP"], spec["clusterIPs"]) == (addresses[0], addresses)
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (families, policy)


def test_the_dns_that_talos_brings_is_found_by_its_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, cluster = loaded()
    machine = world.talos.machines[0]
    config = machine.config
    assert config is not None
    on = replace(config.kubernetes.core_dns, enabled=True)
    desired = replace(config, kubernetes=replace(config.kubernetes, core_dns=on))
    monkeypatch.setattr(Machine, "config", property(lambda _: desired))

    apply_manifests(cluster.api, machine)
    world.settle()

    space = "/namespaces/kube-system"
    service = ask(cluster, "GET", f"/api/v1{space}/services/kube-dns")
    first = core_dns.service(desired)["spec"]["clusterIP"]
    assert service["spec"]["clusterIP"] == first
    slices = ask(cluster, "GET", f"/apis/discovery.k8s.io/v1{space}/endpointslices")["items"]
    (endpoint_slice,) = [one for one in slices if one["metadata"]["name"].startswith("kube-dns")]
    assert [endpoint["conditions"]["ready"] for endpoint in endpoint_slice["endpoints"]] == [
        True,
        True,
    ]


def test_manifests_follow_the_configuration() -> None:
    world, _ = loaded()
    machine = world.talos.machines[0]
    config = machine.config
    assert config is not None
    kubernetes = config.kubernetes
    desired = replace(
        config,
        kubernetes=replace(
            kubernetes,
            cni="flannel",
            proxy=replace(kubernetes.proxy, enabled=True),
            core_dns=replace(kubernetes.core_dns, enabled=True),
        ),
        features=replace(config.features, talos_api_access=True),
    )
    result = {
        (manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests(machine, desired)
    }
    assert {
        ("DaemonSet", "kube-flannel"),
        ("DaemonSet", "kube-proxy"),
        ("Deployment", "coredns"),
        ("CustomResourceDefinition", "serviceaccounts.talos.dev"),
        ("Service", "talos"),
        ("ClusterRole", "system:coredns"),
        ("Service", "kube-dns"),
    } <= result
    assert ("ConfigMap", "coredns") in result
    bare = {manifest["kind"] for manifest in manifests(machine, config)}
    assert bare == {"Secret", "ConfigMap"}
