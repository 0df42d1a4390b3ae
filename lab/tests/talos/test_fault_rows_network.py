"""What goes wrong with machines in upgrades can be brought about: cards, addresses, devices."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Point
from stockman_lab.factory.schematics import post_schematic
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from lab.tests.talos.struck import switched_on
from lab.tests.talos.troubles import (
    installer,
    let,
    nic_of,
    power_cycled,
    reconfigured,
    refused,
    shown,
)
from stockman.talos.api.transport import GrpcCode
from stockman.talos.schematic import ImageSchematic
from tests.fast_yaml import dump_yaml, load_all_yaml

LINKS, ADDRESSES = "LinkStatuses.net.talos.dev", "NodeAddresses.net.talos.dev"
PCI, MODULES = "PCIDevices.hardware.talos.dev", "LoadedKernelModules.runtime.talos.dev"
GPU_MODULES = ("nvidia", "nvidia_uvm")


def cards(world: World, machine: Machine) -> dict[str, str]:
    """Real cards by name, with their addresses."""
    every = shown(world, machine, LINKS, "network")
    return {name: one["hardwareAddr"] for name, one in every.items() if one.get("busPath")}


# -- cards -------------------------------------------------------------------------------------


def test_a_card_is_missing_after_a_power_cycle() -> None:
    world = staged("three-node")
    found, other = machine(world, "talos-neo"), machine(world, "talos-niobe")
    address = found.address
    reconfigured(world, found, delete="net0")
    power_cycled(world, found)
    assert refused(Asking(world, found), "Version").code is GrpcCode.UNAVAILABLE
    asking = Asking(world, other, node=address)
    assert "no route to host" in refused(asking, "Version").message


def test_cards_have_other_names_after_an_upgrade_to_other_kernel_arguments() -> None:
    world = staged()
    result = machine(world)
    assert list(cards(world, result)) == ["eth0"]
    renamed = ImageSchematic(kernel_args=("-net.ifnames",))
    text = str(post_schematic(world.factory, renamed))
    Asking(world, result).call("Upgrade", image=installer("1.13.9", schematic=text), force=True)
    world.settle()
    if "net.ifnames=0" in result.state.cmdline:
        pytest.fail("the argument is still there")
    assert list(cards(world, result)) == ["ens18"]


def test_a_card_is_in_another_vlan_and_its_address_is_of_no_use() -> None:
    world = staged("three-node")
    found, other = machine(world, "talos-neo"), machine(world, "talos-niobe")
    address = found.address
    before = nic_of(world, found)
    reconfigured(world, found, net0=before.replace("tag=3", "tag=99"))
    assert found.address == address
    asking = Asking(world, other, node=address)
    assert "no route to host" in refused(asking, "Version").message
    assert found.state.services["etcd"].is_healthy is False
    reconfigured(world, found, net0=before)
    assert Asking(world, other, node=address).call("Version").version.tag == "v1.13.9"
    assert found.state.services["etcd"].is_healthy is True


def test_a_card_has_another_mac_and_gets_another_address() -> None:
    world = staged("fifteen-node")
    result = machine(world, "k8s-work-1")
    before = result.address
    old = next(iter(cards(world, result).values()))
    reconfigured(world, result, net0=nic_of(world, result).replace(old, "bc:24:11:aa:bb:cc"))
    power_cycled(world, result)
    assert result.address not in ("", before)
    assert "bc:24:11:aa:bb:cc" in cards(world, result).values()


def test_dhcp_gives_another_address_than_before() -> None:
    first = switched_on(staged(bootstrap=False), keeps_seed=False)
    world = staged(bootstrap=False)
    let(world, Point.LEASE, Effect.LIE, times=None)
    second = switched_on(world, keeps_seed=False)
    assert second.address not in ("", first.address)
    assert world.talos.machine_at(first.address) is None
    assert Asking(world, second, "os:reader").call("Version").version.tag == "v1.13.9"


@pytest.mark.parametrize("seconds", [40.0, 90.0])
def test_nobody_gets_through_for_a_while_after_the_first_answer(seconds: float) -> None:
    world = staged(bootstrap=False)
    result = switched_on(world, keeps_seed=False)
    ask = Asking(world, result, "os:reader")
    assert ask.call("Version").version.tag == "v1.13.9"
    let(world, Point.NETWORK, Effect.FAIL, since=world.now, until=world.now + seconds, times=None)
    assert refused(ask, "Version").code is GrpcCode.UNAVAILABLE
    world.advance(seconds - 1)
    assert refused(ask, "Version").code is GrpcCode.UNAVAILABLE
    world.advance(2)
    assert ask.call("Version").version.tag == "v1.13.9"


def test_others_say_that_there_is_no_route_to_a_machine_that_is_cut_off() -> None:
    world = staged("three-node")
    found, other = machine(world, "talos-neo"), machine(world, "talos-niobe")
    let(world, Point.NETWORK, Effect.FAIL, match={"machine": "talos-neo"}, times=None)
    asking = Asking(world, other, node=found.address)
    assert "connect: no route to host" in refused(asking, "Version").message


# -- the shared address ------------------------------------------------------------------------


def test_the_shared_address_leaves_a_machine_that_goes_down() -> None:
    world = staged("three-node")

    shared = machine(world).state.network.vip

    def holder() -> Machine | None:
        return world.talos.machine_at(shared)

    first = holder()
    assert first is not None
    Asking(world, first).call("Reboot", mode="POWERCYCLE")
    seen = set()
    while world.timeline.next_at is not None:
        world.timeline.run_until(world.timeline.next_at)
        found = holder()
        seen.add("" if found is None else found.hostname)
    assert seen - {first.hostname}
    last = holder()
    assert last is not None
    assert last.hostname != first.hostname


# -- devices -----------------------------------------------------------------------------------


def with_gpu(world: World) -> Machine:
    """A machine with a card of its host, and an image and a configuration for it."""
    gpu = machine(world)
    extensions = ("siderolabs/nvidia-open-gpu-kernel-modules-lts",)
    made = str(post_schematic(world.factory, ImageSchematic(extensions=extensions)))
    client = MemoryClient(world, gpu.state.cluster)
    guest = world.talos.guest(gpu)
    assert guest is not None
    host = client.cluster.state.hosts[guest.node]
    from stockman_lab.pve.host import PciDevice

    host.pci.append(
        PciDevice("0000:01:00.0", "0x10de", "0x2571", "NVIDIA Corporation", "RTX A2000")
    )
    reconfigured(world, gpu, hostpci0="0000:01:00.0")
    all_yaml = load_all_yaml(gpu.state.config)
    documents = list(all_yaml)
    documents[0]["machine"]["kernel"] = {
        "modules": [{"name": gpu_module} for gpu_module in GPU_MODULES]
    }
    text = dump_yaml(*documents, sort_keys=False).encode()
    Asking(world, gpu).call("ApplyConfiguration", data=text, mode="STAGED")
    Asking(world, gpu).call("Upgrade", image=installer("1.13.9", schematic=made), force=True)
    world.settle()
    power_cycled(world, gpu)
    assert gpu.state.stage is Stage.RUNNING
    return gpu


def drivers(world: World, machine: Machine) -> list[str]:
    every = shown(world, machine, PCI, "hardware").values()
    return [one.get("driver", "") for one in every if one["vendor_id"] == "0x10de"]


def test_a_graphics_card_is_there_with_its_driver() -> None:
    world = staged()
    machine = with_gpu(world)
    assert drivers(world, machine) == ["nvidia"]
    assert set(GPU_MODULES) <= set(shown(world, machine, MODULES))


def test_a_graphics_card_was_taken_away_from_the_virtual_machine() -> None:
    world = staged()
    machine = with_gpu(world)
    reconfigured(world, machine, delete="hostpci0")
    power_cycled(world, machine)
    assert drivers(world, machine) == []
    assert not set(GPU_MODULES) & set(shown(world, machine, MODULES))


def test_a_graphics_card_has_no_driver_after_an_upgrade_without_the_extension() -> None:
    world = staged()
    machine = with_gpu(world)
    Asking(world, machine).call("Upgrade", image=installer("1.13.9"), force=True)
    world.settle()
    assert drivers(world, machine) == [""]
    assert not set(GPU_MODULES) & set(shown(world, machine, MODULES))


# -- clocks and certificates -------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [600.0, -600.0])
def test_the_clock_of_a_machine_is_ten_minutes_off(seconds: float) -> None:
    world = staged(bootstrap=False)
    result = switched_on(world)
    let(world, Point.CLOCK, Effect.LIE, seconds=seconds, times=None)
    told = Asking(world, result).call("time.TimeService/Time")
    assert told.localtime.seconds - told.remotetime.seconds == seconds
    refusal = refused(Asking(world, result), "Bootstrap")
    assert (refusal.code, refusal.message) == (
        GrpcCode.FAILED_PRECONDITION,
        "time is not in sync yet",
    )


def test_time_servers_that_never_answer_keep_etcd_waiting() -> None:
    world = staged()
    result = machine(world)
    let(world, Point.TALOS_STEP, Effect.HANG, match={"step": "time"})
    Asking(world, result).call("Reboot")
    world.settle()
    assert result.state.stage is Stage.BOOTING
    with pytest.raises(Refusal):
        Asking(world, result).call("EtcdStatus")
    status = shown(world, result, "MachineStatuses.runtime.talos.dev")["machine"]
    assert "time" in [
        unmet_condition["name"] for unmet_condition in status["status"]["unmetConditions"]
    ]
