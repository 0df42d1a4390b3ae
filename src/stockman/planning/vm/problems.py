"""What keeps guests from being planned; seen before anything is made."""

from __future__ import annotations

from stockman.model.problem import ProblemLocation, Problems
from stockman.planning.vm.desired import DesiredGuest
from stockman.steps.vm.placement import ha_id

_GIB = 1 << 30


def name_mismatch(problems: Problems, wish: DesiredGuest, old: str) -> None:
    problems.error(
        "vm.renamed",
        f"VM {wish.who.vmid} is {old}, and the configuration calls it {wish.who.name}",
        why="the name is part of a machine's identity, in etcd and Kubernetes too; it cannot"
        " be changed where it is",
        fix=f"call it {old} again; or give {wish.who.name} a vmid of its own, so that it is made"
        f" anew and {old} is removed",
        at=_at(wish, "name"),
    )


def vmid_taken(problems: Problems, wish: DesiredGuest, found: str, host: str) -> None:
    problems.error(
        "vm.taken",
        f"the number {wish.who.vmid} of {wish.who.name} belongs to another guest",
        why=f"it is {found} on {host}, which stockman did not make",
        fix=f"give {wish.who.name} another vmid; or, if it is the same machine, adopt it"
        " with `stockman adopt`",
        at=_at(wish, "vmid"),
    )


def mac_taken(problems: Problems, wish: DesiredGuest, mac: str, other: str) -> None:
    problems.error(
        "vm.mac-taken",
        f"the address {mac} of {wish.who.name} is that of another card",
        why=f"{other} has a card with it, and two with one address disturb each other",
        fix=f"give {wish.who.name} another mac_addr, or the other guest",
        at=_at(wish, "nics"),
    )


def no_host(problems: Problems, wish: DesiredGuest, hosts: list[str]) -> None:
    problems.error(
        "vm.no-host",
        f"{wish.who.name} is to run on {wish.host}, which the Proxmox cluster does not have",
        why=f"its hosts are {', '.join(hosts)}",
        fix="name one of these hosts",
        at=_at(wish, "host"),
    )


def host_offline(problems: Problems, wish: DesiredGuest) -> None:
    problems.error(
        "vm.host-offline",
        f"{wish.who.name} cannot be made on {wish.host}",
        why="the Proxmox cluster says that this host is offline",
        fix=f"bring {wish.host} back, or name another host",
        at=_at(wish, "host"),
    )


def incomplete_creation(problems: Problems, wish: DesiredGuest, host: str, *, shared: bool) -> None:
    kind = "qemu-server" if wish.who.kind == "qemu" else "lxc"
    file = f"{kind}/{wish.who.vmid}.conf"
    anew = f"give {wish.who.name} another vmid, so that it is made anew on {wish.host}"
    by_hand = (
        f"make sure that {host} stays off and run, as root on a host of the cluster,"
        f" `mv /etc/pve/nodes/{host}/{file} /etc/pve/nodes/{wish.host}/{file}`; or {anew}"
    )
    problems.error(
        "vm.stuck",
        f"{wish.who.name} is on {host}, which is offline, and is to run on {wish.host}",
        why="Proxmox VE moves no guest whose host does not answer, and keeps its number; its disks"
        f" are in {'shared storages' if shared else f'storages of {host} alone'}",
        fix=f"bring {host} back; or {by_hand if shared else anew}",
        at=_at(wish, "host"),
    )


def ha_recovery(problems: Problems, wish: DesiredGuest, host: str) -> None:
    problems.warn(
        "vm.recovering",
        f"{wish.who.name} is on {host}, which is offline, until high availability moves it",
        why="it is looked after, its disks are in shared storages, and Proxmox VE waits some"
        " minutes before it believes that a host is off",
        fix="plan again in some minutes; `ha-manager status` on a host tells how far it is",
        at=_at(wish, "host"),
    )


def ha_host_mismatch(problems: Problems, wish: DesiredGuest, host: str, *, online: bool) -> None:
    command = f"ha-manager migrate {ha_id(wish.who)} {wish.host}"
    move = f"run `{command}` on a host if it is to move now"
    back = f"nothing until {wish.host} is back, which is offline"
    problems.warn(
        "vm.ha-elsewhere",
        f"{wish.who.name} runs on {host}, and the configuration says {wish.host}",
        why="high availability decides where it runs, and may have moved it for a reason; so it is"
        " left where it is",
        fix=f"{move if online else back}, or write {host} into the configuration",
        at=_at(wish, "host"),
    )


def disk_in_use(problems: Problems, wish: DesiredGuest, disk: str, other: str, host: str) -> None:
    problems.error(
        "vm.disk-in-use",
        f"the disk {disk} of {wish.who.name} belongs to a machine that may come back",
        why=f"{other} on {host} has it, and {host} is offline; two machines with one disk destroy"
        " what is on it",
        fix=f"bring {host} back; or make sure that it stays off and give {other} to another host as"
        " root, see the page of vm.stuck, under its old vmid",
        at=_at(wish, "vmid"),
    )


def leftover_disk(problems: Problems, name: str, vmid: int, host: str) -> None:
    problems.warn(
        "vm.left-behind",
        f"VM {vmid} ({name}) stays on {host} for now",
        why=f"{host} is offline, so that nothing can be deleted there",
        fix=f"plan again once {host} is back, before it starts its guests; or remove {host}"
        " from the Proxmox cluster",
    )


def no_storage(problems: Problems, wish: DesiredGuest, storage: str, content: str) -> None:
    problems.error(
        "vm.no-storage",
        f"{wish.host} has no storage {storage} for {content}, which {wish.who.name} needs",
        why=f"Proxmox VE offers {storage} on {wish.host} not at all, or not for {content}",
        fix=f"add `{content}` to its content types, or name another storage",
        at=_at(wish, "datastore"),
    )


