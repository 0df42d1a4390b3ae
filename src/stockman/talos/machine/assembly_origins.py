"""Where every value of a machine configuration comes from, before any patch.

A key of the configuration, a part of the secrets bundle, or a default that is named.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.model.desired import Desired, Node
from stockman.model.origin import Origin, Position, Traced
from stockman.model.secret import Secret
from stockman.talos.bundle import SecretsBundle
from stockman.talos.machine.assembly_rules import (
    BY_TALOS,
    OTHER_CARD,
    OTHER_LINK,
    OTHER_VLAN,
    RULES,
    TAGGED,
    VLAN,
)
from stockman.talos.machine.facts import Document
from stockman.talos.machine.registries import hosts_of
from stockman.talos.machine.wires import ALIAS
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree

_NOWHERE = Position("", 0, 0)
BUNDLE = "secrets bundle"
DEFAULT = "default"
_TAGGED = {**RULES[""], **TAGGED}
_OF_LINKS = ("LinkConfig", "VLANConfig", "DHCPv4Config", "LinkAliasConfig")


class Sources:
    """All that configurations of one cluster come from, by name."""

    def __init__(self, desired: Desired, bundle: SecretsBundle) -> None:
        if desired.cluster is None:
            raise ValueError("nodes without a cluster")
        self._cluster = desired.cluster
        self._components = desired.components
        self._mirrors = {
            host: mirror
            for registry, mirror in desired.cluster.talos.registries.items()
            for host in (registry, *hosts_of(registry, mirror))
        }
        self._bundle = {
            text: Origin(_NOWHERE, BUNDLE, name) for text, name in bundle_parts(bundle).items()
        }

    def of(self, node: Node) -> NodeSources:
        """What the configuration of one node comes from."""
        cluster = self._cluster
        traced: dict[str, Traced] = {
            "node": node,
            "schematic": node.schematic,
            "cluster": cluster,
            "network": cluster.network,
            "kubernetes": cluster.kubernetes,
            "kubernetes.extra_args": cluster.kubernetes.extra_args,
            "talos": cluster.talos,
            "talos.kube_prism": cluster.talos.kube_prism,
            "talos.host_dns": cluster.talos.host_dns,
            "talos.firewall": cluster.talos.firewall,
            "node.talos": node.settings,
            "node.talos.kubelet": node.settings.kubelet,
            **{f"link {link.name}": link for link in node.links},
            **{f"mirror {host}": one for host, one in self._mirrors.items()},
            **{f"component {name}": one for name, one in self._components.items()},
        }
        tag = cluster.network.vlan_tag
        contract = cluster.talos.contract.minor_text
        return NodeSources(traced, self._bundle, contract, "" if tag is None else str(tag))


class NodeSources:
    """What the configuration of one node comes from."""

    def __init__(
        self, traced: Mapping[str, Traced], bundle: Mapping[str, Origin], contract: str, tag: str
    ) -> None:
        self._traced = traced
        self._bundle = bundle
        self._contract = contract
        self._tag = tag
        """The VLAN with the node's address. Empty: it is on the link itself."""
        self._known: dict[str, Origin] = {}

    def tree(self, document: Document) -> Branch:
        """A document with an origin at every value."""
        kind = str(document.get("kind", ""))
        rules = self._rules(kind, str(document.get("name", "")))
        start = self._origin(rules.get("", BY_TALOS))
        entries = {key: self._traced_tree(one, key, start, rules) for key, one in document.items()}
        return Branch(start, entries)

    def _rules(self, kind: str, name: str) -> Mapping[str, str]:
        """The rules for a document; those of links and mirrors belong to one of several keys."""
        if kind.startswith("Registry") and f"mirror {name}" in self._traced:
            source = f"mirror {name}"
            fields = ("endpoints", "username", "password")
            return {"": f"{source}.", **{one: f"{source}.{one}" for one in fields}}
        base, _, tag = name.partition(".")
        source = f"link {base}"
        if kind in _OF_LINKS and source in self._traced:
            return {"": f"{source}.", **{one: f"{source}.{one}" for one in OTHER_LINK}}
        if kind == VLAN and tag != self._tag:
            return OTHER_VLAN
        if kind == "LinkAliasConfig" and name != ALIAS:
            return OTHER_CARD
        return _TAGGED if not kind and self._tag else RULES.get(kind, {})

    def _traced_tree(
        self, value: object, path: str, origin: Origin, rules: Mapping[str, str]
    ) -> Tree:
        rule = rules.get(path)
        if rule is not None:
            origin = self._origin(rule)
        if isinstance(value, dict):
            entries = {
                key: self._traced_tree(item, f"{path}.{key}", origin, rules)
                for key, item in value.items()
            }
            return Branch(origin, entries)
        if isinstance(value, list | tuple):
            return Items(origin, self._items(value, path, origin, rules))
        text = value.reveal() if isinstance(value, Secret) else value
        if isinstance(text, str) and text in self._bundle:
            origin = self._bundle[text]
        return Leaf(value, origin)

    def _items(
        self, values: Iterable[object], path: str, origin: Origin, rules: Mapping[str, str]
    ) -> list[Tree]:
        first = f"{path}[0]" in rules
        source, _, field = rules.get(path, "").rpartition(".")
        traced = self._traced.get(source)
        written = {} if traced is None else traced.origins
        found = []
        for index, item in enumerate(values):
            if first and index == 0:
                found.append(self._traced_tree(item, f"{path}[0]", origin, rules))
            else:
                own = written.get(f"{field}[{index - first}]")
                here = origin if own is None else _named(own)
                found.append(self._traced_tree(item, f"{path}[]", here, rules))
        return found

    def _origin(self, rule: str) -> Origin:
        if rule not in self._known:
            self._known[rule] = self._found(rule)
        return self._known[rule]

    def _found(self, rule: str) -> Origin:
        if rule == BY_TALOS:
            return Origin(_NOWHERE, DEFAULT, f"Talos {self._contract}")
        known = ""
        for one in rule.split("|"):
            source, _, field = one.rpartition(".")
            traced = self._traced.get(source)
            if traced is None:
                continue
            written = traced.origins.get(field)
            if written is not None:
                return _named(written)
            known = _shown(one)
        return Origin(_NOWHERE, DEFAULT, known or rule)


