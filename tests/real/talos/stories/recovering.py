"""Stories of clusters that begin again from a file."""

from __future__ import annotations

from pathlib import Path

from stockman_lab.talos.state import Stage

from stockman.etcd.status import snapshot_status
from tests.real.talos.golden import agrees
from tests.real.talos.served import Lab, stage_of, succeeded

NO_HASH = "snapshot missing hash but --skip-hash-check=false"
"""What etcd says of a copy of the file that it works on."""


def a_cluster_is_recovered(lab: Lab, client: str, file: Path, *flags: str) -> None:
    """The machine begins a cluster of one with all that is in the file."""
    machine, ask = lab.machine(), lab.talosctl(client)
    assert stage_of(machine) is Stage.BOOTING
    content = file.read_bytes()

    answer = succeeded(ask("bootstrap", "--recover-from", file, *flags))
    lab.settle()

    agrees(lab, "bootstrap-recover", client, answer)
    assert f"revision {snapshot_status(content).revision}, " in answer.stderr + answer.stdout
    assert stage_of(machine) is Stage.RUNNING, machine.state.services["etcd"].events[-1]
    assert [member.name for member in lab.etcd.members.values()] == [machine.hostname]
    assert lab.etcd.keyspace.revision >= snapshot_status(content).revision
    assert lab.etcd.keyspace.range(b"/registry/", b"/registry0").items


def nothing_begins(lab: Lab, client: str, file: Path, why: str) -> None:
    """The file is taken, and etcd says what is wrong with it."""
    machine, ask = lab.machine(), lab.talosctl(client)

    succeeded(ask("bootstrap", "--recover-from", file))
    lab.settle()

    etcd = machine.state.services["etcd"]
    assert etcd.state == "Failed"
    assert why in etcd.events[-1].message
    assert lab.world.state.talos.etcd == {}
