"""The same seed and the same requests give the same world, saved in between or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stockman_lab.core.faults import Effect, Point
from stockman_lab.talos.api.call import Refusal
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from lab.tests.talos.troubles import STORE, installer, let, power_cycled

NEO, NIOBE, TRINITY = "talos-neo", "talos-niobe", "talos-trinity"


def upgrade_new(world: World) -> None:
    ask, image = Asking(world, machine(world, NEO)), installer("1.14.1")
    ask.stream("machine.ImageService/Pull", containerd=STORE, image_ref=image)
    ask.stream("machine.LifecycleService/Upgrade", containerd=STORE, source={"image_name": image})
    ask.call("Reboot")


def upgrade_old_refused(world: World) -> None:
    let(world, Point.REGISTRY, Effect.FAIL, status=429)
    with pytest.raises(Refusal):
        Asking(world, machine(world, TRINITY)).call("Upgrade", image=installer("1.14.1"))


def upgrade_old(world: World) -> None:
    Asking(world, machine(world, TRINITY)).call("Upgrade", image=installer("1.14.1"))


def reset(world: World) -> None:
    wiped = [{"label": text, "wipe": True} for text in ("STATE", "EPHEMERAL")]
    Asking(world, machine(world, NIOBE)).call(
        "Reset", graceful=True, reboot=True, system_partitions_to_wipe=wiped
    )


def wait(seconds: float) -> Callable[[World], None]:
    def waited(world: World) -> None:
        world.advance(seconds)

    return waited


def cut_off(world: World) -> None:
    let(world, Point.NETWORK, Effect.FAIL, match={"machine": NEO}, until=world.now + 90, times=None)


def slow(world: World) -> None:
    let(world, Point.TALOS_STEP, Effect.DELAY, match={"step": "service/etcd"}, seconds=200.0)
    machine(world, TRINITY).state.timings["*"] = 2.0


def learner(world: World) -> None:
    let(world, Point.ETCD, Effect.FAIL, match={"action": "promote"}, times=2)
    ask = Asking(world, machine(world, NEO))
    ask.call("EtcdLeaveCluster")
    ask.call("Reboot")


def read_much(world: World) -> None:
    """Reading changes nothing, though it happens in between."""
    for each_machine in list(world.talos.machines):
        if each_machine.api is None:
            continue
        ask = Asking(world, each_machine)
        for name in ("Version", "ServiceList", "Memory", "Processes", "Hostname"):
            ask.call(name)
        ask.stream(
            "cosi.resource.State/List", type="LinkStatuses.net.talos.dev", namespace="network"
        )


def cycle(world: World) -> None:
    power_cycled(world, machine(world, NEO))


def at_rest(world: World) -> None:
    world.settle()


STORY: list[Callable[[World], None]] = [
    upgrade_new, wait(7), read_much, wait(40), at_rest, upgrade_old_refused, slow, upgrade_old,
    wait(90), cut_off, wait(33), read_much, at_rest, reset, wait(61), at_rest, learner, wait(15),
    cycle, at_rest,
]  # fmt: skip


def told(pauses: set[int]) -> bytes:
    """The file of the world after all that, saved and loaded before some of the steps."""
    world = staged("three-node", "1.13.9")
    for number, step in enumerate(STORY):
        if number in pauses:
            world = World(read_world(world_file(world.state)))
        step(world)
    return world_file(world.state)


def is_same(content: bytes, other: bytes) -> bool:
    """Whether two files are equal; to print how they differ would take hours."""
    return content == other


@pytest.fixture(scope="module")
def first() -> bytes:
    return told(set())


def test_the_same_story_ends_in_the_same_bytes(first: bytes) -> None:
    assert is_same(told(set()), first)


def test_a_world_that_is_saved_in_the_middle_goes_on_as_if_it_was_not(first: bytes) -> None:
    assert is_same(told({3, 9, 14, 17}), first)


def test_a_world_that_is_saved_all_the_time_goes_on_as_if_it_was_not(first: bytes) -> None:
    assert is_same(told(set(range(len(STORY)))), first)
