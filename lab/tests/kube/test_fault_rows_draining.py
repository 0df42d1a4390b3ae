"""What goes wrong with drains can be brought about: budgets, pods that stay, refusals."""

from __future__ import annotations

import pytest
from stockman_lab.talos import acting

from lab.tests.kube.nodes.running import condition
from lab.tests.kube.troubles import PODS, SPEC, Troubled

NEO = "talos-neo"
EVICTIONS = "resource=pods/eviction"
_CANNOT = "Cannot evict pod as it would violate the pod's disruption budget."


@pytest.fixture
def lab() -> Troubled:
    return Troubled()


def one_on(lab: Troubled, name: str = NEO) -> str:
    """The name of a pod of a machine."""
    return str(lab.pods_on(name)[0]["metadata"]["name"])


# -- a budget that allows nothing --------------------------------------------------------------


def test_a_budget_that_allows_nothing_refuses_evictions_for_ever(lab: Troubled) -> None:
    lab.run()
    lab.budget(minAvailable=3)
    for _ in range(2):
        status, told = lab.evict(one_on(lab))
        assert (status, told["reason"], told["message"]) == (429, "TooManyRequests", _CANNOT)
        assert told["details"]["causes"] == [
            {
                "reason": "DisruptionBudget",
                "message": "The disruption budget web needs 3 healthy pods and has 3 currently",
            }
        ]
        lab.world.advance(3600)


def test_a_machine_that_drains_itself_gives_up_after_five_minutes_and_says_so(
    lab: Troubled,
) -> None:
    lab.run()
    lab.budget(minAvailable=3)
    name = one_on(lab)
    acting.shut_down(lab.found(NEO), force=False)
    lab.world.advance(290)
    assert lab.node(NEO)["spec"]["unschedulable"]
    assert one_on(lab) == name
    assert lab.is_on(NEO)
    lab.world.advance(200)
    assert not lab.is_on(NEO)
    assert (
        f"WARNING: failed to evict pod: failed to evict pod default/{name}:"
        " client rate limiter Wait returned an error: context deadline exceeded"
    ) in lab.notes(NEO)


# -- pods that stay ----------------------------------------------------------------------------


def test_a_pod_with_a_finalizer_stays_terminating(lab: Troubled) -> None:
    metadata = {"name": "held", "finalizers": ["example.org/held"]}
    lab.make(PODS, metadata=metadata, spec={**SPEC, "nodeName": NEO})
    lab.ask("DELETE", f"{PODS}/held")
    lab.world.settle()
    lab.world.advance(3600)
    assert lab.get(f"{PODS}/held")["metadata"]["deletionTimestamp"]
    lab.patch(f"{PODS}/held", {"metadata": {"finalizers": None}})
    lab.world.settle()
    assert lab.get(f"{PODS}/held")["reason"] == "NotFound"


def test_a_pod_that_its_kubelet_cannot_stop_stays_terminating_until_the_machine_boots(
    lab: Troubled,
) -> None:
    lab.run()
    name = one_on(lab)
    lab.let("pod", "hang", "action=stop", f"pod={name}")
    assert lab.evict(name)[0] == 201
    lab.world.settle()
    lab.world.advance(3600)
    stuck = lab.get(f"{PODS}/{name}")
    assert stuck["metadata"]["deletionTimestamp"]
    assert stuck["status"]["phase"] == "Running"
    lab.reboot(NEO)
    assert lab.get(f"{PODS}/{name}")["reason"] == "NotFound"


def test_a_machine_waits_a_minute_for_a_pod_that_does_not_go(lab: Troubled) -> None:
    lab.run()
    name = one_on(lab)
    lab.let("pod", "hang", "action=stop", f"pod={name}")
    acting.shut_down(lab.found(NEO), force=False)
    lab.world.advance(55)
    assert lab.is_on(NEO)
    lab.world.advance(200)
    assert not lab.is_on(NEO)
    assert any(
        f"failed waiting on pod default/{name} to be deleted" in note for note in lab.notes(NEO)
    )


# -- evictions that are refused ----------------------------------------------------------------


def test_evictions_are_refused_by_a_server_that_has_too_much_to_do(lab: Troubled) -> None:
    lab.run()
    lab.let("kubernetes", "fail", EVICTIONS, status=429, seconds=7)
    name = one_on(lab)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    answer = lab.answer("POST", f"{PODS}/{name}/eviction", body).response
    assert answer is not None
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")
    assert answer.body == b"Too many requests, please try again later.\n"
    assert lab.evict(name)[0] == 201


def test_evictions_are_refused_because_a_webhook_does_not_answer(lab: Troubled) -> None:
    lab.run()
    why = (
        'failed calling webhook "guard.example.org": failed to call webhook: Post'
        ' "https://guard.default.svc:443/validate?timeout=10s": context deadline exceeded'
    )
    lab.let("kubernetes", "fail", EVICTIONS, status=500, message=why, times="always")
    status, told = lab.evict(one_on(lab))
    assert (status, told["reason"]) == (500, "InternalError")
    assert told["message"] == f"Internal error occurred: {why}"
    assert told["details"] == {"causes": [{"message": why}]}
    assert lab.ask("GET", PODS)[0] == 200


def test_a_pod_with_two_budgets_cannot_be_evicted(lab: Troubled) -> None:
    lab.run()
    lab.budget(maxUnavailable=1)
    spec = {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    lab.make(path, metadata={"name": "second"}, spec=spec)
    status, told = lab.evict(one_on(lab))
    assert status == 500
    assert "more than one PodDisruptionBudget" in told["message"]


# -- what does not come back -------------------------------------------------------------------


def test_a_bare_pod_does_not_come_back_and_a_machine_does_not_evict_it(lab: Troubled) -> None:
    for name in ("evicted", "left"):
        volume = {"name": "scratch", "emptyDir": {}}
        lab.make(PODS, metadata={"name": name}, spec={**SPEC, "nodeName": NEO, "volumes": [volume]})
    assert lab.evict("evicted")[0] == 201
    lab.world.settle()
    assert [pod["metadata"]["name"] for pod in lab.pods_on(NEO)] == ["left"]
    acting.shut_down(lab.found(NEO), force=False)
    lab.world.advance(120)
    assert not lab.is_on(NEO)
    (left,) = lab.pods_on(NEO)
    assert "deletionTimestamp" not in left["metadata"]


def test_a_pod_with_a_local_volume_can_run_nowhere_else(lab: Troubled) -> None:
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    hosts = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NEO]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [hosts]}]}}
    volume = {"capacity": {"storage": "1Gi"}, "local": {"path": "/var/mnt/wool"}, **modes}
    lab.make(
        "/api/v1/persistentvolumes",
        metadata={"name": "wool"},
        spec={**volume, "nodeAffinity": affinity},
    )
    claim = {"resources": {"requests": {"storage": "1Gi"}}, "volumeName": "wool", **modes}
    lab.make(f"{PODS[:-5]}/persistentvolumeclaims", metadata={"name": "wool"}, spec=claim)
    used = {"name": "wool", "persistentVolumeClaim": {"claimName": "wool"}}
    lab.run(1, volumes=[used], tolerations=[])
    lab.patch(f"/api/v1/nodes/{NEO}", {"spec": {"unschedulable": True}})
    assert lab.evict(one_on(lab))[0] == 201
    lab.world.settle()
    (waiting,) = lab.get(PODS)["items"]
    assert waiting["status"]["phase"] == "Pending"
    message = condition(waiting, "PodScheduled")["message"]
    assert "2 node(s) didn't match PersistentVolume's node affinity" in message
    assert "1 node(s) were unschedulable" in message
