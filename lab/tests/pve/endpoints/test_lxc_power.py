"""Containers start and stop, and say why they do not."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.cluster_state import Section

from lab.tests.pve.endpoints.containers import (
    CT,
    one_container,
    refused,
    running_container,
    shown,
)

STATUS = f"{CT}/status"


def status(asked: MemoryDoor) -> object:
    return shown(asked, f"{STATUS}/current")["status"]


def managed(asked: MemoryDoor) -> MemoryDoor:
    asked.cluster.state.ha_resources["ct:200"] = Section("ct:200", "ct", {"state": "stopped"})
    return asked


@pytest.mark.parametrize(("action", "params"), [("stop", {}), ("shutdown", {"timeout": 30})])
def test_a_container_stops(action: str, params: dict[str, object]) -> None:
    asked = running_container()

    assert asked.done(asked.post(f"{STATUS}/{action}", **params)) == "OK"

    assert status(asked) == "stopped"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("stop", "CT 200 not running"),
        ("shutdown", "CT 200 not running"),
        ("reboot", "VM 200 not running"),
    ],
)
def test_what_does_not_run_cannot_stop(action: str, message: str) -> None:
    error = refused(one_container(), "POST", f"{STATUS}/{action}")

    assert (error.status, error.message) == (500, message)


def test_what_runs_cannot_start() -> None:
    error = refused(running_container(), "POST", f"{STATUS}/start")

    assert (error.status, error.message) == (500, "CT 200 already running")


def test_a_container_that_became_a_template_does_not_come_back() -> None:
    asked = running_container()
    asked.put(f"{CT}/config", template=1)

    assert asked.done(asked.post(f"{STATUS}/reboot")) == "startup for container '200' failed"
    assert status(asked) == "stopped"


def test_quotas_are_not_for_unprivileged_containers() -> None:
    asked = one_container(rootfs="thin:1,quota=1")

    done = asked.done(asked.post(f"{STATUS}/start"))

    assert done == "Quotas are not supported by unprivileged containers."


def test_a_container_whose_bridge_is_not_there_does_not_start() -> None:
    asked = one_container(net0="name=eth0,bridge=vmbr9")

    upid = asked.post(f"{STATUS}/start")

    assert asked.done(upid) == "startup for container '200' failed"
    assert asked.cluster.state.tasks[str(upid)].log[0] == "bridge 'vmbr9' does not exist"


def test_a_fault_keeps_a_container_from_starting() -> None:
    asked = one_container()
    asked.world.faults.add(Fault(Point.BOOT, Effect.FAIL, {"vmid": "200"}))

    assert asked.done(asked.post(f"{STATUS}/start")) == "startup for container '200' failed"


def test_a_reboot_kills_what_does_not_stop_and_starts_it_again() -> None:
    asked = running_container()
    asked.world.faults.add(Fault(Point.SHUTDOWN, Effect.HANG))
    before = shown(asked, f"{STATUS}/current")["pid"]

    assert asked.done(asked.post(f"{STATUS}/reboot", timeout=3)) == "OK"

    assert status(asked) == "running"
    assert shown(asked, f"{STATUS}/current")["pid"] != before


def test_two_at_once_wait_for_each_other_up_to_ten_seconds() -> None:
    asked = running_container()
    asked.world.faults.add(Fault(Point.SHUTDOWN, Effect.HANG))
    asked.post(f"{STATUS}/shutdown", timeout=60)

    second = asked.post(f"{STATUS}/stop")

    expected = "can't lock file '/var/lock/lxc/pve-config-200.conf' - got timeout"
    assert asked.done(second) == expected


def test_what_high_availability_manages_is_only_asked_for() -> None:
    asked = managed(one_container())

    upid = asked.post(f"{STATUS}/start")

    assert asked.done(upid) == "OK"
    tasks = asked.cluster.state.tasks
    assert tasks[str(upid)].log[0] == "Requesting HA start for CT 200"
    assert [task.type for task in tasks.values()] == ["vzcreate", "hastart", "vzstart"]
    assert status(asked) == "running"

    assert asked.done(asked.post(f"{STATUS}/shutdown")) == "OK"
    assert [task.type for task in tasks.values()][-2:] == ["hastop", "vzshutdown"]
    assert status(asked) == "stopped"


def test_a_shutdown_by_high_availability_is_not_overruled() -> None:
    asked = managed(running_container())

    error = refused(asked, "POST", f"{STATUS}/stop", overrule__shutdown=1)

    assert error.errors == {"overrule-shutdown": "Not applicable for HA resources."}


@pytest.mark.parametrize(
    ("effect", "later"), [(Effect.DELAY, ["lo", "eth0"]), (Effect.HANG, ["lo"])]
)
def test_a_container_may_bring_its_network_up_late_or_never(
    effect: Effect, later: list[str]
) -> None:
    asked = one_container(net0="name=eth0,bridge=vmbr0,ip=dhcp")
    asked.world.faults.add(Fault(Point.BOOT, effect, seconds=600))

    def links() -> list[str]:
        rows = asked.get("/nodes/pve1/lxc/200/interfaces")
        return [row["name"] for row in rows]  # type: ignore[attr-defined]

    assert asked.done(asked.post(f"{STATUS}/start")) == "OK"
    first = links()
    asked.world.advance(601)
    assert (first, links()) == (["lo"], later)
