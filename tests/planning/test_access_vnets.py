"""The right to use VNets of SDN as bridges."""

from __future__ import annotations

from stockman.planning.access.desired import list_desired_tokens
from tests.planning.estate import Estate


def networks(estate: Estate) -> tuple[str, ...]:
    (cluster,) = estate.desired.proxmox
    own = list_desired_tokens(estate.desired, cluster, 9)[0]
    (role,) = [role for role in own.roles if role.name == "StockmanNetworks"]
    assert role.privileges == ("SDN.Use",)
    return role.paths


def test_bridges_of_hosts_need_their_zone() -> None:
    assert networks(Estate("three-node")) == ("/sdn/zones/localnetwork",)


def test_a_vnet_needs_a_right_on_its_zone() -> None:
    estate = Estate("three-node")
    (bridge,) = {
        str(nic.bridge) for node in estate.desired.nodes if node.vm for nic in node.vm.nics
    }

    estate.edit("cluster.yaml", r"^proxmox:\n", f"proxmox:\n  vnets: {{{bridge}: tenants}}\n")

    assert networks(estate) == ("/sdn/zones/tenants",)
