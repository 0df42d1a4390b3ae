"""Streams of several machines at once."""

from __future__ import annotations

import asyncio

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged

DMESG = "machine.MachineService/Dmesg"


def test_who_leaves_in_the_middle_leaves_nothing_behind() -> None:
    world = staged("three-node")
    addresses = tuple(machine.address for machine in world.talos.machines)
    door = Asking(world, machine(world), nodes=addresses).door

    async def left() -> int:
        stream = door.stream(DMESG)
        await anext(stream)
        await stream.aclose()
        return len(asyncio.all_tasks())

    assert asyncio.run(left()) == 1


def test_all_of_all_machines_arrives() -> None:
    world = staged("three-node")
    addresses = tuple(machine.address for machine in world.talos.machines)
    stream = Asking(world, machine(world), nodes=addresses).stream("Dmesg")
    each = [len(Asking(world, machine).stream("Dmesg")) for machine in world.talos.machines]
    assert len(stream) == sum(each)
    assert {one.metadata.hostname for one in stream} == set(addresses)


def test_a_machine_that_is_gone_is_told_beside_the_others() -> None:
    world = staged("three-node")
    addresses = tuple(machine.address for machine in world.talos.machines)
    world.talos.power_off(machine(world, "talos-neo"))
    stream = Asking(world, machine(world, "talos-trinity"), nodes=addresses).stream("Dmesg")
    wrong = [one.metadata for one in stream if one.metadata.error]
    assert len(wrong) == 1
    assert "no route to host" in wrong[0].error
