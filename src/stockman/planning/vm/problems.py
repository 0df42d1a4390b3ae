"""Problems that prevent a guest from being planned, reported before anything is changed."""

from __future__ import annotations

from stockman.model.problem import ProblemLocation, Problems
from stockman.planning.vm.desired import DesiredGuest
from stockman.proxmox.cluster import GuestSummary
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.placement import ha_id

_GIB = 1 << 30


def name_mismatch(problems: Problems, desired: DesiredGuest, old: str) -> None:
    problems.error(
        "vm.renamed",
        f"VM {desired.identity.vmid} is named {old}, but the configuration names it"
        f" {desired.identity.name}",
        why="the name is part of a machine's identity in etcd and Kubernetes; it cannot be changed"
        " in place",
        fix=f"rename it back to {old}; or give {desired.identity.name} a new vmid, so that it is"
        f" created and {old} is deleted",
        at=_at(desired, "name"),
    )


def cluster_renamed(problems: Problems, desired: DesiredGuest, old: str) -> None:
    problems.error(
        "vm.cluster-renamed",
        f"{desired.identity.label} belongs to this cluster under the name {old}",
        why=f"the mark of the VM has the fingerprint of this cluster and the name {old}, and the"
        f" configuration says {desired.owner.name}",
        fix=f"set cluster_name back to {old}; contexts and client files can have another name",
        at=_at(desired, "name"),
    )


def vmid_taken(problems: Problems, desired: DesiredGuest, actual_name: str, host: str) -> None:
    problems.error(
        "vm.taken",
        f"VMID {desired.identity.vmid} of {desired.identity.name} is used by another guest",
        why=f"{actual_name} on {host} has it, and stockman did not create that guest",
        fix=f"give {desired.identity.name} another vmid; or, if it is the same machine, adopt it"
        " with `stockman adopt`",
        at=_at(desired, "vmid"),
    )


def used_by_other_cluster(
    problems: Problems, desired: DesiredGuest, other: GuestSummary, fingerprint: str
) -> None:
    own = desired.owner.fingerprint
    problems.error(
        "vm.other-cluster",
        f"VMID or name of {desired.identity.label} is used by another cluster",
        why=f"VM {other.vmid} on {other.host} has the mark of a cluster with the fingerprint"
        f" {fingerprint}; this one has {own or 'none'}, so its secrets are different",
        fix=f"give {desired.identity.name} another name and vmid, and the cluster another"
        " cluster_name; or use the directory with the secrets of that cluster",
        at=_at(desired, "vmid"),
    )


def guest_copy(problems: Problems, guest: GuestSummary, name: str, original: str) -> None:
    problems.warn(
        "vm.copy",
        f"VM {guest.vmid} ({name}) on {guest.host} is a copy of {original}",
        why="it has the mark of this cluster, but its VMID or UUID is another: it was restored or"
        " cloned; stockman neither changes nor deletes it",
        fix=f"to use it instead, set vmid: {guest.vmid} in nodes.yaml after its original is"
        " deleted; otherwise delete it, or its tag stockman, in Proxmox VE",
        at=f"VM {guest.vmid}",
    )


def second_guest(problems: Problems, guest: GuestSummary, configured: GuestIdentity) -> None:
    problems.warn(
        "vm.second",
        f"VM {guest.vmid} on {guest.host} is a second guest named {configured.name}, and is kept",
        why=f"{configured.label} in {configured.cluster} is configured and exists; stockman deletes"
        " no guest while another one of its name exists",
        fix="look which of them has the data, and delete the other one in Proxmox VE",
        at=f"VM {guest.vmid}",
    )


def old_mark(problems: Problems, guest: GuestSummary, name: str) -> None:
    problems.warn(
        "vm.old-mark",
        f"VM {guest.vmid} ({name}) on {guest.host} is not in the configuration, and is kept",
        why="its mark has no fingerprint, so that it may belong to another cluster of this name",
        fix="delete it in Proxmox VE if nobody needs it; or configure it again, run `stockman"
        " apply`, which renews its mark, and then remove it",
        at=f"VM {guest.vmid}",
    )


def mac_taken(problems: Problems, desired: DesiredGuest, mac: str, other_guest: str) -> None:
    problems.error(
        "vm.mac-taken",
        f"MAC address {mac} of {desired.identity.name} is already in use",
        why=f"{other_guest} has a network card with this address",
        fix=f"change mac_addr of {desired.identity.name} or of the other guest",
        at=_at(desired, "nics"),
    )


def no_host(problems: Problems, desired: DesiredGuest, hosts: list[str]) -> None:
    problems.error(
        "vm.no-host",
        f"{desired.identity.name} is placed on {desired.host}, which is not in the Proxmox cluster",
        why=f"the hosts of the cluster are {', '.join(hosts)}",
        fix="use one of these hosts",
        at=_at(desired, "host"),
    )


