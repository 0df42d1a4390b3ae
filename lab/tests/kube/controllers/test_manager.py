"""Queues of controllers: filled by changes, emptied by the timeline, saved with the world."""

from __future__ import annotations

from stockman_lab.core.saved import plain, restored
from stockman_lab.kube.controllers.state import ControllersState

from lab.tests.kube.controllers.playing import APPS, CORE, played, workload


def test_nothing_is_planned_when_nothing_changes() -> None:
    lab = played()
    lab.run(60.0)

    assert lab.timeline.next_at is None


def test_controllers_rest_while_no_api_is_served() -> None:
    lab = played()
    lab.is_served = False

    lab.ask("POST", f"{APPS}/deployments", workload(replicas=2))

    assert lab.items(f"{CORE}/pods") == []


def test_controllers_go_on_when_the_api_is_back() -> None:
    lab = played()
    lab.is_served = False
    lab.ask("POST", f"{APPS}/deployments", workload(replicas=2))
    lab.is_served = True

    lab.controllers.notice()
    lab.run()

    assert len(lab.items(f"{CORE}/pods")) == 2


def test_queues_survive_saving() -> None:
    lab = played()
    lab.server.ask("POST", f"{APPS}/deployments", workload(replicas=2))
    assert lab.state.queues == {"deployment": {"default/wool": lab.state.seen}}

    lab.state = restored(ControllersState, plain(lab.state))
    lab.begin()
    lab.run()

    assert len(lab.items(f"{CORE}/pods")) == 2


def test_the_same_happens_every_time() -> None:
    names = []
    for _ in range(2):
        lab = played()
        lab.ask("POST", f"{APPS}/deployments", workload(replicas=3))
        names.append(lab.names(f"{CORE}/pods"))

    assert names[0] == names[1]


def test_pods_that_are_refused_are_told_and_tried_again() -> None:
    lab = played()
    body = workload(replicas=1)
    body["spec"]["template"]["spec"]["serviceAccountName"] = "shepherd"
    lab.ask("POST", f"{APPS}/deployments", body)
    assert any(message.startswith("Error creating: pods") for message in lab.messages())

    lab.server.ask("POST", f"{CORE}/serviceaccounts", {"metadata": {"name": "shepherd"}})
    lab.run(400.0)

    assert len(lab.items(f"{CORE}/pods")) == 1
