"""Move the addresses in configuration files to another network.

Only values and keys change; comments, layout and addresses in other networks are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network

from stockman.config.load import CLUSTER_TOML
from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import MappingNode as Tree
from stockman.config.source.tree import ScalarNode, SequenceNode, TreeNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.errors import WrongUsage
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

_ADDRESS = pattern(
    r"(?<![\w.])(?P<scheme>(?<=//))?(?P<address>\d{1,3}(?:\.\d{1,3}){3})"
    r"(?P<prefix>/\d{1,2}(?!\w))?(?!\w|\.\d)"
)


def readdress(texts: Mapping[str, str], old: IPv4Network, new: IPv4Network) -> dict[str, str]:
    """Move every address of the old network to the same position in the new one.

    Raises `WrongUsage` if the new network is too small.
    """
    spans = {name: _spans(name, text) for name, text in texts.items()}
    _check_room([text[a:b] for name, text in texts.items() for a, b in spans[name]], old, new)
    moved = _address_mover(old, new)
    return {name: _rewrite(text, spans[name], moved) for name, text in texts.items()}


def _spans(name: str, text: str) -> list[tuple[int, int]]:
    """Return the positions of keys and values of a file, in order, each once."""
    tree = (read_toml if name == CLUSTER_TOML else read_yaml)(name, text)
    return sorted({scalar.span for scalar in _keys_and_values(tree)})


def _keys_and_values(node: TreeNode) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from _keys_and_values(item)
    elif isinstance(node, Tree):
        for entry in node.entries.values():
            yield entry.key
            yield from _keys_and_values(entry.value)


def _rewrite(text: str, spans: list[tuple[int, int]], moved: Callable[[re.Match[str]], str]) -> str:
    pieces = []
    end = 0
    for start, stop in spans:
        pieces += [text[end:start], _ADDRESS.sub(moved, text[start:stop])]
        end = stop
    return "".join([*pieces, text[end:]])


def _address_mover(old: IPv4Network, new: IPv4Network) -> Callable[[re.Match[str]], str]:
    def moved(match: re.Match[str]) -> str:
        number = _host_number(match, old)
        if number is None:
            return match[0]
        length = _prefix_length(match)
        if length is None:
            return f"{new[number]}{match['prefix'] or ''}"
        return f"{new[number]}/{length if length > old.prefixlen else new.prefixlen}"

    return moved


def _host_number(match: re.Match[str], old: IPv4Network) -> int | None:
    """Return the position of an address in the old network; None: not in that network."""
    try:
        address = IPv4Address(match["address"])
    except ValueError:
        return None
    return int(address) - int(old.network_address) if address in old else None


def _prefix_length(match: re.Match[str]) -> int | None:
    """Return the prefix length of an address; None: there is none, or it is the path of a URL."""
    is_url = match["scheme"] is not None
    return None if is_url or match["prefix"] is None else int(match["prefix"][1:])


def _check_room(values: list[str], old: IPv4Network, new: IPv4Network) -> None:
    matches = [match for value in values for match in _ADDRESS.finditer(value)]
    needed = max((_required_size(match, old) for match in matches), default=0)
    if needed > new.num_addresses:
        raise WrongUsage(_network_too_small(new, needed))


def _required_size(match: re.Match[str], old: IPv4Network) -> int:
    """Return the size of a network that contains this address or subnet at its position."""
    number = _host_number(match, old)
    length = _prefix_length(match)
    if number is None or (number == 0 and length is not None and length <= old.prefixlen):
        return 0
    if length is not None and old.prefixlen < length < 32:
        return number + (1 << (32 - length))
    return number + 2  # the last address of a network is for broadcasts


def _network_too_small(new: IPv4Network, needed: int) -> Problem:
    return Problem(
        code="network.too-small",
        what=f"{new} is too small for these addresses",
        why=f"they reach to number {needed - 2} of their network,"
        f" and {new} has {max(new.num_addresses - 2, 0)} for machines",
        fix=f"give a network of /{32 - (needed - 1).bit_length()} or larger",
    )