def host_offline(problems: Problems, desired: DesiredGuest) -> None:
    problems.error(
        "vm.host-offline",
        f"cannot create {desired.identity.name} on {desired.host}",
        why="the Proxmox cluster reports this host as offline",
        fix=f"bring {desired.host} online, or use another host",
        at=_at(desired, "host"),
    )


def incomplete_creation(
    problems: Problems, desired: DesiredGuest, host: str, *, shared: bool
) -> None:
    kind = "qemu-server" if desired.identity.kind == "qemu" else "lxc"
    file = f"{kind}/{desired.identity.vmid}.conf"
    recreate = f"give {desired.identity.name} another vmid, so that it is created on {desired.host}"
    by_hand = (
        f"make sure that {host} stays off; then run as root on another host"
        f" `mv /etc/pve/nodes/{host}/{file} /etc/pve/nodes/{desired.host}/{file}`; or {recreate}"
    )
    problems.error(
        "vm.stuck",
        f"{desired.identity.name} is on {host}, which is offline, but is configured for"
        f" {desired.host}",
        why="Proxmox VE cannot move a guest of an offline host, and its VMID stays taken; the disks"
        f" are {'on shared storage' if shared else f'on local storage of {host}'}",
        fix=f"bring {host} online; or {by_hand if shared else recreate}",
        at=_at(desired, "host"),
    )


def ha_recovery(problems: Problems, desired: DesiredGuest, host: str) -> None:
    problems.warn(
        "vm.recovering",
        f"{desired.identity.name} is on {host}, which is offline, until HA moves it",
        why="it is managed by HA and its disks are on shared storage; Proxmox VE waits a few"
        " minutes before it treats a host as lost",
        fix="plan again in a few minutes; `ha-manager status` on a host shows the progress",
        at=_at(desired, "host"),
    )


def ha_host_mismatch(problems: Problems, desired: DesiredGuest, host: str, *, online: bool) -> None:
    command = f"ha-manager migrate {ha_id(desired.identity)} {desired.host}"
    move = f"run `{command}` on a host to move it now"
    back = f"wait until {desired.host} is online again"
    problems.warn(
        "vm.ha-elsewhere",
        f"{desired.identity.name} runs on {host}, but is configured for {desired.host}",
        why="HA decides where it runs and may have moved it for a reason, so stockman does not"
        " move it",
        fix=f"{move if online else back}, or set the host to {host} in the configuration",
        at=_at(desired, "host"),
    )


def disk_in_use(
    problems: Problems, desired: DesiredGuest, disk: str, other_guest: str, host: str
) -> None:
    problems.error(
        "vm.disk-in-use",
        f"data disk {disk} of {desired.identity.name} may still be in use by another machine",
        why=f"{other_guest} on {host} has it, and {host} is offline; two machines that write to one"
        " disk corrupt it",
        fix=f"bring {host} online; or make sure that it stays off and move {other_guest} to another"
        " host as root (see the page of vm.stuck), and keep its old vmid",
        at=_at(desired, "vmid"),
    )


def leftover_disk(problems: Problems, name: str, vmid: int, host: str) -> None:
    problems.warn(
        "vm.left-behind",
        f"VM {vmid} ({name}) is left on {host} for now",
        why=f"{host} is offline, so nothing can be deleted there",
        fix=f"plan again when {host} is online, before it starts its guests; or remove {host}"
        " from the Proxmox cluster",
    )


def no_storage(problems: Problems, desired: DesiredGuest, storage: str, content: str) -> None:
    problems.error(
        "vm.no-storage",
        f"{desired.host} has no storage {storage} for {content}, which {desired.identity.name}"
        " needs",
        why=f"{storage} does not exist on {desired.host} or does not allow {content}",
        fix=f"add `{content}` to its content types, or use another storage",
        at=_at(desired, "datastore"),
    )


def no_volume(problems: Problems, desired: DesiredGuest) -> None:
    is_machine = desired.identity.kind == "qemu"
    image = "an image" if is_machine else "a template"
    fetched = "upload the image, or set `url` so that it is downloaded"
    storage, _, path = desired.volume.partition(":")
    loaded = f"pveam download {storage} {path.rpartition('/')[2]}"
    by_host = (
        f"run `{loaded}` on {desired.host}, or use a template that `pveam list {storage}` shows"
    )
    problems.error(
        "image.no-volume",
        f"{desired.identity.name} needs {image} that {desired.host} does not have",
        why=f"volume {desired.volume} does not exist on {desired.host}",
        fix=fetched if is_machine else by_host,
        at=_at(desired, "vm" if is_machine else "container"),
    )


def no_room(problems: Problems, storage: str, host: str, needed: int, free: int) -> None:
    problems.error(
        "vm.no-room",
        f"storage {storage} on {host} has not enough free space",
        why=f"{needed / _GIB:.0f} GiB are needed, {free / _GIB:.0f} GiB are free",
        fix="free some space, or use another storage",
        at=f"storage {storage} on {host}",
    )


