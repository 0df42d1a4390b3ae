"""Machines that leave, and where they answer."""

from stockman.planning.vm.removal import find_leaving_machines
from tests.planning.estate import Estate

NIOBE = """
  - name: talos-niobe
    address: 127.66.0.18
    controller: true
    mac_addr: "bc:24:11:03:00:18"
    vm: {vmid: 1032, host: niobe}
"""


async def test_a_machine_that_the_files_do_not_have_leaves_from_the_address_it_was_made_with() -> (
    None
):
    estate = Estate("three-node")
    await estate.apply()
    assert find_leaving_machines(estate.desired, await estate.observe_all(), None) == {}

    estate.edit("nodes.yaml", NIOBE, "")

    leaving_machines = find_leaving_machines(estate.desired, await estate.observe_all(), None)
    assert leaving_machines == {"talos-niobe": "127.66.0.18"}


async def test_a_machine_of_others_does_not_leave() -> None:
    estate = Estate("three-node")
    await estate.apply()
    estate.pve.put("/nodes/niobe/qemu/1032/config", description="mine now")

    estate.edit("nodes.yaml", NIOBE, "")

    assert find_leaving_machines(estate.desired, await estate.observe_all(), None) == {}