def _named(origin: Origin) -> Origin:
    """An origin that says its key too, beside its place."""
    if origin.is_derived:
        return origin
    via = f"{origin.name}, {origin.via}" if origin.via else origin.name
    return Origin(origin.at, origin.name, via)


def _shown(rule: str) -> str:
    return rule.removeprefix("mirror ").removeprefix("component ")


def bundle_parts(bundle: SecretsBundle) -> dict[str, str]:
    """Every text of a bundle in the forms that configurations hold, with the name of its part."""
    secrets = bundle.secrets
    certs = bundle.certs
    parts: dict[str, Secret | None] = {
        "cluster.id": Secret(bundle.cluster.id),
        "cluster.secret": bundle.cluster.secret,
        "secrets.bootstraptoken": secrets.bootstraptoken,
        "secrets.secretboxencryptionsecret": secrets.secretboxencryptionsecret,
        "secrets.aescbcencryptionsecret": secrets.aescbcencryptionsecret,
        "trustdinfo.token": bundle.trustdinfo.token,
        "certs.k8sserviceaccount.key": certs.k8sserviceaccount,
    }
    pairs: dict[str, CertificateAndKey] = {
        "etcd": certs.etcd,
        "k8s": certs.k8s,
        "k8saggregator": certs.k8saggregator,
        "os": certs.os,
    }
    for name, pair in pairs.items():
        parts[f"certs.{name}.crt"] = Secret(pair.crt)
        parts[f"certs.{name}.key"] = pair.key
    found: dict[str, str] = {}
    for name, secret in parts.items():
        if secret is not None:
            text = secret.reveal()
            found[text] = name
            found[base64.b64encode(text.encode()).decode("ascii")] = name
    return found
