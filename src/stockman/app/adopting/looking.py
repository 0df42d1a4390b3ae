"""One look at a cluster that is to be adopted; nothing is changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Interface

from stockman.app.adopting import problems as trouble
from stockman.app.adopting.following import follows
from stockman.app.adopting.sight import SeenMachine, Sight
from stockman.engine.observe.kubernetes import Interest, observe_kubernetes
from stockman.engine.observe.proxmox import observe_proxmox
from stockman.model.errors import NotFound, Refused, StockmanError
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.support import talos_line
from stockman.model.version import Version
from stockman.planning.observed_kubernetes import ObservedKubernetes
from stockman.planning.proxmox_asked import Wanted
from stockman.ports.clock import Timekeeper
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.proxmox import Proxmox
from stockman.ports.talos import Talos
from stockman.ports.talos.network import Link, LinkAddress, cards
from stockman.talos.machine.values import configuration_values

_AT_ONCE = 16


@record
class Doors:
    """The systems that are looked at."""

    proxmox: Proxmox
    talos: Talos
    kubernetes: Kubernetes
    clock: Timekeeper
    endpoints: tuple[str, ...]
    """Machines that the talosconfig names."""
    authority: str = ""
    """PEM text of whom the kubeconfig believes. Empty: it names a file, or nobody."""


async def look(doors: Doors, region: str) -> Sight:
    """Everything that files are made from. Refuses where something that is needed is not told."""
    seen = await observe_kubernetes(doors.kubernetes, doors.clock, Interest())
    if seen.nodes is None:
        raise Refused(trouble.no_machine("Kubernetes", seen.unknown.get("nodes", "")))
    proxmox = await observe_proxmox(region, doors.proxmox, doors.clock, Wanted(every_guest=True))
    for unknown in proxmox.unknown_basics():
        raise Refused(unknown.problem)
    addresses = await _addresses(doors, seen)
    room = asyncio.Semaphore(_AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_machine(doors.talos, room, name, address))
            for name, address in addresses.items()
        ]
    found = [task.result() for task in tasks]
    for one in found:
        if isinstance(one, StockmanError):
            raise one
    machines = [one for one in found if isinstance(one, SeenMachine)]
    check_versions(one.version for one in machines)
    return Sight(
        proxmox=proxmox,
        machines=tuple(sorted(machines, key=_order)),
        kubernetes=seen,
        follows=await follows(doors.kubernetes),
        authority=doors.authority,
    )


def check_versions(found: Iterable[Version]) -> None:
    """Refuse machines of several versions, or of one that nobody knows."""
    different = sorted(set(found))
    if len(different) > 1:
        raise Refused(trouble.versions([one.tagged for one in different]))
    for version in different:
        if talos_line(version) is None:
            because = "its machine configurations may have fields that stockman cannot write"
            raise Refused(trouble.unknown_version(str(version), because))


async def _addresses(doors: Doors, seen: ObservedKubernetes) -> dict[str, MachineAddress]:
    """Machines by name: as Kubernetes has them, and whoever discovery knows besides."""
    found = {
        one.name: MachineAddress(address)
        for one in seen.nodes or ()
        for address in one.addresses[:1]
    }
    known, heard = set(found), set[str]()
    why = "the talosconfig names no endpoint"
    for endpoint in doors.endpoints:
        address = MachineAddress(endpoint.partition(":")[0])
        try:
            for one in await doors.talos.neighbours(address):
                heard.add(one.hostname)
                own = next(filter(_is_ipv4, one.addresses), "")
                if own:
                    found.setdefault(one.hostname, MachineAddress(own))
            name = await doors.talos.hostname(address)
        except StockmanError as no:
            why = f"{no.problem.what}: {no.problem.why}"
            continue
        heard.add(name)
        if name not in found and _is_ipv4(str(address)):
            found[name] = address
    if not heard:
        raise Refused(trouble.no_machine("talosconfig", why))
    if known and not known & heard:
        raise Refused(trouble.other_cluster(known, heard))
    return found


async def _machine(
    talos: Talos, room: asyncio.Semaphore, name: str, address: MachineAddress
) -> SeenMachine | StockmanError:
    try:
        async with room:
            return await _seen(talos, address)
    except StockmanError as no:
        if no.problem.code == trouble.VERSION:
            return no
        why = f"{no.problem.what}: {no.problem.why}"
        return NotFound(trouble.silent(name, str(address), why))


async def _seen(talos: Talos, address: MachineAddress) -> SeenMachine:
    version = await talos.version(address)
    check_versions((version.parsed,))
    configuration = await talos.machine_configuration(address)
    links, addresses = await talos.links(address), await talos.addresses(address)
    own = next((one for one in addresses if one.address.partition("/")[0] == address), None)
    return SeenMachine(
        hostname=await talos.hostname(address),
        address=address,
        interface=IPv4Interface(own.address if own is not None else str(address)),
        version=version.parsed,
        platform=version.platform,
        uuid=await talos.system_uuid(address),
        macs=tuple(one.mac.lower() for one in cards(links)),
        mac=_mac(links, own),
        schematic=str(await talos.schematic(address) or ""),
        system_disk=await talos.system_disk(address) or "",
        configuration=configuration,
        values=configuration_values(configuration, version.parsed.minor_text),
    )


def _mac(links: Iterable[Link], own: LinkAddress | None) -> str:
    """Of the card that has an address, or of the only one; VLANs have the address of theirs."""
    known = {one.name: one.mac.lower() for one in links}
    real = [one.mac.lower() for one in cards(links)]
    found = known.get(own.link, "") if own is not None else ""
    if found in real:
        return found
    return real[0] if len(real) == 1 else ""


def _order(machine: SeenMachine) -> tuple[bool, int]:
    return not machine.is_controller, int(IPv4Address(str(machine.address)))


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True
