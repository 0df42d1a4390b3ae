"""Links of a node: each has one name, cards of a bond exist, and options fit its mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.config.derive import card_mac
from stockman.config.language.node import NodeSection
from stockman.config.rules.context import Context
from stockman.model.links import Bond, VlanLink
from stockman.model.origin import Origin

_LACP = "802.3ad"
_LACP_ONLY = ("lacp_rate", "ad_select", "min_links")


def check(context: Context) -> None:
    for node in context.estate.nodes:
        _check_names(context, node)
        _check_tags(context, node)
        if node.bond is not None:
            _check_members(context, node, node.bond)
            _check_options(context, node, node.bond)


def _check_names(context: Context, node: NodeSection) -> None:
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


def _check_tags(context: Context, node: NodeSection) -> None:
    own = context.estate.network.vlan_tag
    _once(context, node, node.vlans, {own} if own is not None else set())
    for link in node.links:
        _once(context, node, link.vlans, set())


def _once(context: Context, node: NodeSection, vlans: Iterable[VlanLink], taken: set[int]) -> None:
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


def _check_members(context: Context, node: NodeSection, bond: Bond) -> None:
    known = _cards(context, node)
    seen = {node.mac_addr}
    for index, mac in enumerate(bond.members):
        at = bond.origins.get(f"members[{index}]") or bond.where("members")
        if mac in seen:
            _member(context, node, at, f"{mac} is in it already", "name each card once")
        elif known and mac not in known:
            why = f"the cards of its VM are {', '.join(known)}; {mac} is none of them"
            _member(context, node, at, why, "give a card in `vm.nics` this `mac_addr`")
        seen.add(mac)


def _member(context: Context, node: NodeSection, at: Origin | None, why: str, fix: str) -> None:
    what = f"the bond of node {node.name} has a card that it cannot have"
    context.problems.error("bond.member", what, why=why, fix=fix, at=at)


def _cards(context: Context, node: NodeSection) -> list[str]:
    """MAC addresses of the VM's cards; none where there is no VM."""
    if node.vm is None or node.name is None:
        return []
    cluster, name = context.estate.cluster.name, node.name
    found = [nic.mac_addr or card_mac(cluster, name, at) for at, nic in enumerate(node.vm.nics)]
    own = [node.mac_addr] if node.mac_addr is not None else []
    return [*own, *found[1:]]


def _check_options(context: Context, node: NodeSection, bond: Bond) -> None:
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
