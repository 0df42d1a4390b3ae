"""Rules for VMs, their placement on hosts, and templates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from stockman.config.language import NodeSection, ProxmoxSection, VmSection, proxmox_clusters
from stockman.config.nearest import nearest_name
from stockman.config.rules.context import RuleContext, repeated
from stockman.model.guest import Image
from stockman.model.hardware import DataDisk, Hardware
from stockman.model.origin import Origin, Traced
from stockman.model.proxmox import HostBridge, ProxmoxCluster, Storage, VmTemplate, ZfsPool

_TALOS_MEMORY = 2048
_LONGEST_SERIAL = 20
"""Bytes of the serial number of a disk (`serial` in PVE/QemuServer/Drive.pm)."""
_COMPRESSED = (".xz", ".gz", ".zst", ".bz2", ".zip", ".lzo")


def check_vms(context: RuleContext) -> None:
    """Check the VM blocks of nodes and guests."""
    for node in context.configuration.nodes:
        if node.vm is not None:
            _check_node(context, node, node.vm)
    for guest in context.configuration.guests:
        if guest.vm is not None:
            _check_hardware(context, f"guest {guest.name}", guest.vm)


def _check_node(context: RuleContext, node: NodeSection, vm: VmSection) -> None:
    owner = f"node {node.name}"
    for field in ("vmid", "host"):
        if getattr(vm, field) is None and field not in vm.origins:
            context.problems.error(
                "config.missing-key",
                f"the VM of {owner} has no {field}",
                why=f"a VM is created, found and deleted by its {field}",
                fix=f"add `{field}:` to its `vm:` block",
                at=vm.where(),
            )
    _check_hardware(context, owner, vm)
    if vm.memory < _TALOS_MEMORY:
        context.problems.error(
            "vm.memory-small",
            f"{owner} has too little memory",
            why=f"{vm.memory} MiB; Talos needs {_TALOS_MEMORY} MiB at least",
            fix="give it 4096 MiB (controller) or 8192 MiB (worker)",
            at=vm.where("memory"),
        )
    if vm.scsihw == "virtio-scsi-single":
        context.problems.warn(
            "vm.scsi-single",
            f"{owner} uses a disk controller that Talos has trouble with",
            why="with virtio-scsi-single the bootstrap has been seen to hang",
            fix="use virtio-scsi-pci",
            at=vm.where("scsihw"),
        )
    if vm.ha_group is not None and vm.ha is not None and vm.ha.group is not None:
        context.problems.error(
            "vm.ha-twice",
            f"{owner} has two HA groups",
            why=f"ha_group is {vm.ha_group}, ha.group is {vm.ha.group}",
            fix="keep one of the two",
            at=vm.where("ha_group"),
        )
    if vm.nics and ("bridge" in vm.origins or "vlan_id" in vm.origins):
        field = "bridge" if "bridge" in vm.origins else "vlan_id"
        context.problems.error(
            "vm.nics-twice",
            f"{owner} describes its network cards twice",
            why=f"`{field}` is short for one card, and `nics` lists all of them",
            fix=f"remove `{field}`, or `nics`",
            at=vm.where(field),
        )
    _check_expectations(context, node, vm)


def _check_hardware(context: RuleContext, owner: str, vm: Hardware) -> None:
    if vm.balloon > vm.memory:
        context.problems.error(
            "vm.balloon",
            f"{owner} keeps more memory than it has",
            why=f"balloon is {vm.balloon} MiB, memory is {vm.memory} MiB",
            fix="set `balloon: 0`",
            at=vm.where("balloon"),
        )
    for pci in vm.pci:
        if (pci.mapping is None) == (pci.address is None):
            _report_device(context, owner, "address", pci.where())
    for usb in vm.usb:
        if (usb.mapping is None) == (usb.id is None):
            _report_device(context, owner, "id", usb.where())
    for pci in vm.pci:
        if pci.pcie and vm.machine != "q35":
            context.problems.error(
                "vm.pcie",
                f"{owner} has a PCI Express device on a machine without PCI Express",
                why=f"machine is {vm.machine}",
                fix="set `machine: q35`, or `pcie: false` for the device",
                at=pci.where(),
            )
    disks: tuple[DataDisk, ...] = getattr(vm, "data_disks", ())
    for disk in repeated(disks, lambda disk: disk.name):
        context.problems.error(
            "vm.disk-name-taken",
            f"{owner} has two data disks called {disk.name}",
            why="the name is the disk's serial number inside of the guest",
            fix="give each disk a name of its own",
            at=disk.where("name"),
        )
    for disk in disks:
        if len(disk.name) > _LONGEST_SERIAL:
            context.problems.error(
                "vm.disk-name-long",
                f"{owner} has a data disk with a name of {len(disk.name)} characters",
                why="the name is the disk's serial number inside of the guest, and Proxmox VE"
                f" allows {_LONGEST_SERIAL}",
                fix=f"shorten {disk.name} to at most {_LONGEST_SERIAL} characters",
                at=disk.where("name"),
            )


def _report_device(
    context: RuleContext, owner: str, alternative: str, where: Origin | None
) -> None:
    context.problems.error(
        "vm.device",
        f"{owner} has a device that needs either `mapping` or `{alternative}`",
        why="exactly one of them identifies the device",
        fix=f"set `mapping` or `{alternative}`, not both",
        at=where,
    )


def _check_expectations(context: RuleContext, node: NodeSection, vm: VmSection) -> None:
    expect = node.expect
    cards = max(len(vm.nics), 1)
    if expect.nic_count is not None and expect.nic_count != cards:
        context.problems.error(
            "expect.nic-count",
            f"node {node.name} does not have the expected number of cards",
            why=f"expect.nic_count is {expect.nic_count}, the VM has {cards}",
            fix="add the missing cards to `nics`, or correct nic_count",
            at=expect.where("nic_count"),
        )
    tags = {nic.vlan_id for nic in vm.nics} | {vm.vlan_id}
    for index, vlan in enumerate(expect.vlans):
        if vlan not in tags:
            context.problems.error(
                "expect.vlan",
                f"node {node.name} would never be in VLAN {vlan}",
                why="no card of its VM carries that tag",
                fix=f"add a card with `vlan_id: {vlan}`, or remove the expectation",
                at=expect.origins.get(f"vlans[{index}]") or expect.where("vlans"),
            )


def check_placement(context: RuleContext) -> None:
    """Check hosts, storages, bridges, memory and the distribution of controllers."""
    proxmox = context.configuration.proxmox
    placed = [(node, node.vm) for node in context.configuration.nodes if node.vm is not None]
    if proxmox is None:
        _check_section(context, placed)
    else:
        _check_clusters(context, proxmox, needed=bool(placed or context.configuration.guests))
        for node, vm in placed:
            _check_vm(context, proxmox, node, vm)
        _check_memory(context, proxmox, placed)
    _check_spread(context, placed)


def _check_section(context: RuleContext, placed: list[tuple[NodeSection, VmSection]]) -> None:
    machines: list[tuple[str, Origin | None]] = [
        (f"node {node.name}", vm.where()) for node, vm in placed
    ]
    machines += [(f"guest {guest.name}", guest.where()) for guest in context.configuration.guests]
    if machines and context.complete:
        owner, origin = machines[0]
        context.problems.error(
            "proxmox.missing",
            f"{owner} has a place on a Proxmox host, but there is no Proxmox",
            why="no `proxmox:` section says how to reach it",
            fix=f"add {context.name('proxmox.endpoint')}; see `stockman explain proxmox`",
            at=origin,
        )


def _check_clusters(context: RuleContext, proxmox: ProxmoxSection, *, needed: bool) -> None:
    for cluster in repeated(proxmox_clusters(proxmox), lambda cluster: cluster.region):
        context.problems.error(
            "proxmox.region-taken",
            f"two Proxmox clusters are called {cluster.region}",
            why="the region is how nodes and volumes find their cluster",
            fix="give each cluster a region of its own",
            at=cluster.where("region"),
        )
    for cluster in proxmox_clusters(proxmox):
        if needed and cluster.endpoint is None and "endpoint" not in cluster.origins:
            name = context.name("proxmox.endpoint") if cluster is proxmox else "endpoint"
            context.problems.error(
                "config.missing-key",
                f"{name} is missing",
                why=f"Proxmox cluster {cluster.region} cannot be reached without it",
                fix=f"add {name}, such as https://127.66.0.4:8006",
                at=cluster.where(),
            )


def _check_vm(
    context: RuleContext, proxmox: ProxmoxSection, node: NodeSection, vm: VmSection
) -> None:
    clusters = {str(cluster.region): cluster for cluster in proxmox_clusters(proxmox)}
    if vm.region is None and len(clusters) > 1:
        context.problems.error(
            "vm.region",
            f"node {node.name} has no Proxmox cluster",
            why=f"there are {len(clusters)}: {', '.join(clusters)}",
            fix="add `region:` to its `vm:` block",
            at=vm.where(),
        )
        return
    cluster = clusters.get(vm.region) if vm.region is not None else next(iter(clusters.values()))
    if cluster is None:
        _report_unknown(context, node, "region", vm, clusters)
        return
    uses: list[tuple[str, Traced, Collection[str]]] = [
        ("host", vm, cluster.hosts),
        ("datastore", vm, cluster.storages),
        *(("datastore", disk, cluster.storages) for disk in vm.data_disks),
        *(("bridge", card, cluster.bridges) for card in vm.nics or (vm,)),
    ]
    for key, section, known in uses:
        name = getattr(section, key)
        if name and known and name not in known:
            _report_unknown(context, node, key, section, known)


def _report_unknown(
    context: RuleContext, node: NodeSection, key: str, section: Traced, known: Collection[str]
) -> None:
    """Report that a value is none of the hosts, storages or bridges of the Proxmox section."""
    name = str(getattr(section, key))
    kind = "storage" if key == "datastore" else key
    near = nearest_name(name, known)
    context.problems.error(
        {
            "region": "region.unknown",
            "host": "host.unknown",
            "storage": "storage.unknown",
            "bridge": "bridge.unknown",
        }[kind],
        f"node {node.name} uses a {kind} that is not listed",
        why=f"{name} is none of {', '.join(known)}",
        fix=f"write {near}" if near else f"add {name} to the {kind}s of the Proxmox section",
        at=section.where(key),
    )


def _check_memory(
    context: RuleContext, proxmox: ProxmoxSection, placed: list[tuple[NodeSection, VmSection]]
) -> None:
    required: dict[str, int] = defaultdict(int)
    for _, vm in placed:
        if vm.host is not None:
            required[vm.host] += vm.memory
    for guest in context.configuration.guests:
        block = guest.vm or guest.container
        required[guest.host] += block.memory if block is not None else 0
    for cluster in proxmox_clusters(proxmox):
        for name, host in cluster.hosts.items():
            if host.memory is None:
                continue
            room = host.memory - host.reserve_memory
            if required[name] > room:
                context.problems.warn(
                    "host.overcommitted",
                    f"host {name} is promised more memory than it has",
                    why=f"its machines want {required[name]} MiB; {host.memory} MiB less "
                    f"{host.reserve_memory} MiB for the host leave {room} MiB",
                    fix="move a machine to another host, or give machines less memory",
                    at=host.where("memory"),
                )


def _check_spread(context: RuleContext, placed: list[tuple[NodeSection, VmSection]]) -> None:
    hosts: dict[str, list[NodeSection]] = defaultdict(list)
    for node, vm in placed:
        if node.controller and vm.host is not None:
            hosts[vm.host].append(node)
    total = sum(len(nodes) for nodes in hosts.values())
    for host, nodes in hosts.items():
        if len(nodes) > 1:
            names = ", ".join(str(node.name) for node in nodes)
            context.problems.warn(
                "placement.one-host",
                f"{len(nodes)} of {total} controllers live on host {host}",
                why=f"{names} stop together when that host stops",
                fix="spread controllers over hosts",
                at=nodes[1].vm.where("host") if nodes[1].vm is not None else None,
            )


def check_templates(context: RuleContext) -> None:
    """Check names and reference nodes of templates."""
    proxmox = context.configuration.proxmox
    if proxmox is None:
        return
    nodes = {str(node.name): node for node in context.configuration.nodes}
    clusters = proxmox_clusters(proxmox)
    for cluster in clusters:
        for template in cluster.templates:
            _check_like(context, cluster, template, nodes, single=len(clusters) == 1)
        for template in repeated(cluster.templates, lambda template: template.name):
            context.problems.error(
                "template.name-taken",
                f"two templates of {cluster.region} are called {template.name}",
                why="others find a template by its name",
                fix="give each a name of its own",
                at=template.where("name"),
            )


def _check_like(
    context: RuleContext,
    cluster: ProxmoxCluster,
    template: VmTemplate,
    nodes: dict[str, NodeSection],
    *,
    single: bool,
) -> None:
    node = nodes.get(str(template.like))
    vm = node.vm if node is not None else None
    if vm is not None and (single or vm.region == cluster.region):
        return
    if node is None:
        why = f"there is no node {template.like}"
    elif vm is None:
        why = f"node {template.like} has no `vm:` block"
    else:
        why = f"node {template.like} is in {vm.region}, and the template in {cluster.region}"
    context.problems.error(
        "template.like",
        f"the template {template.name} is like no VM of its Proxmox cluster",
        why=why,
        fix="name a node with a VM there, whose image and hardware it is to have",
        at=template.where("like"),
    )


def check_guests(context: RuleContext) -> None:
    """Check guests, their hosts and images, and names on hosts."""
    known = _known_hosts(context)
    for guest in context.configuration.guests:
        if (guest.vm is None) == (guest.container is None):
            both = guest.vm is not None
            context.problems.error(
                "guest.form",
                f"guest {guest.name} needs either `vm:` or `container:`",
                why="it is a VM and a container" if both else "it is neither a VM nor a container",
                fix="set `vm:` or `container:`, not both",
                at=guest.where(),
            )
        if known and guest.host not in known:
            near = nearest_name(guest.host, known)
            context.problems.error(
                "host.unknown",
                f"guest {guest.name} uses a host that is not listed",
                why=f"{guest.host} is none of {', '.join(sorted(known))}",
                fix=f"write {near}" if near else f"add {guest.host} to the Proxmox hosts",
                at=guest.where("host"),
            )
        image = guest.vm.image if guest.vm is not None else None
        if image is not None and (image.url is None) == (image.volume is None):
            context.problems.error(
                "guest.image",
                f"guest {guest.name} has an image that is not named once",
                why="exactly one of `url` and `volume` says where it comes from",
                fix="set `url` or `volume`, not both",
                at=image.where(),
            )
        if image is not None:
            _check_compression(context, guest.name, image)
    for host in context.configuration.hosts.values():
        _check_names(context, "storage", host.storages)
        _check_names(context, "pool", host.pools)
        _check_names(context, "bridge", host.bridges)


def _check_compression(context: RuleContext, guest: str, image: Image) -> None:
    path = urlsplit(image.url or "").path or image.volume or ""
    ending = next((ending for ending in _COMPRESSED if path.endswith(ending)), "")
    if ending:
        context.problems.error(
            "guest.compressed-image",
            f"guest {guest} has a compressed image",
            why=f"Proxmox VE imports disk images as they are, and does not decompress {ending}",
            fix="use an uncompressed image; or decompress it, upload it to a storage with content"
            " import, and name it as `volume`",
            at=image.where("url" if image.url is not None else "volume"),
        )


def _known_hosts(context: RuleContext) -> set[str]:
    proxmox = context.configuration.proxmox
    if proxmox is None:
        return set()
    return {name for cluster in proxmox_clusters(proxmox) for name in cluster.hosts}


def _check_names(
    context: RuleContext, kind: str, parts: Iterable[Storage | ZfsPool | HostBridge]
) -> None:
    for part in repeated(parts, lambda part: part.name):
        context.problems.error(
            "host.name-taken",
            f"a host has two {kind}s called {part.name}",
            why="the second would replace the first",
            fix=f"give each {kind} a name of its own",
            at=part.where("name"),
        )
