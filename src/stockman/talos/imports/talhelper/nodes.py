"""Read the nodes of a `talconfig.yaml`."""

from __future__ import annotations

from stockman.config.convert.draft import put_value, text_scalar
from stockman.config.convert.output import KeyState
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.model.pattern import pattern
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignNode,
    ForeignPatch,
    build_document,
    list_items,
    missing_key_problem,
    nest_value,
)
from stockman.talos.imports.talhelper.base_config import (
    base_documents,
    fill_templates,
    node_devices,
    node_installer,
    template_data,
)
from stockman.talos.imports.talhelper.node_keys import NodeKey, TalhelperNode, is_zero, node_keys
from stockman.talos.imports.talhelper.patches import PatchReader
from stockman.talos.machine.inputs import new_document as kind

_KINDS = {
    "extensionServices": "ExtensionServiceConfig",
    "volumes": "VolumeConfig",
    "userVolumes": "UserVolumeConfig",
}
_EXTRA_KERNEL_ARGS_DROPPED = (1, 12)
"""The first contract where talhelper puts kernel arguments only in the schematic."""


def add_extras(node: TalhelperNode, patches: PatchReader) -> None:
    """Add patches for every setting that has no key in our format."""
    _add_files(node, patches)
    _add_manifests(node, patches)
    if node.has("machineDisks") and not node.is_hidden("machineDisks"):
        add_patch(node, node.settings["machineDisks"], "machine.disks")
    domain = node.tree.entries.get("domain")
    if domain is not None:
        add_patch(node, NodeKey("domain", domain, "all"), "cluster.network.dnsDomain")
    _add_kernel_arguments(node)
    _add_firewall(node)
    for key, name in _KINDS.items():
        if node.has(key) and not node.is_hidden(key):
            _add_documents(node, node.settings[key], name)


def add_patch(node: TalhelperNode, setting: NodeKey, path: str) -> None:
    """Add a patch that sets one field to the value of a key."""
    node.add_patch(setting, nest_value(path, setting.value))
    _report_key(node, setting)


def _add_files(node: TalhelperNode, patches: PatchReader) -> None:
    setting = node.settings.get("machineFiles")
    if setting is None:
        return
    files = _read_contents(setting, "content", patches)
    if files:
        node.add_patch(
            setting, nest_value("machine.files", SequenceNode(setting.value.at, [*files]))
        )
        _report_key(node, setting)


def _add_manifests(node: TalhelperNode, patches: PatchReader) -> None:
    entry = node.tree.entries.get("inlineManifests")
    if entry is None:
        return
    setting = NodeKey("inlineManifests", entry, "all")
    manifests = _read_contents(setting, "contents", patches)
    if manifests:
        document = nest_value("cluster.inlineManifests", SequenceNode(entry.value.at, [*manifests]))
        node.add_patch(setting, document)
        _report_key(node, setting)


def _read_contents(setting: NodeKey, key: str, patches: PatchReader) -> list[MappingNode]:
    """Return files with their contents, which may be read from the directory."""
    files = []
    for index, item in enumerate(list_items(setting.value)):
        if not isinstance(item, MappingNode):
            continue
        content, skip = item.get(key), item.get("skipEnvsubst")
        entries = {name: entry for name, entry in item.entries.items() if name != "skipEnvsubst"}
        if isinstance(content, ScalarNode) and content.text.startswith("@"):
            replaced = not (isinstance(skip, ScalarNode) and skip.text.lower() == "true")
            label = f"{setting.label}[{index}].{key}"
            text = patches.content(label, content, with_variables=replaced)
            if text is None:
                continue
            entries[key] = MappingEntry(item.entries[key].key, text_scalar(text, content))
        files.append(MappingNode(item.at, entries))
    return files


def _add_kernel_arguments(node: TalhelperNode) -> None:
    schematic = node.mapping("schematic")
    custom = schematic.get("customization") if schematic is not None else None
    arguments = custom.get("extraKernelArgs") if isinstance(custom, MappingNode) else None
    spec = node.mapping("machineSpec")
    uki = spec.get("useUKI") if spec is not None else None
    is_uki = isinstance(uki, ScalarNode) and uki.text.lower() == "true"
    if arguments is not None and not is_uki and node.contract < _EXTRA_KERNEL_ARGS_DROPPED:
        node.add_patch(
            node.settings["schematic"], nest_value("machine.install.extraKernelArgs", arguments)
        )


def _add_firewall(node: TalhelperNode) -> None:
    firewall = node.mapping("ingressFirewall")
    if firewall is None:
        return
    setting = node.settings["ingressFirewall"]
    action = firewall.get("defaultAction")
    ingress = action.text if isinstance(action, ScalarNode) else "accept"
    default = kind("NetworkDefaultActionConfig", ingress=ingress)
    node.add_patch(setting, build_document(default, firewall.at))
    for rule in list_items(firewall.get("rules")):
        fields = to_plain_data(rule)
        if isinstance(fields, dict):
            node.add_patch(setting, build_document(kind("NetworkRuleConfig", **fields), rule.at))
    _report_key(node, setting)


