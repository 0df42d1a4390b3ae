"""What a world was like, for faults that answer with it.

A memory is made for every fault that lies about requests, when the first request comes after its
beginning, and goes with the fault. It is a part of the world's state: a lab that was saved in
between goes on with the same lie.
"""

from __future__ import annotations

from dataclasses import replace

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.core.saved import plain, restored
from stockman_lab.images.blobs import Blobs
from stockman_lab.world.state import Memory, WorldState


def remember(world: WorldState) -> list[int]:
    """Make the memories that are due; returns the numbers of those that are no more."""
    now, memories = world.timeline.now, world.memories
    lying = {
        fault.number: fault
        for fault in world.faults.listed
        if fault.point is Point.REQUEST and fault.effect is Effect.LIE and not fault.is_over(now)
    }
    gone = [
        number
        for number, memory in memories.items()
        if number not in lying or _is_too_old(memory, lying[number], now)
    ]
    for number in gone:
        for name in memories.pop(number).blobs:
            world.blobs.release(name)
    for number, fault in lying.items():
        if fault.has_begun(now) and number not in memories:
            memories[number] = _memory(world)
    return gone


def recalled(world: WorldState, fault: Fault) -> WorldState:
    """The world that a fault remembers."""
    world_state = restored(WorldState, world.memories[fault.number].state)
    world_state.blobs = world.blobs
    return world_state


def _is_too_old(memory: Memory, fault: Fault, now: float) -> bool:
    return fault.seconds > 0 and now - memory.at > fault.seconds


def _memory(world: WorldState) -> Memory:
    names = list(world.blobs.holders)
    for name in names:
        world.blobs.hold(name)
    return Memory(world.timeline.now, plain(replace(world, blobs=Blobs(), memories={})), names)
