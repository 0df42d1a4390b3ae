"""Whether guests can be as they should be, looked at before anything is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stockman.model.names import Vmid
from stockman.model.problem import Problems, Severity
from stockman.model.proxmox_devices import Card, Drive
from stockman.model.proxmox_strings import properties
from stockman.planning import vm_problems as say
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.vm_beginning import says_unfinished
from stockman.planning.vm_mark import own_tags, read_mark
from stockman.planning.vm_mounts import check_mounts
from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.grouping import DeviceMapping
from stockman.ports.proxmox.vms import GuestRef, VmConfig
from stockman.steps.vm_disks import GIB, KEEPER, disk_size, slot_of
from stockman.steps.vm_identity import Found, is_same, is_unfinished
from stockman.steps.vm_import import is_half_made
from stockman.steps.vm_problems import unfinished
from stockman.steps.vm_values import family, same

_THIN_PART = 4 * GIB
"""What a new disk of a thin storage takes up soon."""
_NOT_MOVED = ("", "disabled", "error", "ignored", "stopped")
"""States of high availability in which it moves no guest of a lost host. Empty: not managed."""
_THICK = ("lvm", "iscsi", "iscsidirect")


def check_guests(
    seen: ObservedProxmox,
    wishes: Iterable[GuestWish],
    leaving: frozenset[Vmid],
    mapped: Mapping[str, frozenset[str]],
    problems: Problems,
) -> None:
    """Report everything that stands in the way.

    `leaving` are guests that are removed; `mapped` are mappings that the plan makes, with hosts.
    """
    wanted = tuple(wishes)
    cards = _cards(seen, leaving)
    known = frozenset(wish.who.vmid for wish in wanted)
    for wish in wanted:
        _check_place(seen, wish, problems)
        _check_devices(seen, wish, mapped, problems)
        _check_sizes(seen, wish, problems)
        guest = seen.guest(wish.who.vmid)
        if guest is not None and not is_to_be_made(seen, wish):
            _check_there(seen, wish, guest, problems)
            continue
        if guest is not None:
            _check_unfinished(seen, wish, guest, problems)
        if _check_storages(seen, wish, problems):
            _check_macs(wish, cards, problems)
            _check_twins(seen, wish, known, problems)
    _check_room(seen, [one for one in wanted if is_to_be_made(seen, one)], problems)
    keeper = seen.guest(KEEPER)
    if keeper is not None and any(disk.keep for wish in wanted for disk in wish.disks):
        say.keeper_taken(problems, KEEPER, keeper.name or "it")


def is_ours(wish: GuestWish, guest: GuestSeen, config: VmConfig) -> bool:
    """Whether a guest is the one that is wished for."""
    at = GuestRef(host=guest.host, vmid=guest.vmid, kind=guest.kind)
    return is_same(wish.who, Found(at=at, config=config))


def is_to_be_made(seen: ObservedProxmox, wish: GuestWish) -> bool:
    """Whether a guest is not there, or somebody began to make it and did not come to the end."""
    if seen.is_new(wish.who.vmid):
        return True
    guest, config = seen.guest(wish.who.vmid), seen.config(wish.who.vmid)
    if guest is None or config is None or not is_ours(wish, guest, config):
        return False
    if guest.status != "stopped" or guest.host != wish.host:
        return False
    if wish.who.kind == "lxc":
        return says_unfinished(config)
    return wish.copied is not None and is_half_made(config)


def _check_place(seen: ObservedProxmox, wish: GuestWish, problems: Problems) -> None:
    if not isinstance(seen.state, Fact):
        return
    if not seen.has_host(wish.host):
        say.no_host(problems, wish, sorted(one.name for one in seen.state.value.members))
    elif not seen.is_online(wish.host) and seen.guest(wish.who.vmid) is None:
        say.host_offline(problems, wish)


def _check_there(
    seen: ObservedProxmox, wish: GuestWish, guest: GuestSeen, problems: Problems
) -> None:
    config = seen.config(wish.who.vmid)
    if config is None:
        is_off = not seen.is_online(guest.host)
        shared = all(_is_shared(seen, storage) for storage, _ in disks_of(wish))
        if is_off and guest.ha_state not in _NOT_MOVED and shared:
            say.recovering(problems, wish, guest.host)
        elif is_off and guest.host != wish.host:
            say.stuck(problems, wish, guest.host, shared=shared)
        else:
            unknown = seen.configs.get(wish.who.vmid)
            if isinstance(unknown, Unknown):
                # Nothing is planned for what nobody can see; the others need not wait for it.
                problems.add(replace(unknown.problem, severity=Severity.WARNING))
        return
    if not is_ours(wish, guest, config):
        mark = read_mark(config.get("description"))
        if mark is not None and mark.owner == wish.owner and mark.name != wish.who.name:
            say.renamed(problems, wish, mark.name)
        else:
            say.taken(problems, wish, config.name or "a guest without a name", guest.host)
        return
    looked_after = wish.ha is not None and wish.ha.enabled
    if guest.host != wish.host and looked_after and seen.has_host(wish.host):
        say.ha_elsewhere(problems, wish, guest.host, online=seen.is_online(wish.host))
    _check_disks(wish, config, problems)
    check_mounts(wish, config, problems)


def _check_unfinished(
    seen: ObservedProxmox, wish: GuestWish, guest: GuestSeen, problems: Problems
) -> None:
    """Say who can unlock a guest that a host did not live to make; mostly somebody makes it now."""
    config = seen.config(wish.who.vmid)
    if config is not None and is_unfinished(config):
        told = unfinished(wish.who.kind, wish.who.vmid, wish.who.name, guest.host)
        problems.add(replace(told, severity=Severity.WARNING))


def _check_twins(
    seen: ObservedProxmox, wish: GuestWish, known: frozenset[Vmid], problems: Problems
) -> None:
    """Refuse to give a disk to a new machine that one on a dead host may still have."""
    tags = set(own_tags(wish.owner))
    for guest in seen.guests():
        is_other = guest.vmid in known or not tags <= set(guest.tags)
        # The list has no names of guests whose host does not answer.
        if is_other or seen.is_online(guest.host) or guest.name not in ("", wish.who.name):
            continue
        for disk in wish.disks:
            if disk.keep and _is_shared(seen, str(disk.datastore or wish.datastore)):
                say.disk_in_use(problems, wish, disk.name, f"VM {guest.vmid}", guest.host)


def _is_shared(seen: ObservedProxmox, storage: str) -> bool:
    storages = seen.resources.value.storages if isinstance(seen.resources, Fact) else ()
    return any(one.shared for one in storages if one.storage == storage)


def _check_disks(wish: GuestWish, config: VmConfig, problems: Problems) -> None:
    places = [(wish.system_disk, wish.system_disk, wish.disk_gb, str(wish.datastore))]
    for disk in wish.disks:
        slot = slot_of(config, disk.name)
        if slot is not None:
            places.append((slot, disk.name, disk.size_gb, str(disk.datastore or wish.datastore)))
    for slot, name, gib, storage in places:
        found = disk_size(config, slot)
        if found > gib * GIB:
            say.shrinks(problems, wish, name, found, gib)
        volume = _storage_of(config, slot)
        if volume and volume != storage:
            say.other_storage(problems, wish, name, volume, storage)


def _storage_of(config: VmConfig, slot: str) -> str:
    try:
        volume = Drive.parse(config.get(slot)).volume
    except ValueError:
        return ""
    return str(volume.storage) if volume is not None else ""


def _check_storages(seen: ObservedProxmox, wish: GuestWish, problems: Problems) -> bool:
    if not isinstance(seen.resources, Fact) or not seen.shows_storages:
        return False
    content = "images" if wish.who.kind == "qemu" else "rootdir"
    needed = {(str(wish.datastore), content)}
    needed |= {(str(disk.datastore or wish.datastore), content) for disk in wish.disks}
    if wish.image is not None and wish.image_storage is not None:
        needed.add((str(wish.image_storage), "import"))
    for storage, kind in sorted(needed):
        there = seen.storage(wish.host, storage)
        if there is None or kind not in there.content:
            say.no_storage(problems, wish, storage, kind)
    _check_volume(seen, wish, problems)
    return True


def _check_volume(seen: ObservedProxmox, wish: GuestWish, problems: Problems) -> None:
    storage, _, path = wish.volume.partition(":")
    kinds = {"import": seen.contents, "vztmpl": seen.systems}
    there = seen.storage(wish.host, storage)
    for key, fact in kinds.get(path.partition("/")[0], {}).items():
        host, _, name = key.partition("/")
        applies = host == wish.host or (there is not None and there.shared)
        if name != storage or not applies or not isinstance(fact, Fact):
            continue
        if all(one.id != wish.volume for one in fact.value):
            say.no_volume(problems, wish)


def _check_macs(wish: GuestWish, cards: Mapping[str, tuple[Vmid, str]], problems: Problems) -> None:
    for mac in wish.macs:
        vmid, name = cards.get(mac, (wish.who.vmid, ""))
        if vmid != wish.who.vmid:
            say.mac_taken(problems, wish, mac, f"{vmid} ({name})")


def _cards(seen: ObservedProxmox, leaving: frozenset[Vmid]) -> dict[str, tuple[Vmid, str]]:
    """Whose the addresses of cards are."""
    return {
        mac: (vmid, fact.value.name)
        for vmid, fact in seen.configs.items()
        if vmid not in leaving and isinstance(fact, Fact)
        for mac in macs_of(fact.value)
    }


def macs_of(config: VmConfig) -> Iterator[str]:
    """The addresses of a guest's cards, lower-case."""
    for key, value in config.values.items():
        if family(key) != "net":
            continue
        try:
            values = properties(value, default="model")
            mac = values.get("hwaddr") or Card.parse(value).mac
        except ValueError:
            continue
        if mac:
            yield mac.lower()


