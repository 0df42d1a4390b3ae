"""Members of a cluster and of etcd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import full_hostname, is_configured, node_identity, nodename
from stockman_lab.talos.cosi.kinds.network_addresses import routed_addresses
from stockman_lab.talos.cosi.registry import Contents, kind

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


@kind("Identities.cluster.talos.dev", "cluster.NodeIdentityController")
def identities(machine: Machine) -> Contents:
    return {"local": {"nodeId": node_identity(machine)}} if is_configured(machine) else {}


@kind("Infos.cluster.talos.dev", "cluster.InfoController")
def infos(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.is_partial:
        return {}
    return {"current": {"clusterId": config.cluster_id, "clusterName": config.cluster_name}}


def known(machine: Machine) -> list[Machine]:
    """Machines of its cluster that it found, itself too."""
    config = machine.config
    if config is None or not config.discovers_members:
        return []
    return [
        member
        for member in machine.land.members(machine)
        if member is machine
        or (
            member.hostname
            and (not member.is_on or (member.is_reachable and member.state.api == "secured"))
        )
    ]


def _affiliate(machine: Machine) -> dict[str, object]:
    config = machine.config
    affiliate: dict[str, object] = {
        "nodeId": node_identity(machine),
        "addresses": routed_addresses(machine),
        "hostname": full_hostname(machine),
        "operatingSystem": f"Talos ({machine.version})",
        "machineType": config.machine_type if config is not None else "unknown",
    }
    if config is not None and config.is_controlplane:
        affiliate["controlPlane"] = {"port": config.kubernetes.api_port}
    return affiliate


@kind("Affiliates.cluster.talos.dev", "cluster.AffiliateMergeController")
def affiliates(machine: Machine) -> Contents:
    return {
        node_identity(one): {**_affiliate(one), "nodename": nodename(one)} for one in known(machine)
    }


@kind("Members.cluster.talos.dev", "cluster.MemberController")
def members(machine: Machine) -> Contents:
    return {nodename(one): _affiliate(one) for one in known(machine) if nodename(one)}


@kind("EtcdMembers.etcd.talos.dev", "etcd.MemberController")
def etcd_members(machine: Machine) -> Contents:
    disk = machine.disk
    member = disk.etcd.get("member", "") if disk is not None else ""
    if not member or not machine.runs("etcd"):
        return {}
    text = f"{member:016x}" if isinstance(member, int) else str(member)
    return {"local": {"memberID": text}}
