"""What machines say of themselves, and how busy they are."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
from stockman_lab.talos.services.running import stop
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged

VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
FIGURES = """
Version Hostname SystemStat LoadAvg Memory CPUInfo CPUFreqStats DiskStats NetworkDeviceStats
Processes ServiceList LogsContainers
"""
MIB = 1 << 20


@pytest.fixture
def world() -> World:
    return staged()


@pytest.fixture
def asking(world: World) -> Asking:
    return Asking(world, machine(world))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_says_which_one_it_is(version: str) -> None:
    world = staged("single", version)
    result = Asking(world, machine(world)).call("Version")
    assert result.version.tag == f"v{version}"
    assert (result.version.os, result.version.arch) == ("linux", "amd64")
    assert len(result.version.sha) == 8
    assert result.version.go_version.startswith("go1.2")
    assert (result.platform.name, result.platform.mode) == ("nocloud", "cloud")
    assert result.features.rbac


def test_a_machine_without_a_configuration_tells_no_features() -> None:
    world = staged()
    result = machine(world)
    result.state.config, result.state.api = b"", "maintenance"
    reply = Asking(world, result).call("Version")
    assert not reply.HasField("features")


def test_its_name_is_that_of_its_network(world: World, asking: Asking) -> None:
    assert asking.call("Hostname").hostname == machine(world).hostname


@pytest.mark.parametrize("version", VERSIONS)
def test_looking_changes_nothing(version: str) -> None:
    world = staged("single", version)
    asking = Asking(world, machine(world))
    before = copy.deepcopy(world.state)
    first = [str(asking.call(name)) for name in FIGURES.split()]
    assert [str(asking.call(name)) for name in FIGURES.split()] == first
    assert world.state == before


def test_counters_only_grow(world: World, asking: Asking) -> None:
    def counters() -> list[float]:
        cpu, network = asking.call("SystemStat"), asking.call("NetworkDeviceStats").total
        disk: Any = asking.call("DiskStats").total
        return [
            cpu.cpu_total.user,
            cpu.cpu_total.idle,
            cpu.context_switches,
            network.rx_bytes,
            network.tx_packets,
            disk.read_completed,
            disk.write_sectors,
            sum(process.cpu_time for process in asking.call("Processes").processes),
        ]

    rows = []
    for _ in range(4):
        rows.append(counters())
        world.advance(61.0)
    for before, after in pairwise(rows):
        assert all(one < other for one, other in zip(before, after, strict=True)), (before, after)


def test_the_moment_of_the_boot_stays_where_it_is(world: World, asking: Asking) -> None:
    before = asking.call("SystemStat").boot_time
    world.advance(1000.0)
    assert asking.call("SystemStat").boot_time == before


def test_all_cores_were_as_long_there_as_the_machine(world: World, asking: Asking) -> None:
    result = machine(world)
    reply = asking.call("SystemStat")
    assert len(reply.cpu) == result.state.cores == len(asking.call("CPUInfo").cpu_info)
    age = world.now - result.state.kernel_at
    for core in reply.cpu:
        spent = core.user + core.system + core.idle + core.iowait
        assert spent == pytest.approx(age, rel=0.02)


def test_memory_is_that_of_the_virtual_machine(world: World, asking: Asking) -> None:
    result = machine(world)
    memory = asking.call("Memory").meminfo
    total = memory.memtotal * 1024
    assert result.state.memory * 0.9 < total < result.state.memory
    assert memory.memfree + memory.cached + memory.buffers < memory.memtotal
    assert memory.memfree < memory.memavailable <= memory.memtotal
    resident = sum(process.resident_memory for process in asking.call("Processes").processes)
    used = (memory.memtotal - memory.memfree - memory.cached - memory.buffers) * 1024
    assert used > resident


def test_a_service_that_stops_gives_its_memory_back(world: World, asking: Asking) -> None:
    def programs() -> set[str]:
        return {process.command for process in asking.call("Processes").processes}

    assert {"init", "containerd", "etcd", "kubelet"} <= programs()
    before = asking.call("Memory").meminfo.anonpages
    stop(machine(world), "kubelet")
    assert "kubelet" not in programs()
    assert asking.call("Memory").meminfo.anonpages < before - 50 * 1024


def test_virtual_processors_have_no_governor(asking: Asking) -> None:
    cpu_freq_stats = asking.call("CPUFreqStats").cpu_freq_stats
    assert cpu_freq_stats
    assert all(
        cpu_freq_stat.governor == "" and cpu_freq_stat.current_frequency == 0
        for cpu_freq_stat in cpu_freq_stats
    )


def test_a_link_that_is_down_is_quiet(world: World, asking: Asking) -> None:
    link = next(one for one in machine(world).state.network.links if one.nic >= 0)
    before = {device.name: device.rx_bytes for device in asking.call("NetworkDeviceStats").devices}
    assert before[link.name] > 0
    assert before["lo"] > 0