def _add_documents(node: TalhelperNode, setting: NodeKey, name: str) -> None:
    for item in list_items(setting.value):
        fields = to_plain_data(item)
        if isinstance(fields, dict):
            node.add_patch(setting, build_document(kind(name, **fields), item.at))
    _report_key(node, setting)


def _report_key(node: TalhelperNode, setting: NodeKey) -> None:
    node.foreign.record(
        setting.label, setting.entry.key.at, "changed", f"a patch in {setting.target}"
    )


_ADDRESS = pattern(r"\d+(\.\d+){3}")
_KEY_OUTCOMES: dict[str, tuple[KeyState, str]] = {
    "nameservers": ("taken", "network.dns_servers"),
    "disableSearchDomain": ("taken", "machines never have a search domain"),
    "networkInterfaces": ("taken", "the node's network; see the differences"),
    "certSANs": ("changed", "kubernetes.api.tls_sans, or a patch"),
    "machineSpec": ("taken", "talos.platform and secureboot"),
    "talosImageURL": ("taken", "the node's schematic"),
    "schematic": ("taken", "the node's schematic"),
    "overridePatches": ("taken", "patches of the group are not applied to the node"),
    "overrideMachineCertSANs": ("taken", "names of the group are not applied to the node"),
    "overrideExtraManifests": ("left out", "extraManifests are left out"),
    "ignoreHostname": ("left out", "the hostname is always the node's name"),
    "noSchematicValidate": ("left out", "extensions are always checked"),
    "imageSchematic": ("left out", "the boot image has the schematic of the installer"),
    "filenameTmpl": ("left out", "each node's files have a fixed name"),
    "extraManifests": ("left out", "it is deprecated; use a patch"),
}
_IMAGES = ("talosImageURL", "schematic", "machineSpec")


class NodeReader:
    """Converts nodes to machines."""

    def __init__(self, foreign: ForeignCluster, tree: MappingNode, patches: PatchReader) -> None:
        self._foreign = foreign
        self._tree = tree
        self._patches = patches

    def read(self, index: int, node: MappingNode) -> None:
        """Add one machine."""
        name, controller = node.get("hostname"), node.get("controlPlane")
        if not isinstance(name, ScalarNode) or not name.text:
            problem = missing_key_problem(f"nodes[{index}].hostname", node.at, "talhelper")
            self._foreign.problems.add(problem)
            return
        is_controller = isinstance(controller, ScalarNode) and controller.text.lower() == "true"
        group = "controlPlane" if is_controller else "worker"
        source = TalhelperNode(
            foreign=self._foreign,
            tree=self._tree,
            name=name,
            is_controller=is_controller,
            settings=node_keys(index, node, self._tree, group),
            keys=MappingNode(name.at),
        )
        self._foreign.nodes.append(_NodeBuilder(source, self._patches).build())
        self._record_remaining(index, node, source)

    def _record_remaining(self, index: int, node: MappingNode, source: TalhelperNode) -> None:
        """Record every key that was not recorded otherwise."""
        recorded, lists = self._foreign.said, self._foreign.lists
        entries = [(f"nodes[{index}].{key}", key, entry) for key, entry in node.entries.items()]
        entries += [
            (f"{source.group_name}.{key}", key, entry)
            for key, entry in source.group.entries.items()
        ]
        for label, key, entry in entries:
            if label in recorded or label in lists:
                continue
            if is_zero(entry.value):
                self._foreign.record(label, entry.key.at, "taken", "it has no effect")
            elif key in _KEY_OUTCOMES:
                self._foreign.record(label, entry.key.at, *_key_outcome(key, source))
            elif key != "patches":
                how = "talhelper does not know this key here and ignores it"
                self._foreign.record(label, entry.key.at, "left out", how)


