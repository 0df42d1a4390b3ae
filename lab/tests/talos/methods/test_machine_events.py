"""Events as they are followed."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.talos import acting
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.following import followed
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode


@pytest.fixture
def world() -> World:
    return staged()


@pytest.fixture
def asking(world: World) -> Asking:
    return Asking(world, machine(world))


def test_the_first_one_is_empty(asking: Asking) -> None:
    (hello,) = followed(asking, "Events")
    assert not hello.HasField("data")
    assert hello.id == ""


def test_old_ones_come_as_they_are_asked_for(world: World, asking: Asking) -> None:
    kept = machine(world).state.events
    everything = followed(asking, "Events", tail_events=-1)[1:]
    assert [one.id for one in everything] == [one.id for one in kept]
    assert [text.id for text in followed(asking, "Events", tail_events=3)[1:]] == [
        one.id for one in kept[-3:]
    ]
    middle = kept[len(kept) // 2]
    later = followed(asking, "Events", tail_id=middle.id)[1:]
    assert [one.id for one in later] == [one.id for one in kept if one.id > middle.id]
    world.advance(100.0)
    passed = int(world.now - kept[-1].at)
    assert followed(asking, "Events", tail_seconds=passed + 10)[-1].id == kept[-1].id
    assert len(followed(asking, "Events", tail_seconds=passed - 50)) == 1


def test_what_they_hold_is_named_by_its_kind(asking: Asking) -> None:
    result = followed(asking, "Events", tail_events=-1)[1:]
    assert {one.data.type_url for one in result} >= {
        "talos/runtime/machine.SequenceEvent",
        "talos/runtime/machine.ServiceStateEvent",
        "talos/runtime/machine.MachineStatusEvent",
    }


def test_an_identity_that_is_none_is_refused(asking: Asking) -> None:
    with pytest.raises(Refusal) as caught:
        followed(asking, "Events", tail_id="not-an-identity")
    assert caught.value.code is GrpcCode.UNKNOWN
    assert caught.value.message == "error parsing tail_id: xid: invalid ID"


def test_a_reboot_is_followed_until_nobody_answers(world: World, asking: Asking) -> None:
    node = machine(world)
    result = followed(asking, "Events", lambda: acting.reboot(node, "default"))
    rows = [one.data.type_url.rpartition(".")[2] for one in result[1:]]
    assert rows[0] == "SequenceEvent"
    assert "TaskEvent" in rows
    world.settle()
    assert node.state.stage is Stage.RUNNING


def test_events_after_a_reboot_come_after_those_before(world: World, asking: Asking) -> None:
    node = machine(world)
    last = node.state.events[-1].id
    acting.reboot(node, "default")
    world.settle()
    result = followed(asking, "Events", tail_id=last)[1:]
    assert result[0].id > last
    status: Any = asking.door.wire.message("machine.MachineStatusEvent")()
    status.ParseFromString(
        [one for one in result if one.data.type_url.endswith("MachineStatusEvent")][-1].data.value
    )
    assert status.status.ready


def test_those_of_one_actor_are_picked_out(world: World, asking: Asking) -> None:
    node = machine(world)
    actor = acting.reboot(node, "default")
    result = followed(asking, "Events", tail_events=-1, with_actor_id=actor)
    assert len(result) > 3
    assert {one.actor_id for one in result} == {actor}
