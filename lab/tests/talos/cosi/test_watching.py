"""Following resources: the order of events, and how a follower comes back."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.talos.api.call import Refusal

from lab.tests.talos.cosi.asking import LINKS, SERVICES, answers, events
from lab.tests.talos.cosi.handmade import HandMade, handmade_land
from stockman.talos.api.transport import GrpcCode

KIND = {"namespace": "runtime", "type": SERVICES, "api_version": 1}
VOLUMES = {"namespace": "runtime", "type": "VolumeStatuses.block.talos.dev", "api_version": 1}
BOOTSTRAP = {"bootstrap_contents": True}


def machine() -> HandMade:
    return handmade_land().machines[0]


def ill(hand_made: HandMade, name: str = "kubelet") -> None:
    hand_made.state.services[name].is_healthy = False


def stopped(hand_made: HandMade, name: str = "kubelet") -> None:
    hand_made.state.services[name].state = "Finished"


def started(hand_made: HandMade, name: str = "kubelet") -> None:
    hand_made.state.services[name].state = "Running"


def watched(hand_made: HandMade, request: dict[str, object], *changes: Any) -> list[dict[str, Any]]:
    return answers(hand_made, "Watch", request, *changes)


def test_the_first_answer_is_empty() -> None:
    assert watched(machine(), KIND) == [{}]


def test_contents_come_before_what_happens_to_them() -> None:
    one = machine()
    result = watched(one, {**KIND, "options": BOOTSTRAP}, lambda: ill(one))
    told = events(result)

    assert [what for what, _, _ in told] == ["CREATED"] * 11 + ["BOOTSTRAPPED", "UPDATED"]
    assert [name for _, name, _ in told[:3]] == ["apid", "auditd", "containerd"]
    assert told[-2:] == [("BOOTSTRAPPED", "", "undefined"), ("UPDATED", "kubelet", "2")]


def test_old_clients_are_not_told_where_contents_end() -> None:
    result = events(watched(machine(), {**KIND, "api_version": 0, "options": BOOTSTRAP}))

    assert {what for what, _, _ in result} == {"CREATED"}


def test_an_update_tells_what_was_before() -> None:
    one = machine()
    (event,) = watched(one, KIND, lambda: ill(one))[1]["event"]

    assert "healthy: true" in event["old"]["spec"]["yaml_spec"]
    assert "healthy: false" in event["resource"]["spec"]["yaml_spec"]


def test_what_comes_and_goes_is_told() -> None:
    one = machine()
    result = watched(one, KIND, lambda: stopped(one), lambda: started(one))

    assert events(result) == [("DESTROYED", "kubelet", "1"), ("CREATED", "kubelet", "1")]


def test_changes_elsewhere_are_not_told() -> None:
    one = machine()

    assert watched(one, KIND, one.state.network.links.clear) == [{}]


def test_a_single_resource_is_told_at_once() -> None:
    one = machine()
    result = watched(one, {**KIND, "id": "kubelet"}, lambda: ill(one), lambda: ill(one, "apid"))

    assert events(result) == [("CREATED", "kubelet", "1"), ("UPDATED", "kubelet", "2")]


def test_a_single_resource_that_is_not_there_is_told_as_gone() -> None:
    one = machine()
    one.state.services.pop("kubelet")
    first = watched(one, {**KIND, "id": "kubelet"})[1]["event"][0]

    assert first["event_type"] == "DESTROYED"
    assert first["resource"]["spec"] == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (BOOTSTRAP, "bootstrap contents is not implemented for resource watch"),
        (
            {"label_query": [{"terms": [{"key": "a"}]}]},
            "label query is not implemented for resource watch",
        ),
    ],
)
def test_a_single_resource_takes_few_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(Refusal) as refused:
        watched(machine(), {**KIND, "id": "kubelet", "options": options})

    assert (refused.value.code, refused.value.message) == (GrpcCode.UNIMPLEMENTED, message)


def test_a_follower_goes_on_behind_its_bookmark() -> None:
    one = machine()
    result = watched(one, KIND, lambda: ill(one), lambda: ill(one, "apid"))
    bookmark = result[1]["event"][0]["bookmark"]
    stopped(one, "cri")
    again = watched(one, {**KIND, "options": {"start_from_bookmark": bookmark}})

    assert events(again) == [("UPDATED", "apid", "2"), ("DESTROYED", "cri", "1")]


def test_a_follower_goes_on_behind_the_contents() -> None:
    one = machine()
    last = watched(one, {**KIND, "options": BOOTSTRAP})[-1]["event"][0]
    ill(one)
    again = watched(one, {**KIND, "options": {"start_from_bookmark": last["bookmark"]}})

    assert events(again) == [("UPDATED", "kubelet", "2")]


@pytest.mark.parametrize("bookmark", [b"", b"short", bytes(16), b"x" * 16])
def test_a_bookmark_from_elsewhere_is_refused(bookmark: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        watched(machine(), {**KIND, "options": {"start_from_bookmark": bookmark}})

    assert refused.value.code is GrpcCode.FAILED_PRECONDITION


def test_the_last_events_are_told_again() -> None:
    one = machine()
    watched(one, KIND, lambda: ill(one), lambda: ill(one, "apid"))
    again = watched(one, {**KIND, "options": {"tail_events": 1}})

    assert events(again) == [("UPDATED", "apid", "2")]


def test_a_bookmark_can_be_asked_for_alone() -> None:
    (event,) = watched(machine(), {**KIND, "options": {"bootstrap_bookmark": True}})[1]["event"]

    assert event["event_type"] == "NOOP"
    assert len(event["bookmark"]) == 16


def test_events_can_come_together() -> None:
    one = machine()

    def both() -> None:
        ill(one)
        ill(one, "apid")

    result = watched(one, {**KIND, "options": {**BOOTSTRAP, "aggregated": True}}, both)

    assert [len(answer.get("event", [])) for answer in result] == [0, 12, 2]


def test_options_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(Refusal, match="cannot use BootstrapContents"):
        watched(machine(), {**KIND, "options": {**BOOTSTRAP, "tail_events": 1}})


def test_only_what_is_called_so_is_told() -> None:
    options = {**BOOTSTRAP, "id_query": {"regexp": "^eth0"}}
    request = {"namespace": "network", "type": LINKS, "api_version": 1, "options": options}

    assert [name for _, name, _ in events(watched(machine(), request))] == ["eth0", "eth0.62", ""]


def test_a_kind_without_contents_is_followed_too() -> None:
    request = {"namespace": "storage", "type": "MDArraySpecs.storage.talos.dev", "api_version": 1}
    machine = handmade_land("1.14").machines[0]
    result = events(watched(machine, {**request, "options": BOOTSTRAP}, lambda: ill(machine)))

    assert result == [("BOOTSTRAPPED", "", "undefined")]


def test_nobody_follows_a_machine_into_its_next_boot() -> None:
    one = machine()

    def reboot() -> None:
        one.state.boot += 1

    with pytest.raises(Refusal) as refused:
        watched(one, KIND, reboot)

    assert refused.value.code is GrpcCode.UNAVAILABLE