def no_volume(problems: Problems, wish: DesiredGuest) -> None:
    is_machine = wish.who.kind == "qemu"
    image, disk = ("an image", "the disk of ") if is_machine else ("a template", "")
    fetched = "put the image there, or give its address with `url` so that it is fetched"
    storage, _, path = wish.volume.partition(":")
    loaded = f"pveam download {storage} {path.rpartition('/')[2]}"
    by_host = f"run `{loaded}` on {wish.host}, or name a template that `pveam list {storage}` shows"
    problems.error(
        "image.no-volume",
        f"{disk}{wish.who.name} is to be made from {image} that {wish.host} does not have",
        why=f"there is no {wish.volume} on {wish.host}",
        fix=fetched if is_machine else by_host,
        at=_at(wish, "vm" if is_machine else "container"),
    )


def no_room(problems: Problems, storage: str, host: str, needed: int, free: int) -> None:
    problems.error(
        "vm.no-room",
        f"the storage {storage} on {host} has too little room",
        why=f"{needed / _GIB:.0f} GiB are needed, and {free / _GIB:.0f} GiB are free",
        fix="free some of it, or name another storage",
        at=f"storage {storage} on {host}",
    )


def disk_larger_than_storage(
    problems: Problems, wish: DesiredGuest, storage: str, needed: int, whole: int
) -> None:
    """A disk that could not be filled however much is freed. Storages that give out room as it is
    used take it all the same, and disks do not become smaller again."""
    problems.warn(
        "vm.larger-than-storage",
        f"a disk of {wish.who.name} is larger than the whole storage {storage}",
        why=f"it is to have {needed / _GIB:.0f} GiB, and all of {storage} has"
        f" {whole / _GIB:.0f} GiB",
        fix="ask for a smaller disk, or name another storage",
        at=_at(wish, "disk_gb"),
    )


def disk_shrinks(
    problems: Problems, wish: DesiredGuest, disk: str, found: int, wanted: int
) -> None:
    problems.error(
        "vm.disk-shrinks",
        f"{disk} of {wish.who.name} would have to become smaller",
        why=f"it has {found / _GIB:.0f} GiB, and {wanted} are asked for; disks only grow",
        fix="ask for the size that it has, or recreate the machine",
        at=_at(wish, "disk_gb"),
    )


def mount_stays(problems: Problems, wish: DesiredGuest, path: str, slot: str, source: str) -> None:
    problems.warn(
        "vm.mount-stays",
        f"{wish.who.name} keeps what is mounted at {path}",
        why=f"{slot} is {source}, the configuration does not have it, and what is mounted is never"
        " taken away: its data would be out of sight",
        fix=f"put it into the configuration again, or let root take it away with"
        f" `pct set {wish.who.vmid} --delete {slot}`",
        at=_at(wish, "container"),
    )


def storage_mismatch(
    problems: Problems, wish: DesiredGuest, disk: str, found: str, wanted: str
) -> None:
    problems.error(
        "vm.disk-elsewhere",
        f"{disk} of {wish.who.name} is in another storage",
        why=f"it is in {found}, and {wanted} is asked for",
        fix=f"move it in Proxmox VE (Hardware, Disk Action, Move Storage), or ask for {found}",
        at=_at(wish, "datastore"),
    )


def raw_device(problems: Problems, wish: DesiredGuest, device: str) -> None:
    problems.error(
        "vm.raw-device",
        f"{wish.who.name} is to have the device {device} by its address",
        why="Proxmox VE lets only root with a password do that, never a token",
        fix="map it under hosts.HOST.passthrough, and name the mapping instead",
        at=_at(wish, "pci"),
    )


def root_only(problems: Problems, wish: DesiredGuest, what: str) -> None:
    problems.error(
        "vm.root-only",
        f"{wish.who.name} is to have {what}",
        why="Proxmox VE lets only root with a password give a container that, never a token",
        fix="leave it out, make the container, and let root add it with `pct set`; then it can be"
        " in the configuration",
        at=_at(wish, "container"),
    )


def device_without_mapping(problems: Problems, wish: DesiredGuest, mapping: str, bus: str) -> None:
    problems.error(
        "vm.no-mapping",
        f"{wish.who.name} is to have {mapping}, which is not mapped on {wish.host}",
        why=f"no {bus.upper()} mapping of this name speaks of {wish.host}",
        fix=f"describe the device under hosts.{wish.host}.passthrough.{bus}, or correct the name",
        at=_at(wish, bus),
    )


def keeper_vmid_taken(problems: Problems, vmid: int, name: str) -> None:
    problems.error(
        "vm.keeper-taken",
        f"a guest has the number {vmid}, under which data disks are kept",
        why=f"deleting {name} could take the data disks of others with it",
        fix=f"give {name} another number in Proxmox VE",
        at=f"VM {vmid}",
    )


def no_iso_storage(problems: Problems, wish: DesiredGuest, why: str) -> None:
    problems.error(
        "vm.no-seed-storage",
        f"{wish.who.name} needs an image of its own, and {wish.host} has no storage for it",
        why=why,
        fix="allow the content type `iso` on a storage of the host",
        at=_at(wish, "host"),
    )


def _at(wish: DesiredGuest, field: str) -> ProblemLocation:
    """Where the files say it, or speak of the guest, or its name."""
    for part in (wish.source, wish.entry):
        found = part.where(field) if part is not None else None
        if found is not None and found.at.file:
            return found
    return wish.who.name
