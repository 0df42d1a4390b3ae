"""Logs of services, pods and the kernel."""

from __future__ import annotations

import re
from typing import Any

import pytest
from stockman_lab.talos import acting
from stockman_lab.talos.api.call import Refusal
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.following import followed
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode

KERNEL_LINE = re.compile(r"^(kern|user): +(info|warning): \[\d{4}-\d\d-\d\dT[\d:.]+Z\]: .*\n$")


@pytest.fixture
def world() -> World:
    return staged()


@pytest.fixture
def asking(world: World) -> Asking:
    return Asking(world, machine(world))


def text(pieces: list[Any]) -> str:
    return b"".join(piece.bytes for piece in pieces).decode()


def test_logs_that_exist_are_listed(asking: Asking) -> None:
    ids = list(asking.call("LogsContainers").ids)
    assert ids == sorted(ids)
    assert {"controller-runtime", "machined", "apid", "etcd", "kubelet"} <= set(ids)


def test_every_service_said_something(asking: Asking) -> None:
    for name in ("machined", "containerd", "cri", "apid", "etcd", "kubelet", "controller-runtime"):
        result = text(asking.stream("Logs", namespace="system", id=name, tail_lines=-1))
        assert result.endswith("\n"), name


def test_what_a_service_says_is_at_the_end(world: World, asking: Asking) -> None:
    machine(world).log("etcd", "something new")
    result = text(asking.stream("Logs", namespace="system", id="etcd", tail_lines=1))
    assert result == "something new\n"
    assert text(asking.stream("Logs", namespace="system", id="etcd", tail_lines=0)) == ""


def test_an_unknown_log_is_not_registered(asking: Asking) -> None:
    with pytest.raises(Refusal) as caught:
        asking.stream("Logs", namespace="system", id="nobody", tail_lines=-1)
    assert caught.value.code is GrpcCode.UNKNOWN
    assert caught.value.message == 'log "nobody" was not registered'


def test_the_kubelet_is_found_in_every_namespace(asking: Asking) -> None:
    result = text(asking.stream("Logs", namespace="k8s.io", id="kubelet", driver=1, tail_lines=-1))
    assert "Kubelet version" in result


def test_a_log_that_is_followed_goes_on_until_the_machine_goes_down(
    world: World, asking: Asking
) -> None:
    node = machine(world)
    result = text(
        followed(
            asking,
            "Logs",
            lambda: acting.reboot(node, "default"),
            namespace="system",
            id="machined",
            follow=True,
            tail_lines=1,
        )
    )
    assert "[talos] phase stopServices" in result
    assert "booting Talos" not in result


def test_lines_of_the_kernel_have_facility_priority_and_moment(asking: Asking) -> None:
    lines = [value.bytes.decode() for value in asking.stream("Dmesg")]
    assert all(KERNEL_LINE.match(line) for line in lines)
    assert "Linux version" in lines[0]
    moments = [line.split("[")[1].split("]")[0] for line in lines]
    assert [moment[:19] for moment in moments] == sorted(moment[:19] for moment in moments)


def test_only_what_is_new_is_shown_where_that_is_asked_for(world: World, asking: Asking) -> None:
    assert asking.stream("Dmesg", tail=True) == []
    node = machine(world)
    acting.reboot(node, "default")
    result = text(followed(asking, "Dmesg", tail=True, follow=True))
    assert "Linux version" not in result
    assert "[talos] phase" in result
