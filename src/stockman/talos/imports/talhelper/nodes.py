"""Keys of a `talconfig.yaml` that only patches can say here."""

from __future__ import annotations

import re

from stockman.config.convert.draft import put_value, text_scalar
from stockman.config.convert.result import KeyState
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
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
"""The contract from which on talhelper names kernel arguments in the schematic alone."""


def add_extras(asked: TalhelperNode, patches: PatchReader) -> None:
    """Make patches of everything that has no key of ours."""
    _add_files(asked, patches)
    _add_manifests(asked, patches)
    if asked.has("machineDisks") and not asked.is_hidden("machineDisks"):
        add_patch(asked, asked.given["machineDisks"], "machine.disks")
    domain = asked.tree.entries.get("domain")
    if domain is not None:
        add_patch(asked, NodeKey("domain", domain, "all"), "cluster.network.dnsDomain")
    _add_kernel_arguments(asked)
    _add_firewall(asked)
    for key, name in _KINDS.items():
        if asked.has(key) and not asked.is_hidden(key):
            _add_documents(asked, asked.given[key], name)


def add_patch(asked: TalhelperNode, one: NodeKey, path: str) -> None:
    """A patch that sets one field to the value of a key."""
    asked.add(one, nest_value(path, one.value))
    _report_key(asked, one)


def _add_files(asked: TalhelperNode, patches: PatchReader) -> None:
    one = asked.given.get("machineFiles")
    if one is None:
        return
    files = _read_contents(one, "content", patches)
    if files:
        asked.add(one, nest_value("machine.files", SequenceNode(one.value.at, [*files])))
        _report_key(asked, one)


def _add_manifests(asked: TalhelperNode, patches: PatchReader) -> None:
    entry = asked.tree.entries.get("inlineManifests")
    if entry is None:
        return
    one = NodeKey("inlineManifests", entry, "all")
    found = _read_contents(one, "contents", patches)
    if found:
        asked.add(
            one, nest_value("cluster.inlineManifests", SequenceNode(entry.value.at, [*found]))
        )
        _report_key(asked, one)


def _read_contents(one: NodeKey, key: str, patches: PatchReader) -> list[MappingNode]:
    """Files with their contents, which may stand in files of the directory."""
    found = []
    for index, item in enumerate(list_items(one.value)):
        if not isinstance(item, MappingNode):
            continue
        content, skip = item.get(key), item.get("skipEnvsubst")
        entries = {name: entry for name, entry in item.entries.items() if name != "skipEnvsubst"}
        if isinstance(content, ScalarNode) and content.text.startswith("@"):
            replaced = not (isinstance(skip, ScalarNode) and skip.text.lower() == "true")
            known = f"{one.known}[{index}].{key}"
            text = patches.content(known, content, with_variables=replaced)
            if text is None:
                continue
            entries[key] = MappingEntry(item.entries[key].key, text_scalar(text, content))
        found.append(MappingNode(item.at, entries))
    return found


def _add_kernel_arguments(asked: TalhelperNode) -> None:
    schematic = asked.mapping("schematic")
    custom = schematic.get("customization") if schematic is not None else None
    arguments = custom.get("extraKernelArgs") if isinstance(custom, MappingNode) else None
    spec = asked.mapping("machineSpec")
    uki = spec.get("useUKI") if spec is not None else None
    is_uki = isinstance(uki, ScalarNode) and uki.text.lower() == "true"
    if arguments is not None and not is_uki and asked.contract < _EXTRA_KERNEL_ARGS_DROPPED:
        asked.add(
            asked.given["schematic"], nest_value("machine.install.extraKernelArgs", arguments)
        )


def _add_firewall(asked: TalhelperNode) -> None:
    firewall = asked.mapping("ingressFirewall")
    if firewall is None:
        return
    one = asked.given["ingressFirewall"]
    action = firewall.get("defaultAction")
    ingress = action.text if isinstance(action, ScalarNode) else "accept"
    asked.add(one, build_document(kind("NetworkDefaultActionConfig", ingress=ingress), firewall.at))
    for rule in list_items(firewall.get("rules")):
        found = to_plain_data(rule)
        if isinstance(found, dict):
            asked.add(one, build_document(kind("NetworkRuleConfig", **found), rule.at))
    _report_key(asked, one)


