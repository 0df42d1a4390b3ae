"""Pods get nodes, run, restart, end and go."""

from __future__ import annotations

from stockman_lab.core.faults import Effect

from lab.tests.kube.nodes.running import PODS, condition, up

GPU = "nvidia.com/gpu"


def test_a_pod_is_placed_and_becomes_ready() -> None:
    cluster = up()
    cluster.pod()
    cluster.settle()
    content = cluster.found()
    assert content["spec"]["nodeName"] == "n1"
    assert content["status"]["phase"] == "Running"
    assert condition(content, "Ready")["status"] == "True"
    assert content["status"]["podIP"] == "10.244.0.2"
    reasons = [reason for reason, _ in cluster.events("one")]
    assert reasons == ["Scheduled", "Pulling", "Pulled", "Created", "Started"]


def test_images_take_time_unless_they_are_there() -> None:
    cluster = up("n1")
    cluster.pod("first")
    cluster.advance(3)
    assert cluster.found("first")["status"]["phase"] == "Pending"
    cluster.advance(10)
    cluster.pod("second")
    cluster.advance(3)
    assert cluster.found("second")["status"]["phase"] == "Running"


def test_an_image_that_does_not_come_is_backed_off_from() -> None:
    cluster = up("n1")
    cluster.hosts.by_name["n1"].missing.add("example/program:1")
    cluster.pod()
    cluster.advance(5)
    waiting = cluster.found()["status"]["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "ErrImagePull"
    cluster.advance(20)
    waiting = cluster.found()["status"]["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    cluster.hosts.by_name["n1"].missing.clear()
    cluster.settle()
    assert cluster.found()["status"]["phase"] == "Running"


def test_a_container_that_crashes_starts_again_later() -> None:
    cluster = up("n1")
    cluster.hosts.by_name["n1"].faults["start"] = Effect.FAIL
    cluster.pod()
    cluster.advance(8)
    state = cluster.found()["status"]["containerStatuses"][0]
    assert state["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert state["lastState"]["terminated"]["exitCode"] == 1
    cluster.hosts.by_name["n1"].faults.clear()
    cluster.settle()
    state = cluster.found()["status"]["containerStatuses"][0]
    assert (state["restartCount"], state["ready"]) == (1, True)


def test_a_pod_that_ends_has_succeeded() -> None:
    cluster = up("n1")
    cluster.pod(restartPolicy="Never")
    cluster.settle()
    content = cluster.found()
    assert content["status"]["phase"] == "Succeeded"
    assert condition(content, "Ready")["reason"] == "PodCompleted"


def test_a_program_that_fails_makes_its_pod_fail() -> None:
    cluster = up("n1")
    cluster.hosts.by_name["n1"].faults["run"] = Effect.FAIL
    cluster.pod(restartPolicy="Never")
    cluster.settle()
    content = cluster.found()
    assert content["status"]["phase"] == "Failed"
    ended = content["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (1, "Error")


def test_a_pod_that_is_deleted_stops_first() -> None:
    cluster = up("n1")
    cluster.pod()
    cluster.settle()
    cluster.ask("DELETE", f"{PODS}/one")
    assert cluster.found()["metadata"]["deletionGracePeriodSeconds"] == 30
    cluster.settle()
    assert cluster.found()["reason"] == "NotFound"
    assert ("Killing", "Stopping container main") in cluster.events("one")


def test_a_pod_can_be_stuck_until_it_is_forced() -> None:
    cluster = up("n1")
    cluster.pod()
    cluster.settle()
    cluster.hosts.by_name["n1"].faults["stop"] = Effect.HANG
    cluster.ask("DELETE", f"{PODS}/one")
    cluster.settle()
    assert cluster.found()["metadata"]["deletionTimestamp"]
    cluster.ask("DELETE", f"{PODS}/one?gracePeriodSeconds=0")
    cluster.settle()
    assert cluster.found()["reason"] == "NotFound"


def test_a_finalizer_keeps_a_pod_that_has_stopped() -> None:
    cluster = up("n1")
    cluster.pod()
    change = {"metadata": {"finalizers": ["example.com/hold"]}}
    cluster.ask("PATCH", f"{PODS}/one", change)
    cluster.settle()
    cluster.ask("DELETE", f"{PODS}/one")
    cluster.settle()
    assert cluster.found()["metadata"]["finalizers"] == ["example.com/hold"]
    cluster.ask("PATCH", f"{PODS}/one", {"metadata": {"finalizers": None}})
    cluster.settle()
    assert cluster.found()["reason"] == "NotFound"


def test_containers_start_again_after_a_reboot() -> None:
    cluster = up("n1")
    cluster.pod()
    cluster.settle()
    cluster.hosts.by_name["n1"].boot = "2"
    cluster.look("n1")
    cluster.settle()
    state = cluster.found()["status"]["containerStatuses"][0]
    assert (state["restartCount"], state["ready"]) == (1, True)
    assert state["lastState"]["terminated"]["exitCode"] == 255


def test_a_pod_that_never_restarts_is_lost_in_a_reboot() -> None:
    cluster = up("n1")
    cluster.pod(restartPolicy="Never")
    cluster.advance(8)
    cluster.hosts.by_name["n1"].boot = "2"
    cluster.look("n1")
    cluster.settle()
    assert cluster.found()["status"]["phase"] == "Failed"


def test_a_pod_without_a_place_says_why() -> None:
    cluster = up("n1")
    big = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "9"}}}
    cluster.pod(containers=[big])
    cluster.settle()
    why = condition(cluster.found(), "PodScheduled")
    assert why["reason"] == "Unschedulable"
    assert why["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert cluster.events("one") == [("FailedScheduling", why["message"])]


def test_a_pod_is_placed_as_soon_as_a_node_is_opened() -> None:
    cluster = up("n1")
    cluster.ask("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    cluster.settle()
    cluster.pod()
    cluster.settle()
    assert "nodeName" not in cluster.found()["spec"]
    cluster.ask("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": None}})
    cluster.settle()
    assert cluster.found()["spec"]["nodeName"] == "n1"


def test_devices_are_there_only_with_driver_and_plugin() -> None:
    cluster = up("n1")
    assert GPU not in cluster.node()["status"]["allocatable"]
    plugin = {"name": "main", "image": "example/nvidia/k8s-device-plugin:v1"}
    cluster.pod("plugin", containers=[plugin])
    cluster.settle()
    assert GPU not in cluster.node()["status"]["allocatable"]
    cluster.hosts.by_name["n1"].gpus = 1
    cluster.look("n1")
    cluster.settle()
    assert cluster.node()["status"]["allocatable"][GPU] == "1"
