"""The network that a machine sets up of all that is told to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from ipaddress import ip_interface

from stockman_lab.guest.network import NicView, link_local, self_made
from stockman_lab.talos.config.applied import (
    AppliedAddress,
    AppliedLink,
    AppliedNetwork,
    AppliedRoute,
    Layer,
    MachineNetwork,
    Operator,
)
from stockman_lab.talos.config.cards import aliased, cards, fits
from stockman_lab.talos.config.effective_record import Effective
from stockman_lab.talos.config.link_setting import DhcpSetting, LinkSetting, RouteSetting
from stockman_lab.talos.config.nocloud import PlatformData

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def hostname(
    config: Effective | None,
    platform: PlatformData,
    node_id: str,
    addresses: tuple[str, ...],
) -> str:
    """The name of a machine, with its domain. Empty: it has none.

    Names are made only where a configuration asks for it, and by nobody else.
    """
    if config is not None and config.hostname:
        return config.hostname
    if platform.hostname:
        return platform.hostname
    if platform.cmdline.hostname:
        return platform.cmdline.hostname
    how = config.auto_hostname if config is not None else "off"
    if how == "stable" and node_id:
        return stable_name(node_id)
    if how == "addr" and addresses:
        return address_name(addresses[0])
    return ""


def stable_name(node_id: str) -> str:
    """The name that a machine makes of its identity, `talos-2gd-76y`."""
    number = int.from_bytes(sha256(node_id.encode()).digest()[:8], "big")
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return f"talos-{digits[1:4]}-{digits[4:7]}"


def address_name(address: str) -> str:
    """The name that a machine makes of its first address, `talos-10-42-0-5`."""
    return f"talos-{address.replace(':', '').replace('.', '-')}"


DEFAULT_RESOLVERS = ("1.1.1.1", "8.8.8.8")
DEFAULT_TIME_SERVERS = ("time.cloudflare.com",)
_METRIC = 1024
_LOOPBACK_MTU = 65536


def applied_network(
    machine: MachineNetwork, platform: PlatformData, config: Effective | None
) -> AppliedNetwork:
    """What becomes of all layers; `config` is None as long as there is no configuration."""
    cmdline = platform.cmdline
    setup = _Setup(machine)
    known = cards(machine.nics, predictable=cmdline.predictable_names)
    setup.add(aliased(known, config.aliases if config is not None else {}))
    ignored = {setup.resolved(name) for name in cmdline.ignored}
    for layer, settings in (
        (Layer.PLATFORM, platform.links),
        (Layer.CONFIGURATION, config.links if config is not None else ()),
    ):
        ignored |= setup.apply(layer, settings)
    if config is None or config.default_dhcp:
        setup.defaults(ignored)
    network = setup.network()
    name = hostname(config, platform, machine.node_id, network.node_addresses)
    short, _, domain = name.partition(".")
    return replace(
        network,
        resolvers=(config.nameservers if config is not None else ())
        or platform.nameservers
        or DEFAULT_RESOLVERS,
        search_domains=_search_domains(config, domain),
        time_servers=(config.time_servers if config is not None else ())
        or platform.time_servers
        or DEFAULT_TIME_SERVERS,
        hostname=short,
        domain=domain,
    )


def _search_domains(config: Effective | None, domain: str) -> tuple[str, ...]:
    if config is None:
        return ()
    if config.search_domains:
        return config.search_domains
    return (domain,) if domain and config.default_search_domain else ()


@dataclass(slots=True)
class _Setup:
    """A network on its way."""

    machine: MachineNetwork
    links: dict[str, AppliedLink] = field(default_factory=dict)
    platform_names: dict[str, str] = field(default_factory=dict)
    """How the platform calls cards that it tells by their address."""
    addresses: dict[tuple[str, str], AppliedAddress] = field(default_factory=dict)
    routes: dict[tuple[str, str, str, int], AppliedRoute] = field(default_factory=dict)
    operators: dict[tuple[str, str, str], Operator] = field(default_factory=dict)
    vips: dict[str, str] = field(default_factory=dict)

    def add(self, links: Iterable[AppliedLink]) -> None:
        self.links |= {link.name: link for link in links}

    def resolved(self, name: str) -> str:
        """The name that a link has, of any that it goes by."""
        if name in self.links:
            return name
        for link in self.links.values():
            if name in link.aliases or name in link.alt_names:
                return link.name
        return name

    def apply(self, layer: Layer, settings: Iterable[LinkSetting]) -> set[str]:
        """Take what a layer says; names of links that are to be left alone."""
        ignored: set[str] = set()
        self.platform_names = {}
        for setting in settings:
            for name in self._meant(setting):
                if setting.ignored:
                    ignored.add(name)
                else:
                    self._one(layer, name, setting)
        return ignored

    def _meant(self, setting: LinkSetting) -> list[str]:
        physical = [link for link in self.links.values() if link.nic is not None]
        if setting.selector is not None:
            fitting = [one.name for one in physical if fits(one, setting.selector)]
            if setting.kind == "vlan":
                return [f"{parent}.{setting.vlan}" for parent in fitting]
            if fitting:
                if setting.name:
                    self.platform_names[setting.name] = fitting[0]
                return fitting
        if not setting.name and setting.selector is None:
            return sorted(one.name for one in physical)[:1]
        return [self.resolved(setting.name)] if setting.name else []

    def _one(self, layer: Layer, name: str, setting: LinkSetting) -> None:
        if not self._link(layer, name, setting):
            return
        for address in setting.addresses:
            given = ip_interface(address)
            text = f"{given.ip}/{given.network.prefixlen}"
            self.addresses[name, text] = AppliedAddress(link=name, address=text, layer=layer)
        for route in setting.routes:
            self._route(layer, name, route)
        for kind, dhcp in (("dhcp4", setting.dhcp4), ("dhcp6", setting.dhcp6)):
            if dhcp is not None:
                self._operator(kind, name, layer, dhcp)
        for vip in setting.vips:
            self.vips[vip] = name
            self.operators["vip", name, vip] = Operator(
                kind="vip", link=name, layer=layer, metric=0, vip=vip
            )

    def _operator(self, kind: str, name: str, layer: Layer, dhcp: DhcpSetting) -> None:
        self.operators[kind, name, ""] = Operator(
            kind=kind, link=name, layer=layer, metric=dhcp.metric
        )

    def _route(self, layer: Layer, name: str, route_setting: RouteSetting) -> None:
        metric = route_setting.metric or _METRIC
        route = AppliedRoute(
            link=name,
            destination=route_setting.destination,
            gateway=route_setting.gateway,
            source=route_setting.source,
            metric=metric,
            scope="global" if route_setting.gateway or not route_setting.destination else "link",
            table=route_setting.table,
            layer=layer,
        )
        self.routes[name, route_setting.destination, route_setting.gateway, metric] = route

    def _link(self, layer: Layer, name: str, setting: LinkSetting) -> bool:
        """Whether there is a link of that name now."""
        known = self.links.get(name)
        if known is None:
            if setting.kind == "physical":
                return False
            known = AppliedLink(name=name, kind=setting.kind, index=len(self.links) + 2)
        kind = known.kind if setting.kind == "physical" else setting.kind
        known = replace(known, up=setting.up, layer=layer, mtu=setting.mtu or known.mtu, kind=kind)
        if setting.kind == "vlan":
            known = self._tag_link(known, setting)
        elif setting.bond is not None or setting.bridge is not None:
            known = self._bundle_links(layer, known, setting)
        self.links[name] = known
        return True

    def _tag_link(self, link: AppliedLink, setting: LinkSetting) -> AppliedLink:
        platform_name = self.platform_names.get(setting.parent, setting.parent)
        parent = self.resolved(platform_name) if platform_name else link.name.rpartition(".")[0]
        below = self.links.get(parent)
        return replace(
            link,
            parent=parent,
            vlan=setting.vlan,
            mac=below.mac if below is not None else "",
            carrier=below is not None and below.carrier,
        )

    def _bundle_links(self, layer: Layer, link: AppliedLink, setting: LinkSetting) -> AppliedLink:
        members = list(self._members(setting))
        for name in members:
            member = self.links[name]
            self.links[name] = replace(member, up=True, layer=layer, master=link.name)
        mac = setting.hardware_addr or (self.links[members[0]].mac if members else link.mac)
        bond = setting.bond
        if bond is not None:
            for name in members:
                self.links[name] = replace(self.links[name], mac=mac)
        return replace(
            link,
            mac=mac,
            carrier=any(self.links[name].carrier for name in members),
            bond_mode=bond.mode if bond is not None else "",
        )

    def _members(self, setting: LinkSetting) -> Iterator[str]:
        bundle = setting.bond or setting.bridge
        for name in bundle.members if bundle is not None else ():
            found = self.resolved(self.platform_names.get(name, name))
            if found in self.links:
                yield found
        for selector in setting.bond.selectors if setting.bond is not None else ():
            for link in list(self.links.values()):
                if link.nic is not None and fits(link, selector):
                    yield link.name

    def defaults(self, ignored: set[str]) -> None:
        """Cards of which nothing is said are switched on, and ask for a lease."""
        for link in list(self.links.values()):
            if link.nic is None or link.layer is not Layer.KERNEL or link.name in ignored:
                continue
            self.links[link.name] = replace(link, up=True, layer=Layer.DEFAULT)
            self._operator("dhcp4", link.name, Layer.DEFAULT, DhcpSetting())

    def network(self) -> AppliedNetwork:
        """All of it, with what operators get and what the kernel adds."""
        loopback = AppliedLink(
            name="lo", kind="loopback", index=1, mtu=_LOOPBACK_MTU, mac="00:00:00:00:00:00"
        )
        leased = list(self._leases())
        routes = [
            *self.routes.values(),
            *(route for one in leased for route in _lease_routes(*one)),
        ]
        return AppliedNetwork(
            links=(loopback, *self.links.values()),
            addresses=(
                AppliedAddress(link="lo", address="127.0.0.1/8", scope="host", layer=Layer.DEFAULT),
                AppliedAddress(link="lo", address="::1/128", scope="host", layer=Layer.KERNEL),
                *self.addresses.values(),
                *(
                    AppliedAddress(
                        link=operator.link,
                        address=address,
                        layer=Layer.OPERATOR,
                        priority=operator.metric,
                    )
                    for operator, address in leased
                ),
                *self._self_made(),
            ),
            routes=tuple(routes),
            operators=tuple(self.operators.values()),
            vips=self.vips,
        )

    def _leases(self) -> Iterator[tuple[Operator, str]]:
        for operator in self.operators.values():
            nic = self._card(operator.link)
            if operator.kind == "vip" or nic is None:
                continue
            lease = self.machine.network.lease(nic, 4 if operator.kind == "dhcp4" else 6)
            if lease is not None and (operator.link, lease) not in self.addresses:
                yield operator, lease

    def _card(self, name: str) -> NicView | None:
        """The card behind a link, with the tag that it is used with. None: no cable is in it."""
        link = self.links.get(name)
        if link is None or not link.up or not link.carrier:
            return None
        if link.nic is not None:
            return next(nic for nic in self.machine.nics if nic.number == link.nic)
        if link.kind == "vlan":
            below = self._card(link.parent)
            usable = below is not None and below.vlan is None
            return replace(below, vlan=link.vlan) if below is not None and usable else None
        below_names = [one.name for one in self.links.values() if one.master == name]
        nic_views = (self._card(below_name) for below_name in below_names)
        card = next((nic_view for nic_view in nic_views if nic_view is not None), None)
        return replace(card, mac=link.mac) if card is not None else None

    def _self_made(self) -> Iterator[AppliedAddress]:
        for link in self.links.values():
            nic = self._card(link.name)
            if nic is None or link.master:
                continue
            yield AppliedAddress(
                link=link.name, address=link_local(link.mac), scope="link", layer=Layer.KERNEL
            )
            prefix = self.machine.network.prefix(nic)
            if prefix is not None:
                text = self_made(prefix, link.mac)
                yield AppliedAddress(link=link.name, address=text, layer=Layer.KERNEL)


def _lease_routes(operator: Operator, address: str) -> Iterator[AppliedRoute]:
    """The way out that comes with a lease: the router is the first host of its network."""
    network = ip_interface(address).network
    router = str(network.network_address + 1)
    if operator.kind == "dhcp4" and router != address.partition("/")[0]:
        yield AppliedRoute(
            link=operator.link,
            gateway=router,
            source=address.partition("/")[0],
            metric=operator.metric,
            layer=Layer.OPERATOR,
        )
