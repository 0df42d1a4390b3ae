"""What machines take from Proxmox: drives for cloud-init, and serial numbers."""

from __future__ import annotations

from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.talos.staged import machine, staged


def started(**values: str) -> World:
    """A machine whose own drive was taken, with other settings."""
    world = staged("single", "1.13.9", bootstrap=False)
    (cluster,) = world.clusters
    client = MemoryClient(world, cluster)
    vmid, guest = next(iter(client.cluster.state.guests.items()))
    path = f"/nodes/{guest.node}/qemu/{vmid}"
    client.put(f"{path}/config", delete="ide2")
    upid = client.post(f"{path}/config", **values)
    assert client.done(upid) == "OK"
    client.post(f"{path}/status/start")
    world.settle()
    return world


def test_a_drive_of_proxmox_gives_name_and_address_but_no_configuration() -> None:
    world = started(
        ide2="local-lvm:cloudinit",
        ipconfig0="ip=127.67.9.9/16,gw=127.67.0.1",
        nameserver="127.67.0.1",
        name="from-proxmox",
    )
    result = machine(world)
    assert result.state.stage is Stage.MAINTENANCE
    assert result.address == "127.67.9.9"
    assert result.hostname == "from-proxmox"
    assert result.state.network.resolvers == ["127.67.0.1"]
    assert any(route.gateway == "127.67.0.1" for route in result.state.network.routes)


def test_without_a_drive_a_lease_is_asked_for() -> None:
    world = started(name="alone")
    result = machine(world)
    assert result.state.stage is Stage.MAINTENANCE
    assert result.address.startswith("127.67.")
    assert result.hostname == ""
