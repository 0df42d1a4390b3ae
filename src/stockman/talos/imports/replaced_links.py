"""Links of machines that no key says: patches that put them in the place of ours, or beside it."""

from __future__ import annotations

from stockman.talos.imports.agreed import MAIN
from stockman.talos.imports.configurations import Configuration, value_at
from stockman.talos.imports.foreign import ForeignNode, Piece, document
from stockman.talos.imports.network import Link
from stockman.talos.machine.facts import Document

OURS = frozenset({"LinkAliasConfig", "LinkConfig", "VLANConfig", "DHCPv4Config", "Layer2VIPConfig"})
"""Kinds of documents that we make for the link with a node's address."""
_LINKS = OURS | {"BondConfig", "BridgeConfig", "WireguardConfig", "DHCPv6Config"}
_LABEL = "networkInterfaces"


def replaced_links(
    node: ForeignNode, link: Link | None, theirs: Configuration, ours: Configuration
) -> list[Piece]:
    """Patches for the links of a node; `link` is the one that keys say, if they do."""
    is_old = not any(one.get("kind") == "HostnameConfig" for one in node.base)
    found = _old(node, link, ours) if is_old else _documents(node, link, theirs, ours)
    at = node.devices_at if node.devices else node.at
    return [Piece(_LABEL, "node", (-2, number), document(one, at)) for number, one in found]


def _old(node: ForeignNode, link: Link | None, ours: Configuration) -> list[tuple[int, Document]]:
    """Up to contract 1.11: a list in the v1alpha1 document, which patches add to."""
    left = [one for at, one in enumerate(node.devices) if link is None or at != link.index]
    found: list[Document] = []
    if link is None and value_at(ours, MAIN, ("machine", "network", "interfaces")):
        found.append({"machine": {"network": {"interfaces": {"$patch": "delete"}}}})
    if left:
        found.append({"machine": {"network": {"interfaces": left}}})
    return list(enumerate(found))


def _documents(
    node: ForeignNode, link: Link | None, theirs: Configuration, ours: Configuration
) -> list[tuple[int, Document]]:
    mine = _names_of(node, link) if link is not None else set()
    found = [
        one
        for one in node.base
        if one.get("kind") in _LINKS
        and str(one.get("name")) not in mine
        and str(one.get("link")) not in mine
    ]
    if link is None:
        found += [
            {"apiVersion": "v1alpha1", "kind": kind, "name": name, "$patch": "delete"}
            for kind, name in ours
            if kind in OURS and (kind, name) not in theirs
        ]
    return list(enumerate(found))


def _names_of(node: ForeignNode, link: Link) -> set[str]:
    """Names that the other tool has for the link that keys say."""
    aliases = [one for one in node.base if one.get("kind") == "LinkAliasConfig"]
    name = next(
        (str(one["name"]) for one in aliases if link.mac in str(one["selector"]).lower()), ""
    )
    return {name} if link.vlan is None else {name, f"{name}.{link.vlan}"}
