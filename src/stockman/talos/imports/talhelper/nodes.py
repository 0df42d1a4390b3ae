"""Read the directory of a talhelper user: `talconfig.yaml` with its nodes, and referenced files."""

from __future__ import annotations

from stockman.config.convert.draft import ConfigDraft, put_value, text_scalar
from stockman.config.convert.output import KeyState
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
    to_plain_data,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Severity
from stockman.talos.imports.foreign import (
    SOPS,
    ForeignCluster,
    ForeignNode,
    ForeignPatch,
    ReadFile,
    build_document,
    check_kubernetes_version,
    import_bundle,
    list_items,
    missing_file_problem,
    missing_key_problem,
    nest_value,
    new_scalar,
    no_nodes_problem,
    not_a_mapping_problem,
    read_text,
    set_contract,
)
from stockman.talos.imports.talhelper.base_config import (
    base_documents,
    fill_templates,
    node_devices,
    node_installer,
    template_data,
)
from stockman.talos.imports.talhelper.node_keys import (
    HIDDEN_VALUE_PREFIX,
    NEWEST_VERSION,
    NodeKey,
    PatchReader,
    TalhelperNode,
    Variables,
    is_zero,
    node_keys,
    substitute_variables,
)
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
        recorded, lists = self._foreign.outcomes, self._foreign.lists
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
        value = new_scalar(text, key.at, plain=True)
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
            source.keys,
            "disk",
            MappingEntry(selector.entry.key, text_scalar("*", selector.value)),
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


TALCONFIG = "talconfig.yaml"
_ENVIRONMENT = ("talenv.yaml", "talenv.sops.yaml", "talenv.yml", "talenv.sops.yml")
_SECRETS = ("talsecret.yaml", "talsecret.sops.yaml", "talsecret.yml", "talsecret.sops.yml")
_ENDPOINT = pattern(r"https://([^:/]+):6443/?")

_PLAIN_KEYS = {
    "clusterName": "cluster.name",
    "talosVersion": "talos.version",
    "kubernetesVersion": "kubernetes.version",
}
_REQUIRED_KEYS = ("clusterName", "kubernetesVersion", "endpoint", "nodes")
_HANDLED_KEYS = ("domain", "nodes", "controlPlane", "worker", "patches", "inlineManifests")
"""Keys that are processed where they take effect."""


def read_talhelper_directory(read: ReadFile, overrides: Variables) -> ForeignCluster:
    """Return the cluster of the directory; its problems tell what cannot be read."""
    foreign = ForeignCluster(tool="talhelper", building=ConfigDraft(TALCONFIG), order="talhelper")
    try:
        text = read_text(read, TALCONFIG)
        if text is None:
            foreign.problems.add(missing_file_problem(TALCONFIG, TALCONFIG, "talhelper"))
            return foreign
        variables = _variables(read, overrides)
        text = substitute_variables(TALCONFIG, text, variables, foreign.problems.add)
        tree = read_yaml(TALCONFIG, text)
    except Unreadable as error:
        foreign.problems.add(error.problem)
        return foreign
    if not foreign.problems.errors:
        patches = PatchReader(foreign, read, variables, text)
        _TalconfigReader(foreign, read, patches, tree).read()
    return foreign


def _variables(read: ReadFile, overrides: Variables) -> Variables:
    values: dict[str, str] = {}
    hidden: set[str] = set()
    for name in _ENVIRONMENT:
        text = read_text(read, name)
        if text is None:
            continue
        tree = read_yaml(name, text)
        for key, entry in tree.entries.items():
            if SOPS in tree.entries:
                hidden |= {key} - {SOPS}
            elif isinstance(entry.value, ScalarNode):
                values[key] = entry.value.text
                hidden.discard(key)
    values |= overrides.values
    return Variables(values=values, hidden=frozenset(hidden - set(overrides.values)))


