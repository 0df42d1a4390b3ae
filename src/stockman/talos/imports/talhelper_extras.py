"""Keys of a `talconfig.yaml` that only patches can say here."""

from __future__ import annotations

from stockman.config.convert.building import text_at
from stockman.config.source.tree import Entry, Mapping, Scalar, Sequence, untyped
from stockman.talos.imports.foreign import document, items, nested
from stockman.talos.imports.talhelper_given import Asked, Given
from stockman.talos.imports.talhelper_patches import PatchReader
from stockman.talos.machine.facts import document as kind

_KINDS = {
    "extensionServices": "ExtensionServiceConfig",
    "volumes": "VolumeConfig",
    "userVolumes": "UserVolumeConfig",
}
_EXTRA_ARGUMENTS_GONE = (1, 12)
"""The contract from which on talhelper names kernel arguments in the schematic alone."""


def add_extras(asked: Asked, patches: PatchReader) -> None:
    """Make patches of everything that has no key of ours."""
    _add_files(asked, patches)
    _add_manifests(asked, patches)
    if asked.has("machineDisks") and not asked.is_hidden("machineDisks"):
        add_patch(asked, asked.given["machineDisks"], "machine.disks")
    domain = asked.tree.entries.get("domain")
    if domain is not None:
        add_patch(asked, Given("domain", domain, "all"), "cluster.network.dnsDomain")
    _add_kernel_arguments(asked)
    _add_firewall(asked)
    for key, name in _KINDS.items():
        if asked.has(key) and not asked.is_hidden(key):
            _add_documents(asked, asked.given[key], name)


def add_patch(asked: Asked, one: Given, path: str) -> None:
    """A patch that sets one field to the value of a key."""
    asked.add(one, nested(path, one.value))
    _tell(asked, one)


def _add_files(asked: Asked, patches: PatchReader) -> None:
    one = asked.given.get("machineFiles")
    if one is None:
        return
    files = _with_contents(one, "content", patches)
    if files:
        asked.add(one, nested("machine.files", Sequence(one.value.at, [*files])))
        _tell(asked, one)


def _add_manifests(asked: Asked, patches: PatchReader) -> None:
    entry = asked.tree.entries.get("inlineManifests")
    if entry is None:
        return
    one = Given("inlineManifests", entry, "all")
    found = _with_contents(one, "contents", patches)
    if found:
        asked.add(one, nested("cluster.inlineManifests", Sequence(entry.value.at, [*found])))
        _tell(asked, one)


def _with_contents(one: Given, key: str, patches: PatchReader) -> list[Mapping]:
    """Files with their contents, which may stand in files of the directory."""
    found = []
    for index, item in enumerate(items(one.value)):
        if not isinstance(item, Mapping):
            continue
        content, skip = item.get(key), item.get("skipEnvsubst")
        entries = {name: entry for name, entry in item.entries.items() if name != "skipEnvsubst"}
        if isinstance(content, Scalar) and content.text.startswith("@"):
            replaced = not (isinstance(skip, Scalar) and skip.text.lower() == "true")
            known = f"{one.known}[{index}].{key}"
            text = patches.content(known, content, with_variables=replaced)
            if text is None:
                continue
            entries[key] = Entry(item.entries[key].key, text_at(text, content))
        found.append(Mapping(item.at, entries))
    return found


def _add_kernel_arguments(asked: Asked) -> None:
    schematic = asked.mapping("schematic")
    custom = schematic.get("customization") if schematic is not None else None
    arguments = custom.get("extraKernelArgs") if isinstance(custom, Mapping) else None
    spec = asked.mapping("machineSpec")
    uki = spec.get("useUKI") if spec is not None else None
    is_uki = isinstance(uki, Scalar) and uki.text.lower() == "true"
    if arguments is not None and not is_uki and asked.contract < _EXTRA_ARGUMENTS_GONE:
        asked.add(asked.given["schematic"], nested("machine.install.extraKernelArgs", arguments))


def _add_firewall(asked: Asked) -> None:
    firewall = asked.mapping("ingressFirewall")
    if firewall is None:
        return
    one = asked.given["ingressFirewall"]
    action = firewall.get("defaultAction")
    ingress = action.text if isinstance(action, Scalar) else "accept"
    asked.add(one, document(kind("NetworkDefaultActionConfig", ingress=ingress), firewall.at))
    for rule in items(firewall.get("rules")):
        found = untyped(rule)
        if isinstance(found, dict):
            asked.add(one, document(kind("NetworkRuleConfig", **found), rule.at))
    _tell(asked, one)


def _add_documents(asked: Asked, one: Given, name: str) -> None:
    for item in items(one.value):
        found = untyped(item)
        if isinstance(found, dict):
            asked.add(one, document(kind(name, **found), item.at))
    _tell(asked, one)


def _tell(asked: Asked, one: Given) -> None:
    asked.foreign.say(one.known, one.entry.key.at, "changed", f"a patch in {one.target}")
