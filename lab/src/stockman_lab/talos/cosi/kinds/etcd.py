"""etcd: who the machine is in it, and how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.arguments import arguments
from stockman_lab.talos.cosi.content import Contents
from stockman_lab.talos.cosi.kinds.network_addresses import node_ip_addresses
from stockman_lab.talos.cosi.registry import kind

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


@kind("EtcdMembers.etcd.talos.dev", "etcd.MemberController")
def etcd_members(machine: Machine) -> Contents:
    disk = machine.disk
    member = disk.etcd.get("member", "") if disk is not None else ""
    if not member or not machine.runs("etcd"):
        return {}
    text = f"{member:016x}" if isinstance(member, int) else str(member)
    return {"local": {"memberID": text}}


@kind("EtcdConfigs.etcd.talos.dev", "etcd.ConfigController")
def etcd_configs(machine: Machine) -> Contents:
    config = machine.config
    if config is None or not config.is_controlplane:
        return {}
    etcd = config.etcd
    advertised, listened = etcd.advertised_subnets, etcd.listen_subnets
    return {
        "etcd": {
            "advertiseValidSubnets": [one for one in advertised if not one.startswith("!")],
            "advertiseExcludeSubnets": [one[1:] for one in advertised if one.startswith("!")],
            "listenValidSubnets": [one for one in listened if not one.startswith("!")],
            "listenExcludeSubnets": [one[1:] for one in listened if one.startswith("!")],
            "image": etcd.image,
            "extraArgs": arguments(machine.minor, etcd.arguments),
        }
    }


@kind("EtcdSpecs.etcd.talos.dev", "etcd.SpecController")
def etcd_specs(machine: Machine) -> Contents:
    config, addresses = machine.config, node_ip_addresses(machine)
    if config is None or not config.is_controlplane or not addresses:
        return {}
    return {
        "etcd": {
            "name": machine.hostname,
            "advertisedAddresses": addresses[:1],
            "listenPeerAddresses": ["::"],
            "listenClientAddresses": ["::"],
            "image": config.etcd.image,
            "extraArgs": arguments(machine.minor, config.etcd.arguments),
        }
    }


@kind("PKIStatuses.etcd.talos.dev", "etcd.PKIController")
def pki_statuses(machine: Machine) -> Contents:
    if not machine.is_controlplane or machine.service("etcd") is None:
        return {}
    return {"etcd": {"ready": True, "version": "1"}}
