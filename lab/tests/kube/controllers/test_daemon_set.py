"""Daemon sets have one pod on every node that fits."""

from __future__ import annotations

from typing import Any

from lab.tests.kube.controllers.playing import APPS, CORE, Played, node, played, template, workload

WOOL = f"{APPS}/daemonsets/wool"


def started(nodes: int = 2, **spec: Any) -> Played:
    lab = played()
    for number in range(nodes):
        lab.ask("POST", "/api/v1/nodes", node(f"node-{number}", space="wool"))
    lab.ask("POST", f"{APPS}/daemonsets", workload(**spec))
    return lab


def test_every_node_gets_a_pod() -> None:
    lab = started()

    assert lab.get(WOOL)["status"]["desiredNumberScheduled"] == 2
    assert len(lab.items(f"{CORE}/pods")) == 2


def test_a_node_that_comes_later_gets_one_too() -> None:
    lab = started()

    lab.ask("POST", "/api/v1/nodes", node("late"))

    assert len(lab.items(f"{CORE}/pods")) == 3


def test_nodes_that_are_not_selected_get_none() -> None:
    lab = started(template=template(nodeSelector={"space": "mutton"}))

    assert lab.items(f"{CORE}/pods") == []


def test_a_taint_keeps_pods_away_unless_they_tolerate_it() -> None:
    lab = played()
    tainted = node("muddy")
    tainted["spec"] = {"taints": [{"key": "mud", "effect": "NoSchedule"}]}
    lab.ask("POST", "/api/v1/nodes", tainted)
    lab.ask("POST", f"{APPS}/daemonsets", workload())
    assert lab.items(f"{CORE}/pods") == []

    tolerations = {"spec": {"tolerations": [{"key": "mud", "operator": "Exists"}]}}
    lab.patch(WOOL, {"spec": {"template": tolerations}})

    assert len(lab.items(f"{CORE}/pods")) == 1


def test_an_update_replaces_one_pod_at_a_time() -> None:
    lab = started()
    lab.make_ready()

    lab.patch(WOOL, {"spec": {"template": {"metadata": {"labels": {"fold": "north"}}}}})

    labels = [item["metadata"]["labels"].get("fold") for item in lab.items(f"{CORE}/pods")]
    assert sorted(labels, key=str) == [None, "north"]
    assert len(lab.items(f"{APPS}/controllerrevisions")) == 2


def test_pods_of_a_node_that_is_gone_go() -> None:
    lab = started()

    lab.ask("DELETE", "/api/v1/nodes/node-0")

    assert len(lab.items(f"{CORE}/pods")) == 1
