"""Machines that pretend: enough of them to ask their API, and nothing behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache

from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Fault, Faults, Point
from stockman_lab.talos.api.call import MAINTENANCE, ApiMachine, Call, IncomingCall, single
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import CallContext, Methods
from stockman_lab.talos.security.tls import (
    DAY,
    Names,
    maintenance_certificate,
    server_certificate,
)

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    create_authority,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.crypto.private_keys import Algorithm
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import Fields, message_values, new_message

NOW = 1_767_225_600.0
TODAY = datetime.fromtimestamp(NOW, UTC)
ADMIN = frozenset({"os:admin"})
READER = frozenset({"os:reader"})


def cluster_authority(seed: int = 1) -> CertificateAndKey:
    """The authority of a pretended cluster, for whatever clock clients have."""
    return _authority(seed)


@cache
def _authority(seed: int) -> CertificateAndKey:
    period = ValidityPeriod(datetime(2020, 1, 1, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC))
    return create_authority("talos", Algorithm.ED25519, period, Dice(seed).random_bytes)


def client(
    start: datetime, *roles: str, seed: int = 1, purposes: tuple[Purpose, ...] = (Purpose.CLIENT,)
) -> CertificateAndKey:
    """A client certificate that holds for a day from a moment on."""
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(start, DAY), purposes=purposes, organizations=roles
    )
    return issue_certificate(cluster_authority(seed), leaf, Dice(seed).random_bytes)


@dataclass
class PretendedApi:
    """The API of a pretended machine."""

    machine: PretendedMachine
    mode: str = "secured"
    boot: int = 1

    @property
    def ca(self) -> str:
        return self.machine.authority.crt

    @property
    def certificate(self) -> str:
        return self._made.crt

    @property
    def key(self) -> str:
        return self._made.key.reveal()

    @property
    def _made(self) -> CertificateAndKey:
        return _certificate(
            self.machine.seed, self.machine.today, self.mode, tuple(self.machine.addresses)
        )


@cache
def _certificate(
    seed: int, today: datetime, mode: str, addresses: tuple[str, ...]
) -> CertificateAndKey:
    dice = Dice(seed)
    if mode == MAINTENANCE:
        return maintenance_certificate(addresses, today, dice.random_bytes)
    names = Names("machine", ("machine",), addresses)
    return server_certificate(cluster_authority(seed), names, today, dice.random_bytes)


@dataclass(eq=False)
class PretendedMachine:
    """A machine that has an API."""

    hostname: str
    addresses: list[str]
    minor: str = "1.13"
    is_controlplane: bool = True
    is_on: bool = True
    seed: int = 1
    today: datetime = TODAY
    clock: float = 0.0
    api: PretendedApi | None = field(init=False)

    def __post_init__(self) -> None:
        self.api = PretendedApi(self)

    @property
    def authority(self) -> CertificateAndKey:
        return cluster_authority(self.seed)

    @property
    def facts(self) -> Mapping[str, object]:
        return {
            "cluster": "demo",
            "machine": self.hostname,
            "vmid": 100,
            "address": self.addresses[0],
        }

    def enter_maintenance(self) -> None:
        self.api = PretendedApi(self, MAINTENANCE)


class PretendedLand:
    """Machines side by side."""

    def __init__(self, *machines: PretendedMachine) -> None:
        self.machines = list(machines)
        self.faults = Faults()
        self.now = NOW

    def machine_at(self, text: str) -> ApiMachine | None:
        return next(
            (
                machine
                for machine in self.machines
                if text == machine.hostname or text in machine.addresses
            ),
            None,
        )

    def fault(self, point: Point, facts: Mapping[str, object]) -> Fault | None:
        return self.faults.due(point, self.now, facts)


class PretendedPatience:
    """Time passes when somebody waits for it; changes come when they are told."""

    def __init__(self) -> None:
        self.slept = 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds

    async def changed(self) -> None:
        return


def few_methods() -> Methods:
    """One method of each kind."""
    methods = Methods()

    @methods.method("machine.MachineService", "Version")
    def version(call: Call) -> Fields:
        return {
            "version": {"tag": f"v{call.minor}.0", "sha": "abc", "os": "linux", "arch": "amd64"},
            "platform": {"name": "nocloud", "mode": "cloud"},
            "features": {"rbac": True},
        }

    @methods.method("machine.MachineService", "Reboot")
    async def reboot(call: Call) -> Fields:
        await call.sleep(1.0)
        return {"actor_id": ",".join(sorted(call.roles))}

    @methods.streamed("machine.MachineService", "Read")
    async def read(call: Call) -> AsyncIterator[Fields]:
        for text in call.request.path.encode().split(b"/"):
            yield {"bytes": text}

    @methods.uploaded("machine.MachineService", "EtcdRecover")
    async def recover(call: Call, pieces: AsyncIterator[object]) -> Fields:
        del call
        async for _ in pieces:
            pass
        return {}

    @methods.streamed("machine.MachineService", "Events")
    async def events(call: Call) -> AsyncIterator[Fields]:
        while True:
            yield {"id": "event"}
            await call.changed()

    @methods.method("cosi.resource.State", "Get")
    def get(call: Call) -> Fields:
        return {"resource": {"metadata": {"id": call.request.id}}}

    @methods.method("machine.MachineService", "ApplyConfiguration")
    def apply(call: Call) -> Fields:
        return {"mode": "NO_REBOOT", "warnings": [str(len(call.request.data))]}

    return methods


@dataclass
class Asking:
    """Asks pretended machines without a wire."""

    land: PretendedLand
    patience: PretendedPatience = field(default_factory=PretendedPatience)
    methods: Methods = field(default_factory=few_methods)

    async def all(
        self,
        machine: PretendedMachine,
        path: str,
        request: Fields | None = None,
        *,
        roles: frozenset[str] = ADMIN,
        headers: Mapping[str, list[str]] | None = None,
    ) -> list[dict[str, object]]:
        """All messages of an answer."""
        wire = load_api_schema(machine.minor)
        service, _, name = path.removeprefix("/").partition("/")
        known = wire.method(service, name)
        raw = new_message(wire, known.request, request or {}).SerializeToString()
        incoming = IncomingCall(path, single(raw), headers or {}, roles, "127.0.0.1")
        context = CallContext(self.land, self.patience, self.methods)
        answer = wire.message(known.response)
        return [
            message_values(wire, answer.FromString(piece))
            async for piece in perform(context, machine, incoming)
        ]

    async def one(
        self,
        machine: PretendedMachine,
        path: str,
        request: Fields | None = None,
        *,
        roles: frozenset[str] = ADMIN,
        headers: Mapping[str, list[str]] | None = None,
    ) -> dict[str, object]:
        """The only message of an answer."""
        (found,) = await self.all(machine, path, request, roles=roles, headers=headers)
        return found
