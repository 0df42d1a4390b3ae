"""Sockets of machines through the API."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.services.running import stop
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode

ALL = {"tcp": True, "tcp6": True, "udp": True, "udp6": True}


@pytest.fixture
def world() -> World:
    return staged("three-node")


def sockets(world: World, name: str = "", **fields: object) -> list[Any]:
    wanted = {"l4proto": ALL, "netns": {"hostnetwork": True}, "feature": {"pid": True}, **fields}
    return list(Asking(world, machine(world, name)).call("Netstat", **wanted).connectrecord)


def test_services_listen_where_others_look_for_them(world: World) -> None:
    found = {
        (socket.localport, socket.process.name) for socket in sockets(world, filter="LISTENING")
    }
    assert {
        (50000, "init"),
        (50001, "init"),
        (2379, "etcd"),
        (2380, "etcd"),
        (6443, "kube-apiserver"),
        (10250, "kubelet"),
        (7445, "init"),
    } <= found


def test_a_service_that_stops_listens_no_more(world: World) -> None:
    stop(machine(world), "etcd")
    assert 2379 not in {socket.localport for socket in sockets(world, filter="LISTENING")}


@pytest.mark.parametrize(("version", "listens"), [("1.13.9", False), ("1.14.1", True)])
def test_etcd_has_one_more_port_since_the_fourteenth_minor(version: str, listens: bool) -> None:
    world = staged("single", version)
    assert (2383 in {socket.localport for socket in sockets(world, filter="LISTENING")}) is listens


def test_both_ends_of_a_connection_show_the_same_ports(world: World) -> None:
    first, second = world.talos.machines[:2]
    one = {
        (each.localip, each.localport, each.remoteip, each.remoteport)
        for each in sockets(world, first.hostname, filter="CONNECTED")
        if each.remoteip == second.address
    }
    other = {
        (each.remoteip, each.remoteport, each.localip, each.localport)
        for each in sockets(world, second.hostname, filter="CONNECTED")
        if each.remoteip == first.address
    }
    assert len(one) >= 2
    assert one == other


def test_what_is_shown_is_what_is_asked_for(world: World) -> None:
    everything = sockets(world)
    listening, connected = sockets(world, filter="LISTENING"), sockets(world, filter="CONNECTED")
    assert len(everything) == len(listening) + len(connected)
    assert all(one.remoteport == 0 for one in listening)
    assert {socket.l4proto for socket in sockets(world, l4proto={"tcp6": True})} == {"tcp6"}
    assert not sockets(world, netns={})
    assert all(socket.process.pid == 0 for socket in sockets(world, feature={}))


def test_an_unknown_filter_is_refused(world: World) -> None:
    with pytest.raises(Refusal, match="invalid filter") as caught:
        sockets(world, filter=9)
    assert caught.value.code is GrpcCode.INVALID_ARGUMENT
