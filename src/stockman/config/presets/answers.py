"""Values of a preset that a user can choose, and how they are written to its files."""

from __future__ import annotations

from ipaddress import IPv4Address

from stockman.config.source.tree import MappingNode, ScalarNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import format_scalar
from stockman.model.compatibility import talos_line
from stockman.model.record import record
from stockman.model.version import Version

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


def read_answers(text: str) -> Answers:
    """Return the values in a `cluster.yaml`. None: it has no such key."""
    tree = read_yaml("cluster.yaml", text)
    return Answers(
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
