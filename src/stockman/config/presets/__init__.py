"""Presets: starter files, adjusted to the answers, network and dialect of a user."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv4Network

from stockman.config.classic import CLASSIC_KEYS
from stockman.config.language import Dialect
from stockman.config.load import CLUSTER_TOML
from stockman.config.presets.machines import MachinePlaces, read_places, replace_places
from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import MappingNode, ScalarNode, iter_scalars
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import format_scalar
from stockman.model.compatibility import talos_line
from stockman.model.errors import WrongUsage
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.version import Version

_COMMENT = pattern(r"^[ ]*#.*$", re.MULTILINE)
_LISTED_KEY = pattern(r"(?P<key>#   \S.*?)(?P<gap> {2,})(?P<text>\S.*)")
_KEY = pattern(r"\b(?:" + "|".join(sorted(CLASSIC_KEYS, key=len, reverse=True)) + r")\b")
_PHRASES = {
    "(see nodes.yaml)": "(see the classes below)",
    "in nodes.yaml": "below",
}


def translate_comments(text: str) -> str:
    """Replace flat keys and file names in comments of a YAML text with those of `cluster.toml`."""
    return _COMMENT.sub(lambda match: _translate_comment(match[0]), text)


def _translate_comment(comment: str) -> str:
    listed = _LISTED_KEY.fullmatch(comment)
    if listed is None:
        return _translate_keys(comment)
    key = _translate_keys(listed["key"])
    column = len(listed["key"] + listed["gap"])
    return f"{key}{' ' * max(column - len(key), 2)}{_translate_keys(listed['text'])}"


def _translate_keys(text: str) -> str:
    for classic, toml in _PHRASES.items():
        text = text.replace(classic, toml)
    return _KEY.sub(lambda match: CLASSIC_KEYS[match[0]], text)


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
    return sorted({scalar.span for scalar in iter_scalars(tree, keys=True)})


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


UNPUBLISHED = """\
# Nothing is published on the internet. To change that, switch it on here and give
# cloudflare_domain, cloudflare_token and cloudflare_gateway_addr as well.
cloudflare_enabled: false
"""
"""Text in every preset with a cluster that disables Cloudflare."""

_PUBLISHED = """\
# Cloudflare serves the domain, and its tunnel brings visitors to the external gateway.
cloudflare_enabled: true
cloudflare_domain: {domain}
cloudflare_token: ${{CLOUDFLARE_TOKEN}}
cloudflare_gateway_addr: {gateway}
"""


@record
class Answers:
    """Choices of a user. None: the value of the preset."""

    cluster_name: str | None = None
    repository: str | None = None
    """`owner/name` on GitHub, or a Git URL."""
    domain: str | None = None
    """Domain for published services, through Cloudflare. None: nothing is published."""
    proxmox_endpoint: str | None = None
    talos_version: str | None = None
    """Also sets the contract and the default Kubernetes version."""
    hosts: str | None = None
    """Names of the Proxmox hosts, separated by commas, in the order of the preset."""
    storage: str | None = None
    """Storage of the nodes' disks."""
    bridge: str | None = None
    """Bridge of the nodes' first cards."""
    vlan: str | None = None
    """VLAN tag of the nodes' first cards, or `none`."""
    gateway: str | None = None
    """Default gateway of the nodes."""


def read_answers(text: str, nodes: str) -> Answers:
    """Return the values in `cluster.yaml` and `nodes.yaml`. None: they have no such key."""
    tree = read_yaml("cluster.yaml", text)
    places = read_places(nodes)
    return Answers(
        hosts=",".join(places.hosts) or None,
        storage=places.storage or None,
        bridge=places.bridge or None,
        vlan=places.vlan or None,
        gateway=_value(tree, "node_default_gateway"),
        cluster_name=_value(tree, "cluster_name"),
        repository=_value(tree, "repository_name"),
        domain=_value(tree, "cloudflare_domain"),
        proxmox_endpoint=_value(tree, "proxmox_endpoint"),
        talos_version=_value(tree, "talos_version"),
    )


def apply_answers(text: str, answers: Answers) -> str:
    """Return `cluster.yaml` with the answers filled in. Missing keys are not added."""
    if answers.domain is not None:
        text = _enable_publishing(text, answers.domain)
    values = {
        "cluster_name": answers.cluster_name,
        "repository_name": answers.repository,
        "proxmox_endpoint": answers.proxmox_endpoint,
        "node_default_gateway": answers.gateway,
        "talos_version": answers.talos_version,
        **_dependent_keys(answers.talos_version),
    }
    for key, value in values.items():
        if value is not None:
            text = _replace_value(text, key, value)
    return text


def _dependent_keys(talos: str | None) -> dict[str, str | None]:
    """Return keys that depend on the Talos version; none for unknown versions."""
    try:
        version = Version.parse(talos or "")
    except ValueError:
        return {}
    line = talos_line(version)
    kubernetes = line.kubernetes_default.bare if line is not None else None
    return {"talos_contract": version.minor_text, "kubernetes_version": kubernetes}