def _check_sizes(seen: ObservedProxmox, wish: GuestWish, problems: Problems) -> None:
    for storage, size in disks_of(wish):
        there = seen.storage(wish.host, storage)
        if there is None or there.size is None or there.kind in _THICK:
            continue
        if size > there.size:
            say.never_fits(problems, wish, storage, size, there.size)


def _check_room(seen: ObservedProxmox, new: Iterable[GuestWish], problems: Problems) -> None:
    needed: defaultdict[tuple[str, str], int] = defaultdict(int)
    for wish in new:
        for storage, size in disks_of(wish):
            there = seen.storage(wish.host, storage)
            if there is None:
                continue
            host = "" if there.shared else str(wish.host)
            needed[storage, host] += first_use(there.kind, size)
    for (storage, host), size in needed.items():
        there = next(
            (
                one
                for one in (
                    seen.resources.value.storages if isinstance(seen.resources, Fact) else ()
                )
                if one.storage == storage and (not host or one.host == host)
            ),
            None,
        )
        if there is None or there.size is None or there.used is None:
            continue
        free = there.size - there.used
        if size > free:
            say.no_room(problems, storage, host or there.host, size, free)


def disks_of(wish: GuestWish) -> Iterator[tuple[str, int]]:
    """Storages and sizes in bytes of the disks of a guest."""
    yield str(wish.datastore), wish.disk_gb * GIB
    for disk in wish.disks:
        yield str(disk.datastore or wish.datastore), disk.size_gb * GIB


