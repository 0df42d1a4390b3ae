"""Nodes of a `talconfig.yaml` as machines."""

from __future__ import annotations

import re

from stockman.config.convert.building import put_into, text_at
from stockman.config.convert.result import State
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.talos.imports.foreign import Foreign, ForeignNode, Piece, items, nested
from stockman.talos.imports.problems import missing_key
from stockman.talos.imports.talhelper_base import (
    base_documents,
    devices,
    filled,
    installer,
    template_data,
)
from stockman.talos.imports.talhelper_extras import add_extras, add_patch
from stockman.talos.imports.talhelper_given import Asked, given_for, is_zero
from stockman.talos.imports.talhelper_patches import PatchReader

_ADDRESS = re.compile(r"\d+(\.\d+){3}")
_FATES: dict[str, tuple[State, str]] = {
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

    def __init__(self, foreign: Foreign, tree: Mapping, patches: PatchReader) -> None:
        self._foreign = foreign
        self._tree = tree
        self._patches = patches

    def take(self, index: int, node: Mapping) -> None:
        """Add one machine."""
        name, controller = node.get("hostname"), node.get("controlPlane")
        if not isinstance(name, Scalar) or not name.text:
            problem = missing_key(f"nodes[{index}].hostname", node.at, "talhelper")
            self._foreign.problems.add(problem)
            return
        is_controller = isinstance(controller, Scalar) and controller.text.lower() == "true"
        group = "controlPlane" if is_controller else "worker"
        asked = Asked(
            foreign=self._foreign,
            tree=self._tree,
            name=name,
            is_controller=is_controller,
            given=given_for(index, node, self._tree, group),
            keys=Mapping(name.at),
        )
        self._foreign.nodes.append(_Machine(asked, self._patches).made())
        self._say_rest(index, node, asked)

    def _say_rest(self, index: int, node: Mapping, asked: Asked) -> None:
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
            elif key in _FATES:
                self._foreign.say(known, entry.key.at, *_fate(key, asked))
            elif key != "patches":
                how = "talhelper has no such key here, and passes over it"
                self._foreign.say(known, entry.key.at, "left out", how)


class _Machine:
    """One node in our words."""

    def __init__(self, asked: Asked, patches: PatchReader) -> None:
        self._asked = asked
        self._patches = patches

    def made(self) -> ForeignNode:
        asked = self._asked
        self._put("name", "hostname")
        address = self._address()
        self._role()
        self._disk()
        image = installer(asked)
        for path, entry in (image.keys if image is not None else {}).items():
            put_into(asked.keys, path, entry)
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
            devices=devices(asked),
            devices_at=asked.name.at if links is None else links.value.at,
            installer_at=asked.name.at if image is None else image.at,
        )

    def _put(self, path: str, key: str, value: Node | None = None) -> None:
        one = self._asked.given.get(key)
        if one is None or self._asked.is_hidden(key):
            return
        entry = Entry(one.entry.key, value or one.value, name=one.known)
        put_into(self._asked.keys, path, entry)
        self._asked.foreign.say(one.known, one.entry.key.at, "taken", path)

    def _role(self) -> None:
        one = self._asked.given.get("controlPlane")
        key = one.entry.key if one is not None else self._asked.name
        text = "true" if self._asked.is_controller else "false"
        value = Scalar(text, key.at, plain=True, span=(0, 0))
        put_into(self._asked.keys, "controller", Entry(key, value, name="controlPlane"))
        if one is not None:
            self._asked.foreign.say(one.known, key.at, "taken", "controller")

    def _address(self) -> str:
        one = self._asked.given.get("ipAddress")
        if one is None or not isinstance(one.value, Scalar):
            return ""
        addresses = [part.strip() for part in one.value.text.split(",")]
        first = next((part for part in addresses if _ADDRESS.fullmatch(part)), "")
        if first and len(addresses) == 1:
            self._put("address", "ipAddress", text_at(first, one.value))
            return first
        how = f"only {first}: a node has one IPv4 address" if first else "it is no IPv4 address"
        state: State = "changed" if first else "left out"
        self._asked.foreign.say(one.known, one.entry.key.at, state, how)
        if first:
            entry = Entry(one.entry.key, text_at(first, one.value), name=one.known)
            put_into(self._asked.keys, "address", entry)
        return first

    def _disk(self) -> None:
        asked = self._asked
        selector = asked.given.get("installDiskSelector")
        if selector is None:
            self._put("disk", "installDisk")
            return
        keys = selector.value.entries if isinstance(selector.value, Mapping) else {}
        serial = keys.get("serial")
        if serial is not None and len(keys) == 1 and isinstance(serial.value, Scalar):
            self._put("disk", "installDiskSelector", text_at(serial.value.text, serial.value))
            return
        # Any serial number will do: the patch names what the disk is.
        put_into(asked.keys, "disk", Entry(selector.entry.key, text_at("*", selector.value)))
        asked.add(selector, nested("machine.install.diskSelector", selector.value))
        how = "disk is any serial number, and a patch says the rest"
        asked.foreign.say(selector.known, selector.entry.key.at, "changed", how)

    def _labels(self) -> None:
        for key, path in (
            ("nodeLabels", "labels"),
            ("nodeAnnotations", "annotations"),
            ("nodeTaints", "taints"),
        ):
            if self._asked.mapping(key) is not None:
                self._put(path, key, filled(self._asked, self._asked.given[key]))

    def _modules(self) -> None:
        modules = self._asked.given.get("kernelModules")
        if modules is None:
            return
        names = [
            name
            for module in items(modules.value)
            if isinstance(module, Mapping)
            and len(module.entries) == 1
            and isinstance(name := module.get("name"), Scalar)
        ]
        if len(names) == len(items(modules.value)):
            self._put("kernel_modules", "kernelModules", Sequence(modules.value.at, [*names]))
        elif not self._asked.is_hidden("kernelModules"):
            add_patch(self._asked, modules, "machine.kernel.modules")

    def _pieces(self) -> list[Piece]:
        """The patches of the group, of the node, and of all, in this order."""
        asked, data = self._asked, template_data(self._asked)
        own = asked.given.get("patches")
        found: list[Piece] = []
        is_own = own is not None and own.scope == "node"
        # Without patches of its own a node gets those of its group, whatever it says.
        if not (is_own and asked.has("overridePatches")):
            known, shared = f"{asked.group_name}.patches", asked.group.get("patches")
            found += self._patches.patches(known, shared, asked.role, data)
        if own is not None and is_own:
            found += self._patches.patches(own.known, own.value, "node", data)
        return found + self._patches.patches("patches", asked.tree.get("patches"), "all", data)


def _fate(key: str, asked: Asked) -> tuple[State, str]:
    if key in _IMAGES and installer(asked) is None:
        return "left out", "the installer is no image of an Image Factory"
    if key == "schematic" and asked.has("talosImageURL"):
        return "left out", "talosImageURL wins over it"
    return _FATES[key]
