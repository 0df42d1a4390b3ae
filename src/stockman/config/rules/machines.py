"""Rules for machine settings that Talos rejects, or accepts without the intended effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from stockman.config.language import NodeSection
from stockman.config.resolve import card_mac, merge_settings, node_mac
from stockman.config.rules.context import RuleContext, repeated
from stockman.model import compatibility
from stockman.model.machine import (
    Bond,
    DiskSelector,
    KubeletSettings,
    MachineSettings,
    SystemVolume,
    VlanLink,
    Volume,
)
from stockman.model.origin import Origin
from stockman.model.record import fields_of
from stockman.model.schedule import parse_duration


def contract_line(context: RuleContext) -> tuple[int, int]:
    """Return the contract of the machine configurations."""
    talos = context.configuration.talos
    version = talos.contract or talos.version or compatibility.talos_lines()[-1].newest
    return version.line


def check_contract_support(
    context: RuleContext,
    feature: str,
    at: Origin | None,
    *,
    since: tuple[int, int] = (0, 0),
    until: tuple[int, int] = (99, 0),
) -> None:
    """Report a setting that the contract of the cluster does not support."""
    line = contract_line(context)
    if since <= line <= until:
        return
    too_old = line < since
    known = "since" if too_old else "up to"
    major, minor = since if too_old else until
    context.problems.error(
        "talos.contract-lacks",
        f"machine configurations of contract {line[0]}.{line[1]} have no words for {feature}",
        why=f"Talos has them {known} contract {major}.{minor}",
        fix="raise the contract once all nodes run that Talos, or do without"
        if too_old
        else "do without; in the place of mounts take user volumes",
        at=at,
    )


PROTECTED = (
    *("apiVersion", "authentication", "authorization", "cgroupRoot", "kind", "kubeletCgroups"),
    *("port", "protectKernelDefaults", "resolvConf", "rotateCertificates", "systemCgroups"),
    *("staticPodPath", "seccompDefault"),
)
"""Kubelet configuration keys that Talos manages."""

OWNED_ARGUMENTS = (
    "anonymous-auth",
    "oidc-",
    "authentication-config",
    "authorization-config",
    "authorization-mode",
    "authorization-webhook-",
)
"""Prefixes of kube-apiserver arguments that contract 1.14 replaces with documents."""

_MOUNTS_UNTIL = (1, 13)
_DOCUMENTS_FROM = (1, 14)
_SHORTEST_WATCHDOG = timedelta(seconds=10)
_LONGEST_WATCHDOG = timedelta(hours=1)
_DNS_INDEX = 10


def check_machines(context: RuleContext) -> None:
    """Check the kubelet, watchdog, arguments, manifests, DNS and KubeSpan."""
    talos = context.configuration.talos
    for settings in (talos, *(node.talos for node in context.configuration.nodes)):
        _check_kubelet(context, settings.kubelet)
        _check_watchdog(context, settings)
    _check_arguments(context)
    _check_manifests(context)
    _check_dns(context)
    if talos.kubespan and not talos.discovery:
        context.problems.error(
            "kubespan.no-discovery",
            "KubeSpan cannot find other machines",
            why="talos.kubespan is on, and machines find each other through talos.discovery",
            fix="set `discovery: true`, or `kubespan: false`",
            at=talos.where("kubespan"),
        )


def _check_kubelet(context: RuleContext, kubelet: KubeletSettings) -> None:
    for key in kubelet.extra_config:
        if key in PROTECTED:
            context.problems.error(
                "kubelet.protected-key",
                f"{key} of the kubelet's configuration cannot be set",
                why="Talos keeps it to itself and refuses the machine configuration",
                fix=f"remove {key} from `extra_config`",
                at=kubelet.where("extra_config"),
            )
    if kubelet.extra_mounts:
        at = kubelet.where("extra_mounts")
        check_contract_support(context, "kubelet.extra_mounts", at, until=_MOUNTS_UNTIL)


def _check_watchdog(context: RuleContext, settings: MachineSettings) -> None:
    watchdog = settings.watchdog
    if watchdog is None:
        return
    if not _SHORTEST_WATCHDOG <= parse_duration(watchdog.timeout) <= _LONGEST_WATCHDOG:
        context.problems.error(
            "watchdog.timeout",
            "the timeout of the watchdog is out of range",
            why=f"{watchdog.timeout} is not between 10s and 1h; Talos refuses less",
            fix="write for example 1m",
            at=watchdog.where("timeout"),
        )


def _check_arguments(context: RuleContext) -> None:
    kubernetes = context.configuration.kubernetes
    documents = contract_line(context) >= _DOCUMENTS_FROM
    for name in kubernetes.extra_args.api_server:
        twice = kubernetes.oidc is not None and name.startswith("oidc-")
        if twice or (documents and name.startswith(OWNED_ARGUMENTS)):
            context.problems.error(
                "kubernetes.argument",
                f"the argument {name} of kube-apiserver cannot be set",
                why="kubernetes.oidc sets it already"
                if twice
                else "contract 1.14 uses documents for logins and rights, and refuses the argument",
                fix="use kubernetes.oidc"
                if name.startswith("oidc-")
                else "remove it, or patch KubeAuthenticationConfig or KubeAuthorizerConfig",
                at=kubernetes.extra_args.where("api_server"),
            )


def _check_manifests(context: RuleContext) -> None:
    for name, manifest in context.configuration.kubernetes.inline_manifests.items():
        if bool(manifest.contents.strip()) == (manifest.file is not None):
            context.problems.error(
                "manifest.form",
                f"the manifest {name} needs either `contents` or `file`",
                why="exactly one of them defines the manifest",
                fix="set `contents` or `file`, not both",
                at=manifest.where(),
            )


def _check_dns(context: RuleContext) -> None:
    host_dns = context.configuration.talos.host_dns
    needing = [
        name for name in ("forward_kube_dns", "resolve_member_names") if getattr(host_dns, name)
    ]
    if needing and not host_dns.enabled:
        context.problems.error(
            "talos.host-dns",
            "a required DNS server is off",
            why=f"host_dns.enabled is false, host_dns.{needing[0]} is not",
            fix=f"set `{needing[0]}: false` as well",
            at=host_dns.where("enabled"),
        )
    kubernetes = context.configuration.kubernetes
    coredns = context.configuration.components.get("coredns")
    services = kubernetes.svc_cidr
    if (
        coredns is not None
        and coredns.enabled is False
        and services.num_addresses > _DNS_INDEX
        and kubernetes.coredns_addr not in (None, services[_DNS_INDEX])
    ):
        context.problems.error(
            "kubernetes.coredns-address",
            "the CoreDNS of Talos has another address",
            why=f"kubernetes.coredns_addr is {kubernetes.coredns_addr}; the component coredns is"
            f" off, and that of Talos always has {services[_DNS_INDEX]}",
            fix="remove kubernetes.coredns_addr, or switch the component on",
            at=kubernetes.where("coredns_addr"),
        )


_SHARES_FROM = (1, 12)
_MATCH_FROM = (1, 14)


def check_disks(context: RuleContext) -> None:
    """Check disk selectors and volumes."""
    for node in context.configuration.nodes:
        if node.disk_selector is not None:
            _check_selector(context, node, node.disk_selector)
        _check_volumes(context, node)


def _check_selector(context: RuleContext, node: NodeSection, selector: DiskSelector) -> None:
    if node.disk is not None:
        context.problems.error(
            "disk.twice",
            f"node {node.name} names its disk twice",
            why=f"`disk` is {node.disk}, and `disk_selector` describes one too",
            fix="keep one of the two; `disk: null` removes the value of a class",
            at=selector.where(),
        )
    keys = [field.name for field in fields_of(selector) if field.name in selector.origins]
    other_keys = [name for name in keys if name != "match"]
    if not keys or (selector.match is not None and other_keys):
        context.problems.error(
            "disk.selector",
            f"the disk of node {node.name} is not described",
            why=f"`match` cannot be combined with {other_keys[0]}"
            if other_keys
            else "an empty selector matches every disk",
            fix="set `match`, or some of the other keys" if other_keys else "describe the disk",
            at=selector.where("match"),
        )
    if selector.match is not None:
        check_contract_support(
            context, "disk_selector.match", selector.where("match"), since=_MATCH_FROM
        )


def _check_volumes(context: RuleContext, node: NodeSection) -> None:
    settings = merge_settings(context.configuration.talos, node.talos)
    _check_sizes(context, "EPHEMERAL", settings.ephemeral)
    for volume in repeated(settings.volumes, lambda volume: volume.name):
        context.problems.error(
            "volume.name-taken",
            f"node {node.name} has two volumes called {volume.name}",
            why="lists of a node add to those of the cluster, and a volume has one name",
            fix="give each volume a name of its own",
            at=volume.where("name"),
        )
    for volume in settings.volumes:
        _check_volume(context, volume)


def _check_volume(context: RuleContext, volume: Volume) -> None:
    _check_sizes(context, volume.name, volume)
    if volume.min_size is None and volume.max_size is None:
        _report_volume(
            context, volume, "name", "neither min_size nor max_size is given", "give a size"
        )
    if volume.disk is not None and volume.disk_match is not None:
        why = "`disk` and `disk_match` both say which disk it is on"
        _report_volume(context, volume, "disk_match", why, "keep one of the two")
    if volume.kind != "user" and "filesystem" in volume.origins:
        why = f"a {volume.kind} volume has no filesystem"
        _report_volume(
            context, volume, "filesystem", why, "remove `filesystem`, or set `kind: user`"
        )


def _check_sizes(context: RuleContext, name: str, volume: SystemVolume | Volume) -> None:
    low, high = volume.min_size, volume.max_size
    if high is not None and high.endswith("%"):
        check_contract_support(
            context, "a share of the disk", volume.where("max_size"), since=_SHARES_FROM
        )
    elif low is not None and high is not None and _size_in_bytes(low) > _size_in_bytes(high):
        context.problems.error(
            "volume.form",
            f"volume {name} cannot be created",
            why=f"min_size is {low}, max_size only {high}",
            fix="set a larger max_size",
            at=volume.where("max_size"),
        )


def _report_volume(context: RuleContext, volume: Volume, key: str, why: str, fix: str) -> None:
    summary = f"volume {volume.name} cannot be created"
    context.problems.error("volume.form", summary, why=why, fix=fix, at=volume.where(key))


def _size_in_bytes(size: str) -> float:
    number = size.rstrip("BikMGTP")
    prefix = size.removeprefix(number).rstrip("B")
    power = " kMGTP".index(prefix[:1] or " ")
    return float(number) * float((1024 if prefix.endswith("i") else 1000) ** power)


_LACP = "802.3ad"
_LACP_ONLY = ("lacp_rate", "ad_select", "min_links")


def check_links(context: RuleContext) -> None:
    """Check names, VLANs and bonds of links."""
    for node in context.configuration.nodes:
        _check_link_names(context, node)
        _check_tags(context, node)
        if node.bond is not None:
            _check_members(context, node, node.bond)
            _check_options(context, node, node.bond)


def _check_link_names(context: RuleContext, node: NodeSection) -> None:
    cards = 1 + len(node.bond.members) if node.bond is not None else 1
    taken = {f"net{index}": "the node's own card" for index in range(cards)}
    if node.bond is not None:
        taken[node.bond.name] = "the bond"
    for link in node.links:
        if link.name in taken:
            context.problems.error(
                "link.name-taken",
                f"node {node.name} has two links called {link.name}",
                why=f"{link.name} is {taken[link.name]} already",
                fix="give the link another name",
                at=link.where("name"),
            )
        taken[link.name] = "another link"


def _check_tags(context: RuleContext, node: NodeSection) -> None:
    own = context.configuration.network.vlan_tag
    _check_vlans_unique(context, node, node.vlans, {own} if own is not None else set())
    for link in node.links:
        _check_vlans_unique(context, node, link.vlans, set())


def _check_vlans_unique(
    context: RuleContext, node: NodeSection, vlans: Iterable[VlanLink], taken: set[int]
) -> None:
    for vlan in vlans:
        if vlan.id in taken:
            context.problems.error(
                "link.vlan-taken",
                f"node {node.name} has VLAN {vlan.id} twice on one link",
                why="a link has one VLAN of each tag, and the node's own is one of them",
                fix=f"remove one of the two, or change the tag {vlan.id}",
                at=vlan.where("id"),
            )
        taken.add(vlan.id)


def _check_members(context: RuleContext, node: NodeSection, bond: Bond) -> None:
    known = _card_addresses(context, node)
    members = {node_mac(context.configuration, node)} if node.name else {node.mac_addr}
    for index, mac in enumerate(bond.members):
        at = bond.origins.get(f"members[{index}]") or bond.where("members")
        if mac in members:
            _report_member(context, node, at, f"{mac} is in it already", "name each card once")
        elif known and mac not in known:
            why = f"the cards of its VM are {', '.join(known)}; {mac} is none of them"
            _report_member(context, node, at, why, "give a card in `vm.nics` this `mac_addr`")
        members.add(mac)


def _report_member(
    context: RuleContext, node: NodeSection, at: Origin | None, why: str, fix: str
) -> None:
    summary = f"the bond of node {node.name} has a card that it cannot have"
    context.problems.error("bond.member", summary, why=why, fix=fix, at=at)


def _card_addresses(context: RuleContext, node: NodeSection) -> list[str]:
    """Return the MAC addresses of the VM's cards; empty: no VM."""
    if node.vm is None or node.name is None:
        return []
    cluster, name = context.configuration.cluster.name, node.name
    addresses = [nic.mac_addr or card_mac(cluster, name, at) for at, nic in enumerate(node.vm.nics)]
    return [node_mac(context.configuration, node), *addresses[1:]]


def _check_options(context: RuleContext, node: NodeSection, bond: Bond) -> None:
    for name, why, fix in _unfit_options(bond):
        context.problems.error(
            "bond.option",
            f"the bond of node {node.name} has an option that does not fit",
            why=why,
            fix=fix,
            at=bond.where(name),
        )


def _unfit_options(bond: Bond) -> Iterator[tuple[str, str, str]]:
    for name in _LACP_ONLY:
        if getattr(bond, name) is not None and bond.mode != _LACP:
            why = f"{name} is for the mode {_LACP}, and the mode is {bond.mode}"
            yield name, why, f"set `mode: {_LACP}`, or remove {name}"
    for name in ("up_delay", "down_delay"):
        delay = getattr(bond, name)
        if delay and (not bond.miimon or delay % bond.miimon):
            why = f"{name} is {delay}, which is no multiple of miimon, {bond.miimon}"
            yield name, why, "wait for whole multiples of `miimon`"
