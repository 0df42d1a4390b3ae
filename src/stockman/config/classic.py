"""The classic dialect: flat keys of `cluster.yaml` and their paths in the common structure."""

from __future__ import annotations

from itertools import pairwise

from stockman.config.language import (
    CLUSTER_SECTIONS,
    MACHINE_SECTIONS,
    RESERVED_SECTIONS,
)
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    copy_node,
)
from stockman.model.pattern import pattern
from stockman.model.problem import Problems
from stockman.model.secret import is_encrypted

CLASSIC_KEYS: dict[str, str] = {
    "cluster_name": "cluster.name",
    "node_cidr": "network.node_cidr",
    "node_dns_servers": "network.dns_servers",
    "node_ntp_servers": "network.ntp_servers",
    "node_default_gateway": "network.default_gateway",
    "node_vlan_tag": "network.vlan_tag",
    "cluster_api_addr": "kubernetes.api.addr",
    "cluster_api_tls_sans": "kubernetes.api.tls_sans",
    "cluster_pod_cidr": "kubernetes.pod_cidr",
    "cluster_svc_cidr": "kubernetes.svc_cidr",
    "cluster_dns_gateway_addr": "gateways.dns",
    "cluster_gateway_addr": "gateways.internal",
    "cloudflare_gateway_addr": "gateways.external",
    "repository_name": "repository.url",
    "repository_branch": "repository.branch",
    "cloudflare_enabled": "dns.provider",
    "cloudflare_domain": "domain.name",
    "cloudflare_token": "dns.token",
    "cilium_loadbalancer_mode": "cilium.loadbalancer_mode",
    "cilium_bgp_router_addr": "cilium.bgp.router_addr",
    "cilium_bgp_router_asn": "cilium.bgp.router_asn",
    "cilium_bgp_node_asn": "cilium.bgp.node_asn",
    "talos_version": "talos.version",
    "talos_contract": "talos.contract",
    "controller_schematic_id": "talos.controller_schematic_id",
    "worker_schematic_id": "talos.worker_schematic_id",
    "kubernetes_version": "kubernetes.version",
    "proxmox_endpoint": "proxmox.endpoint",
    "proxmox_region": "proxmox.region",
    "proxmox_token_id": "proxmox.token_id",
    "proxmox_token_secret": "proxmox.token_secret",
    "proxmox_ccm_enabled": "components.proxmox-ccm.enabled",
    "proxmox_ccm_token_id": "components.proxmox-ccm.token_id",
    "proxmox_ccm_token_secret": "components.proxmox-ccm.token_secret",
    "proxmox_csi_enabled": "components.proxmox-csi.enabled",
    "proxmox_csi_storage": "components.proxmox-csi.storage",
    "backup_s3_endpoint": "backup.targets[0].endpoint",
    "backup_s3_bucket": "backup.targets[0].bucket",
    "backup_s3_access_key": "backup.targets[0].access_key",
    "backup_s3_secret_key": "backup.targets[0].secret_key",
    "backup_age_public_key": "backup.recipients[0]",
}
"""Path of each flat key."""

VISIBILITY_KEY = "repository_visibility"
"""Part of the repository URL: private repositories use SSH."""

CLASSIC_ONLY = (VISIBILITY_KEY,)

CLASSIC_BY_PATH = {path: key for key, path in CLASSIC_KEYS.items()}


def dialect_key(path: str, *, classic: bool) -> str:
    """Return the name of a path in the user's dialect."""
    return CLASSIC_BY_PATH.get(path, path) if classic else path


