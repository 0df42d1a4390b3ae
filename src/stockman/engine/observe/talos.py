"""One look at all machines of a cluster, and at their etcd."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import field, replace

from stockman.engine.observe.talos_counted import Counts, Facts
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.observed_talos import ObservedMachine, ObservedTalos
from stockman.ports.clock import Timekeeper
from stockman.ports.probe import Door, Network, NoAnswer
from stockman.ports.talos import Talos
from stockman.ports.talos.machines import Neighbour
from stockman.ports.talos.maintenance import Stranger
from stockman.ports.talos.network import cards
from stockman.steps.etcd_view import EtcdAnswer, EtcdView, etcd_answer
from stockman.steps.ports import Ports
from stockman.steps.talos_clients import WriteClientFile
from stockman.steps.talos_machine import Standing, TalosMachine, settled_look
from stockman.talos.machine.values import configuration_values

_AT_ONCE = 32
_API_PORT = 6443


@record
class TalosLook:
    """What is to be looked at."""

    desired: Desired
    leaving: Mapping[str, MachineAddress] = field(default_factory=dict)
    """Machines that are ours and not wanted any more, by name."""
    client_files: tuple[WriteClientFile, ...] = ()
    """Files that are looked at, as they should be."""
    at_once: int = _AT_ONCE
    """So many machines at most are asked at the same time."""


async def observe_talos(
    look: TalosLook, ports: Ports, network: Network | None = None
) -> ObservedTalos:
    """What the machines are like; whoever does not answer is unknown, and not absent."""
    counts, now = Counts(ports.to_talos(), look.at_once), ports.clock.now()
    pass_ = _Pass(counts.door, ports.clock)
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
        client_files={one.file: await _lack(one, ports) for one in look.client_files},
        api_taken=await _api_taken(look.desired, machines, network),
        calls=dict(counts.counts),
    )


def _machines(look: TalosLook) -> tuple[TalosMachine, ...]:
    wanted = {str(node.name): MachineAddress(str(node.address.ip)) for node in look.desired.nodes}
    both = {**look.leaving, **wanted}
    return tuple(TalosMachine(node=name, address=address) for name, address in both.items())


def _may_have_etcd(look: TalosLook, machine: TalosMachine) -> bool:
    """Controllers, and those that leave: nobody says what they were."""
    controllers = {str(node.name) for node in look.desired.nodes if node.is_controller}
    wanted = {str(node.name) for node in look.desired.nodes}
    return machine.node in controllers or machine.node not in wanted


class _Pass:
    """One look at everything."""

    def __init__(self, talos: Talos, clock: Timekeeper) -> None:
        self._talos = talos
        self._clock = clock
        self._now = clock.now()

    async def machine(self, machine: TalosMachine) -> ObservedMachine:
        look = await settled_look(self._talos, self._clock, machine.address)
        found = ObservedMachine(
            node=machine.node,
            address=machine.address,
            seen_at=self._now,
            source=f"Talos API of {machine.address}",
            standing=look.standing,
            why=look.why,
            version=look.version.tag if look.version is not None else None,
        )
        if look.standing is Standing.CONFIGURED:
            return await self._configured(found)
        if look.standing is Standing.MAINTENANCE:
            return await self._stranger(found)
        return found

    async def _stranger(self, found: ObservedMachine) -> ObservedMachine:
        at, facts = Stranger(address=found.address), Facts()
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
            macs=tuple(one.mac for one in cards(links)) if links is not None else None,
            unknown=facts.unknown,
        )

    async def _configured(self, found: ObservedMachine) -> ObservedMachine:
        facts, address, talos = Facts(), found.address, self._talos
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
        digest, authority = _told_by(text, minor, facts)
        return replace(
            found,
            uuid=uuid,
            macs=tuple(one.mac for one in cards(links)) if links is not None else None,
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
    ) -> EtcdView:
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(self._etcd_of(one, machines[one.node])) for one in controllers
            ]
        return EtcdView(answers=tuple(one.result() for one in asked))

    async def _etcd_of(self, machine: TalosMachine, seen: ObservedMachine) -> EtcdAnswer:
        if not seen.is_configured:
            return EtcdAnswer(node=machine.node, why=seen.why or f"it is {seen.standing.value}")
        return await etcd_answer(self._talos, machine)

    async def neighbours(
        self, machines: Mapping[str, ObservedMachine], desired: Desired
    ) -> tuple[Neighbour, ...]:
        """As the first controller that answers has them."""
        facts = Facts()
        for node in desired.nodes:
            seen = machines.get(str(node.name))
            if node.is_controller and seen is not None and seen.is_configured:
                found = await facts.learn("neighbours", self._talos.neighbours(seen.address))
                if found is not None:
                    return found
        return ()


def _told_by(text: Secret | None, minor: str, facts: Facts) -> tuple[str | None, str | None]:
    """Digest and authority of a configuration."""
    if text is None or not minor:
        return None, None
    try:
        values = configuration_values(text, minor)
    except StockmanError as no:
        facts.unknown["digest"] = f"{no.problem.code}: {no.problem.why}"
        return None, None
    return values.digest, values.authority


async def _lack(action: WriteClientFile, ports: Ports) -> str | None:
    try:
        return await action.lack(ports)
    except StockmanError:
        return None


async def _api_taken(
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
        await network.connect(Door(host=address, port=_API_PORT))
    except NoAnswer:
        return ""
    return f"port {_API_PORT} takes connections"
