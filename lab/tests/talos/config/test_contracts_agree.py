"""The same node in the style of every contract says the same to its machine."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest
from stockman_lab.guest.network import NicView, Pool, Pools
from stockman_lab.talos.config.applied import AppliedNetwork, MachineNetwork
from stockman_lab.talos.config.applied_network import applied_network
from stockman_lab.talos.config.effective_record import Effective
from stockman_lab.talos.config.kubernetes_setting import KubernetesSetting
from stockman_lab.talos.config.link_setting import LinkSetting
from stockman_lab.talos.config.nocloud import Cmdline, PlatformData
from stockman_lab.talos.config.reading import effective

from lab.tests.talos.config.configurations import CONTRACTS, nodes
from tests.real.machine.estates import ESTATES

OWN = frozenset({"aliases", "default_dhcp", "features", "install", "links", "volumes"})
"""What contracts tell in different ways, or not at all; these are compared one by one."""
_VERSION = re.compile(r"v\d+\.\d+\.\d+")


@pytest.mark.parametrize("contract", CONTRACTS[1:])
@pytest.mark.parametrize("estate", ESTATES)
def test_settings_are_the_same_in_every_contract(estate: str, contract: str) -> None:
    for name, text in nodes(estate, contract).items():
        old = _plain(effective(nodes(estate, "1.11")[name], "1.14"))
        new = _plain(effective(text, "1.14"))

        assert new == old, name


@pytest.mark.parametrize("contract", CONTRACTS[1:])
@pytest.mark.parametrize("estate", ESTATES)
def test_networks_are_the_same_in_every_contract(estate: str, contract: str) -> None:
    for name, text in nodes(estate, contract).items():
        old = _network(effective(nodes(estate, "1.11")[name], "1.14"))
        new = _network(effective(text, "1.14"))

        assert _seen(new) == _seen(old), name


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("estate", ESTATES)
def test_every_machine_has_what_it_needs_to_join(estate: str, contract: str) -> None:
    for name, text in nodes(estate, contract).items():
        found = effective(text, contract)

        assert found.token
        assert found.cluster_id
        assert found.endpoint.startswith("https://")
        assert found.os_ca.crt.startswith("-----BEGIN CERTIFICATE-----")
        assert bool(found.os_ca.key) is found.is_controlplane
        assert bool(found.etcd_ca.key) is found.is_controlplane
        assert bool(found.k8s_ca.key) is found.is_controlplane
        assert bool(found.service_account_key) is found.is_controlplane
        assert found.k8s_ca.crt.startswith("-----BEGIN CERTIFICATE-----")
        assert found.hostname == name


@pytest.mark.parametrize("estate", ESTATES)
def test_installation_and_volumes_are_the_same(estate: str) -> None:
    for name, text in nodes(estate, "1.14").items():
        old, new = effective(nodes(estate, "1.13")[name], "1.14"), effective(text, "1.14")
        assert old.install is not None
        assert new.install is not None

        assert _terms(new.install.expression) == _terms(old.install.expression)
        assert _VERSION.sub("", new.install.image) == _VERSION.sub("", old.install.image)
        assert {
            volume.name: (volume.encryption, volume.max_size) for volume in old.volumes
        }.items() <= {
            volume.name: (volume.encryption, volume.max_size) for volume in new.volumes
        }.items()
        assert new.features == old.features


def _plain(effective: Effective) -> dict[str, object]:
    """What is the same in every contract; versions differ from one to the next."""
    values = {
        field.name: getattr(effective, field.name)
        for field in fields(effective)
        if field.name not in OWN
    }
    values["kubernetes"] = _kubernetes(effective.kubernetes) if effective.is_controlplane else None
    return {name: _VERSION.sub("", repr(value)) for name, value in values.items()}


def _kubernetes(kubernetes_setting: KubernetesSetting) -> KubernetesSetting:
    """Without names of manifests, which are new, and logins, which are a document of their own."""
    server = kubernetes_setting.api_server
    arguments = {
        key: argument for key, argument in server.arguments.items() if not key.startswith("oidc-")
    }
    return replace(
        kubernetes_setting,
        api_server=replace(server, arguments=arguments),
        manifests=tuple(replace(manifest, name="") for manifest in kubernetes_setting.manifests),
    )


def _terms(expression: str) -> set[str]:
    return set(expression.split(" && "))


def _network(effective: Effective) -> AppliedNetwork:
    macs = dict.fromkeys(mac for link in effective.links for mac in _macs(link))
    macs |= dict.fromkeys(
        alias.expression.rpartition("== ")[2].strip('"') for alias in effective.aliases.values()
    )
    nics = tuple(
        NicView(number=number, mac=mac, bridge="vmbr0") for number, mac in enumerate(sorted(macs))
    )
    machine = MachineNetwork(
        minor="1.14",
        nics=nics or (NicView(number=0, mac="bc:24:11:00:00:01", bridge="vmbr0"),),
        network=Pools([Pool(bridge="vmbr0", first="127.66.9.1/24", count=9)]),
    )
    cmdline = Cmdline(predictable_names=False)
    return applied_network(machine, PlatformData(cmdline=cmdline), effective)


def _seen(applied_network: AppliedNetwork) -> list[set[object]]:
    """What can be seen; VLANs are named after a card, or after the name that was given to it."""
    links = {link.name: (link.mac, link.vlan, link.kind) for link in applied_network.links}
    return [
        {(*links[link.name], link.mtu, link.master, link.up) for link in applied_network.links},
        {
            (links[address.link], address.address, address.scope, address.layer)
            for address in applied_network.addresses
        },
        {
            (links[route.link], route.destination, route.gateway, route.metric)
            for route in applied_network.routes
        },
        {(links[link], vip) for vip, link in applied_network.vips.items()},
    ]


def _macs(link: LinkSetting) -> list[str]:
    selectors = [link.selector, *(link.bond.selectors if link.bond is not None else ())]
    return [
        mac
        for selector in selectors
        if selector is not None
        for mac in (selector.mac, selector.permanent_mac)
        if mac
    ]
