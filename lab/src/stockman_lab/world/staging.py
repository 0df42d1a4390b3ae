"""A preset's cluster in a world: virtual machines, and Talos in them, bootstrapped.

What `stockman init` writes for the preset is read as the product reads it, so that the machines
are those that the files describe. Secrets are made with the world's own dice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import IPv4Network
from typing import TypeAlias

from stockman.config.load import load
from stockman.config.presets import Answers, render_preset
from stockman.config.resolve import resolve
from stockman.model.desired import Cluster, Desired, Node, Vm
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.machine.assembly import ConfigurationAssembler
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.nocloud.network import build_node_network
from stockman.talos.nocloud.seed import NocloudSeed, choose_version, meta_data, network_config
from stockman.talos.schematic import ImageSchematic, canonical_text, desired_schematic
from stockman.talos.secrets.bundle import SecretsBundle, new_bundle
from stockman_lab.core.dice import Dice
from stockman_lab.factory import assets, names, schematics
from stockman_lab.pve import space
from stockman_lab.pve.api.call import Upload
from stockman_lab.pve.cluster import Cluster as ProxmoxCluster
from stockman_lab.world.residents import post
from stockman_lab.world.world import World

AGENT = "siderolabs/qemu-guest-agent"
_GIB = 1 << 30
_FAR = 1 << 42
"""Where the dice of secrets begin, so that nothing else throws the same."""
_NO_CONFIGURATION = "#cloud-config\n"
"""What Proxmox writes by itself, and Talos passes over."""
_PATIENCE = 3600.0
_STEP = 30.0


Told: TypeAlias = Callable[[str, str], None]
"""Of a machine and its stage."""


class NothingToStage(Exception):
    """A preset without a Talos cluster."""


@dataclass(kw_only=True)
class Staging:
    """What is wanted."""

    preset: str
    network: IPv4Network
    talos_version: str | None = None
    """`1.13.9`. None: as the preset has it."""
    real_now: datetime | None = None
    """From when on certificates are valid. None: the moment of the world."""
    bootstrap: bool = True
    configured: bool = True
    """Whether machines find their configurations at first boot; else they wait in maintenance."""
    network_plugin: bool = True
    """Whether a network for pods is brought, so that nodes become ready."""
    flux: bool = False
    """Whether Flux is brought, and what else clusters have."""
    patches: PatchSet = field(default_factory=PatchSet)
    """What is changed in the configurations of machines."""
    told: Told | None = None
    """Is told how far which machine is. None: nobody listens."""


@dataclass
class Staged:
    """A cluster that was put into a world."""

    desired: Desired
    bundle: SecretsBundle
    machines: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Where each node is: Proxmox cluster and VMID, by name."""


def stage_cluster(world: World, staging: Staging) -> Staged:
    """Make the machines of a preset, switch them on, and bootstrap etcd on the first one."""
    answers = Answers(talos_version=staging.talos_version)
    texts = render_preset(staging.preset, network=staging.network, answers=answers)
    return stage_files(world, texts, staging)


def stage_files(world: World, texts: Mapping[str, str], staging: Staging) -> Staged:
    """The same of any files that fit into the world; hosts of their names have to be there."""
    desired = resolve(load({name: text.encode() for name, text in texts.items()}))
    cluster = desired.cluster
    if cluster is None:
        raise NothingToStage(staging.preset)
    moment = staging.real_now or datetime.fromtimestamp(world.now, UTC)
    dice = Dice(world.state.dice.seed, _FAR).random_bytes
    staged = Staged(desired, new_bundle(cluster.talos.contract, moment, dice))
    assembly = ConfigurationAssembler(desired, staged.bundle, staging.patches)
    for node in desired.nodes:
        if node.vm is None:
            continue
        text = assembly.of(node).text()
        seed = NocloudSeed(
            user_data=text if staging.configured else Secret(_NO_CONFIGURATION),
            meta_data=meta_data(node),
            network_config=_network(cluster, node),
        )
        image = seed.image(moment)
        place = staged.machines[str(node.name)] = _place(world, node.vm)
        _make(world, world.clusters[place[0]], desired, node, image)
        if staging.told is not None:
            staging.told(str(node.name), "made")
    if staging.bootstrap:
        bring_up(world, staged, staging.told)
        if staging.network_plugin:
            equip(world, staged, flux=staging.flux)
    return staged


def equip(world: World, staged: Staged, *, flux: bool) -> None:
    """Bring a network for pods, and Flux with what else clusters have if that is wanted."""
    from stockman_lab.world.equipping import bring_network, bring_rest

    first = world.talos.machine(*next(iter(staged.machines.values())))
    cluster = world.kubernetes.cluster_of(first)
    if cluster is None:
        return
    bring_network(world, cluster)
    if flux:
        bring_rest(world, cluster)