class _NodeBuilder:
    """Builds one node in our format."""

    def __init__(self, source: TalhelperNode, patches: PatchReader) -> None:
        self._source = source
        self._patches = patches

    def build(self) -> ForeignNode:
        source = self._source
        self._put("name", "hostname")
        address = self._address()
        self._put_role()
        self._put_disk()
        image = node_installer(source)
        for path, entry in (image.keys if image is not None else {}).items():
            put_value(source.keys, path, entry)
        self._put_labels()
        self._put_modules()
        add_extras(source, self._patches)
        links = source.settings.get("networkInterfaces")
        return ForeignNode(
            name=source.name.text,
            at=source.name.at,
            is_controller=source.is_controller,
            keys=source.keys,
            base=base_documents(source),
            extra=source.extra,
            patches=self._patch_list(),
            address=address,
            devices=node_devices(source),
            devices_at=source.name.at if links is None else links.value.at,
            installer_at=source.name.at if image is None else image.at,
        )

    def _put(self, path: str, key: str, value: TreeNode | None = None) -> None:
        setting = self._source.settings.get(key)
        if setting is None or self._source.is_hidden(key):
            return
        entry = MappingEntry(setting.entry.key, value or setting.value, name=setting.label)
        put_value(self._source.keys, path, entry)
        self._source.foreign.record(setting.label, setting.entry.key.at, "taken", path)

    def _put_role(self) -> None:
        setting = self._source.settings.get("controlPlane")
        key = setting.entry.key if setting is not None else self._source.name
        text = "true" if self._source.is_controller else "false"
        value = ScalarNode(text, key.at, plain=True, span=(0, 0))
        put_value(self._source.keys, "controller", MappingEntry(key, value, name="controlPlane"))
        if setting is not None:
            self._source.foreign.record(setting.label, key.at, "taken", "controller")

    def _address(self) -> str:
        setting = self._source.settings.get("ipAddress")
        if setting is None or not isinstance(setting.value, ScalarNode):
            return ""
        addresses = [address.strip() for address in setting.value.text.split(",")]
        first = next((address for address in addresses if _ADDRESS.fullmatch(address)), "")
        if first and len(addresses) == 1:
            self._put("address", "ipAddress", text_scalar(first, setting.value))
            return first
        how = f"only {first}: a node has one IPv4 address" if first else "it is not an IPv4 address"
        state: KeyState = "changed" if first else "left out"
        self._source.foreign.record(setting.label, setting.entry.key.at, state, how)
        if first:
            entry = MappingEntry(
                setting.entry.key, text_scalar(first, setting.value), name=setting.label
            )
            put_value(self._source.keys, "address", entry)
        return first

    def _put_disk(self) -> None:
        source = self._source
        selector = source.settings.get("installDiskSelector")
        if selector is None:
            self._put("disk", "installDisk")
            return
        keys = selector.value.entries if isinstance(selector.value, MappingNode) else {}
        serial = keys.get("serial")
        if serial is not None and len(keys) == 1 and isinstance(serial.value, ScalarNode):
            self._put("disk", "installDiskSelector", text_scalar(serial.value.text, serial.value))
            return
        # "*" matches any serial number: the patch selects the disk.
        put_value(
            source.keys, "disk", MappingEntry(selector.entry.key, text_scalar("*", selector.value))
        )
        source.add_patch(selector, nest_value("machine.install.diskSelector", selector.value))
        how = "disk matches any serial number, and a patch has the selector"
        source.foreign.record(selector.label, selector.entry.key.at, "changed", how)

    def _put_labels(self) -> None:
        for key, path in (
            ("nodeLabels", "labels"),
            ("nodeAnnotations", "annotations"),
            ("nodeTaints", "taints"),
        ):
            if self._source.mapping(key) is not None:
                self._put(path, key, fill_templates(self._source, self._source.settings[key]))

    def _put_modules(self) -> None:
        modules = self._source.settings.get("kernelModules")
        if modules is None:
            return
        names = [
            name
            for module in list_items(modules.value)
            if isinstance(module, MappingNode)
            and len(module.entries) == 1
            and isinstance(name := module.get("name"), ScalarNode)
        ]
        if len(names) == len(list_items(modules.value)):
            self._put("kernel_modules", "kernelModules", SequenceNode(modules.value.at, [*names]))
        elif not self._source.is_hidden("kernelModules"):
            add_patch(self._source, modules, "machine.kernel.modules")

    def _patch_list(self) -> list[ForeignPatch]:
        """Return the patches of the group, of the node, and of all nodes, in this order."""
        source, data = self._source, template_data(self._source)
        own = source.settings.get("patches")
        patches: list[ForeignPatch] = []
        is_own = own is not None and own.scope == "node"
        # A node without patches of its own gets those of its group, even with overridePatches.
        if not (is_own and source.has("overridePatches")):
            label, shared = f"{source.group_name}.patches", source.group.get("patches")
            patches += self._patches.patches(label, shared, source.role, data)
        if own is not None and is_own:
            patches += self._patches.patches(own.label, own.value, "node", data)
        return patches + self._patches.patches("patches", source.tree.get("patches"), "all", data)


def _key_outcome(key: str, source: TalhelperNode) -> tuple[KeyState, str]:
    if key in _IMAGES and node_installer(source) is None:
        return "left out", "the installer is not from an image factory"
    if key == "schematic" and source.has("talosImageURL"):
        return "left out", "talosImageURL takes precedence"
    return _KEY_OUTCOMES[key]