def _add_documents(asked: TalhelperNode, one: NodeKey, name: str) -> None:
    for item in list_items(one.value):
        found = to_plain_data(item)
        if isinstance(found, dict):
            asked.add(one, build_document(kind(name, **found), item.at))
    _report_key(asked, one)


def _report_key(asked: TalhelperNode, one: NodeKey) -> None:
    asked.foreign.say(one.known, one.entry.key.at, "changed", f"a patch in {one.target}")


_ADDRESS = re.compile(r"\d+(\.\d+){3}")
_KEY_OUTCOMES: dict[str, tuple[KeyState, str]] = {
    "nameservers": ("taken", "network.dns_servers"),
    "disableSearchDomain": ("taken", "machines never have a search domain here"),
    "networkInterfaces": ("taken", "the node's network; see in what machines differ"),
    "certSANs": ("changed", "kubernetes.api.tls_sans, or a patch"),
    "machineSpec": ("taken", "talos.platform and secureboot"),
    "talosImageURL": ("taken", "the node's schematic"),
    "schematic": ("taken", "the node's schematic"),
    "overridePatches": ("taken", "patches of the group are not given to the node"),
    "overrideMachineCertSANs": ("taken", "names of the group are not given to the node"),
    "overrideExtraManifests": ("left out", "extraManifests are left out"),
    "ignoreHostname": ("left out", "a machine always has the node's name"),
    "noSchematicValidate": ("left out", "extensions are always checked"),
    "imageSchematic": ("left out", "the image that boots has the schematic of the installer"),
    "filenameTmpl": ("left out", "files have one name for each node"),
    "extraManifests": ("left out", "it is deprecated; make it a patch"),
}
_IMAGES = ("talosImageURL", "schematic", "machineSpec")


class NodeReader:
    """Makes machines of nodes."""

    def __init__(self, foreign: ForeignCluster, tree: MappingNode, patches: PatchReader) -> None:
        self._foreign = foreign
        self._tree = tree
        self._patches = patches

    def take(self, index: int, node: MappingNode) -> None:
        """Add one machine."""
        name, controller = node.get("hostname"), node.get("controlPlane")
        if not isinstance(name, ScalarNode) or not name.text:
            problem = missing_key_problem(f"nodes[{index}].hostname", node.at, "talhelper")
            self._foreign.problems.add(problem)
            return
        is_controller = isinstance(controller, ScalarNode) and controller.text.lower() == "true"
        group = "controlPlane" if is_controller else "worker"
        asked = TalhelperNode(
            foreign=self._foreign,
            tree=self._tree,
            name=name,
            is_controller=is_controller,
            given=node_keys(index, node, self._tree, group),
            keys=MappingNode(name.at),
        )
        self._foreign.nodes.append(_NodeBuilder(asked, self._patches).made())
        self._say_rest(index, node, asked)

    def _say_rest(self, index: int, node: MappingNode, asked: TalhelperNode) -> None:
        """Say of every key what nothing else said."""
        said, lists = self._foreign.said, self._foreign.lists
        entries = [(f"nodes[{index}].{key}", key, entry) for key, entry in node.entries.items()]
        entries += [
            (f"{asked.group_name}.{key}", key, entry) for key, entry in asked.group.entries.items()
        ]
        for known, key, entry in entries:
            if known in said or known in lists:
                continue
            if is_zero(entry.value):
                self._foreign.say(known, entry.key.at, "taken", "it says nothing")
            elif key in _KEY_OUTCOMES:
                self._foreign.say(known, entry.key.at, *_key_outcome(key, asked))
            elif key != "patches":
                how = "talhelper has no such key here, and passes over it"
                self._foreign.say(known, entry.key.at, "left out", how)


