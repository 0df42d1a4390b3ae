"""One pass over the Talos machines of a cluster."""

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
from stockman.talos.api.client import TalosClient
from stockman.talos.machine.masking import configuration_values
from stockman.talos.records.machines import DiscoveredMember, network_cards
from stockman.talos.records.operations import MaintenanceMachine

T = TypeVar("T")


class CountedTalos:
    """A Talos client that counts its calls, and limits how many run in parallel."""

    def __init__(self, talos: TalosClient, at_once: int) -> None:
        self._talos = talos
        self._slots = asyncio.Semaphore(at_once)
        self.counts: Counter[str] = Counter()

    @property
    def client(self) -> TalosClient:
        """The client; streams are not counted."""
        return cast("TalosClient", self)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        method = getattr(self._talos, name)

        async def call(*args: object, **kwargs: object) -> object:
            async with self._slots:
                self.counts[name] += 1
                return await method(*args, **kwargs)

        return call


class MachineFacts:
    """Facts about one machine, and why some of them could not be read."""

    def __init__(self) -> None:
        self.unknown: dict[str, str] = {}

    async def read(self, name: str, call: Awaitable[T]) -> T | None:
        """Return the result of a call; None if it fails, with the reason in `unknown`."""
        try:
            return await call
        except StockmanError as error:
            self.unknown[name] = f"{error.problem.code}: {error.problem.why}"
            return None


_PARALLEL_READS = 32
_API_PORT = 6443


@record
class TalosQuery:
    """The machines and files to read."""

    desired: Desired
    leaving: Mapping[str, MachineAddress] = field(default_factory=dict)
    """Machines of the cluster that are no longer desired, by name."""
    client_files: tuple[WriteClientFile, ...] = ()
    """Desired client files to compare with the existing ones."""
    at_once: int = _PARALLEL_READS
    """Maximum number of parallel calls."""


async def observe_talos(
    query: TalosQuery, ports: Ports, network: Network | None = None
) -> ObservedTalos:
    """Read the state of all machines; one that does not respond is unknown, not absent."""
    counts, now = CountedTalos(ports.to_talos(), query.at_once), ports.clock.now()
    reader = _TalosReader(counts.client, ports.clock)
    machines_to_read = _machines(query)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(reader.machine(machine)) for machine in machines_to_read]
    machines = {machine.node: machine for machine in (task.result() for task in tasks)}
    etcd = await reader.etcd(
        [machine for machine in machines_to_read if _may_have_etcd(query, machine)], machines
    )
    return ObservedTalos(
        seen_at=now,
        machines=machines,
        etcd=etcd,
        neighbours=await reader.neighbours(machines, query.desired),
        client_files={
            file.file: await _missing_configuration(file, ports) for file in query.client_files
        },
        api_taken=await _find_api_address_owner(query.desired, machines, network),
        calls=dict(counts.counts),
    )


def _machines(query: TalosQuery) -> tuple[TalosMachine, ...]:
    desired = {str(node.name): MachineAddress(str(node.address.ip)) for node in query.desired.nodes}
    addresses = {**query.leaving, **desired}
    return tuple(TalosMachine(node=name, address=address) for name, address in addresses.items())


def _may_have_etcd(query: TalosQuery, machine: TalosMachine) -> bool:
    """Return whether a machine is a controller, or is leaving: its role is unknown then."""
    controllers = {str(node.name) for node in query.desired.nodes if node.is_controller}
    desired = {str(node.name) for node in query.desired.nodes}
    return machine.node in controllers or machine.node not in desired


class _TalosReader:
    """Reads the machines of one pass."""

    def __init__(self, talos: TalosClient, clock: Timekeeper) -> None:
        self._talos = talos
        self._clock = clock
        self._now = clock.now()

    async def machine(self, machine: TalosMachine) -> ObservedMachine:
        probe = await probe_machine_patiently(self._talos, self._clock, machine.address)
        observed = ObservedMachine(
            node=machine.node,
            address=machine.address,
            seen_at=self._now,
            source=f"Talos API of {machine.address}",
            standing=probe.standing,
            why=probe.why,
            version=probe.version.tag if probe.version is not None else None,
        )
        if probe.standing is MachineState.CONFIGURED:
            return await self._configured_machine(observed)
        if probe.standing is MachineState.MAINTENANCE:
            return await self._maintenance_machine(observed)
        return observed

    async def _maintenance_machine(self, observed: ObservedMachine) -> ObservedMachine:
        at, facts = MaintenanceMachine(address=observed.address), MachineFacts()
        talos, read = self._talos, facts.read
        version, uuid, links = await asyncio.gather(
            read("version", talos.version(at)),
            read("uuid", talos.system_uuid(at)),
            read("links", talos.links(at)),
        )
        return replace(
            observed,
            version=version.tag if version is not None else None,
            uuid=uuid,
            macs=tuple(link.mac for link in network_cards(links)) if links is not None else None,
            unknown=facts.unknown,
        )

    async def _configured_machine(self, observed: ObservedMachine) -> ObservedMachine:
        facts, address, talos = MachineFacts(), observed.address, self._talos
        read = facts.read
        uuid, links, status, hostname = await asyncio.gather(
            read("uuid", talos.system_uuid(address)),
            read("links", talos.links(address)),
            read("status", talos.machine_status(address)),
            read("hostname", talos.hostname(address)),
        )
        schematic, boot_id, text, clock, kubelet, addresses = await asyncio.gather(
            read("schematic", talos.schematic(address)),
            read("boot_id", talos.boot_id(address)),
            read("configuration", talos.machine_configuration(address)),
            read("clock", talos.clock_reading(address)),
            read("kubelet", talos.kubelet(address)),
            read("addresses", talos.addresses(address)),
        )
        minor = Version.parse(observed.version).minor_text if observed.version else ""
        digest, authority = _config_facts(text, minor, facts)
        return replace(
            observed,
            uuid=uuid,
            macs=tuple(link.mac for link in network_cards(links)) if links is not None else None,
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
            holds=tuple(address.address.partition("/")[0] for address in addresses or ()),
            unknown=facts.unknown,
        )

    async def etcd(
        self, controllers: list[TalosMachine], machines: Mapping[str, ObservedMachine]
    ) -> ObservedEtcd:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._etcd_of(machine, machines[machine.node]))
                for machine in controllers
            ]
        return ObservedEtcd(answers=tuple(task.result() for task in tasks))

    async def _etcd_of(self, machine: TalosMachine, observed: ObservedMachine) -> EtcdReport:
        if not observed.is_configured:
            return EtcdReport(
                node=machine.node, why=observed.why or f"it is {observed.standing.value}"
            )
        return await read_etcd_report(self._talos, machine)

    async def neighbours(
        self, machines: Mapping[str, ObservedMachine], desired: Desired
    ) -> tuple[DiscoveredMember, ...]:
        """Return the discovered members of the first controller that responds."""
        facts = MachineFacts()
        for node in desired.nodes:
            observed = machines.get(str(node.name))
            if node.is_controller and observed is not None and observed.is_configured:
                members = await facts.read("neighbours", self._talos.neighbours(observed.address))
                if members is not None:
                    return members
        return ()


def _config_facts(
    text: Secret | None, minor: str, facts: MachineFacts
) -> tuple[str | None, str | None]:
    """Return digest and authority of a configuration."""
    if text is None or not minor:
        return None, None
    try:
        values = configuration_values(text, minor)
    except StockmanError as error:
        facts.unknown["digest"] = f"{error.problem.code}: {error.problem.why}"
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
    """Return what uses the address of the API before the first controller is configured."""
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
    return f"port {_API_PORT} accepts connections"
