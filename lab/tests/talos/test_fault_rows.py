"""What goes wrong with machines in upgrades can be brought about: booting, images, installing."""

from __future__ import annotations

import asyncio

import pytest
from stockman_lab.core.faults import Effect, Point
from stockman_lab.factory.schematics import post_schematic
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from lab.tests.talos.troubles import STORE, installer, let, power_cycled, refused, shown
from stockman.talos.api.transport import GrpcCode
from stockman.talos.schematic import ImageSchematic

EXTENSIONS = "ExtensionStatuses.runtime.talos.dev"


def pull(world: World, machine: Machine, image: str) -> str:
    """Pull as clients do; the name of what is in the store then."""
    stream = Asking(world, machine).stream(
        "machine.ImageService/Pull", containerd=STORE, image_ref=image
    )
    return str(stream[-1].name)


def lifecycle(world: World, machine: Machine, image: str) -> tuple[int, str]:
    """Install an image into the free slot; exit code and last line."""
    stream = Asking(world, machine).stream(
        "machine.LifecycleService/Upgrade", containerd=STORE, source={"image_name": image}
    )
    lines = [one.progress.message for one in stream if one.progress.message]
    return stream[-1].progress.exit_code, lines[-1]


# -- booting -----------------------------------------------------------------------------------


def test_a_machine_never_boots_and_its_screen_stays_black() -> None:
    world = staged()
    result = machine(world)
    let(world, Point.TALOS_STEP, Effect.HANG, match={"step": "kernel"})
    power_cycled(world, result)
    assert result.state.stage is Stage.BOOTING
    assert result.state.kernel_log == []
    assert refused(Asking(world, result), "Version").code is GrpcCode.UNAVAILABLE


def test_a_machine_boots_what_was_on_its_disk_before() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    let(world, Point.TALOS_STEP, Effect.FAIL, match={"step": "upgrade"})
    Asking(world, result).call("Upgrade", image=installer("1.13.9"), force=True)
    world.settle()
    assert Asking(world, result).call("Version").version.tag == "v1.12.1"
    assert result.state.api == "secured"  # no maintenance: it asks for a certificate


def test_a_boot_loop_alternates_between_slots_and_is_seen_in_versions_and_boot_ids() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    let(
        world,
        Point.TALOS_STEP,
        Effect.FAIL,
        match={"step": "ephemeral", "sequence": "boot"},
        times=4,
    )
    Asking(world, result).call("Upgrade", image=installer("1.13.9"), force=True)
    boots: dict[str, tuple[str, str]] = {}
    while world.timeline.next_at is not None:
        world.timeline.run_until(world.timeline.next_at)
        boots[result.state.boot_id] = (result.state.slot, result.version)
    assert len(boots) == 6  # the one before, four that failed, and the last one
    assert set(boots.values()) == {("A", "v1.12.1"), ("B", "v1.13.9")}
    assert result.state.stage is Stage.RUNNING


def test_a_machine_that_fails_for_ever_comes_to_rest_until_somebody_takes_its_power() -> None:
    world = staged()
    result = machine(world)
    fault = let(world, Point.TALOS_STEP, Effect.FAIL, match={"step": "ephemeral"}, times=None)
    Asking(world, result).call("Reboot")
    world.settle()
    assert result.state.sequence is None
    assert result.state.failures > 10
    world.take_back(fault.number)
    power_cycled(world, result)
    assert result.state.stage is Stage.RUNNING


def test_kexec_brings_a_machine_up_whose_firmware_would_not() -> None:
    world = staged()
    result = machine(world)
    let(world, Point.TALOS_STEP, Effect.FAIL, match={"step": "firmware"}, times=None)
    Asking(world, result).call("Reboot")
    world.settle()
    assert Asking(world, result).call("Version").version.tag == "v1.13.9"
    power_cycled(world, result)
    assert refused(Asking(world, result), "Version").code is GrpcCode.UNAVAILABLE


# -- what an image brings ----------------------------------------------------------------------


def test_an_extension_is_missing_after_an_upgrade() -> None:
    world = staged()
    result = machine(world)

    def names() -> set[str]:
        every = shown(world, result, EXTENSIONS).values()
        return {one["metadata"]["name"] for one in every}

    assert "qemu-guest-agent" in names()
    Asking(world, result).call("Upgrade", image=installer("1.13.9"), force=True)
    world.settle()
    assert "qemu-guest-agent" not in names()
    assert "ext-qemu-guest-agent" not in {
        service.id for service in Asking(world, result).call("ServiceList").services
    }


def test_there_is_no_room_for_a_second_image_where_the_first_one_boots_from() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    disk = result.disk
    assert disk is not None
    disk.partitioned_by("v1.10.6")
    large = ImageSchematic(
        extensions=(
            "siderolabs/kata-containers",
            "siderolabs/nvidia-open-gpu-kernel-modules-lts",
            "siderolabs/nvidia-container-toolkit-lts",
            "siderolabs/amdgpu",
            "siderolabs/gvisor",
            "siderolabs/i915",
        )
    )
    image = installer("1.13.9", schematic=str(post_schematic(world.factory, large)))
    code, line = lifecycle(world, result, pull(world, result, image))
    assert (code, "no space left on device" in line) == (7, True)
    assert disk.default == "A"
    disk.partitioned_by("v1.13.9")
    assert lifecycle(world, result, image)[0] == 0


