"""Placeholders for values that only the user knows, so that machines can be compared early.

No machine configuration depends on the gateways or the repository.
"""

from __future__ import annotations

from ipaddress import IPv4Network

from stockman.config.convert.draft import ConfigDraft, put_value
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, SequenceNode
from stockman.model.origin import Position

_REPOSITORY = "https://github.com/example/example"
_SPARE_ADDRESSES = 8


def fill_placeholders(building: ConfigDraft, taken: set[str]) -> None:
    """Fill the gaps of a configuration; existing values stay."""
    at = building.tree.at
    network = building.tree.get("network")
    cidr = network.get("node_cidr") if isinstance(network, MappingNode) else None
    free = _free_addresses(cidr.text, taken) if isinstance(cidr, ScalarNode) else []
    for path, text in zip(("gateways.internal", "gateways.dns"), free, strict=False):
        building.set_value(path, _placeholder_entry(text, at))
    building.set_value("repository.url", _placeholder_entry(_REPOSITORY, at))
    nodes = building.tree.get("nodes")
    for index, node in enumerate(nodes.items if isinstance(nodes, SequenceNode) else []):
        if isinstance(node, MappingNode):
            mac = f"02:00:00:00:{index // 256:02x}:{index % 256:02x}"
            put_value(node, "mac_addr", _placeholder_entry(mac, at))


def _free_addresses(cidr: str, taken: set[str]) -> list[str]:
    """Return unused addresses at the end of a network."""
    try:
        network = IPv4Network(cidr, strict=False)
    except ValueError:
        return []
    last = int(network.broadcast_address) - 1
    first = max(int(network.network_address) + 1, last - len(taken) - _SPARE_ADDRESSES)
    texts = [str(network[number - int(network.network_address)]) for number in range(first, last)]
    return [text for text in reversed(texts) if text not in taken]


def _placeholder_entry(text: str, at: Position) -> MappingEntry:
    value = ScalarNode(text, at, plain=False, span=(0, 0))
    return MappingEntry(value, value)
