"""Rules for disks, volumes and network links of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.config.defaults import card_mac, merge_settings
from stockman.config.language.node import NodeSection
from stockman.config.rules.context import RuleContext
from stockman.config.rules.machines import check_contract_support
from stockman.model.machine import Bond, DiskSelector, SystemVolume, VlanLink, Volume
from stockman.model.origin import Origin
from stockman.model.record import fields_of

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
            fix="keep one of the two; `disk: null` takes back what a class gives",
            at=selector.where(),
        )
    keys = [field.name for field in fields_of(selector) if field.name in selector.origins]
    other_keys = [name for name in keys if name != "match"]
    if not keys or (selector.match is not None and other_keys):
        context.problems.error(
            "disk.selector",
            f"the disk of node {node.name} is not described",
            why=f"`match` stands alone, and {other_keys[0]} stands beside it"
            if other_keys
            else "an empty selector holds for every disk",
            fix="give `match`, or some of the other keys" if other_keys else "say what disk it is",
            at=selector.where("match"),
        )
    if selector.match is not None:
        check_contract_support(
            context, "disk_selector.match", selector.where("match"), since=_MATCH_FROM
        )


def _check_volumes(context: RuleContext, node: NodeSection) -> None:
    settings = merge_settings(context.configuration.talos, node.talos)
    taken: set[str] = set()
    _check_sizes(context, "EPHEMERAL", settings.ephemeral)
    for volume in settings.volumes:
        if volume.name in taken:
            context.problems.error(
                "volume.name-taken",
                f"node {node.name} has two volumes called {volume.name}",
                why="lists of a node add to those of the cluster, and a volume has one name",
                fix="give each volume a name of its own",
                at=volume.where("name"),
            )
        taken.add(volume.name)
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
            f"volume {name} cannot be made",
            why=f"min_size is {low}, max_size only {high}",
            fix="give a larger max_size",
            at=volume.where("max_size"),
        )


def _report_volume(context: RuleContext, volume: Volume, key: str, why: str, fix: str) -> None:
    summary = f"volume {volume.name} cannot be made"
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
    members = {node.mac_addr}
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
    own = [node.mac_addr] if node.mac_addr is not None else []
    return [*own, *addresses[1:]]


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
