"""Nodes register, get ready, are lost and come back."""

from __future__ import annotations

from stockman_lab.kube.nodes.host import CloudWord

from lab.tests.kube.nodes.running import NODES, PlainHost, Running, condition, up

NOT_READY = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
    " message:Network plugin returns error: cni plugin not initialized"
)
UNREACHABLE = "node.kubernetes.io/unreachable"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"


def taints(node: dict[str, object]) -> set[str]:
    spec = node["spec"]
    assert isinstance(spec, dict)
    return {taint["key"] for taint in spec.get("taints", [])}


def test_a_node_without_network_is_not_ready() -> None:
    cluster = Running("n1")
    cluster.settle()
    ready = condition(cluster.node(), "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "KubeletNotReady")
    assert ready["message"] == NOT_READY
    assert taints(cluster.node()) == {"node.kubernetes.io/not-ready"}


def test_a_pod_of_the_network_makes_it_ready() -> None:
    cluster = up("n1")
    ready = condition(cluster.node(), "Ready")
    assert (ready["status"], ready["reason"]) == ("True", "KubeletReady")
    assert not taints(cluster.node())
    assert cluster.hosts.by_name["n1"].ready


def test_every_node_has_its_part_of_the_network_and_a_lease() -> None:
    cluster = up("n1", "n2")
    networks = [cluster.node(name)["spec"]["podCIDR"] for name in ("n1", "n2")]
    assert networks == ["10.244.0.0/24", "10.244.1.0/24"]
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"
    lease = cluster.ask("GET", path)
    assert lease["spec"]["holderIdentity"] == "n1"
    assert lease["metadata"]["ownerReferences"][0]["uid"] == cluster.node()["metadata"]["uid"]


def test_a_node_that_is_silent_is_lost_after_fifty_seconds() -> None:
    cluster = up("n1", "n2")
    cluster.pod()
    cluster.settle()
    cluster.hosts.by_name["n1"].is_alive = False
    cluster.look("n1")
    cluster.advance(49)
    assert condition(cluster.node(), "Ready")["status"] == "True"
    cluster.advance(7)
    ready = condition(cluster.node(), "Ready")
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert ready["message"] == "Kubelet stopped posting node status."
    assert taints(cluster.node()) == {UNREACHABLE}
    assert condition(cluster.found(), "Ready")["status"] == "False"


def test_pods_of_a_lost_node_are_deleted_after_five_minutes_and_stay() -> None:
    cluster = up("n1", "n2")
    cluster.pod()
    cluster.settle()
    cluster.hosts.by_name["n1"].is_alive = False
    cluster.look("n1")
    cluster.advance(330)
    assert "deletionTimestamp" not in cluster.found()["metadata"]
    cluster.advance(30)
    assert cluster.found()["metadata"]["deletionTimestamp"]
    cluster.settle()
    cluster.hosts.by_name["n1"].is_alive = True
    cluster.look("n1")
    cluster.settle()
    assert cluster.found()["reason"] == "NotFound"
    assert condition(cluster.node(), "Ready")["status"] == "True"


def test_a_node_that_somebody_deletes_registers_again_when_its_kubelet_starts() -> None:
    cluster = up("n1")
    before = cluster.node()["metadata"]["uid"]
    cluster.ask("DELETE", "/api/v1/nodes/n1")
    cluster.settle()
    assert cluster.node()["reason"] == "NotFound"
    cluster.hosts.by_name["n1"].boot = "2"
    cluster.look("n1")
    cluster.settle()
    assert cluster.node()["metadata"]["uid"] != before


def test_a_node_waits_for_a_cloud_controller() -> None:
    cluster = Running("n1")
    host: PlainHost = cluster.hosts.by_name["n1"]
    host.told = {"waits_for_cloud": True, "provider_id": "proxmox://one/100"}
    cluster.settle()
    assert UNINITIALIZED in taints(cluster.node())
    assert "providerID" not in cluster.node()["spec"]
    cloud = {"name": "main", "image": "example/siderolabs/talos-cloud-controller-manager:v1"}
    bears = [{"operator": "Exists"}]
    cluster.pod("cloud", containers=[cloud], tolerations=bears, hostNetwork=True)
    cluster.settle()
    assert UNINITIALIZED not in taints(cluster.node())
    assert cluster.node()["spec"]["providerID"] == "proxmox://one/100"


def test_the_controller_of_proxmox_says_where_a_machine_is_if_it_is_let_in() -> None:
    cluster = Running("n1")
    host: PlainHost = cluster.hosts.by_name["n1"]
    host.told = {"waits_for_cloud": True}
    mounted = [{"name": "cloud-config", "secret": {"secretName": "config"}}]
    image = "example/sergelogvinov/proxmox-cloud-controller-manager:v1"
    secret = {"metadata": {"name": "config"}, "data": {"config.yaml": "YTogMQ=="}}
    cluster.ask("POST", "/api/v1/namespaces/default/secrets", secret)
    cluster.pod(
        "cloud",
        containers=[{"name": "main", "image": image}],
        tolerations=[{"operator": "Exists"}],
        hostNetwork=True,
        volumes=mounted,
    )
    cluster.settle()
    assert UNINITIALIZED in taints(cluster.node())

    host.cloud = CloudWord(provider_id="proxmox://one/100", region="one", zone="pve1")
    cluster.ask("PATCH", f"{NODES}/n1", {"metadata": {"annotations": {"looked": "at"}}})
    cluster.settle()

    assert UNINITIALIZED not in taints(cluster.node())
    assert cluster.node()["spec"]["providerID"] == "proxmox://one/100"
    assert cluster.node()["metadata"]["labels"]["topology.kubernetes.io/zone"] == "pve1"


def test_static_pods_are_mirrored_and_come_back_when_deleted() -> None:
    cluster = up("n1")
    spec = {"hostNetwork": True, "containers": [{"name": "main", "image": "example/api:1"}]}
    metadata = {"name": "api", "namespace": "kube-system", "labels": {"k8s-app": "api"}}
    cluster.hosts.by_name["n1"].statics = [{"metadata": metadata, "spec": spec}]
    cluster.look("n1")
    cluster.settle()
    path = "/api/v1/namespaces/kube-system/pods/api-n1"
    answer = cluster.ask("GET", path)
    assert answer["metadata"]["annotations"]["kubernetes.io/config.source"] == "http"
    assert answer["metadata"]["ownerReferences"][0]["kind"] == "Node"
    assert answer["status"]["phase"] == "Running"
    cluster.ask("DELETE", path)
    cluster.look("n1")
    cluster.settle()
    assert cluster.ask("GET", path)["metadata"]["uid"] != answer["metadata"]["uid"]


def test_a_kubelet_without_news_writes_nothing() -> None:
    cluster = Running("n1")
    room = {"cpu": "4000m", "memory": "8388608Ki", "pods": "110"}
    cluster.hosts.by_name["n1"].told = {"capacity": room, "allocatable": room}
    cluster.settle()
    assert cluster.node()["status"]["capacity"]["memory"] == "8Gi"
    before = cluster.node()["metadata"]["resourceVersion"]
    cluster.look("n1")
    cluster.settle()

    assert cluster.node()["metadata"]["resourceVersion"] == before