_OWNER_AND_NAME = pattern(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+")
_PATH_STEP = pattern(r"([^.\[\]]+)|\[(\d+)\]")


def unflatten(cluster: MappingNode, problems: Problems) -> MappingNode:
    """Convert `cluster.yaml` to the common structure. Keys without a flat name are kept."""
    tree = MappingNode(cluster.at)
    for name, entry in cluster.entries.items():
        if name in CLUSTER_SECTIONS:
            tree.entries[name] = MappingEntry(entry.key, copy_node(entry.value))
        elif name not in CLASSIC_KEYS and name not in CLASSIC_ONLY:
            _report_misplaced_key(name, entry, tree, problems)
    for name, entry in cluster.entries.items():
        if name in CLASSIC_KEYS:
            _place_value(tree, name, entry, problems)
    _fold_repository(tree, private=_is_private(cluster, problems))
    return tree


def select_sections(tree: MappingNode, allowed: tuple[str, ...], problems: Problems) -> MappingNode:
    """Return the sections that are allowed in a file; reports misplaced and reserved ones."""
    sections = MappingNode(tree.at)
    for name, entry in tree.entries.items():
        if name in allowed:
            sections.entries[name] = entry
        else:
            _report_misplaced_key(name, entry, sections, problems)
    return sections


def _report_misplaced_key(
    name: str, entry: MappingEntry, tree: MappingNode, problems: Problems
) -> None:
    file = entry.key.at.file
    if name == "sops":
        return
    if name in RESERVED_SECTIONS:
        problems.error(
            "config.reserved-key",
            f"{name} is reserved for later",
            why="this version of stockman has no meaning for it",
            fix="remove it; a later version will know it",
            at=entry.key.at,
        )
    elif name in MACHINE_SECTIONS or name in CLUSTER_SECTIONS or name in CLASSIC_KEYS:
        home = "nodes.yaml" if name in MACHINE_SECTIONS else "cluster.yaml"
        problems.error(
            "config.wrong-file",
            f"{name} does not belong in {file}",
            why=f"it is a key of {home}",
            fix=f"move it to {home}",
            at=entry.key.at,
        )
    else:
        tree.entries[name] = entry


def _place_value(tree: MappingNode, name: str, entry: MappingEntry, problems: Problems) -> None:
    value = entry.value
    if isinstance(value, ScalarNode) and value.is_null:
        return
    if name == "cloudflare_enabled" and isinstance(value, ScalarNode):
        value = _convert_provider(value)
    steps = [text or int(index) for text, index in _PATH_STEP.findall(CLASSIC_KEYS[name])]
    node: TreeNode = tree
    for step, following in pairwise(steps):
        node = _descend(node, step, entry, sequence=isinstance(following, int))
    last = steps[-1]
    if isinstance(node, MappingNode) and isinstance(last, str):
        if last in node.entries:
            _report_duplicate_key(name, entry, node.entries[last], problems)
        else:
            node.entries[last] = MappingEntry(entry.key, value, name=name)
    elif isinstance(node, SequenceNode) and not node.items:
        node.items.append(value)


def _descend(node: TreeNode, step: str | int, entry: MappingEntry, *, sequence: bool) -> TreeNode:
    if isinstance(node, SequenceNode):
        if not node.items:
            node.items.append(MappingNode(entry.value.at))
        return node.items[0]
    if not isinstance(node, MappingNode):
        return node
    known = node.entries.get(str(step))
    if known is None:
        fresh: TreeNode = SequenceNode(entry.value.at) if sequence else MappingNode(entry.value.at)
        known = MappingEntry(entry.key, fresh)
        node.entries[str(step)] = known
    return known.value


def _report_duplicate_key(
    name: str, entry: MappingEntry, earlier: MappingEntry, problems: Problems
) -> None:
    problems.error(
        "config.given-twice",
        f"{name} is set twice, under two names",
        why=f"{CLASSIC_KEYS[name]} at {earlier.value.at} is the same key",
        fix="keep one of the two",
        at=entry.key.at,
    )


def _convert_provider(value: ScalarNode) -> ScalarNode:
    provider = {"true": "cloudflare", "false": "none"}.get(value.text.lower(), value.text)
    return ScalarNode(provider, value.at, plain=value.plain, span=value.span)


def _is_private(cluster: MappingNode, problems: Problems) -> bool:
    entry = cluster.entries.get(VISIBILITY_KEY)
    if entry is None:
        return False
    value = entry.value
    if isinstance(value, ScalarNode):
        if value.text in ("public", "private"):
            return value.text == "private"
        if value.is_null or is_encrypted(value.text):
            return False
    problems.error(
        "config.choice",
        f"{VISIBILITY_KEY} has a value that does not exist",
        why="it is neither public nor private",
        fix="write public or private",
        at=value.at,
    )
    return False


def _fold_repository(tree: MappingNode, *, private: bool) -> None:
    section = tree.get("repository")
    if not isinstance(section, MappingNode):
        return
    entry = section.entries.get("url")
    if entry is None or not isinstance(entry.value, ScalarNode):
        return
    name = entry.value
    address = repository_address(name.text, private=private)
    if address is not None:
        spelled = ScalarNode(address, name.at, plain=False, span=name.span)
        section.entries["url"] = MappingEntry(entry.key, spelled, name=entry.name)


def repository_address(name: str, *, private: bool) -> str | None:
    """Return the Git URL of `owner/repo`; None: the text has another form."""
    if _OWNER_AND_NAME.fullmatch(name) is None:
        return None
    base = "ssh://git@github.com" if private else "https://github.com"
    return f"{base}/{name}.git"
