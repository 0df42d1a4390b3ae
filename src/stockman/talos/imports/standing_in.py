"""Stand-ins for what only the user knows, so that machines can be compared before it is given.

No machine configuration depends on the gateways or the repository.
"""

from __future__ import annotations

from ipaddress import IPv4Network

from stockman.config.convert.building import Building, put_into
from stockman.config.source.tree import Entry, Mapping, Scalar, Sequence
from stockman.model.origin import Position

_REPOSITORY = "https://github.com/example/example"
_SPARE = 8


def stand_in(building: Building, taken: set[str]) -> None:
    """Fill the gaps of a configuration; what is given stays."""
    at = building.whole.at
    network = building.whole.get("network")
    cidr = network.get("node_cidr") if isinstance(network, Mapping) else None
    free = _free(cidr.text, taken) if isinstance(cidr, Scalar) else []
    for path, text in zip(("gateways.internal", "gateways.dns"), free, strict=False):
        building.put(path, _entry(text, at))
    building.put("repository.url", _entry(_REPOSITORY, at))
    nodes = building.whole.get("nodes")
    for index, node in enumerate(nodes.items if isinstance(nodes, Sequence) else []):
        if isinstance(node, Mapping):
            mac = f"02:00:00:00:{index // 256:02x}:{index % 256:02x}"
            put_into(node, "mac_addr", _entry(mac, at))


def _free(cidr: str, taken: set[str]) -> list[str]:
    """Addresses at the end of a network that nobody has."""
    try:
        network = IPv4Network(cidr, strict=False)
    except ValueError:
        return []
    last = int(network.broadcast_address) - 1
    first = max(int(network.network_address) + 1, last - len(taken) - _SPARE)
    texts = [str(network[number - int(network.network_address)]) for number in range(first, last)]
    return [text for text in reversed(texts) if text not in taken]


def _entry(text: str, at: Position) -> Entry:
    value = Scalar(text, at, plain=False, span=(0, 0))
    return Entry(value, value)
