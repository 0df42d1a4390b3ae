"""`stockman destroy`, over the wire: by name only, and nothing but what is its own."""

import json
import re
from pathlib import Path

import pytest
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.testing.thread import ProxmoxLab

from stockman.config.resolve import machine_uuid
from tests.cli.planned_workspace import PlannedWorkspace, prepared_files, workspace


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_files(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def planned_workspace(tmp_path: Path, prepared: Path, proxmox_lab: ProxmoxLab) -> PlannedWorkspace:
    """A directory with one of its machines in a lab, and one of somebody else."""
    planned_workspace = workspace(tmp_path, prepared, proxmox_lab)
    assert planned_workspace.ran("apply", "--only", "access", "--yes").status == 0

    uuid = machine_uuid("k8s", "talos-neo")
    mark = f"id={planned_workspace.fingerprint} guest=pve/1031/{uuid}"

    def fill() -> None:
        world = proxmox_lab.world
        root = MemoryClient(world, next(iter(world.clusters)))
        root.done(
            root.post(
                "/nodes/neo/qemu",
                vmid=1031,
                name="talos-neo",
                smbios1=f"uuid={uuid}",
                description=f"stockman: k8s/talos-neo {mark}",
                tags="stockman;stockman-k8s",
                scsi0="ceph-vm-disks:8",
            )
        )
        root.done(root.post("/nodes/neo/qemu", vmid=500, name="billing"))

    proxmox_lab.run(fill)
    return planned_workspace


def guests(workspace: PlannedWorkspace) -> list[int]:
    numbers: list[int] = []
    state = next(iter(workspace.lab.world.clusters.values())).state
    workspace.lab.run(lambda: numbers.extend(sorted(state.guests)))
    return numbers


def users(workspace: PlannedWorkspace) -> list[str]:
    texts: list[str] = []
    state = next(iter(workspace.lab.world.clusters.values())).state
    workspace.lab.run(lambda: texts.extend(sorted(state.access.users)))
    return texts


def test_a_cluster_goes_by_its_name_and_others_stay(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("destroy", "--yes", "--name", "k8s")

    assert seen.status == 0, seen.err
    assert "VM 1031 (talos-neo) on neo with its system disk" in seen.out + seen.err
    assert guests(planned_workspace) == [500]
    assert "stockman@pve" not in users(planned_workspace)


def test_the_second_time_there_is_nothing_to_do(planned_workspace: PlannedWorkspace) -> None:
    planned_workspace.ran("destroy", "--yes", "--name", "k8s")

    seen = planned_workspace.ran("destroy", "--yes", "--name", "k8s")

    assert seen.status == 0
    assert guests(planned_workspace) == [500]


@pytest.mark.parametrize(
    "texts", [("--yes",), ("--name", "k8s"), ("--yes", "--name", "k9s")], ids=lambda one: one[-1]
)
def test_half_an_agreement_destroys_nothing(
    planned_workspace: PlannedWorkspace, texts: tuple[str, ...]
) -> None:
    seen = planned_workspace.ran("destroy", *texts)

    assert seen.status == 64
    assert guests(planned_workspace) == [500, 1031]


def without_neo(planned_workspace: PlannedWorkspace) -> None:
    path = planned_workspace.directory / "nodes.yaml"
    path.write_text(re.sub(r"  - name: talos-neo\n(    .*\n)*", "", path.read_text()))


def test_yes_alone_destroys_no_guest(planned_workspace: PlannedWorkspace) -> None:
    without_neo(planned_workspace)

    seen = planned_workspace.ran("apply", "--only", "vms", "--yes")
    other = planned_workspace.ran("apply", "--only", "vms", "--yes", "--allow-destroy", "neo")

    assert (seen.status, other.status) == (3, 3)
    assert "plan.destroys" in seen.err
    assert "--allow-destroy talos-neo" in seen.err
    assert guests(planned_workspace) == [500, 1031]


def test_a_guest_that_is_named_is_destroyed(planned_workspace: PlannedWorkspace) -> None:
    without_neo(planned_workspace)

    options = ("--only", "vms", "--node", "talos-neo", "--yes", "--allow-destroy", "talos-neo")
    seen = planned_workspace.ran("apply", *options)

    assert seen.status == 0, seen.err
    assert guests(planned_workspace) == [500]


def test_an_emptied_file_destroys_nothing(planned_workspace: PlannedWorkspace) -> None:
    (planned_workspace.directory / "nodes.yaml").write_text("")

    applied = planned_workspace.ran("apply", "--yes", "--allow-destroy", "talos-neo")
    validated = planned_workspace.ran("validate")

    assert (applied.status, validated.status) == (3, 1)
    assert "config.no-nodes" in validated.err
    assert guests(planned_workspace) == [500, 1031]


def test_guests_without_a_cluster_go_by_a_name_as_well(planned_workspace: PlannedWorkspace) -> None:
    (planned_workspace.directory / "cluster.yaml").write_text(
        f"cluster_name: k8s\nproxmox_endpoint: {planned_workspace.lab.endpoint}\n"
        "proxmox:\n  tls: {ca_file: pve-ca.pem}\n"
    )
    (planned_workspace.directory / "nodes.yaml").write_text(
        "guests:\n  - {name: talos-neo, vmid: 1031, host: neo, vm: {nics: [{bridge: vmbr0}]}}\n"
    )

    unnamed = planned_workspace.ran("destroy", "--yes")
    ran = planned_workspace.ran("destroy")
    seen = planned_workspace.ran("destroy", "--yes", "--name", "k8s")

    assert "give both: `stockman destroy --yes --name k8s`" in unnamed.err
    assert "There is no cluster. Type k8s to destroy the guests listed above" in ran.err
    assert seen.status == 0, seen.err
    assert guests(planned_workspace) == [500]


def test_access_can_be_kept(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("destroy", "--yes", "--name", "k8s", "--keep-access")

    assert seen.status == 0, seen.err
    assert guests(planned_workspace) == [500]
    assert "stockman@pve" in users(planned_workspace)


def test_a_disk_that_would_be_lost_stops_it_before_anything_is_gone(
    planned_workspace: PlannedWorkspace,
) -> None:
    world = planned_workspace.lab.world

    def add() -> None:
        root = MemoryClient(world, next(iter(world.clusters)))
        root.put("/nodes/neo/qemu/1031/config", scsi5="ceph-vm-disks:7,serial=photos")

    planned_workspace.lab.run(add)

    seen = planned_workspace.ran("destroy", "--yes", "--name", "k8s")

    assert seen.status == 1
    assert "vm.data-disk" in seen.err
    assert guests(planned_workspace) == [500, 1031]


def test_programs_are_told_in_lines(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("destroy", "--yes", "--name", "k8s", "-o", "json")

    assert seen.status == 0, seen.err
    assert [json.loads(line) for line in seen.out.splitlines() if line.strip()]
