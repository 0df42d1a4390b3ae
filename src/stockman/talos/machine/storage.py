"""Disks, volumes, kernel, logs, certificates and firewall of a machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network

from stockman.model.desired import Node
from stockman.model.machine import DiskSelector, SystemVolume, Volume
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.talos.documents import Document
from stockman.talos.machine.inputs import MachineInputs, certificate_text, new_document
from stockman.talos.schematic import desired_schematic

_TYPES = {
    "nvme": 'disk.transport == "nvme"',
    "sd": 'disk.transport == "mmc"',
    "hdd": "disk.rotational",
    "ssd": "!disk.rotational",
}
_SIZE = pattern(r"(>=|<=|==|>|<)? ?(\d+)(?:\.(\d+))? ?([kMGTP]?)(i?)B")
_REAL_DISKS = ('disk.transport != ""', "!disk.readonly", "!disk.cdrom")
"""Conditions that Talos adds to every selector of the old form."""


def install_disk_fields(machine: MachineInputs) -> Document:
    """Return the installation disk in the form of contracts up to 1.13."""
    node = machine.node
    if node.disk_selector is None:
        name = node.disk
        return {"disk": name} if name.startswith("/") else {"diskSelector": {"serial": name}}
    selector = node.disk_selector
    fields = {
        "size": selector.size,
        "model": selector.model,
        "serial": selector.serial,
        "modalias": selector.modalias,
        "uuid": selector.uuid,
        "wwid": selector.wwid,
        "type": selector.type,
        "busPath": selector.bus_path,
    }
    return {"diskSelector": {name: value for name, value in fields.items() if value is not None}}


def install_match(machine: MachineInputs) -> str:
    """Return the installation disk as a CEL expression, for contract 1.14."""
    node = machine.node
    if node.disk_selector is None:
        return disk_match(node.disk)
    return node.disk_selector.match or _selector_expression(node.disk_selector)


def disk_match(disk: str) -> str:
    """Return the expression for a disk by its path or serial number."""
    field = "dev_path" if disk.startswith("/") else "serial"
    return f"disk.{field} == {_quote(disk)}"


def _selector_expression(selector: DiskSelector) -> str:
    """Convert an old selector to an expression as Talos does."""
    terms = [f"disk.size {_size_comparison(selector.size)}"] if selector.size is not None else []
    for field in ("uuid", "wwid", "model", "serial", "modalias", "bus_path"):
        pattern = getattr(selector, field)
        if pattern is not None:
            terms.append(f"glob({_quote(pattern)}, disk.{field})")
    if selector.type is not None:
        terms.append(_TYPES[selector.type])
    return " && ".join((*terms, *_REAL_DISKS))


def _size_comparison(size: str) -> str:
    sign = re.match(r"[<>=]*", size)
    return f"{(sign and sign[0]) or '=='} {byte_count(size)}u"


def byte_count(size: str) -> int:
    """Return a size in bytes; `GB` is a power of ten, `GiB` a power of two."""
    match = _SIZE.fullmatch(size)
    if match is None:
        raise ValueError(f"{size} is not a size")
    _, integer, fraction, prefix, binary = match.groups()
    step: int = (1024 if binary else 1000) ** " kMGTP".index(prefix or " ")
    digits = fraction or ""
    return int(int(integer + digits) * step // 10 ** len(digits))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_KINDS = {"user": "UserVolumeConfig", "raw": "RawVolumeConfig", "swap": "SwapVolumeConfig"}


def volume_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield documents of system volumes with settings, then of the other volumes."""
    encrypted = machine.node.encrypt_disk
    if encrypted:
        yield new_document("VolumeConfig", name="STATE", encryption=_encryption({"tpm": {}}))
    ephemeral = new_document("VolumeConfig", name="EPHEMERAL")
    provisioning = _provisioning(machine.settings.ephemeral)
    if provisioning:
        ephemeral["provisioning"] = provisioning
    if encrypted:
        ephemeral["encryption"] = _encryption({"tpm": {}, "lockToState": True})
    if machine.contract_at_least(1, 14):
        ephemeral["mount"] = {"secure": True}
    if provisioning or encrypted or machine.contract_at_least(1, 14):
        yield ephemeral
    for volume in machine.settings.volumes:
        yield _volume(volume, locked=encrypted)