def _enable_publishing(text: str, domain: str) -> str:
    dns = _value(read_yaml("cluster.yaml", text), "cluster_dns_gateway_addr")
    if dns is None:
        return text
    return text.replace(
        UNPUBLISHED, _PUBLISHED.format(domain=format_scalar(domain), gateway=IPv4Address(dns) + 1)
    )


def _value(tree: MappingNode, key: str) -> str | None:
    value = tree.get(key)
    return value.text if isinstance(value, ScalarNode) else None


def _replace_value(text: str, key: str, value: str) -> str:
    node = read_yaml("cluster.yaml", text).get(key)
    if not isinstance(node, ScalarNode):
        return text
    start, stop = node.span
    return text[:start] + format_scalar(value) + text[stop:]


PRESETS: tuple[str, ...] = ("single", "three-node", "fifteen-node", "home")
"""Names, smallest first."""

SUMMARIES = {
    "single": "one VM on one host: the smallest cluster that runs",
    "three-node": "three combined controllers and workers on three hosts with Ceph",
    "fifteen-node": "three controllers and twelve workers on four hosts, with VLANs and GPUs",
    "home": "five hosts with VMs, a container and devices, without a Talos cluster",
}
"""Short description of each preset."""

NETWORKS = {
    "single": IPv4Network("192.168.20.0/24"),
    "three-node": IPv4Network("10.0.3.0/24"),
    "fifteen-node": IPv4Network("10.20.66.0/23"),
    "home": IPv4Network("192.168.4.0/24"),
}
"""Network of each preset."""

SCHEMA_DIRECTORY = ".schemas"
SCHEMAS = {
    "cluster.yaml": f"{SCHEMA_DIRECTORY}/cluster.schema.json",
    "nodes.yaml": f"{SCHEMA_DIRECTORY}/nodes.schema.json",
    "cluster.toml": f"{SCHEMA_DIRECTORY}/cluster.toml.schema.json",
}
"""Path of the schema in the first line of each file."""


def render_preset(
    name: str,
    *,
    network: IPv4Network | None = None,
    dialect: Dialect = "classic",
    answers: Answers | None = None,
) -> dict[str, str]:
    """Render the files of a preset with the user's answers, moved to another network.

    An endpoint given by the user is not moved. Raises `WrongUsage` if the network is too small.
    """
    return add_schema_hints(_build_classic(name, network, answers), dialect)


def add_schema_hints(texts: dict[str, str], dialect: Dialect) -> dict[str, str]:
    """Convert classic files to a dialect, and add a line for editors at the top."""
    if dialect == "toml":
        texts = _convert_to_toml(texts)
    return {file: f"{_schema_hint(file)}\n{text}" for file, text in texts.items()}


def default_answers(name: str, network: IPv4Network | None = None) -> Answers:
    """Return the values of a preset that answers can change. None: it has no such key."""
    texts = _build_classic(name, network, None)
    return read_answers(texts["cluster.yaml"], texts["nodes.yaml"])


def _build_classic(
    name: str, network: IPv4Network | None, answers: Answers | None
) -> dict[str, str]:
    from dataclasses import replace

    chosen = answers or Answers()
    texts = {file: _read_preset_file(name, file) for file in ("cluster.yaml", "nodes.yaml")}
    texts["cluster.yaml"] = apply_answers(
        texts["cluster.yaml"], replace(chosen, proxmox_endpoint=None, gateway=None)
    )
    if network is not None:
        texts = readdress(texts, NETWORKS[name], network)
    # Addresses of the user are not moved.
    addresses = Answers(proxmox_endpoint=chosen.proxmox_endpoint, gateway=chosen.gateway)
    texts["cluster.yaml"] = apply_answers(texts["cluster.yaml"], addresses)
    return replace_places(texts, _places(chosen))


def _places(answers: Answers) -> MachinePlaces:
    hosts = (answers.hosts or "").split(",")
    return MachinePlaces(
        hosts=tuple(name.strip() for name in hosts if name.strip()),
        storage=answers.storage or "",
        bridge=answers.bridge or "",
        vlan=answers.vlan or "",
    )


def _read_preset_file(name: str, file: str) -> str:
    from importlib.resources import files

    if name not in PRESETS:
        raise LookupError(name)
    return files(__name__).joinpath(name, file).read_text(encoding="utf-8")


def _schema_hint(file: str) -> str:
    path = f"./{SCHEMAS[file]}"
    return (
        f"#:schema {path}" if file.endswith(".toml") else f"# yaml-language-server: $schema={path}"
    )


def _convert_to_toml(texts: dict[str, str]) -> dict[str, str]:
    from stockman.config.convert.dialects import classic_to_toml

    contents = {file: translate_comments(text).encode() for file, text in texts.items()}
    return classic_to_toml(contents).files