def disk_larger_than_storage(
    problems: Problems, desired: DesiredGuest, storage: str, needed: int, capacity: int
) -> None:
    """Warn of a disk larger than its storage: thin storages accept it, but disks never shrink."""
    problems.warn(
        "vm.larger-than-storage",
        f"a disk of {desired.identity.name} is larger than storage {storage}",
        why=f"the disk is configured with {needed / _GIB:.0f} GiB, and {storage} has"
        f" {capacity / _GIB:.0f} GiB in total",
        fix="configure a smaller disk, or use another storage",
        at=_at(desired, "disk_gb"),
    )


def disk_shrinks(
    problems: Problems, desired: DesiredGuest, disk: str, actual: int, configured: int
) -> None:
    problems.error(
        "vm.disk-shrinks",
        f"{disk} of {desired.identity.name} cannot shrink",
        why=f"it has {actual / _GIB:.0f} GiB, and {configured} GiB are configured",
        fix="configure its current size, or recreate the machine",
        at=_at(desired, "disk_gb"),
    )


def mount_stays(
    problems: Problems, desired: DesiredGuest, path: str, slot: str, source: str
) -> None:
    problems.warn(
        "vm.mount-stays",
        f"{desired.identity.name} keeps the mount point {path}",
        why=f"{slot} is {source} and is not in the configuration; stockman never removes a mount"
        " point, because its data would become inaccessible",
        fix="add it to the configuration, or remove it as root with"
        f" `pct set {desired.identity.vmid} --delete {slot}`",
        at=_at(desired, "container"),
    )


def storage_mismatch(
    problems: Problems, desired: DesiredGuest, disk: str, actual: str, configured: str
) -> None:
    problems.error(
        "vm.disk-elsewhere",
        f"{disk} of {desired.identity.name} is on another storage",
        why=f"it is on {actual}, and {configured} is configured",
        fix=f"move it in Proxmox VE (Hardware, Disk Action, Move Storage), or configure {actual}",
        at=_at(desired, "datastore"),
    )


def raw_device(problems: Problems, desired: DesiredGuest, device: str) -> None:
    problems.error(
        "vm.raw-device",
        f"{desired.identity.name} uses device {device} by its address",
        why="Proxmox VE only allows this for root with a password, not for a token",
        fix="define a mapping under hosts.HOST.passthrough and use its name",
        at=_at(desired, "pci"),
    )


def root_only(problems: Problems, desired: DesiredGuest, setting: str) -> None:
    problems.error(
        "vm.root-only",
        f"{desired.identity.name} is configured with {setting}",
        why="Proxmox VE only allows root with a password to set this on a container",
        fix="leave it out, create the container, and set it as root with `pct set`; then add it"
        " to the configuration",
        at=_at(desired, "container"),
    )


def tag_not_allowed(
    problems: Problems, desired: DesiredGuest, tag: str, *, registered: bool
) -> None:
    problems.error(
        "vm.tag-not-allowed",
        f"the token may not give the tag {tag} to {desired.identity.name}",
        why="it is a registered tag, which needs Sys.Modify on /"
        if registered
        else "user-tag-access of the datacenter only allows listed tags",
        fix="remove it from the registered tags: Datacenter, Options"
        if registered
        else "add it to the allowed tags: Datacenter, Options, User Tag Access",
        at=_at(desired, "tags"),
    )


def device_without_mapping(
    problems: Problems, desired: DesiredGuest, mapping: str, bus: str
) -> None:
    problems.error(
        "vm.no-mapping",
        f"{desired.identity.name} uses mapping {mapping}, which does not exist on {desired.host}",
        why=f"no {bus.upper()} mapping of this name has an entry for {desired.host}",
        fix=f"define the device under hosts.{desired.host}.passthrough.{bus}, or correct the name",
        at=_at(desired, bus),
    )


def keeper_vmid_taken(problems: Problems, vmid: int, name: str) -> None:
    problems.error(
        "vm.keeper-taken",
        f"VMID {vmid} is used by a guest, but stockman needs it for retained data disks",
        why=f"deleting {name} could delete data disks of other guests",
        fix=f"give {name} another VMID in Proxmox VE",
        at=f"VM {vmid}",
    )


def no_iso_storage(problems: Problems, desired: DesiredGuest) -> None:
    problems.error(
        "vm.no-seed-storage",
        f"{desired.identity.name} needs a NoCloud image, and {desired.host} has no storage for it",
        why="its first configuration is delivered as an ISO image in its drive",
        fix="add the content type `iso` to a storage of the host",
        at=_at(desired, "host"),
    )


def _at(desired: DesiredGuest, field: str) -> ProblemLocation:
    """Return the position of the field in the files, else that of the guest, else its name."""
    for source in (desired.source, desired.entry):
        location = source.where(field) if source is not None else None
        if location is not None and location.at.file:
            return location
    return desired.identity.name