def _provisioning(volume: SystemVolume) -> Document:
    fields: Document = {}
    if volume.disk_match is not None:
        fields["diskSelector"] = {"match": volume.disk_match}
    return fields | _sizes(volume)


def _volume(volume: Volume, *, locked: bool) -> Document:
    match = volume.disk_match or "!system_disk"
    if volume.disk is not None:
        match = disk_match(volume.disk)
    document = new_document(
        _KINDS[volume.kind],
        name=volume.name,
        provisioning={"diskSelector": {"match": match}, **_sizes(volume)},
    )
    if volume.kind == "user":
        document["filesystem"] = {"type": volume.filesystem}
    if volume.encryption != "none":
        key: Document = {"tpm": {}} if volume.encryption == "tpm" else {"nodeID": {}}
        document["encryption"] = _encryption(key | ({"lockToState": True} if locked else {}))
    return document


def _sizes(volume: SystemVolume | Volume) -> Document:
    sizes = {"minSize": volume.min_size, "maxSize": volume.max_size}
    return {name: size for name, size in sizes.items() if size is not None}


def _encryption(key: Document) -> Document:
    return {"provider": "luks2", "keys": [{"slot": 0, **key}]}


MODULES = ("nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset")
JIT_HARDENING = {"net.core.bpf_jit_harden": "1"}
"""Without it the container toolkit of Talos up to 1.12 cannot set up its device filter."""
RUNTIME = """\
[plugins."io.containerd.cri.v1.runtime".containerd]
  default_runtime_name = "nvidia"
"""
RUNTIME_FILE = "/etc/cri/conf.d/20-customization.part"
"""The only file below `/etc` that a machine configuration may create."""

_DRIVER = pattern(r"siderolabs/(nvidia-open-gpu-kernel-modules|nonfree-kmod-nvidia)\b.*")


def has_nvidia(machine: MachineInputs) -> bool:
    """Whether the machine loads the NVIDIA driver: by its setting, or by its extensions."""
    enabled = machine.settings.nvidia.enabled
    if enabled is not None:
        return enabled
    contents = desired_schematic(machine.node.schematic, Problems())
    return contents is not None and any(map(_DRIVER.fullmatch, contents.extensions))


def kernel_modules(machine: MachineInputs) -> tuple[str, ...]:
    """Return the modules that the machine loads, without duplicates."""
    needed = MODULES if has_nvidia(machine) else ()
    return tuple(dict.fromkeys((*machine.node.kernel_modules, *needed)))


def sysctls(machine: MachineInputs) -> dict[str, str]:
    """Return the kernel parameters of the machine; user settings take precedence."""
    old = machine.cluster.talos.version.line <= (1, 12)
    needed = JIT_HARDENING if old and has_nvidia(machine) else {}
    return needed | machine.settings.sysctls


def is_default_runtime(machine: MachineInputs) -> bool:
    """Whether the NVIDIA runtime is the default for all containers."""
    return machine.settings.nvidia.default_runtime and has_nvidia(machine)


