"""What holds for machines without a configuration through any door."""

from __future__ import annotations

import ssl

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos.state import Stage as MachineStage
from stockman_lab.world.world import World

from lab.tests.talos.staged import staged
from stockman.crypto.certificates import key_fingerprint
from stockman.model.errors import Refused, Rejected, Unreachable, Unsupported
from stockman.model.names import MachineAddress
from stockman.model.secret import Secret
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import network_cards
from stockman.talos.records.operations import (
    ApplyConfigurationRequest,
    ApplyMode,
    MaintenanceMachine,
)
from tests.contract.talos.doors import Backend, Stage

MINORS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")


def waiting(version: str = "1.13.9") -> tuple[World, str]:
    """A world whose one machine waits for its configuration, and that configuration."""
    world = staged("single", version, bootstrap=False)
    name, cluster = next(iter(world.clusters.items()))
    ((vmid, guest),) = cluster.state.guests.items()
    config = staged("single", version).talos.machines[0].state.config
    backend = MemoryClient(world, name)
    backend.put(f"/nodes/{guest.node}/qemu/{vmid}/config", delete="ide2")
    backend.post(f"/nodes/{guest.node}/qemu/{vmid}/status/start")
    world.settle()
    return world, config.decode()


def stranger(stage: Stage) -> MaintenanceMachine:
    return MaintenanceMachine(address=stage.node())


def with_fingerprint(stage: Stage) -> MaintenanceMachine:
    api = stage.machine().api
    assert api is not None
    result = key_fingerprint(ssl.PEM_cert_to_DER_cert(api.certificate))
    return MaintenanceMachine(address=stage.node(), fingerprint=result)


@pytest.mark.parametrize("version", MINORS)
def test_a_machine_that_waits_tells_its_disks_and_cards(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        at = stranger(stage)
        assert await talos.is_in_maintenance(at)
        assert "/dev/sda" in {maintenance_disk.path for maintenance_disk in await talos.disks(at)}
        assert len(network_cards(await talos.links(at))) == 1

    backend(waiting(version)[0], story)


@pytest.mark.parametrize("version", MINORS)
def test_a_machine_that_waits_tells_the_uuid_of_its_vm(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> tuple[str, str]:
        return str(await talos.system_uuid(stranger(stage))), stage.machine().state.uuid

    actual, known = backend(waiting(version)[0], story)

    assert actual == known


def test_the_version_is_told_since_1_13(backend: Backend) -> None:
    async def old(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(Unsupported):
            await talos.version(stranger(stage))

    async def new(talos: TalosClient, stage: Stage) -> str:
        return (await talos.version(stranger(stage))).tag

    backend(waiting("1.12.1")[0], old)

    assert backend(waiting("1.13.9")[0], new) == "v1.13.9"


def test_a_machine_with_a_configuration_is_not_in_maintenance(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> bool:
        return await talos.is_in_maintenance(stranger(stage))

    assert backend(staged(), story) is False


def test_a_machine_that_does_not_answer_is_not_taken_for_one_that_waits(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        del stage
        with pytest.raises(Unreachable):
            await talos.is_in_maintenance(
                MaintenanceMachine(address=MachineAddress("127.67.99.99"))
            )

    backend(staged(), story)


@pytest.mark.parametrize("version", MINORS)
def test_a_machine_takes_its_first_configuration(backend: Backend, version: str) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        at = with_fingerprint(stage)
        application = ApplyConfigurationRequest(
            text=Secret(config, resolved=True), mode=ApplyMode.AUTO
        )
        applied = await talos.apply_configuration(at, application)
        assert applied.mode is (None if version < "1.13" else ApplyMode.NO_REBOOT)
        stage.settle()
        assert stage.machine().state.stage is MachineStage.BOOTING
        assert stage.machine().state.config == config.encode()

    world, config = waiting(version)
    backend(world, story)


def test_a_wrong_first_configuration_is_rejected(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        application = ApplyConfigurationRequest(text=Secret("machine: 5"), mode=ApplyMode.AUTO)
        with pytest.raises(Rejected):
            await talos.apply_configuration(stranger(stage), application)
        assert await talos.is_in_maintenance(stranger(stage))

    backend(waiting()[0], story)


def test_another_key_than_the_one_that_was_named_gets_nothing(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        at = MaintenanceMachine(address=stage.node(), fingerprint=f"{'A' * 43}=")
        application = ApplyConfigurationRequest(
            text=Secret(config, resolved=True), mode=ApplyMode.AUTO
        )
        with pytest.raises(Refused) as caught:
            await talos.apply_configuration(at, application)
        assert caught.value.problem.code == "talos.certificate"
        assert stage.machine().state.stage is MachineStage.MAINTENANCE

    world, config = waiting()
    backend(world, story)


@pytest.mark.parametrize("times", [1, 2])
def test_a_read_whose_connection_was_dead_is_repeated_once(backend: Backend, times: int) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        if times == 1:
            assert await talos.is_in_maintenance(stranger(stage))
        else:
            with pytest.raises(Unreachable):
                await talos.is_in_maintenance(stranger(stage))

    world, _ = waiting()
    fault = Fault(Point.TALOS_CALL, Effect.CUT, {"method": "Get"}, times=times)
    world.faults.add(fault)
    backend(world, story)

    assert fault.struck == times
