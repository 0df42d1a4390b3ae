"""An endpoint that waits for its configuration does not stand in the way of the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from stockman.adapters.talos.transport import MAX_MAINTENANCE_CONNECTIONS, GrpcTalos
from stockman.model.names import MachineAddress
from stockman.steps.talos.machine import MachineState, probe_machine
from stockman.talos.records.operations import MaintenanceMachine
from tests.adapters.grpc_talos.served import endpoints, served
from tests.steps.talos_scene import NEO, NIOBE, TRINITY, scene


def test_calls_are_carried_by_the_endpoint_that_has_a_configuration(tmp_path: Path) -> None:
    found = scene()
    found.start()
    configure = next(step for step in found.plan() if step.id == f"talos/configure/{NEO}")
    found.carry_out([replace(configure, needs=())])
    addresses = [str(found.target(name).address) for name in (TRINITY, NEO, NIOBE)]

    async def story() -> list[MachineState]:
        async with served(found.world, tmp_path) as face:
            known = replace(endpoints(found.world, face), hosts=tuple(addresses))
            async with GrpcTalos(known) as talos:
                looks = [
                    await probe_machine(talos, MachineAddress(address)) for address in addresses
                ]
        return [look.standing for look in looks]

    assert asyncio.run(story()) == [
        MachineState.MAINTENANCE,
        MachineState.CONFIGURED,
        MachineState.MAINTENANCE,
    ]


def test_not_every_machine_that_waits_for_its_configuration_keeps_a_connection(
    tmp_path: Path,
) -> None:
    found = scene()
    found.start()
    address = str(found.target(NEO).address)
    strangers = [f"127.0.7.{number}" for number in range(1, MAX_MAINTENANCE_CONNECTIONS + 6)]

    async def story() -> int:
        async with served(found.world, tmp_path) as face:
            real = endpoints(found.world, face)
            place = real.connect[f"{address}:50000"]
            known = replace(real, connect={f"{stranger}:50000": place for stranger in strangers})
            async with GrpcTalos(known) as talos:
                for one in [*strangers, *strangers[:3]]:
                    await talos.version(MaintenanceMachine(address=MachineAddress(one)))
                rows = [door for one in face._open.values() for door in one.doors.values()]
                return sum(row.lines for row in rows)

    assert asyncio.run(story()) <= MAX_MAINTENANCE_CONNECTIONS + 1
