"""Convert `vm.yml`, a mapping of VMs used by OpenTofu stacks for Proxmox.

VMs named `talos_*` become nodes. All other VMs become observed guests, because the file does not
say that stockman may change them.
"""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.comments import read_yaml_comments
from stockman.config.convert.draft import (
    GATEWAYS,
    MACHINE_PATHS,
    NO_COMMENTS,
    NO_SUCH_KEY,
    ConfigDraft,
    DraftMachine,
    add_network_keys,
    build_machine,
    disk_size,
    finish_conversion,
    text_scalar,
)
from stockman.config.convert.hcl import HclFile, read_hcl
from stockman.config.convert.output import ConversionResult
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
    decode_text,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problems

TALOS_PREFIX = "talos_"
_NEEDED_BY_GUESTS = ("name", "vmid", "host")
_KEYS_OF_GUESTS = ("name", "vmid", "host", "address")
_NOT_OF_GUESTS = "guests do not have it"
_ONLY_WATCHED = "VMs that are not named talos_* are guests with `manage: observe`"


def convert_vm_file(file: str, content: bytes, *, to_toml: bool) -> ConversionResult:
    """Convert a `vm.yml`, as far as possible."""
    try:
        text = decode_text(file, content)
        tree = read_yaml(file, text)
    except Unreadable as unreadable:
        return ConversionResult(problems=Problems([unreadable.problem]))
    comments = read_yaml_comments(text, tree)
    building = ConfigDraft(file)
    nodes: list[DraftMachine] = []
    for name, entry in tree.entries.items():
        if not isinstance(entry.value, MappingNode):
            building.report_lost(name, entry.key.at, "it is not a VM")
            continue
        machine = build_machine(entry.value, name, building)
        if name.startswith(TALOS_PREFIX):
            nodes.append(machine)
            building.append("nodes", machine.keys, entry.key)
        elif not _add_guest(name, entry, machine, building):
            continue
        comments.move_to_item(entry.key.at, machine.keys.at)
    add_network_keys(nodes, building)
    notes = (_ONLY_WATCHED,) if "guests" in building.tree.entries else ()
    return finish_conversion(building, comments, to_toml=to_toml, notes=notes)


def _add_guest(
    name: str, entry: MappingEntry, machine: DraftMachine, building: ConfigDraft
) -> bool:
    """Add a VM as guest if it has the required keys; return whether it was added."""
    keys = dict(machine.keys.entries)
    vm = keys.pop("vm", None)
    hardware = dict(vm.value.entries) if vm and isinstance(vm.value, MappingNode) else {}
    keys |= {key: hardware.pop(key) for key in ("vmid", "host") if key in hardware}
    missing = [key for key in _NEEDED_BY_GUESTS if key not in keys]
    if missing:
        building.report_lost(name, entry.key.at, f"a guest needs {', '.join(missing)}")
        return False
    own = {key: keys[key] for key in _KEYS_OF_GUESTS if key in keys}
    for stray in (*(keys[key] for key in keys if key not in own), *machine.gateways.values()):
        building.report_lost(stray.name, stray.value.at, _NOT_OF_GUESTS)
    own["manage"] = MappingEntry(entry.key, text_scalar("observe", entry.value))
    own["vm"] = MappingEntry(entry.key, MappingNode(entry.value.at, hardware))
    building.append("guests", MappingNode(machine.keys.at, own), entry.key)
    return True


