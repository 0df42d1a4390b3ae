"""Calls of Talos machines that are counted, and not too many at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from typing import TypeVar, cast

from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.observed.talos import ObservedMachine, ObservedTalos
from stockman.ports.environment import Network, NoAnswer, ServerAddress
from stockman.ports.system import Timekeeper
from stockman.steps.etcd.view import EtcdReport, ObservedEtcd, read_etcd_report
from stockman.steps.ports import Ports
from stockman.steps.talos.client_files import WriteClientFile
from stockman.steps.talos.machine import MachineState, TalosMachine, probe_machine_patiently
from stockman.talos.machine.values import configuration_values
from stockman.talos.records.machines import DiscoveredMember, network_cards
from stockman.talos.records.operations import MaintenanceMachine
from stockman.talos.records.protocol import Talos

T = TypeVar("T")


class CountedTalos:
    """A door of which every call is counted; so many at most are under way at once."""

    def __init__(self, talos: Talos, at_once: int) -> None:
        self._talos = talos
        self._room = asyncio.Semaphore(at_once)
        self.counts: Counter[str] = Counter()

    @property
    def door(self) -> Talos:
        """The same door, counted; what it streams is not."""
        return cast("Talos", self)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        method = getattr(self._talos, name)

        async def counted(*given: object, **named: object) -> object:
            async with self._room:
                self.counts[name] += 1
                return await method(*given, **named)

        return counted


class MachineFacts:
    """Facts about one thing: what could be learnt, and why the rest could not."""

    def __init__(self) -> None:
        self.unknown: dict[str, str] = {}

    async def learn(self, name: str, call: Awaitable[T]) -> T | None:
        """What a call answers. None: it did not, and `unknown` says why."""
        try:
            return await call
        except StockmanError as no:
            self.unknown[name] = f"{no.problem.code}: {no.problem.why}"
            return None


_AT_ONCE = 32
_API_PORT = 6443


@record
class TalosQuery:
    """What is to be looked at."""

    desired: Desired
    leaving: Mapping[str, MachineAddress] = field(default_factory=dict)
    """Machines that are ours and not wanted any more, by name."""
    client_files: tuple[WriteClientFile, ...] = ()
    """Files that are looked at, as they should be."""
    at_once: int = _AT_ONCE
    """So many machines at most are asked at the same time."""


async def observe_talos(
    look: TalosQuery, ports: Ports, network: Network | None = None
) -> ObservedTalos:
    """What the machines are like; whoever does not answer is unknown, and not absent."""
    counts, now = CountedTalos(ports.to_talos(), look.at_once), ports.clock.now()
    pass_ = _TalosReader(counts.door, ports.clock)
    wanted = _machines(look)
    async with asyncio.TaskGroup() as group:
        seen = [group.create_task(pass_.machine(one)) for one in wanted]
    machines = {one.node: one for one in (task.result() for task in seen)}
    etcd = await pass_.etcd([one for one in wanted if _may_have_etcd(look, one)], machines)
    return ObservedTalos(
        seen_at=now,
        machines=machines,
        etcd=etcd,
        neighbours=await pass_.neighbours(machines, look.desired),
        client_files={
            one.file: await _missing_configuration(one, ports) for one in look.client_files
        },
        api_taken=await _find_api_address_owner(look.desired, machines, network),
        calls=dict(counts.counts),
    )


def _machines(look: TalosQuery) -> tuple[TalosMachine, ...]:
    wanted = {str(node.name): MachineAddress(str(node.address.ip)) for node in look.desired.nodes}
    both = {**look.leaving, **wanted}
    return tuple(TalosMachine(node=name, address=address) for name, address in both.items())


def _may_have_etcd(look: TalosQuery, machine: TalosMachine) -> bool:
    """Controllers, and those that leave: nobody says what they were."""
    controllers = {str(node.name) for node in look.desired.nodes if node.is_controller}
    wanted = {str(node.name) for node in look.desired.nodes}
    return machine.node in controllers or machine.node not in wanted


class _TalosReader:
    """One look at everything."""

    def __init__(self, talos: Talos, clock: Timekeeper) -> None:
        self._talos = talos
        self._clock = clock
        self._now = clock.now()

    async def machine(self, machine: TalosMachine) -> ObservedMachine:
        look = await probe_machine_patiently(self._talos, self._clock, machine.address)
        found = ObservedMachine(
            node=machine.node,
            address=machine.address,
            seen_at=self._now,
            source=f"Talos API of {machine.address}",
            standing=look.standing,
            why=look.why,
            version=look.version.tag if look.version is not None else None,
        )
        if look.standing is MachineState.CONFIGURED:
            return await self._configured(found)
        if look.standing is MachineState.MAINTENANCE:
            return await self._stranger(found)
        return found

    async def _stranger(self, found: ObservedMachine) -> ObservedMachine:
        at, facts = MaintenanceMachine(address=found.address), MachineFacts()
        talos, learn = self._talos, facts.learn
        version, uuid, links = await asyncio.gather(
            learn("version", talos.maintenance_version(at)),
            learn("uuid", talos.maintenance_uuid(at)),
            learn("links", talos.maintenance_links(at)),
        )
        return replace(
            found,
            version=version.tag if version is not None else None,
            uuid=uuid,
            macs=tuple(one.mac for one in network_cards(links)) if links is not None else None,
            unknown=facts.unknown,
        )

    async def _configured(self, found: ObservedMachine) -> ObservedMachine:
        facts, address, talos = MachineFacts(), found.address, self._talos
        learn = facts.learn
        uuid, links, status, hostname = await asyncio.gather(
            learn("uuid", talos.system_uuid(address)),
            learn("links", talos.links(address)),
            learn("status", talos.machine_status(address)),
            learn("hostname", talos.hostname(address)),
        )
        schematic, boot_id, text, clock, kubelet, addresses = await asyncio.gather(
            learn("schematic", talos.schematic(address)),
            learn("boot_id", talos.boot_id(address)),
            learn("configuration", talos.machine_configuration(address)),
            learn("clock", talos.clock_reading(address)),
            learn("kubelet", talos.kubelet(address)),
            learn("addresses", talos.addresses(address)),
        )
        minor = Version.parse(found.version).minor_text if found.version else ""
        digest, authority = _config_facts(text, minor, facts)
        return replace(
            found,
            uuid=uuid,
            macs=tuple(one.mac for one in network_cards(links)) if links is not None else None,
            hostname=hostname,
            status=status,
            schematic=schematic,
            boot_id=boot_id,
            configuration=text,
            digest=digest,
            authority=authority,
            skew=clock.skew if clock is not None else None,
            time_server=clock.server if clock is not None else "",
            kubelet=kubelet.image if kubelet is not None else None,
            holds=tuple(one.address.partition("/")[0] for one in addresses or ()),
            unknown=facts.unknown,
        )

    async def etcd(
        self, controllers: list[TalosMachine], machines: Mapping[str, ObservedMachine]
    ) -> ObservedEtcd:
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(self._etcd_of(one, machines[one.node])) for one in controllers
            ]
        return ObservedEtcd(answers=tuple(one.result() for one in asked))

    async def _etcd_of(self, machine: TalosMachine, seen: ObservedMachine) -> EtcdReport:
        if not seen.is_configured:
            return EtcdReport(node=machine.node, why=seen.why or f"it is {seen.standing.value}")
        return await read_etcd_report(self._talos, machine)

    async def neighbours(
        self, machines: Mapping[str, ObservedMachine], desired: Desired
    ) -> tuple[DiscoveredMember, ...]:
        """As the first controller that answers has them."""
        facts = MachineFacts()
        for node in desired.nodes:
            seen = machines.get(str(node.name))
            if node.is_controller and seen is not None and seen.is_configured:
                found = await facts.learn("neighbours", self._talos.neighbours(seen.address))
                if found is not None:
                    return found
        return ()


def _config_facts(
    text: Secret | None, minor: str, facts: MachineFacts
) -> tuple[str | None, str | None]:
    """Digest and authority of a configuration."""
    if text is None or not minor:
        return None, None
    try:
        values = configuration_values(text, minor)
    except StockmanError as no:
        facts.unknown["digest"] = f"{no.problem.code}: {no.problem.why}"
        return None, None
    return values.digest, values.authority


async def _missing_configuration(action: WriteClientFile, ports: Ports) -> str | None:
    try:
        return await action.lack(ports)
    except StockmanError:
        return None


async def _find_api_address_owner(
    desired: Desired, machines: Mapping[str, ObservedMachine], network: Network | None
) -> str:
    """What has the address of the API before any controller of ours is there."""
    cluster = desired.cluster
    if cluster is None or network is None:
        return ""
    controllers = [str(node.name) for node in desired.nodes if node.is_controller]
    own = [str(node.address.ip) for node in desired.nodes]
    address = str(cluster.kubernetes.api_addr)
    if address in own or any(machines[name].is_configured for name in controllers):
        return ""
    try:
        await network.connect(ServerAddress(host=address, port=_API_PORT))
    except NoAnswer:
        return ""
    return f"port {_API_PORT} takes connections"