_SPAN = pattern(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def settings_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield watchdog, logs and CAs, and since 1.13 and 1.14 also environment and kernel."""
    settings = machine.settings
    if settings.watchdog is not None:
        yield new_document(
            "WatchdogTimerConfig",
            device=settings.watchdog.device,
            timeout=go_duration(settings.watchdog.timeout),
        )
    for name, url in settings.kernel_logs.items():
        yield new_document("KmsgLogConfig", name=name, url=url)
    for name, file in settings.trusted_roots.items():
        text = certificate_text(machine, file, settings.where("trusted_roots"))
        yield new_document("TrustedRootsConfig", name=name, certificates=text)
    if machine.contract_at_least(1, 13) and settings.environment:
        yield new_document("EnvironmentConfig", variables=dict(settings.environment))
    if machine.contract_at_least(1, 14):
        yield from _kernel(machine)


def _kernel(machine: MachineInputs) -> Iterator[Document]:
    settings = machine.settings
    parameters = sysctls(machine)
    if parameters:
        yield new_document("SysctlConfig", params=parameters)
    if settings.sysfs:
        yield new_document("SysfsConfig", params=dict(settings.sysfs))
    if settings.udev_rules:
        yield new_document("UdevRulesConfig", rules=list(settings.udev_rules))
    for name in kernel_modules(machine):
        yield new_document("KernelModuleConfig", name=name)
    if is_default_runtime(machine):
        yield new_document("CRICustomizationConfig", name="nvidia", content=RUNTIME)


def go_duration(text: str) -> str:
    """Return a duration as Go writes it: `90s` is `1m30s`."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is not a duration")
    hours, minutes, seconds = (int(number or 0) for number in match.groups())
    minutes, seconds = minutes + seconds // 60, seconds % 60
    hours, minutes = hours + minutes // 60, minutes % 60
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


EVERYONE = ("0.0.0.0/0", "::/0")
_HEALTH_AND_HUBBLE = (4240, 4244)
_TUNNELS = (6081, 8472, 51871)
"""Geneve, VXLAN, and Cilium's WireGuard."""
_KUBESPAN = 51820


def firewall_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield the rules for this machine; none if the firewall is disabled."""
    firewall = machine.cluster.talos.firewall
    if not firewall.enabled:
        return
    yield new_document("NetworkDefaultActionConfig", ingress="block")
    yield from _required_rules(machine)
    role = "controllers" if machine.is_controller else "workers"
    for name, rule in firewall.rules.items():
        if rule.nodes in ("all", role):
            sources = rule.from_ or (machine.cluster.network.node_cidr,)
            ports = [int(port) if port.isdecimal() else port for port in rule.ports]
            yield _rule(name, ports, sources, protocol=rule.protocol)


def _required_rules(machine: MachineInputs) -> Iterator[Document]:
    nodes: list[object] = [machine.cluster.network.node_cidr]
    inside = [*nodes, machine.cluster.kubernetes.pod_cidr]
    managed = [*inside, *machine.cluster.talos.firewall.management]
    if machine.is_controller and not machine.cluster.talos.firewall.management:
        managed = list(EVERYONE)
    yield _rule("apid-ingress", [50000], managed)
    # Pods on the machine itself, such as metrics-server, use their own addresses.
    yield _rule("kubelet-ingress", [10250], inside)
    if machine.is_controller:
        yield _rule("trustd-ingress", [50001], nodes)
        yield _rule("kubernetes-api-ingress", [6443], managed)
        members = [IPv4Network(controller.address.ip) for controller in _controllers(machine)]
        yield _rule("etcd-ingress", ["2379-2380"], members)
    yield _rule("cilium-ingress", _HEALTH_AND_HUBBLE, nodes)
    yield _rule("cilium-tunnel-ingress", _TUNNELS, nodes, protocol="udp")
    if machine.cluster.talos.kubespan:
        yield _rule("kubespan-ingress", [_KUBESPAN], EVERYONE, protocol="udp")


def _controllers(machine: MachineInputs) -> Iterator[Node]:
    return (node for node in machine.desired.nodes if node.is_controller)


def _rule(
    name: str, ports: Sequence[object], sources: Iterable[object], *, protocol: str = "tcp"
) -> Document:
    return new_document(
        "NetworkRuleConfig",
        name=name,
        portSelector={"ports": list(ports), "protocol": protocol},
        ingress=[{"subnet": str(source)} for source in sources],
    )
