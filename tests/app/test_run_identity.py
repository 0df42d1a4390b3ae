"""The identity of a directory with and without a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.runs.identity import IDENTITY_FILE
from stockman.app.runs.workspace import RunWorkspace
from stockman.crypto.identity import derive_identity
from stockman.model.errors import Refused
from tests.app.secret_workspace import SeededDice
from tests.app.start_doors import StandingClock
from tests.app.workspaces import workspace
from tests.talos.made import bundle

CLUSTER = 'proxmox: {endpoint: "https://pve1:8006"}\n'
GUESTS = """\
guests:
  - {name: dns-1, vmid: 300, host: pve1, container: {template: "local:vztmpl/alpine.tar.xz"}}
"""


def opened(directory: Path, *, creates: bool = False, dice: str = "a") -> RunWorkspace:
    return RunWorkspace(directory, {}, StandingClock(), SeededDice(dice), creates_identity=creates)


def guests_only(directory: Path) -> Path:
    (directory / "cluster.yaml").write_text(CLUSTER)
    (directory / "nodes.yaml").write_text(GUESTS)
    return directory


def test_the_identity_of_a_cluster_comes_from_its_bundle_and_writes_no_file(
    tmp_path: Path,
) -> None:
    secrets = bundle().cluster

    ours = opened(workspace(tmp_path), creates=True)

    assert ours.identity == derive_identity(secrets.id, secrets.secret)
    assert ours.desired.fingerprint == ours.identity.fingerprint
    assert not (tmp_path / IDENTITY_FILE).exists()


def test_guests_without_a_cluster_get_one_fingerprint_that_stays(tmp_path: Path) -> None:
    assert opened(guests_only(tmp_path)).desired.fingerprint == ""
    assert not (tmp_path / IDENTITY_FILE).exists()

    first = opened(tmp_path, creates=True).desired.fingerprint
    second = opened(tmp_path, creates=True, dice="b").desired.fingerprint

    assert len(first) == 16
    assert second == first == opened(tmp_path).desired.fingerprint


@pytest.mark.parametrize("text", ["", "fingerprint: abc\n", "id: 0f1e2d3c4b5a6978\n", "\xff"])
def test_an_invalid_file_is_refused_and_not_replaced(tmp_path: Path, text: str) -> None:
    (guests_only(tmp_path) / ".stockman").mkdir()
    (tmp_path / IDENTITY_FILE).write_bytes(text.encode("latin-1"))

    with pytest.raises(Refused) as refused:
        opened(tmp_path, creates=True)

    assert refused.value.problem.code == "identity.invalid"
    assert (tmp_path / IDENTITY_FILE).read_bytes() == text.encode("latin-1")
