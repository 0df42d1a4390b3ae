"""Nodes that fall silent are tainted, and their pods go after a while."""

from __future__ import annotations

from lab.tests.kube.controllers.playing import APPS, CORE, Played, node, played, workload

ONE = "/api/v1/nodes/one"


def with_nodes() -> Played:
    lab = played()
    for name in ("one", "two"):
        lab.ask("POST", "/api/v1/nodes", node(name))
    lab.ask("POST", f"{APPS}/deployments", workload(replicas=1))
    lab.make_ready("one")
    return lab


def silence(lab: Played, *names: str) -> None:
    for name in names:
        lab.silent[name] = lab.timeline.now
        lab.controllers.look_at("nodelifecycle", name)


def taints(lab: Played, name: str = "one") -> list[tuple[str, str]]:
    taint = lab.get(f"/api/v1/nodes/{name}")["spec"].get("taints", [])
    return [(item["key"].rpartition("/")[2], item["effect"]) for item in taint]


def test_a_ready_node_loses_the_taint_of_new_ones() -> None:
    assert taints(with_nodes()) == []


def test_a_silent_node_is_unknown_after_its_grace() -> None:
    lab = with_nodes()
    silence(lab, "one")
    lab.run(45.0)
    assert taints(lab) == []

    lab.run(15.0)

    assert lab.get(ONE)["status"]["conditions"][0]["status"] == "Unknown"
    assert taints(lab) == [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]


def test_pods_of_a_silent_node_are_not_ready() -> None:
    lab = with_nodes()
    silence(lab, "one")

    lab.run(60.0)

    pod = lab.items(f"{CORE}/pods")[0]
    assert pod["status"]["conditions"][-1]["status"] == "False"


def test_pods_are_replaced_when_their_patience_ends() -> None:
    lab = with_nodes()
    silence(lab, "one")
    lab.run(300.0)
    assert len(lab.items(f"{CORE}/pods")) == 1

    lab.run(70.0)

    going = [item for item in lab.items(f"{CORE}/pods") if "deletionTimestamp" in item["metadata"]]
    assert len(going) == 1
    reasons = [condition.get("reason") for condition in going[0]["status"]["conditions"]]
    assert "DeletionByTaintManager" in reasons
    assert len(lab.items(f"{CORE}/pods")) == 2


def test_a_node_that_is_back_keeps_its_pods() -> None:
    lab = with_nodes()
    silence(lab, "one")
    lab.run(100.0)
    del lab.silent["one"]

    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    lab.patch(f"{ONE}/status", {"status": ready})
    lab.run(400.0)

    assert taints(lab) == []
    assert [
        item for item in lab.items(f"{CORE}/pods") if "deletionTimestamp" in item["metadata"]
    ] == []


def test_nobody_is_driven_away_when_all_nodes_are_silent() -> None:
    lab = with_nodes()

    silence(lab, "one", "two")
    lab.run(60.0)

    assert ("unreachable", "NoExecute") not in [*taints(lab, "two")]


def test_a_cordoned_node_is_tainted() -> None:
    lab = with_nodes()

    lab.patch(ONE, {"spec": {"unschedulable": True}})

    assert taints(lab) == [("unschedulable", "NoSchedule")]


def test_pods_of_a_node_that_was_deleted_go_after_a_while() -> None:
    lab = with_nodes()
    before = lab.names(f"{CORE}/pods")
    lab.ask("DELETE", ONE)
    assert lab.names(f"{CORE}/pods") == before

    lab.run(70.0)

    assert not set(before) & set(lab.names(f"{CORE}/pods"))