def test_a_configuration_that_the_target_version_does_not_know_is_not_loaded() -> None:
    world = staged("single", "1.14.1")
    result = machine(world)
    newer = result.state.config + (
        b"---\napiVersion: v1alpha1\nkind: EtcFileConfig\nname: motd\ncontents: wool\n"
    )
    applied = result.disk
    assert applied is not None
    applied.config = newer
    Asking(world, result).call("Upgrade", image=installer("1.13.9"), force=True)
    world.settle()
    assert result.version == "v1.13.9"
    assert result.state.stage is Stage.MAINTENANCE
    assert any("failed to load machine config" in one.text for one in result.state.kernel_log)


# -- where images come from --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "more", "text"),
    [
        (Effect.KILL, {}, "connection refused"),
        (Effect.FAIL, {"status": 429}, "429 Too Many Requests"),
        (Effect.FAIL, {}, "503 Service Unavailable"),
        (Effect.HANG, {}, "timeout awaiting response headers"),
        (Effect.CUT, {}, "EOF"),
        (Effect.CORRUPT, {"message": "arch"}, "no match for platform"),
    ],
)
def test_a_registry_in_trouble_is_told_and_changes_nothing(
    effect: Effect, more: dict[str, object], text: str
) -> None:
    world = staged()
    result = machine(world)
    let(world, Point.REGISTRY, effect, times=None, **more)
    with pytest.raises(Refusal, match=text):
        pull(world, result, installer("1.14.1"))
    assert text in refused(Asking(world, result), "Upgrade", image=installer("1.14.1")).message
    assert (result.state.stage, result.state.installing) == (Stage.RUNNING, False)


def test_a_registry_that_hangs_takes_its_time_before_it_is_given_up() -> None:
    world = staged()
    result = machine(world)
    let(world, Point.REGISTRY, Effect.HANG)
    before = world.now
    with pytest.raises(Refusal):
        pull(world, result, installer("1.14.1"))
    assert world.now - before >= 30.0


def test_a_tag_moves_between_two_machines() -> None:
    world = staged("three-node")
    digests = []
    for name in ("talos-neo", "talos-niobe"):
        result = machine(world, name)
        image = pull(world, result, installer("1.14.1"))
        listed = Asking(world, result).stream("machine.ImageService/List", containerd=STORE)
        digests += [one.digest for one in listed if one.name == image]
        let(world, Point.REGISTRY, Effect.LIE, match={"reference": "v1.14.1"}, times=None)
    assert len(set(digests)) == 2


def test_a_registry_goes_down_after_one_machine_has_its_image() -> None:
    world = staged("three-node")
    first, second = machine(world, "talos-neo"), machine(world, "talos-niobe")
    image = pull(world, first, installer("1.14.1"))
    let(world, Point.REGISTRY, Effect.KILL, times=None)
    assert lifecycle(world, first, image)[0] == 0
    with pytest.raises(Refusal, match="connection refused"):
        pull(world, second, image)


def test_an_unknown_schematic_of_a_factory_cannot_be_pulled() -> None:
    world = staged()
    with pytest.raises(Refusal, match="not found"):
        pull(world, machine(world), installer("1.13.9", schematic="ab" * 32))


# -- while something is installed --------------------------------------------------------------


def test_somebody_else_installs_already() -> None:
    world = staged()
    result = machine(world)
    image = pull(world, result, installer("1.14.1"))
    let(world, Point.TALOS_STEP, Effect.HANG, match={"sequence": "lifecycle"})
    door = Asking(world, result).door

    async def both() -> str:
        first = door.stream(
            "machine.LifecycleService/Upgrade", containerd=STORE, source={"image_name": image}
        )
        await anext(first)
        try:
            await door.call("machine.MachineService/Upgrade", image=image)
        except Refusal as refusal:
            return f"{refusal.code.name}: {refusal.message}"
        finally:
            await first.aclose()
        return ""

    assert asyncio.run(both()) == (
        "FAILED_PRECONDITION: another installation/upgrade is already in progress"
    )
    assert not result.state.installing


@pytest.mark.parametrize("code", [GrpcCode.UNAVAILABLE, GrpcCode.PERMISSION_DENIED])
def test_the_api_refuses_for_a_while_although_the_machine_is_well(code: GrpcCode) -> None:
    world = staged()
    result = machine(world)
    let(
        world,
        Point.TALOS_CALL,
        Effect.FAIL,
        status=code.value,
        until=world.now + 60,
        times=None,
    )
    assert refused(Asking(world, result), "Version").code is code
    world.advance(61)
    assert Asking(world, result).call("Version").version.tag == "v1.13.9"


def test_a_stream_hangs_although_the_machine_is_back() -> None:
    world = staged()
    result = machine(world)
    let(world, Point.TALOS_CALL, Effect.HANG, match={"method": "Events"})
    Asking(world, result).call("Reboot")
    world.settle()

    async def follow() -> None:
        async with asyncio.timeout(0):
            async for _ in Asking(world, result).door.stream("machine.MachineService/Events"):
                pass

    with pytest.raises(TimeoutError):
        asyncio.run(follow())
    assert Asking(world, result).call("Version").version.tag == "v1.13.9"
