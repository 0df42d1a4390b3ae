"""What controllers give to the API server is what the same JSON would have been."""

from __future__ import annotations

import pytest
from stockman_lab.kube.controllers.client import AGENT, Client, Refused
from stockman_lab.kube.objects import Object, copied

from lab.tests.kube.asking import Served, served

PODS = "/api/v1/namespaces/default/pods"


def server() -> Served:
    made = served()
    made.agent = AGENT
    return made


def pod() -> Object:
    container = {"name": "wool", "image": "example/wool:1", "ports": ({"containerPort": 80},)}
    return {
        "metadata": {"name": "sheep", "namespace": "default"},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
    }


def test_an_object_is_the_same_given_or_sent() -> None:
    given, sent = server(), server()
    made = Client(given.api).create("v1", "Pod", pod())

    assert made == sent.ask("POST", PODS, pod())
    assert made["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


def test_a_status_is_the_same_given_or_sent() -> None:
    given, sent = server(), server()
    status = {"phase": "Running", "startTime": "2026-01-31T12:00:00Z"}
    made = Client(given.api).create("v1", "Pod", pod())
    changed = Client(given.api).update_status(made, status)

    other = sent.ask("POST", PODS, pod())
    assert changed == sent.ask("PUT", f"{PODS}/sheep/status", {**other, "status": status})
    assert changed["spec"] is made["spec"]


def test_what_a_status_would_change_elsewhere_is_left_as_it_was() -> None:
    lab = server()
    client = Client(lab.api)
    made = client.create("v1", "Pod", pod())
    before = copied(made)
    other = copied(made)
    other["spec"]["nodeName"] = "meadow"
    changed = client.update_status(other, {"phase": "Running"})

    assert "nodeName" not in changed["spec"]
    assert made == before


def test_what_does_not_fit_its_type_is_refused() -> None:
    wrong = pod()
    wrong["spec"]["terminationGracePeriodSeconds"] = "soon"

    with pytest.raises(Refused, match="cannot unmarshal"):
        Client(server().api).create("v1", "Pod", wrong)
