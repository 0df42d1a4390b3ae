"""Checks whether the desired guests can be created and changed, before anything is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stockman.model.names import Vmid
from stockman.model.problem import Problems, Severity
from stockman.model.proxmox_values import Drive, NetworkCard, parse_properties, parse_tags
from stockman.model.record import require
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm import problems as report
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.disks import check_mounts
from stockman.planning.vm.first_start import has_incomplete_mark
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.pools import DeviceMapping
from stockman.proxmox.vms import GuestRef, VmConfig
from stockman.steps.vm.disks import GIB, KEEPER, disk_size, disk_slot, drives
from stockman.steps.vm.identity import LocatedGuest, is_same_guest, is_unfinished
from stockman.steps.vm.ownership import TAG, other_fingerprint, own_tags, parse_mark
from stockman.steps.vm.problems import cannot_move, creation_in_progress, kept_local_disks
from stockman.steps.vm.system_disk import has_no_disk
from stockman.steps.vm.values import key_family, same_value

_THIN_DISK_BYTES = 4 * GIB
"""Estimated space that a new disk on a thin storage uses soon."""
_UNMANAGED_HA_STATES = ("", "disabled", "error", "ignored", "stopped")
"""HA states in which a guest is not recovered from a lost host. Empty: not managed by HA."""
_THICK = ("lvm", "iscsi", "iscsidirect")


def check_guests(
    observed: ObservedProxmox,
    desired_guests: Iterable[DesiredGuest],
    leaving: frozenset[Vmid],
    mapped: Mapping[str, frozenset[str]],
    problems: Problems,
) -> None:
    """Report everything that prevents the desired guests.

    `leaving` are guests that are deleted; `mapped` are the hosts of mappings that the plan
    creates.
    """
    guests = tuple(desired_guests)
    cards = _mac_owners(observed, leaving)
    known = frozenset(desired.identity.vmid for desired in guests)
    for desired in guests:
        _check_host(observed, desired, problems)
        _check_devices(observed, desired, mapped, problems)
        _check_sizes(observed, desired, problems)
        _check_tags(observed, desired, problems)
        guest = observed.guest(desired.identity.vmid)
        if guest is not None and not needs_creation(observed, desired):
            _check_existing(observed, desired, guest, problems)
            continue
        if guest is not None:
            _check_incomplete(observed, desired, guest, problems)
        _check_name(observed, desired, problems)
        if _check_storages(observed, desired, problems):
            _check_macs(desired, cards, problems)
            _check_duplicate_disks(observed, desired, known, problems)
    _check_room(observed, [guest for guest in guests if needs_creation(observed, guest)], problems)
    keeper = observed.guest(KEEPER)
    if keeper is not None and any(disk.keep for desired in guests for disk in desired.disks):
        report.keeper_vmid_taken(problems, KEEPER, keeper.name or "the guest")


def is_ours(desired: DesiredGuest, guest: GuestSummary, config: VmConfig) -> bool:
    """Whether an existing guest is the desired one, and no other cluster's."""
    at = GuestRef(host=guest.host, vmid=guest.vmid, kind=guest.kind)
    is_same = is_same_guest(desired.identity, LocatedGuest(at=at, config=config))
    return is_same and not other_fingerprint(desired.owner, config)


def needs_creation(observed: ObservedProxmox, desired: DesiredGuest) -> bool:
    """Whether a guest is missing, or its creation was interrupted."""
    if observed.is_new(desired.identity.vmid):
        return True
    guest, config = observed.guest(desired.identity.vmid), observed.config(desired.identity.vmid)
    if guest is None or config is None or not is_ours(desired, guest, config):
        return False
    if guest.status != "stopped" or guest.host != desired.host:
        return False
    if desired.identity.kind == "lxc":
        return has_incomplete_mark(config)
    return desired.imported_disk is not None and has_no_disk(config)


