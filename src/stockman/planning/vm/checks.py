"""Whether guests can be as they should be, looked at before anything is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stockman.model.names import Vmid
from stockman.model.problem import Problems, Severity
from stockman.model.proxmox_values import Drive, NetworkCard, parse_properties
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm import problems as say
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.disks import check_mounts
from stockman.planning.vm.first_start import has_incomplete_mark
from stockman.planning.vm.ownership import own_tags, parse_mark
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.pools import DeviceMapping
from stockman.proxmox.vms import GuestRef, VmConfig
from stockman.steps.vm.disks import GIB, KEEPER, disk_size, disk_slot
from stockman.steps.vm.identity import LocatedGuest, is_same_guest, is_unfinished
from stockman.steps.vm.problems import creation_in_progress
from stockman.steps.vm.system_disk import has_no_disk
from stockman.steps.vm.values import key_family, same_value

_THIN_PART = 4 * GIB
"""What a new disk of a thin storage takes up soon."""
_UNMOVABLE_STORAGES = ("", "disabled", "error", "ignored", "stopped")
"""States of high availability in which it moves no guest of a lost host. Empty: not managed."""
_THICK = ("lvm", "iscsi", "iscsidirect")


def check_guests(
    seen: ObservedProxmox,
    wishes: Iterable[DesiredGuest],
    leaving: frozenset[Vmid],
    mapped: Mapping[str, frozenset[str]],
    problems: Problems,
) -> None:
    """Report everything that stands in the way.

    `leaving` are guests that are removed; `mapped` are mappings that the plan makes, with hosts.
    """
    wanted = tuple(wishes)
    cards = _mac_owners(seen, leaving)
    known = frozenset(wish.who.vmid for wish in wanted)
    for wish in wanted:
        _check_host(seen, wish, problems)
        _check_devices(seen, wish, mapped, problems)
        _check_sizes(seen, wish, problems)
        guest = seen.guest(wish.who.vmid)
        if guest is not None and not needs_creation(seen, wish):
            _check_existing(seen, wish, guest, problems)
            continue
        if guest is not None:
            _check_incomplete(seen, wish, guest, problems)
        if _check_storages(seen, wish, problems):
            _check_macs(wish, cards, problems)
            _check_duplicate_disks(seen, wish, known, problems)
    _check_room(seen, [one for one in wanted if needs_creation(seen, one)], problems)
    keeper = seen.guest(KEEPER)
    if keeper is not None and any(disk.keep for wish in wanted for disk in wish.disks):
        say.keeper_vmid_taken(problems, KEEPER, keeper.name or "it")


def is_ours(wish: DesiredGuest, guest: GuestSummary, config: VmConfig) -> bool:
    """Whether a guest is the one that is wished for."""
    at = GuestRef(host=guest.host, vmid=guest.vmid, kind=guest.kind)
    return is_same_guest(wish.who, LocatedGuest(at=at, config=config))


def needs_creation(seen: ObservedProxmox, wish: DesiredGuest) -> bool:
    """Whether a guest is not there, or somebody began to make it and did not come to the end."""
    if seen.is_new(wish.who.vmid):
        return True
    guest, config = seen.guest(wish.who.vmid), seen.config(wish.who.vmid)
    if guest is None or config is None or not is_ours(wish, guest, config):
        return False
    if guest.status != "stopped" or guest.host != wish.host:
        return False
    if wish.who.kind == "lxc":
        return has_incomplete_mark(config)
    return wish.copied is not None and has_no_disk(config)


def _check_host(seen: ObservedProxmox, wish: DesiredGuest, problems: Problems) -> None:
    if not isinstance(seen.state, Fact):
        return
    if not seen.has_host(wish.host):
        say.no_host(problems, wish, sorted(one.name for one in seen.state.value.members))
    elif not seen.is_online(wish.host) and seen.guest(wish.who.vmid) is None:
        say.host_offline(problems, wish)


def _check_existing(
    seen: ObservedProxmox, wish: DesiredGuest, guest: GuestSummary, problems: Problems
) -> None:
    config = seen.config(wish.who.vmid)
    if config is None:
        is_off = not seen.is_online(guest.host)
        shared = all(_is_shared(seen, storage) for storage, _ in guest_disks(wish))
        if is_off and guest.ha_state not in _UNMOVABLE_STORAGES and shared:
            say.ha_recovery(problems, wish, guest.host)
        elif is_off and guest.host != wish.host:
            say.incomplete_creation(problems, wish, guest.host, shared=shared)
        else:
            unknown = seen.configs.get(wish.who.vmid)
            if isinstance(unknown, Unknown):
                # Nothing is planned for what nobody can see; the others need not wait for it.
                problems.add(replace(unknown.problem, severity=Severity.WARNING))
        return
    if not is_ours(wish, guest, config):
        mark = parse_mark(config.get("description"))
        if mark is not None and mark.owner == wish.owner and mark.name != wish.who.name:
            say.name_mismatch(problems, wish, mark.name)
        else:
            say.vmid_taken(problems, wish, config.name or "a guest without a name", guest.host)
        return
    looked_after = wish.ha is not None and wish.ha.enabled
    if guest.host != wish.host and looked_after and seen.has_host(wish.host):
        say.ha_host_mismatch(problems, wish, guest.host, online=seen.is_online(wish.host))
    _check_disks(wish, config, problems)
    check_mounts(wish, config, problems)


def _check_incomplete(
    seen: ObservedProxmox, wish: DesiredGuest, guest: GuestSummary, problems: Problems
) -> None:
    """Say who can unlock a guest that a host did not live to make; mostly somebody makes it now."""
    config = seen.config(wish.who.vmid)
    if config is not None and is_unfinished(config):
        told = creation_in_progress(wish.who.kind, wish.who.vmid, wish.who.name, guest.host)
        problems.add(replace(told, severity=Severity.WARNING))


def _check_duplicate_disks(
    seen: ObservedProxmox, wish: DesiredGuest, known: frozenset[Vmid], problems: Problems
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


def _check_disks(wish: DesiredGuest, config: VmConfig, problems: Problems) -> None:
    places = [(wish.system_disk, wish.system_disk, wish.disk_gb, str(wish.datastore))]
    for disk in wish.disks:
        slot = disk_slot(config, disk.name)
        if slot is not None:
            places.append((slot, disk.name, disk.size_gb, str(disk.datastore or wish.datastore)))
    for slot, name, gib, storage in places:
        found = disk_size(config, slot)
        if found > gib * GIB:
            say.disk_shrinks(problems, wish, name, found, gib)
        volume = _storage_of(config, slot)
        if volume and volume != storage:
            say.storage_mismatch(problems, wish, name, volume, storage)


def _storage_of(config: VmConfig, slot: str) -> str:
    try:
        volume = Drive.parse(config.get(slot)).volume
    except ValueError:
        return ""
    return str(volume.storage) if volume is not None else ""


def _check_storages(seen: ObservedProxmox, wish: DesiredGuest, problems: Problems) -> bool:
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


def _check_volume(seen: ObservedProxmox, wish: DesiredGuest, problems: Problems) -> None:
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


def _check_macs(
    wish: DesiredGuest, cards: Mapping[str, tuple[Vmid, str]], problems: Problems
) -> None:
    for mac in wish.macs:
        vmid, name = cards.get(mac, (wish.who.vmid, ""))
        if vmid != wish.who.vmid:
            say.mac_taken(problems, wish, mac, f"{vmid} ({name})")


def _mac_owners(seen: ObservedProxmox, leaving: frozenset[Vmid]) -> dict[str, tuple[Vmid, str]]:
    """Whose the addresses of cards are."""
    return {
        mac: (vmid, fact.value.name)
        for vmid, fact in seen.configs.items()
        if vmid not in leaving and isinstance(fact, Fact)
        for mac in guest_macs(fact.value)
    }


def guest_macs(config: VmConfig) -> Iterator[str]:
    """The addresses of a guest's cards, lower-case."""
    for key, value in config.values.items():
        if key_family(key) != "net":
            continue
        try:
            values = parse_properties(value, default="model")
            mac = values.get("hwaddr") or NetworkCard.parse(value).mac
        except ValueError:
            continue
        if mac:
            yield mac.lower()


