"""`validate` and `render` report the same problems about one directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.rendering.render import RenderContext, prepare_rendering
from stockman.app.rendering.validation import validate
from stockman.model.problem import Problems
from stockman.rendering.managed_files import FileDecisions
from tests.app.secret_workspace import SeededDice
from tests.app.start_doors import StandingClock
from tests.app.workspaces import workspace
from tests.config.written import CLUSTER, NODES
from tests.crypto.keys_at_hand import OWNER

ENVIRONMENT = {"PROXMOX_TOKEN": "not-a-real-token", "KEY": "not-a-real-key"}
BACKUP = f"""
backup_s3_endpoint: https://s3.example.com
backup_s3_bucket: etcd
backup_s3_access_key: ${{KEY}}
backup_s3_secret_key: ${{KEY}}
backup_age_public_key: {OWNER.recipient}
"""
CSI = """
proxmox_ccm_enabled: true
proxmox_csi_enabled: true
proxmox_csi_storage: local-zfs
"""
PATCHES = """\
  patches:
    controller:
      - machine: {sysctls: 7}
      - machine: {kubelet: []}
"""
CA = """
proxmox:
  tls: {ca_file: absent.pem}
components:
  proxmox-ccm: {enabled: true}
"""


def lines(problems: Problems) -> list[str]:
    return [f"{problem.severity.value} {problem.code} {problem.where}" for problem in problems]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (BACKUP, "backup.same-key"),
        (CSI, "component.no-token"),
        (PATCHES, "patch.value"),
        (CA, "component.authority"),
    ],
)
def test_both_report_the_same(tmp_path: Path, more: str, code: str) -> None:
    directory = workspace(tmp_path, cluster=f"{CLUSTER}{more}", nodes=NODES)
    context = RenderContext(environment=ENVIRONMENT, clock=StandingClock(), entropy=SeededDice())

    validated = lines(validate(directory, ENVIRONMENT).problems)

    assert lines(prepare_rendering(directory, FileDecisions(), context).problems) == validated
    assert code in " ".join(validated)


def test_problems_of_all_patches_are_reported_at_once(tmp_path: Path) -> None:
    directory = workspace(tmp_path, cluster=f"{CLUSTER}{PATCHES}", nodes=NODES)

    assert len(validate(directory).problems.errors) == 2