_VARIABLE_NAMES: dict[str, tuple[str, ...]] = {
    "cluster.name": ("cluster_name", "talos_cluster_name"),
    "network.node_cidr": ("node_cidr", "network_cidr", "node_network"),
    "network.dns_servers": ("dns_servers", "nameservers", "node_dns_servers"),
    "network.ntp_servers": ("ntp_servers", "time_servers", "node_ntp_servers"),
    "network.default_gateway": (
        "gateway",
        "default_gateway",
        "network_gateway",
        "node_default_gateway",
    ),
    "kubernetes.version": ("kubernetes_version", "k8s_version"),
    "kubernetes.pod_cidr": ("pod_cidr", "pod_subnet", "cluster_pod_cidr"),
    "kubernetes.svc_cidr": ("svc_cidr", "service_cidr", "service_subnet", "cluster_svc_cidr"),
    "kubernetes.api.addr": (
        "cluster_api_addr",
        "cluster_endpoint",
        "cluster_vip",
        "api_vip",
        "kubernetes_vip",
        "vip",
        "vip_address",
    ),
    "domain.name": ("domain", "domain_name", "cloudflare_domain"),
    "talos.version": ("talos_version",),
    "talos.factory_url": ("talos_factory_url", "image_factory_url", "factory_url"),
    "talos.schematic_id": ("schematic_id", "talos_schematic_id", "talos_schematic"),
    "talos.controller_schematic_id": (
        "controller_schematic_id",
        "control_plane_schematic_id",
        "controlplane_schematic_id",
    ),
    "talos.worker_schematic_id": ("worker_schematic_id",),
    "proxmox.endpoint": (
        "proxmox_endpoint",
        "proxmox_api_endpoint",
        "proxmox_api_url",
        "proxmox_url",
        "pm_api_url",
        "pve_api_url",
        "pve_endpoint",
        "virtual_environment_endpoint",
    ),
    "proxmox.token_id": ("proxmox_token_id", "proxmox_api_token_id", "pm_api_token_id"),
    "proxmox.token_secret": (
        "proxmox_token_secret",
        "proxmox_api_token_secret",
        "pm_api_token_secret",
    ),
    "proxmox.image_storage": (
        "image_storage",
        "image_datastore",
        "image_datastore_id",
        "iso_datastore",
        "iso_storage",
    ),
}
VARIABLE_PATHS = {name: path for path, names in _VARIABLE_NAMES.items() for name in names}
"""Path by variable name."""

COMBINED_TOKENS = ("proxmox_api_token", "proxmox_token", "virtual_environment_api_token")
"""Variables with id and secret of a token in one text, `user@realm!name=secret`."""

_SHARED_VM_NAMES = {
    "bridge": ("bridge", "network_bridge", "vm_bridge"),
    "datastore": ("datastore", "datastore_id", "vm_datastore", "vm_storage", "storage"),
    "vlan_id": ("vlan_id", "vlan", "vlan_tag", "vm_vlan_id"),
    "cpu_type": ("cpu_type", "vm_cpu_type"),
}
SHARED_VM_KEYS = {name: key for key, names in _SHARED_VM_NAMES.items() for name in names}
"""VM key by the name of a variable for all VMs."""

SHARED_NODE_KEYS = {"install_disk": "disk", "talos_install_disk": "disk"}
"""Node key by the name of a variable for all nodes."""

_ROLE_NAMES = {
    "cores": ("cores", "cpu", "cpus", "cpu_cores", "vcpus"),
    "memory": ("memory", "memory_mb", "ram"),
    "disk_gb": ("disk", "disk_gb", "disk_size", "disk_size_gb"),
}
_ROLE_KEYS = {name: key for key, names in _ROLE_NAMES.items() for name in names}
_PREFIX = pattern(r"(?:(?P<controller>controller|controlplane|control_plane|cp|master)|worker)s?_")
_CONTROLLERS = pattern(r"control|master|(?:^|_)cp(?:_|$)")
_WORKERS = pattern(r"worker")


def role_key(name: str) -> tuple[str, str] | None:
    """Return class and VM key of a variable such as `worker_memory`; None: another variable."""
    prefix = _PREFIX.match(name)
    key = _ROLE_KEYS.get(name[prefix.end() :]) if prefix is not None else None
    if prefix is None or key is None:
        return None
    return ("controller" if prefix["controller"] else "worker"), key


def controller_flag(name: str) -> str | None:
    """Return whether a name refers to controllers, as `true` or `false`; None: neither role."""
    if _CONTROLLERS.search(name):
        return "true"
    return "false" if _WORKERS.search(name) else None


_CONTROLLER_FLAGS = (
    "controller",
    "is_controller",
    "controlplane",
    "is_controlplane",
    "control_plane",
)
_ROLE_FIELDS = ("role", "type", "node_type", "machine_type")
_IDENTIFYING_PATHS = ("address", "mac_addr", "vm.vmid")
"""An object is a machine if it has at least one of these paths."""