class _TalconfigReader:
    """Reads the cluster-wide keys."""

    def __init__(
        self, foreign: ForeignCluster, read: ReadFile, patches: PatchReader, tree: MappingNode
    ) -> None:
        self._foreign = foreign
        self._read = read
        self._patches = patches
        self._tree = tree

    def read(self) -> None:
        foreign, tree = self._foreign, self._tree
        for key in _REQUIRED_KEYS:
            if key not in tree.entries:
                foreign.problems.add(missing_key_problem(key, tree.at, "talhelper"))
        for key, entry in tree.entries.items():
            self._read_key(key, entry)
        self._read_contract()
        version = tree.get("kubernetesVersion")
        if isinstance(version, ScalarNode) and HIDDEN_VALUE_PREFIX not in version.text:
            check_kubernetes_version(foreign, version.text, version.at)
        if foreign.problems.errors:
            return
        reader = NodeReader(foreign, tree, self._patches)
        nodes = tree.get("nodes")
        if not list_items(nodes):
            foreign.problems.add(no_nodes_problem(tree.at if nodes is None else nodes.at))
        for index, node in enumerate(list_items(nodes)):
            if isinstance(node, MappingNode):
                reader.read(index, node)
            else:
                foreign.problems.add(not_a_mapping_problem(f"nodes[{index}]", node.at))
        import_bundle(foreign, self._read, _SECRETS)

    def _read_key(self, key: str, entry: MappingEntry) -> None:
        foreign, value = self._foreign, entry.value
        at = entry.key.at
        if isinstance(value, ScalarNode) and HIDDEN_VALUE_PREFIX in value.text:
            foreign.problems.add(_encrypted_value_problem(key, value))
            return
        if key in _PLAIN_KEYS and isinstance(value, ScalarNode):
            normalized = text_scalar(
                value.text.removeprefix("v") if "Version" in key else value.text, value
            )
            foreign.building.set_value(
                _PLAIN_KEYS[key], MappingEntry(entry.key, normalized, name=key)
            )
            foreign.record(key, at, "taken", _PLAIN_KEYS[key])
        elif key == "endpoint" and isinstance(value, ScalarNode):
            self._read_endpoint(key, entry, value)
        elif key in ("clusterPodNets", "clusterSvcNets"):
            self._read_network(key, entry)
        elif key in ("allowSchedulingOnMasters", "allowSchedulingOnControlPlanes"):
            foreign.building.set_value(
                "kubernetes.schedule_on_controllers", MappingEntry(entry.key, value, name=key)
            )
            foreign.record(key, at, "taken", "kubernetes.schedule_on_controllers")
        elif key == "cniConfig":
            self._read_cni(entry)
        elif key == "imageFactory":
            self._read_factory(entry)
        elif key in ("additionalMachineCertSans", "additionalApiServerCertSans"):
            how = "kubernetes.api.tls_sans, and patches for names that are not domain names"
            foreign.record(key, at, "changed", how)
        elif key not in _HANDLED_KEYS:
            foreign.record(key, at, "left out", "talhelper does not know this key and ignores it")

    def _read_endpoint(self, key: str, entry: MappingEntry, value: ScalarNode) -> None:
        match = _ENDPOINT.fullmatch(value.text)
        if match is not None and _ADDRESS.fullmatch(match[1]):
            address = MappingEntry(entry.key, text_scalar(match[1], value), name=key)
            self._foreign.building.set_value("kubernetes.api.addr", address)
            self._foreign.record(key, entry.key.at, "taken", "kubernetes.api.addr")
        else:
            how = "the endpoint must be https://ADDRESS:6443 with an IPv4 address"
            self._foreign.record(key, entry.key.at, "left out", how)

    def _read_network(self, key: str, entry: MappingEntry) -> None:
        path = "kubernetes.pod_cidr" if key == "clusterPodNets" else "kubernetes.svc_cidr"
        networks = list_items(entry.value)
        if len(networks) != 1:
            # The machine configurations have both networks, which is reported for them.
            how = "exactly one IPv4 network is required"
            self._foreign.record(key, entry.key.at, "left out", how)
            return
        self._foreign.building.set_value(path, MappingEntry(entry.key, networks[0], name=key))
        self._foreign.record(key, entry.key.at, "taken", path)

    def _read_cni(self, entry: MappingEntry) -> None:
        name = entry.value.get("name") if isinstance(entry.value, MappingNode) else None
        if isinstance(name, ScalarNode) and name.text == "none":
            self._foreign.record("cniConfig", entry.key.at, "taken", "Talos never installs a CNI")
        else:
            how = "stockman always installs Cilium, and Talos installs no CNI"
            self._foreign.record("cniConfig", entry.key.at, "left out", how)
            self._foreign.problems.add(
                _other_cni_problem(
                    name.text if isinstance(name, ScalarNode) else "flannel", entry.key.at
                )
            )

    def _read_factory(self, entry: MappingEntry) -> None:
        keys = entry.value.entries if isinstance(entry.value, MappingNode) else {}
        for key, setting in keys.items():
            label = f"imageFactory.{key}"
            if key == "registryURL" and isinstance(setting.value, ScalarNode):
                protocol = keys.get("protocol")
                scheme = (
                    protocol.value.text
                    if protocol is not None and isinstance(protocol.value, ScalarNode)
                    else "https"
                )
                address = text_scalar(f"{scheme}://{setting.value.text}", setting.value)
                self._foreign.building.set_value(
                    "talos.factory_url", MappingEntry(setting.key, address, name=label)
                )
                self._foreign.record(label, setting.key.at, "taken", "talos.factory_url")
            elif key == "protocol":
                self._foreign.record(label, setting.key.at, "taken", "part of talos.factory_url")
            else:
                how = "image references follow from factory, platform and schematic"
                self._foreign.record(label, setting.key.at, "left out", how)

    def _read_contract(self) -> None:
        """Set the contract of the Talos version, as talhelper does."""
        foreign, value = self._foreign, self._tree.get("talosVersion")
        if value is None:
            at = self._tree.at
            foreign.building.set_value(
                "talos.version",
                MappingEntry(new_scalar("talosVersion", at), new_scalar(NEWEST_VERSION[1:], at)),
            )
            how = f"talhelper 3.1.16 defaults to {NEWEST_VERSION}"
            foreign.record("talosVersion", at, "changed", how)
        text = value.text if isinstance(value, ScalarNode) else NEWEST_VERSION
        at = self._tree.at if value is None else value.at
        if HIDDEN_VALUE_PREFIX in text or not set_contract(foreign, text, at):
            return
        foreign.building.set_value(
            "talos.contract",
            MappingEntry(new_scalar("talosVersion", at), new_scalar(foreign.contract, at)),
        )


def _encrypted_value_problem(key: str, value: ScalarNode) -> Problem:
    name = value.text.partition(HIDDEN_VALUE_PREFIX)[2]
    return Problem(
        code="import.variable",
        what=f"the value of {key} is encrypted",
        where=value.at,
        why="encrypted files are not decrypted, because their values would become plain text",
        fix=f"pass `--variable {name}=...`, if it is not secret",
    )


def _other_cni_problem(name: str, at: Position) -> Problem:
    return Problem(
        code="import.cni",
        what=f"the CNI of the cluster is {name}, and stockman installs Cilium",
        where=at,
        why="pods lose their network when one CNI replaces another",
        fix="disable the component cilium and install your CNI, or migrate to Cilium first",
        severity=Severity.WARNING,
    )
