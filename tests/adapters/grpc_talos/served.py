"""Talos machines of a world, served at any free ports, and clients that find them there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from stockman_lab.core.dice import Dice
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.talos_servers import Endpoint, Keeping, TalosServers
from stockman_lab.talos.api.call import ApiMachine
from stockman_lab.talos.api.registry import Methods
from stockman_lab.world.world import World

from stockman.adapters.talos.endpoint import ClientIdentity, TalosEndpoints
from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.model.secret import Secret

ADMIN = "os:admin"
DAY = timedelta(days=1)
_NOWHERE = "127.0.0.1:1"


def _anywhere(machine: ApiMachine, address: str, port: int) -> Endpoint | None:
    del machine, port
    return None if ":" in address else ("127.0.0.1", 0)


class Places(Mapping[str, str]):
    """Where addresses of machines really are, at any moment."""

    def __init__(self, world: World, face: TalosServers) -> None:
        self._world = world
        self._face = face

    def __getitem__(self, key: str) -> str:
        host, _, port = key.rpartition(":")
        machine = self._world.talos.machine_at(host)
        found = None if machine is None else self._face.place_of(machine, host, int(port))
        return _NOWHERE if found is None else f"{found[0]}:{found[1]}"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@asynccontextmanager
async def served(
    world: World, scratch: Path, methods: Methods | None = None
) -> AsyncIterator[TalosServers]:
    """The doors of a world's machines while they are open.

    Its time is brought to ours first: certificates that machines made long ago have ended.
    """
    world.advance(max(0.0, real_now().timestamp() - world.now))
    pace = Pace(world, None)
    world.talos.real_clock = lambda: real_now().timestamp()
    face = TalosServers(world.talos, pace, scratch, Keeping(placing=_anywhere), methods)
    face.reconcile()
    pace.go_on()
    try:
        yield face
    finally:
        pace.stop()
        face.stop()


def endpoints(world: World, face: TalosServers, role: str = ADMIN) -> TalosEndpoints:
    """Where the control plane of a world answers, for somebody with a role."""
    hosts = tuple(machine.address for machine in world.talos.machines if machine.is_controlplane)
    known = identity(world, role) if hosts else None
    return TalosEndpoints(hosts=hosts, identity=known, connect=Places(world, face))


def identity(
    world: World, role: str = ADMIN, since: timedelta = -DAY, lasting: timedelta = 30 * DAY
) -> ClientIdentity:
    """A client certificate of the cluster in a world, from and for so long."""
    config = next(machine.config for machine in world.talos.machines if machine.is_controlplane)
    assert config is not None
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(real_now() + since, lasting),
        purposes=(Purpose.CLIENT,),
        organizations=(role,),
    )
    authority = CertificateAndKey(crt=config.os_ca.crt, key=Secret(config.os_ca.key))
    client = issue_certificate(authority, leaf, Dice(7, 0).random_bytes)
    return ClientIdentity(ca=config.os_ca.crt, crt=client.crt, key=client.key)


def real_now() -> datetime:
    """This moment: TLS looks at no other clock."""
    return datetime.now(UTC)  # noqa: TID251