def is_node_collection(value: TreeNode) -> bool:
    """Return whether a value is a collection of machines, possibly grouped by role."""
    inner = _child_values(value)
    return bool(inner) and all(_is_machine(value) or is_node_collection(value) for value in inner)


def add_nodes(entry: MappingEntry, building: ConfigDraft) -> list[DraftMachine]:
    """Add the machines of a variable as nodes."""
    return _collect_nodes(entry.name, entry.value, controller_flag(entry.name.lower()), building)


def _collect_nodes(
    name: str, value: TreeNode, controller: str | None, building: ConfigDraft
) -> list[DraftMachine]:
    machines: list[DraftMachine] = []
    if isinstance(value, SequenceNode):
        for index, item in enumerate(value.items):
            if isinstance(item, MappingNode):
                machines.append(_build_node(f"{name}[{index}]", item, None, controller, building))
        return machines
    entries = value.entries.items() if isinstance(value, MappingNode) else ()
    for key, entry in entries:
        inner = f"{name}.{key}"
        if not _is_machine(entry.value):
            role = controller_flag(key.lower()) or controller
            machines += _collect_nodes(inner, entry.value, role, building)
        elif isinstance(entry.value, MappingNode):
            machines.append(_build_node(inner, entry.value, entry.key, controller, building))
    return machines


def _build_node(
    known: str,
    source: MappingNode,
    key: ScalarNode | None,
    controller: str | None,
    building: ConfigDraft,
) -> DraftMachine:
    role = _role_entry(known, source)
    others = {
        name: entry
        for name, entry in source.entries.items()
        if name not in (*_CONTROLLER_FLAGS, *_ROLE_FIELDS)
    }
    machine = build_machine(MappingNode(source.at, others), known, building)
    keys = machine.keys.entries
    named = keys.pop("name", None)
    if named is None and key is not None:
        named = MappingEntry(key, text_scalar(key.text, key), name=known)
    if role is None and controller is not None:
        where = key or ScalarNode(controller, source.at, plain=True, span=(0, 0))
        role = MappingEntry(where, text_scalar(controller, where), name=known)
    address = keys.pop("address", None)
    ordered = {"name": named, "address": address, "controller": role}
    machine.keys.entries = {
        **{name: entry for name, entry in ordered.items() if entry is not None},
        **keys,
    }
    building.append("nodes", machine.keys, next(iter(source.entries.values())).key)
    return machine


def _role_entry(known: str, source: MappingNode) -> MappingEntry | None:
    for name in (*_CONTROLLER_FLAGS, *_ROLE_FIELDS):
        entry = source.entries.get(name)
        if entry is None or not isinstance(entry.value, ScalarNode) or entry.value.is_null:
            continue
        text = entry.value.text
        controller = text if name in _CONTROLLER_FLAGS else controller_flag(text.lower())
        if controller is not None:
            return MappingEntry(
                entry.key, text_scalar(controller, entry.value), name=f"{known}.{name}"
            )
    return None


def _child_values(value: TreeNode) -> list[TreeNode]:
    if isinstance(value, MappingNode):
        return [entry.value for entry in value.entries.values()]
    return list(value.items) if isinstance(value, SequenceNode) else []


def _is_machine(value: TreeNode) -> bool:
    if not isinstance(value, MappingNode):
        return False
    paths = {MACHINE_PATHS.get(name) for name in value.entries if name not in GATEWAYS}
    return any(path in paths for path in _IDENTIFYING_PATHS)


_ORIGIN = pattern(r"(https?://[^/\s]+)(?:/.*)?")
_ENDPOINT = pattern(r"(?:https?://)?([^/:\s]+)(?::\d+)?/?")
_EXPRESSION = "it is an expression, which only Terraform can work out"
_NO_DEFAULT = "it has no default value"
_COMMENTS_STAY = "comments and descriptions of variables are not carried"