class _NodeBuilder:
    """One node in our words."""

    def __init__(self, asked: TalhelperNode, patches: PatchReader) -> None:
        self._asked = asked
        self._patches = patches

    def made(self) -> ForeignNode:
        asked = self._asked
        self._put("name", "hostname")
        address = self._address()
        self._role()
        self._disk()
        image = node_installer(asked)
        for path, entry in (image.keys if image is not None else {}).items():
            put_value(asked.keys, path, entry)
        self._labels()
        self._modules()
        add_extras(asked, self._patches)
        links = asked.given.get("networkInterfaces")
        return ForeignNode(
            name=asked.name.text,
            at=asked.name.at,
            is_controller=asked.is_controller,
            keys=asked.keys,
            base=base_documents(asked),
            extra=asked.extra,
            pieces=self._pieces(),
            address=address,
            devices=node_devices(asked),
            devices_at=asked.name.at if links is None else links.value.at,
            installer_at=asked.name.at if image is None else image.at,
        )

    def _put(self, path: str, key: str, value: TreeNode | None = None) -> None:
        one = self._asked.given.get(key)
        if one is None or self._asked.is_hidden(key):
            return
        entry = MappingEntry(one.entry.key, value or one.value, name=one.known)
        put_value(self._asked.keys, path, entry)
        self._asked.foreign.say(one.known, one.entry.key.at, "taken", path)

    def _role(self) -> None:
        one = self._asked.given.get("controlPlane")
        key = one.entry.key if one is not None else self._asked.name
        text = "true" if self._asked.is_controller else "false"
        value = ScalarNode(text, key.at, plain=True, span=(0, 0))
        put_value(self._asked.keys, "controller", MappingEntry(key, value, name="controlPlane"))
        if one is not None:
            self._asked.foreign.say(one.known, key.at, "taken", "controller")

    def _address(self) -> str:
        one = self._asked.given.get("ipAddress")
        if one is None or not isinstance(one.value, ScalarNode):
            return ""
        addresses = [part.strip() for part in one.value.text.split(",")]
        first = next((part for part in addresses if _ADDRESS.fullmatch(part)), "")
        if first and len(addresses) == 1:
            self._put("address", "ipAddress", text_scalar(first, one.value))
            return first
        how = f"only {first}: a node has one IPv4 address" if first else "it is no IPv4 address"
        state: KeyState = "changed" if first else "left out"
        self._asked.foreign.say(one.known, one.entry.key.at, state, how)
        if first:
            entry = MappingEntry(one.entry.key, text_scalar(first, one.value), name=one.known)
            put_value(self._asked.keys, "address", entry)
        return first

    def _disk(self) -> None:
        asked = self._asked
        selector = asked.given.get("installDiskSelector")
        if selector is None:
            self._put("disk", "installDisk")
            return
        keys = selector.value.entries if isinstance(selector.value, MappingNode) else {}
        serial = keys.get("serial")
        if serial is not None and len(keys) == 1 and isinstance(serial.value, ScalarNode):
            self._put("disk", "installDiskSelector", text_scalar(serial.value.text, serial.value))
            return
        # Any serial number will do: the patch names what the disk is.
        put_value(
            asked.keys, "disk", MappingEntry(selector.entry.key, text_scalar("*", selector.value))
        )
        asked.add(selector, nest_value("machine.install.diskSelector", selector.value))
        how = "disk is any serial number, and a patch says the rest"
        asked.foreign.say(selector.known, selector.entry.key.at, "changed", how)

    def _labels(self) -> None:
        for key, path in (
            ("nodeLabels", "labels"),
            ("nodeAnnotations", "annotations"),
            ("nodeTaints", "taints"),
        ):
            if self._asked.mapping(key) is not None:
                self._put(path, key, fill_templates(self._asked, self._asked.given[key]))

    def _modules(self) -> None:
        modules = self._asked.given.get("kernelModules")
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
        elif not self._asked.is_hidden("kernelModules"):
            add_patch(self._asked, modules, "machine.kernel.modules")

    def _pieces(self) -> list[ForeignPatch]:
        """The patches of the group, of the node, and of all, in this order."""
        asked, data = self._asked, template_data(self._asked)
        own = asked.given.get("patches")
        found: list[ForeignPatch] = []
        is_own = own is not None and own.scope == "node"
        # Without patches of its own a node gets those of its group, whatever it says.
        if not (is_own and asked.has("overridePatches")):
            known, shared = f"{asked.group_name}.patches", asked.group.get("patches")
            found += self._patches.patches(known, shared, asked.role, data)
        if own is not None and is_own:
            found += self._patches.patches(own.known, own.value, "node", data)
        return found + self._patches.patches("patches", asked.tree.get("patches"), "all", data)


def _key_outcome(key: str, asked: TalhelperNode) -> tuple[KeyState, str]:
    if key in _IMAGES and node_installer(asked) is None:
        return "left out", "the installer is no image of an Image Factory"
    if key == "schematic" and asked.has("talosImageURL"):
        return "left out", "talosImageURL wins over it"
    return _KEY_OUTCOMES[key]