def bring_up(world: World, staged: Staged, answer: Told | None = None) -> None:
    """Switch all machines on, bootstrap the first control plane, and wait until all are ready."""
    from stockman_lab.talos.etcd_member import bootstrap
    from stockman_lab.talos.state import Stage

    for cluster, vmid in staged.machines.values():
        node = world.clusters[cluster].state.guests[vmid].node
        post(world.clusters[cluster], f"/nodes/{node}/qemu/{vmid}/status/start", {})
    controllers = [str(one.name) for one in staged.desired.nodes if one.is_controller]
    first = world.talos.machine(*staged.machines[controllers[0]])
    machines = {name: world.talos.machine(*machine) for name, machine in staged.machines.items()}
    stages: dict[str, str] = {}

    def look() -> None:
        for name, machine in machines.items():
            stage = machine.state.stage.value
            if answer is not None and machine.is_on and stages.get(name) != stage:
                answer(name, stage)
            stages[name] = stage

    _wait(world, lambda: first.runs("cri") and first.state.is_time_synced, look)
    bootstrap(first)
    _wait(
        world,
        lambda: all(machine.state.stage is Stage.RUNNING for machine in machines.values()),
        look,
    )
    world.settle()


def _wait(world: World, done: Callable[[], bool], look: Callable[[], None]) -> None:
    until = world.now + _PATIENCE
    look()
    while not done() and world.now < until:
        world.advance(_STEP)
        look()


def _network(cluster: Cluster, node: Node) -> str:
    network = build_node_network(cluster, node)
    return network_config(network, choose_version(network))


def _place(world: World, vm: Vm) -> tuple[str, int]:
    for name, cluster in world.clusters.items():
        if str(vm.host) in cluster.state.hosts:
            return name, int(vm.vmid)
    raise KeyError(str(vm.host))


def _make(world: World, proxmox: ProxmoxCluster, desired: Desired, node: Node, seed: bytes) -> None:
    vm, cluster = node.vm, desired.cluster
    if vm is None or cluster is None:
        return
    host = str(vm.host)
    schematic = _schematic(world, node)
    asset = names.asset(f"{cluster.talos.platform}-amd64.qcow2")
    order = assets.order(world.factory, schematic, f"v{cluster.talos.version}", asset)
    image = world.around.blobs.put(assets.content_of(world.factory, order))
    storage = _storage_for(proxmox, host)
    iso = f"{node.name}-seed.iso"
    path = f"/nodes/{host}/storage/{storage}/upload"
    post(proxmox, path, {"content": "iso", "filename": iso}, Upload(iso, seed))
    world.settle()
    settings = {**_settings(vm, f"{storage}:iso/{iso}"), **_devices(desired, vm)}
    values = {name: value for name, value in settings.items() if value}
    post(proxmox, f"/nodes/{host}/qemu", values)
    world.settle()
    guest = proxmox.state.guests[int(vm.vmid)]
    disk = guest.config.values["scsi0"].partition(",")[0]
    volume = space.find(proxmox, host, disk)
    if volume is None:
        raise ValueError(f"{node.name}: {disk} is not there")
    world.around.blobs.hold(image)
    volume.blob = image


def _schematic(world: World, node: Node) -> str:
    """The schematic of a node, posted; an id that nobody knows stands for a guest agent alone."""
    contents = desired_schematic(node.schematic, Problems())
    if contents is not None:
        return str(schematics.post_schematic(world.factory, contents))
    schematic = str(node.schematic.id)
    if schematic not in world.factory.schematics:
        agent = ImageSchematic(extensions=(AGENT,))
        world.factory.schematics[schematic] = canonical_text(agent)
    return schematic


def _storage_for(proxmox: ProxmoxCluster, host: str) -> str:
    for storage in proxmox.state.storages.values():
        if storage.is_on(host) and "iso" in storage.content:
            return storage.id
    raise KeyError(f"{host} has no storage for ISO images")


def _settings(vm: Vm, seed: str) -> Mapping[str, object]:
    settings: dict[str, object] = {
        "vmid": int(vm.vmid),
        "name": vm.name,
        "cores": vm.cores,
        "sockets": vm.sockets,
        "memory": vm.memory,
        "balloon": vm.balloon or None,
        "cpu": vm.cpu_type,
        "machine": vm.machine if vm.machine == "q35" else None,
        "bios": vm.bios,
        "efidisk0": f"{vm.datastore}:1,efitype=4m" if vm.bios == "ovmf" else None,
        "scsihw": vm.scsihw,
        "scsi0": f"{vm.datastore}:{vm.disk_gb}",
        "ide2": f"{seed},media=cdrom",
        "boot": "order=scsi0",
        "smbios1": f"uuid={vm.uuid}",
        "agent": "1" if vm.agent else None,
        "serial0": "socket" if vm.serial else None,
        "onboot": int(vm.onboot),
        "ostype": "l26",
    }
    for number, disk in enumerate(vm.data_disks, start=1):
        settings[f"scsi{number}"] = f"{disk.datastore or vm.datastore}:{disk.size_gb}"
    for number, nic in enumerate(vm.nics):
        tag = f",tag={nic.vlan_id}" if nic.vlan_id else ""
        settings[f"net{number}"] = f"{nic.model}={nic.mac_addr},bridge={nic.bridge}{tag}"
    return settings


def _devices(desired: Desired, vm: Vm) -> Mapping[str, object]:
    """Cards of the host that the machine gets, by their addresses: root may name those."""
    host = desired.hosts.get(str(vm.host))
    passed = host.passthrough if host is not None else None
    offered = {one.name: one.address for one in passed.pci} if passed is not None else {}
    addresses = [one.address or offered.get(one.mapping or "", "") for one in vm.pci]
    return {f"hostpci{number}": address for number, address in enumerate(addresses) if address}
