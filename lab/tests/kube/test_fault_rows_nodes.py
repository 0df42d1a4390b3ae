"""What goes wrong with nodes can be brought about: networks, kubelets, Nodes that are deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lab.tests.kube.nodes.running import condition
from lab.tests.kube.troubles import NODES, Troubled
from lab.tests.talos.asking import Asking
from lab.tests.talos.troubles import shown

NEO = "talos-neo"
AT = f"machine={NEO}"
SYSTEM = "/api/v1/namespaces/kube-system/pods"


@pytest.fixture
def lab() -> Troubled:
    return Troubled()


def network_pod(lab: Troubled) -> str:
    return next(
        str(item["metadata"]["name"])
        for item in lab.get(SYSTEM)["items"]
        if item["spec"]["nodeName"] == NEO and item["metadata"]["labels"].get("k8s-app") == "cilium"
    )


# -- the network -------------------------------------------------------------------------------


def test_a_node_is_not_ready_after_a_reboot_while_its_network_is_not(lab: Troubled) -> None:
    lab.let("pod", "hang", AT, "action=ready", "image=*/cilium/cilium:*")
    lab.reboot(NEO)
    told = condition(lab.node(NEO), "Ready")
    assert (told["status"], told["reason"]) == ("False", "KubeletNotReady")
    assert "cni plugin not initialized" in told["message"]
    status = shown(lab.world, lab.found(NEO), "MachineStatuses.runtime.talos.dev")["machine"]
    assert "nodeReady" in [
        unmet_condition["name"] for unmet_condition in status["status"]["unmetConditions"]
    ]
    assert lab.ready("talos-niobe") == "True"
    lab.ask("DELETE", f"{SYSTEM}/{network_pod(lab)}")
    lab.world.settle()
    assert lab.ready(NEO) == "True"


def test_a_node_stays_ready_while_pods_of_its_network_are_replaced(lab: Troubled) -> None:
    lab.let("pod", "hang", AT, "action=pull", "image=*/cilium/cilium:*")
    before = network_pod(lab)
    lab.ask("DELETE", f"{SYSTEM}/{before}")
    lab.world.settle()
    assert network_pod(lab) != before
    assert lab.ready(NEO) == "True"


# -- kubelets that come and go -----------------------------------------------------------------


def changes(lab: Troubled, seconds: int) -> list[tuple[int, str]]:
    """When its Node became what, in seconds from now."""
    begin, seen = lab.world.now, [(0, lab.ready(NEO))]
    for second in range(1, seconds + 1):
        lab.world.advance(begin + second - lab.world.now)
        if lab.ready(NEO) != seen[-1][1]:
            seen.append((second, lab.ready(NEO)))
    return seen


def test_a_kubelet_is_ready_and_not_ready_by_turns_while_the_fault_lasts(lab: Troubled) -> None:
    lab.let("node", "fail", AT, seconds=20, after=10, lasting=90, times="always")
    assert changes(lab, 140) == [
        (0, "True"),
        (11, "False"),
        (31, "True"),
        (51, "False"),
        (71, "True"),
        (91, "False"),
        (101, "True"),
    ]
    assert {lab.ready("talos-niobe"), lab.ready("talos-trinity")} == {"True"}


def test_a_file_tells_when_a_kubelet_is_not_ready(lab: Troubled, tmp_path: Path) -> None:
    now = lab.world.now
    windows = [(10.0, 15.0), (30.0, 40.0)]
    faults = [
        {
            "point": "node",
            "effect": "fail",
            "match": {"machine": NEO},
            "message": "container runtime is down",
            "since": now + begin,
            "until": now + end,
            "times": None,
        }
        for begin, end in windows
    ]
    (tmp_path / "faults.yaml").write_text(yaml.safe_dump(faults))
    lab.let_file(tmp_path / "faults.yaml")
    lab.world.advance(12)
    told = condition(lab.node(NEO), "Ready")
    assert (told["status"], told["message"]) == ("False", "container runtime is down")
    assert [word for _, word in changes(lab, 40)] == ["False", "True", "False", "True"]


def test_a_silent_kubelet_is_lost_though_its_machine_answers(lab: Troubled) -> None:
    number = lab.let("node", "hang", AT)
    lab.world.advance(45)
    assert lab.ready(NEO) == "True"
    lab.world.advance(20)
    told = condition(lab.node(NEO), "Ready")
    assert (told["status"], told["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert Asking(lab.world, lab.found(NEO)).call("Version").version.tag == "v1.13.9"
    lab.take_back(number)
    assert lab.ready(NEO) == "True"


# -- Nodes that are deleted --------------------------------------------------------------------


def test_a_node_that_was_deleted_comes_back_with_another_uid_when_its_kubelet_starts(
    lab: Troubled,
) -> None:
    lab.patch(f"{NODES}/{NEO}", {"metadata": {"labels": {"example.org/rack": "one"}}})
    before = lab.node(NEO)["metadata"]
    lab.ask("DELETE", f"{NODES}/{NEO}")
    lab.world.settle()
    lab.world.advance(3600)
    assert lab.node(NEO)["reason"] == "NotFound"
    status = shown(lab.world, lab.found(NEO), "MachineStatuses.runtime.talos.dev")["machine"]
    assert "nodeReady" in [
        unmet_condition["name"] for unmet_condition in status["status"]["unmetConditions"]
    ]
    Asking(lab.world, lab.found(NEO)).call("ServiceRestart", id="kubelet")
    lab.world.settle()
    after = lab.node(NEO)["metadata"]
    assert after["uid"] != before["uid"]
    assert "example.org/rack" not in after["labels"]
    assert lab.ready(NEO) == "True"
