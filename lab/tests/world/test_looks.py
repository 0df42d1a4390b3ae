"""Machines take notice of faults around them, also of those that begin and end by themselves."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import LOOK, World

from lab.tests.talos.staged import machine, staged


def strike(world: World, fault: Fault) -> int:
    world.faults.add(fault)
    world.strike()
    return fault.number


def looks(world: World) -> list[float]:
    return sorted(event.at for event in world.state.timeline.events.values() if event.name == LOOK)


def holds_address(world: World) -> bool:
    return any(address.is_vip for address in machine(world).state.network.addresses)


def test_a_fault_is_noticed_when_it_begins_and_when_it_is_over() -> None:
    world = staged()
    begin, end = world.now + 100, world.now + 300
    fault = Fault(Point.NETWORK, Effect.FAIL, since=begin, until=end, times=None)
    strike(world, fault)
    assert holds_address(world)
    world.advance(150)
    assert not holds_address(world)
    world.advance(200)
    assert holds_address(world)
    assert looks(world) == []


def test_a_fault_that_is_taken_back_is_over_at_once() -> None:
    world = staged()
    number = strike(world, Fault(Point.NETWORK, Effect.FAIL, times=None))
    assert not holds_address(world)
    world.take_back(number)
    assert holds_address(world)


@pytest.mark.parametrize("point", [Point.NETWORK, Point.ETCD, Point.CLOCK])
def test_looks_are_planned_once_for_each_moment(point: Point) -> None:
    world = staged()
    effect = Effect.LIE if point is Point.CLOCK else Effect.FAIL
    begin = world.now + 50
    strike(world, Fault(point, effect, since=begin, until=begin + 10, times=None, seconds=5))
    strike(world, Fault(point, effect, since=begin, times=None, seconds=5))
    assert looks(world) == [begin + 0.001, begin + 10.001]


def test_nothing_is_planned_for_faults_that_strike_when_somebody_asks() -> None:
    world = staged()
    strike(world, Fault(Point.REQUEST, Effect.FAIL, since=world.now + 9, until=world.now + 20))
    assert looks(world) == []


def test_a_look_is_kept_with_the_world() -> None:
    world = staged()
    begin = world.now + 100
    strike(world, Fault(Point.NETWORK, Effect.FAIL, since=begin, times=None))
    again = World(read_world(world_file(world.state)))
    again.advance(150)
    assert not holds_address(again)