def convert_terraform(file: str, content: bytes, *, to_toml: bool) -> ConversionResult:
    """Convert the variables of a stack, as far as possible."""
    try:
        source = read_hcl(file, decode_text(file, content))
    except Unreadable as unreadable:
        return ConversionResult(problems=Problems([unreadable.problem]))
    building = ConfigDraft(file)
    building.placeholders = source.expressions
    machines: list[DraftMachine] = []
    for entry in _variables(source, building):
        _drop_expressions(entry.name, entry.value, source.expressions, building)
        if entry.value.at in source.expressions:
            continue
        if is_node_collection(entry.value):
            machines += add_nodes(entry, building)
        else:
            _add_variable(entry, building)
    add_network_keys(machines, building)
    return finish_conversion(building, NO_COMMENTS, to_toml=to_toml, notes=(_COMMENTS_STAY,))


def _variables(source: HclFile, building: ConfigDraft) -> Iterator[MappingEntry]:
    """Yield values by name: variable defaults, locals, and assignments of a tfvars file."""
    for name, entry in source.body.attributes.entries.items():
        yield MappingEntry(entry.key, entry.value, name=name)
    for block in source.body.blocks_of_kind("locals"):
        for name, entry in block.body.attributes.entries.items():
            yield MappingEntry(entry.key, entry.value, name=name)
    for block in source.body.blocks_of_kind("variable"):
        name = block.labels[0] if block.labels else ""
        default = block.body.attributes.entries.get("default")
        if default is None or _is_null(default.value, source.expressions):
            building.report_lost(name, block.at, _NO_DEFAULT)
        else:
            yield MappingEntry(default.key, default.value, name=name)


def _is_null(value: TreeNode, expressions: frozenset[Position]) -> bool:
    return isinstance(value, ScalarNode) and value.is_null and value.at not in expressions


def _drop_expressions(
    name: str, node: TreeNode, expressions: frozenset[Position], building: ConfigDraft
) -> None:
    if node.at in expressions:
        building.report_lost(name, node.at, _EXPRESSION)
    if isinstance(node, MappingNode):
        for key, entry in node.entries.items():
            _drop_expressions(f"{name}.{key}", entry.value, expressions, building)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            _drop_expressions(f"{name}[{index}]", item, expressions, building)


def _add_variable(entry: MappingEntry, building: ConfigDraft) -> None:
    name = entry.name.lower()
    role = role_key(name)
    if name in COMBINED_TOKENS and isinstance(entry.value, ScalarNode):
        _add_token(entry, entry.value, building)
    elif name in VARIABLE_PATHS:
        building.set_value(VARIABLE_PATHS[name], _convert_value(VARIABLE_PATHS[name], entry))
    elif role is not None:
        building.set_value(f"classes.{role[0]}.vm.{role[1]}", _convert_value(role[1], entry))
    elif name in SHARED_VM_KEYS or name in SHARED_NODE_KEYS:
        key = SHARED_NODE_KEYS.get(name) or f"vm.{SHARED_VM_KEYS[name]}"
        for role_name in ("controller", "worker"):
            building.set_value(f"classes.{role_name}.{key}", entry)
    else:
        building.report_lost(entry.name, entry.key.at, NO_SUCH_KEY)


def _add_token(entry: MappingEntry, value: ScalarNode, building: ConfigDraft) -> None:
    identity, equals, secret = value.text.partition("=")
    if not equals:
        building.report_lost(entry.name, entry.key.at, "it is not `user@realm!name=secret`")
        return
    for path, text in (("token_id", identity), ("token_secret", secret)):
        token_entry = MappingEntry(entry.key, text_scalar(text, value), name=entry.name)
        building.set_value(f"proxmox.{path}", token_entry)


def _convert_value(path: str, entry: MappingEntry) -> MappingEntry:
    """Return the value in the form of its key: a URL without its path, a size without its unit."""
    value = entry.value
    if not isinstance(value, ScalarNode):
        return entry
    spelled: ScalarNode | None = None
    if path == "proxmox.endpoint" and (origin := _ORIGIN.fullmatch(value.text)):
        spelled = text_scalar(origin[1], value)
    elif path == "kubernetes.api.addr" and (endpoint := _ENDPOINT.fullmatch(value.text)):
        spelled = text_scalar(endpoint[1], value)
    elif path == "disk_gb":
        spelled = disk_size(value)
    return entry if spelled is None else MappingEntry(entry.key, spelled, name=entry.name)
