"""`/cluster/resources`: what pvestatd wrote in its last round.

Sources: `extract_vm_stats` in PVE/API2Tools.pm, `$updatetime` in PVE/Service/pvestatd.pm, and
recorded answers of Proxmox VE 9.1.9: a new guest is `{"node", "status": "unknown", "type", "id",
"vmid"}`, and a guest that was stopped is still `running`.
"""

from __future__ import annotations

from stockman_lab.servers.memory import MemoryClient

from lab.tests.machines import create, start
from lab.tests.worlds import door


def _row(client: MemoryClient) -> dict[str, object]:
    (row,) = client.get("/cluster/resources", type="vm")
    return dict(row)


def test_a_new_guest_is_unknown_until_the_next_round() -> None:
    client = door()
    create(client, 100)

    before = _row(client)
    client.world.advance(10)

    assert before == {
        "id": "qemu/100",
        "vmid": 100,
        "type": "qemu",
        "node": "pve1",
        "status": "unknown",
    }
    assert (_row(client)["status"], _row(client)["template"]) == ("stopped", 0)


def test_a_guest_that_was_switched_off_runs_until_the_next_round() -> None:
    client = door()
    create(client, 100)
    start(client)
    client.world.advance(60)

    client.post("/nodes/pve1/qemu/100/status/stop")
    client.world.advance(5)
    shown, status = _row(client), client.get("/nodes/pve1/qemu/100/status/current")
    client.world.advance(10)

    assert (shown["status"], status["status"]) == ("running", "stopped")
    assert _row(client)["status"] == "stopped"
