"""Machine configurations of older contracts, with fields of users' own in them."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.migration.draft import Configuration
from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.decode import ConfigDocument
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.schema import plain_value
from tests.talos.machine.clusters import bundle, desired, node_named

OWN_KEY, KEY_OF_PEER = (
    base64.b64encode(bytes(range(start, start + 32))).decode("ascii") for start in (0, 32)
)
RICH = (
    (Path(__file__).parent / "rich.yaml")
    .read_text("utf-8")
    .replace("OWN-KEY", OWN_KEY)
    .replace("KEY-OF-PEER", KEY_OF_PEER)
)
"""A patch that touches most of what users of talosctl write."""
CONTROLLERS_ALONE = (
    "          - {vlanId: 66, addresses: [127.67.0.29/24], vip: {ip: 127.67.0.10}}\n",
    "    kubernetesTalosAPIAccess: {enabled: true, allowedRoles: [os:reader]}\n",
    '  etcd: {extraArgs: {election-timeout: "5000"}, advertisedSubnets: [127.66.0.0/24]}\n',
)
"""Lines of it that Talos refuses on workers."""


def rich_patch(*, controller: bool) -> str:
    text = RICH
    for line in () if controller else CONTROLLERS_ALONE:
        assert line in text
        text = text.replace(line, "")
    return text


def generated(line: str, node: str = "cp-1", cluster: str = "") -> tuple[ConfigDocument, ...]:
    """What stockman makes of a node in the style of a contract."""
    state = desired(line, cluster)
    text = configuration_text(machine_documents(state, node_named(state, node), bundle()))
    return load_documents(f"{node}.yaml", text.reveal(), line)


@cache
def rich(line: str = "1.11", node: str = "cp-1") -> tuple[ConfigDocument, ...]:
    """The same with the patch of a user in it."""
    text = rich_patch(controller=node == "cp-1")
    return patched(line, text if line == "1.11" else text.replace("    hostname: cp-9\n", ""), node)


def patched(line: str, text: str, node: str = "cp-1") -> tuple[ConfigDocument, ...]:
    patch = Patch(label="user.yaml", file="user.yaml", text=text)
    return apply_patches(generated(line, node), [patch], line)


def values(documents: tuple[ConfigDocument, ...]) -> Configuration:
    """Documents by kind and name, without origins."""
    configuration: Configuration = {}
    for document in documents:
        tree = plain_value(document.tree)
        assert isinstance(tree, dict)
        configuration[(document.kind.name, document.name)] = tree
    return configuration


def filled(value: object) -> object:
    """A value without its empty parts, which say nothing."""
    if isinstance(value, dict):
        parts = {key: filled(item) for key, item in value.items()}
        return {key: item for key, item in parts.items() if item not in ({}, [], "", None)}
    return [filled(item) for item in value] if isinstance(value, list) else value