def _check_sizes(seen: ObservedProxmox, wish: DesiredGuest, problems: Problems) -> None:
    for storage, size in guest_disks(wish):
        there = seen.storage(wish.host, storage)
        if there is None or there.size is None or there.kind in _THICK:
            continue
        if size > there.size:
            say.disk_larger_than_storage(problems, wish, storage, size, there.size)


def _check_room(seen: ObservedProxmox, new: Iterable[DesiredGuest], problems: Problems) -> None:
    needed: defaultdict[tuple[str, str], int] = defaultdict(int)
    for wish in new:
        for storage, size in guest_disks(wish):
            there = seen.storage(wish.host, storage)
            if there is None:
                continue
            host = "" if there.shared else str(wish.host)
            needed[storage, host] += initial_disk_usage(there.kind, size)
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


def guest_disks(wish: DesiredGuest) -> Iterator[tuple[str, int]]:
    """Storages and sizes in bytes of the disks of a guest."""
    yield str(wish.datastore), wish.disk_gb * GIB
    for disk in wish.disks:
        yield str(disk.datastore or wish.datastore), disk.size_gb * GIB


def initial_disk_usage(kind: str, size: int) -> int:
    """How much room a new disk needs: all of it, or what it takes up soon."""
    return size if kind in _THICK else min(size, _THIN_PART)


def _check_devices(
    seen: ObservedProxmox,
    wish: DesiredGuest,
    mapped: Mapping[str, frozenset[str]],
    problems: Problems,
) -> None:
    for device in wish.raw_devices:
        say.raw_device(problems, wish, device)
    _check_root_only(seen, wish, problems)
    for key, value in wish.values.items():
        bus = {"hostpci": "pci", "usb": "usb"}.get(key_family(key))
        name = parse_properties(value, default="host").get("mapping", "") if bus else ""
        if not bus or not name:
            continue
        fact = seen.pci if bus == "pci" else seen.usb
        known = _hosts(fact.value, name) if isinstance(fact, Fact) else frozenset({str(wish.host)})
        if wish.host not in known | mapped.get(f"{bus}/{name}", frozenset()):
            say.device_without_mapping(problems, wish, name, bus)


def _check_root_only(seen: ObservedProxmox, wish: DesiredGuest, problems: Problems) -> None:
    """Refuse what a token would be refused later; what root has set already is fine."""
    config = seen.config(wish.who.vmid)
    for key, what in wish.root_only.items():
        if config is None:
            is_set = seen.guest(wish.who.vmid) is not None
        elif key in wish.values:
            is_set = same_value(key, wish.values[key], config.values.get(key))
        else:
            is_set = True  # What a container was made with is not changed afterwards.
        if not is_set:
            say.root_only(problems, wish, what)


def _hosts(mappings: tuple[DeviceMapping, ...], name: str) -> frozenset[str]:
    entries = (entry for one in mappings if one.name == name for entry in one.entries)
    return frozenset(parse_properties(entry).get("node", "") for entry in entries)