def first_use(kind: str, size: int) -> int:
    """How much room a new disk needs: all of it, or what it takes up soon."""
    return size if kind in _THICK else min(size, _THIN_PART)


def _check_devices(
    seen: ObservedProxmox,
    wish: GuestWish,
    mapped: Mapping[str, frozenset[str]],
    problems: Problems,
) -> None:
    for device in wish.raw_devices:
        say.raw_device(problems, wish, device)
    _check_root_only(seen, wish, problems)
    for key, value in wish.values.items():
        bus = {"hostpci": "pci", "usb": "usb"}.get(family(key))
        name = properties(value, default="host").get("mapping", "") if bus else ""
        if not bus or not name:
            continue
        fact = seen.pci if bus == "pci" else seen.usb
        known = _hosts(fact.value, name) if isinstance(fact, Fact) else frozenset({str(wish.host)})
        if wish.host not in known | mapped.get(f"{bus}/{name}", frozenset()):
            say.unmapped(problems, wish, name, bus)


def _check_root_only(seen: ObservedProxmox, wish: GuestWish, problems: Problems) -> None:
    """Refuse what a token would be refused later; what root has set already is fine."""
    config = seen.config(wish.who.vmid)
    for key, what in wish.root_only.items():
        if config is None:
            is_set = seen.guest(wish.who.vmid) is not None
        elif key in wish.values:
            is_set = same(key, wish.values[key], config.values.get(key))
        else:
            is_set = True  # What a container was made with is not changed afterwards.
        if not is_set:
            say.root_only(problems, wish, what)


def _hosts(mappings: tuple[DeviceMapping, ...], name: str) -> frozenset[str]:
    entries = (entry for one in mappings if one.name == name for entry in one.entries)
    return frozenset(properties(entry).get("node", "") for entry in entries)