def _check_host(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> None:
    if not isinstance(observed.state, Fact):
        return
    if not observed.has_host(desired.host):
        report.no_host(
            problems, desired, sorted(member.name for member in observed.state.value.members)
        )
    elif not observed.is_online(desired.host) and observed.guest(desired.identity.vmid) is None:
        report.host_offline(problems, desired)


def _check_existing(
    observed: ObservedProxmox, desired: DesiredGuest, guest: GuestSummary, problems: Problems
) -> None:
    config = observed.config(desired.identity.vmid)
    if config is None:
        is_off = not observed.is_online(guest.host)
        shared = all(_is_shared(observed, storage) for storage, _ in guest_disks(desired))
        if is_off and guest.ha_state not in _UNMANAGED_HA_STATES and shared:
            report.ha_recovery(problems, desired, guest.host)
        elif is_off and guest.host != desired.host:
            report.incomplete_creation(problems, desired, guest.host, shared=shared)
        else:
            unknown = observed.configs.get(desired.identity.vmid)
            if isinstance(unknown, Unknown):
                # Nothing is planned for a guest that cannot be read; other guests need not wait.
                problems.add(replace(unknown.problem, severity=Severity.WARNING))
        return
    if not is_ours(desired, guest, config):
        mark = parse_mark(config.get("description"))
        if fingerprint := other_fingerprint(desired.owner, config):
            report.used_by_other_cluster(problems, desired, guest, fingerprint)
        elif (
            mark is not None
            and mark.owner != desired.owner.name
            and mark.fingerprint
            and mark.fingerprint == desired.owner.fingerprint
        ):
            report.cluster_renamed(problems, desired, mark.owner)
        elif (
            mark is not None
            and mark.owner == desired.owner.name
            and mark.name != desired.identity.name
        ):
            report.name_mismatch(problems, desired, mark.name)
        else:
            report.vmid_taken(problems, desired, config.name or "an unnamed guest", guest.host)
        return
    is_ha_managed = desired.ha is not None and desired.ha.enabled
    if guest.host != desired.host and is_ha_managed and observed.has_host(desired.host):
        report.ha_host_mismatch(
            problems, desired, guest.host, online=observed.is_online(desired.host)
        )
    if guest.host != desired.host and not is_ha_managed:
        _check_move(observed, desired, config, problems)
    _check_disks(desired, config, problems)
    check_mounts(desired, config, problems)


def _check_move(
    observed: ObservedProxmox, desired: DesiredGuest, config: VmConfig, problems: Problems
) -> None:
    """Report data disks on local storage that Proxmox VE does not move with their VM."""
    vm = desired.identity
    foreign = [
        str(drive.volume)
        for drive in drives(config).values()
        if drive.volume is not None
        and drive.volume.owner not in (None, vm.vmid)
        and not _is_shared(observed, drive.volume.storage)
    ]
    if foreign:
        why = kept_local_disks(foreign)
        problems.add(cannot_move(vm.vmid, vm.name, str(desired.host), why))


def _check_name(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> None:
    """Report a new guest whose name another cluster of the same name uses."""
    for guest in observed.guests():
        config = observed.config(guest.vmid)
        if config is None or config.name != desired.identity.name or TAG not in guest.tags:
            continue
        mark, fingerprint = parse_mark(config.get("description")), None
        if mark is not None and mark.owner == desired.owner.name:
            fingerprint = other_fingerprint(desired.owner, config)
        if fingerprint:
            report.used_by_other_cluster(problems, desired, guest, fingerprint)


def _check_incomplete(
    observed: ObservedProxmox, desired: DesiredGuest, guest: GuestSummary, problems: Problems
) -> None:
    """Report a locked guest whose creation has not finished; it may still be in progress."""
    config = observed.config(desired.identity.vmid)
    if config is not None and is_unfinished(config):
        problem = creation_in_progress(
            desired.identity.kind, desired.identity.vmid, desired.identity.name, guest.host
        )
        problems.add(replace(problem, severity=Severity.WARNING))


def _check_duplicate_disks(
    observed: ObservedProxmox, desired: DesiredGuest, known: frozenset[Vmid], problems: Problems
) -> None:
    """Reject a data disk that a machine on an offline host may still use."""
    tags = set(own_tags(desired.owner.name))
    for guest in observed.guests():
        is_other = guest.vmid in known or not tags <= set(guest.tags)
        # The list has no names of guests on hosts that do not answer.
        if (
            is_other
            or observed.is_online(guest.host)
            or guest.name not in ("", desired.identity.name)
        ):
            continue
        for disk in desired.disks:
            if disk.keep and _is_shared(observed, require(disk.datastore)):
                report.disk_in_use(problems, desired, disk.name, f"VM {guest.vmid}", guest.host)


def _is_shared(observed: ObservedProxmox, storage: str) -> bool:
    storages = observed.resources.value.storages if isinstance(observed.resources, Fact) else ()
    return any(entry.shared for entry in storages if entry.storage == storage)


def _check_disks(desired: DesiredGuest, config: VmConfig, problems: Problems) -> None:
    disks = [(desired.system_disk, desired.system_disk, desired.disk_gb, str(desired.datastore))]
    for disk in desired.disks:
        slot = disk_slot(config, disk.name)
        if slot is not None:
            disks.append((slot, disk.name, disk.size_gb, require(disk.datastore)))
    for slot, name, gib, storage in disks:
        size = disk_size(config, slot)
        if size > gib * GIB:
            report.disk_shrinks(problems, desired, name, size, gib)
        volume = _storage_of(config, slot)
        if volume and volume != storage:
            report.storage_mismatch(problems, desired, name, volume, storage)


def _storage_of(config: VmConfig, slot: str) -> str:
    try:
        volume = Drive.parse(config.get(slot)).volume
    except ValueError:
        return ""
    return str(volume.storage) if volume is not None else ""


def _check_storages(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> bool:
    if not isinstance(observed.resources, Fact) or not observed.shows_storages:
        return False
    content = "images" if desired.identity.kind == "qemu" else "rootdir"
    needed = {(str(desired.datastore), content)}
    needed |= {(require(disk.datastore), content) for disk in desired.disks}
    if desired.image is not None and desired.image_storage is not None:
        needed.add((str(desired.image_storage), "import"))
    for storage, kind in sorted(needed):
        summary = observed.storage(desired.host, storage)
        if summary is None or kind not in summary.content:
            report.no_storage(problems, desired, storage, kind)
    _check_volume(observed, desired, problems)
    return True


def _check_volume(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> None:
    storage, _, path = desired.volume.partition(":")
    kinds = {"import": observed.contents, "vztmpl": observed.systems}
    summary = observed.storage(desired.host, storage)
    for key, fact in kinds.get(path.partition("/")[0], {}).items():
        host, _, name = key.partition("/")
        applies = host == desired.host or (summary is not None and summary.shared)
        if name != storage or not applies or not isinstance(fact, Fact):
            continue
        if all(volume.id != desired.volume for volume in fact.value):
            report.no_volume(problems, desired)


def _check_macs(
    desired: DesiredGuest, cards: Mapping[str, tuple[Vmid, str]], problems: Problems
) -> None:
    for mac in desired.macs:
        vmid, name = cards.get(mac, (desired.identity.vmid, ""))
        if vmid != desired.identity.vmid:
            report.mac_taken(problems, desired, mac, f"{vmid} ({name})")


def _mac_owners(observed: ObservedProxmox, leaving: frozenset[Vmid]) -> dict[str, tuple[Vmid, str]]:
    """Return the owner of each MAC address."""
    return {
        mac: (vmid, fact.value.name)
        for vmid, fact in observed.configs.items()
        if vmid not in leaving and isinstance(fact, Fact)
        for mac in guest_macs(fact.value)
    }


def guest_macs(config: VmConfig) -> Iterator[str]:
    """Return the MAC addresses of a guest, in lower case."""
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


def _check_tags(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> None:
    """Report tags that Proxmox VE would refuse, unless the guest has them already."""
    if not isinstance(observed.tags, Fact):
        return
    guest = observed.guest(desired.identity.vmid)
    current = guest.tags if guest is not None else ()
    rules = observed.tags.value
    for tag in parse_tags(desired.values.get("tags", "")):
        if tag not in current and rules.refuses(tag):
            report.tag_not_allowed(problems, desired, tag, registered=tag in rules.registered)


def _check_sizes(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> None:
    for storage, size in guest_disks(desired):
        summary = observed.storage(desired.host, storage)
        if summary is None or summary.size is None or summary.kind in _THICK:
            continue
        if size > summary.size:
            report.disk_larger_than_storage(problems, desired, storage, size, summary.size)


def _check_room(observed: ObservedProxmox, new: Iterable[DesiredGuest], problems: Problems) -> None:
    needed: defaultdict[tuple[str, str], int] = defaultdict(int)
    for desired in new:
        for storage, size in guest_disks(desired):
            summary = observed.storage(desired.host, storage)
            if summary is None:
                continue
            host = "" if summary.shared else str(desired.host)
            needed[storage, host] += initial_disk_usage(summary.kind, size)
    for (storage, host), size in needed.items():
        summary = next(
            (
                entry
                for entry in (
                    observed.resources.value.storages
                    if isinstance(observed.resources, Fact)
                    else ()
                )
                if entry.storage == storage and (not host or entry.host == host)
            ),
            None,
        )
        free = summary.room if summary is not None else None
        if summary is None or free is None:
            continue
        if size > free:
            report.no_room(problems, storage, host or summary.host, size, free)


def guest_disks(desired: DesiredGuest) -> Iterator[tuple[str, int]]:
    """Return the storage and the size in bytes of each disk of a guest."""
    yield str(desired.datastore), desired.disk_gb * GIB
    for disk in desired.disks:
        yield require(disk.datastore), disk.size_gb * GIB


def initial_disk_usage(kind: str, size: int) -> int:
    """Return the space that a new disk needs: its full size, or an estimate on thin storages."""
    return size if kind in _THICK else min(size, _THIN_DISK_BYTES)


def _check_devices(
    observed: ObservedProxmox,
    desired: DesiredGuest,
    mapped: Mapping[str, frozenset[str]],
    problems: Problems,
) -> None:
    for device in desired.raw_devices:
        report.raw_device(problems, desired, device)
    _check_root_only(observed, desired, problems)
    for key, value in desired.values.items():
        bus = {"hostpci": "pci", "usb": "usb"}.get(key_family(key))
        name = parse_properties(value, default="host").get("mapping", "") if bus else ""
        if not bus or not name:
            continue
        fact = observed.pci if bus == "pci" else observed.usb
        known = (
            _hosts(fact.value, name) if isinstance(fact, Fact) else frozenset({str(desired.host)})
        )
        if desired.host not in known | mapped.get(f"{bus}/{name}", frozenset()):
            report.device_without_mapping(problems, desired, name, bus)


def _check_root_only(observed: ObservedProxmox, desired: DesiredGuest, problems: Problems) -> None:
    """Report settings that only root may make, unless root has made them already."""
    config = observed.config(desired.identity.vmid)
    for key, setting in desired.root_only.items():
        if config is None:
            is_set = observed.guest(desired.identity.vmid) is not None
        elif key in desired.values:
            is_set = same_value(key, desired.values[key], config.values.get(key))
        else:
            is_set = True  # Creation values of a container are not changed afterwards.
        if not is_set:
            report.root_only(problems, desired, setting)


def _hosts(mappings: tuple[DeviceMapping, ...], name: str) -> frozenset[str]:
    entries = (entry for mapping in mappings if mapping.name == name for entry in mapping.entries)
    return frozenset(parse_properties(entry).get("node", "") for entry in entries)
