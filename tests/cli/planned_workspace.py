"""A workspace whose Proxmox VE is a lab, and whose machines nobody has made yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

from stockman_lab.testing.thread import ProxmoxLab

from stockman.app.secrets.bundle import open_bundle
from stockman.app.secrets.keyring import find_keyring
from stockman.crypto.identity import derive_identity
from tests.cli.inside import ran_inside
from tests.cli.kept_keys import with_keys
from tests.cli.running import Ran

NOBODY_THERE = "127.213.79.0/24"
"""Where nothing answers: neither machines nor the API."""


@dataclass(frozen=True)
class PlannedWorkspace:
    """A directory, and the lab that it names."""

    directory: Path
    lab: ProxmoxLab

    @property
    def administrator(self) -> dict[str, str]:
        """The variables that name an administrator of the lab."""
        return {
            "PROXMOX_VE_API_TOKEN": f"{self.lab.token_id}={self.lab.token_secret}",
            "PROXMOX_VE_ENDPOINT": self.lab.endpoint,
        }

    def ran(self, *text: str, **environment: str) -> Ran:
        """Run a command as an administrator, unless the environment says otherwise."""
        found = environment or self.administrator
        return ran_inside("-C", str(self.directory), *text, **found)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its secrets."""
        cluster = open_bundle(self.directory, find_keyring(self.directory, {})).cluster
        return derive_identity(cluster.id, cluster.secret).fingerprint

    def change(self, name: str, before: str, after: str) -> None:
        """Edit a file of the workspace."""
        path = self.directory / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))


def prepared_files(directory: Path) -> Path:
    """Files of the preset three-node, made once: keys take their time."""
    texts = ("--preset", "three-node", "--network", NOBODY_THERE, "--yes")
    assert ran_inside("init", str(with_keys(directory)), *texts).status == 0
    return directory


def workspace(directory: Path, prepared: Path, lab: ProxmoxLab) -> PlannedWorkspace:
    """A copy of prepared files that names the lab, rendered."""
    copytree(prepared, directory, dirs_exist_ok=True)
    (directory / "pve-ca.pem").write_bytes(lab.ca.read_bytes())
    planned_workspace = PlannedWorkspace(directory, lab)
    endpoint = f"proxmox_endpoint: {lab.endpoint}"
    planned_workspace.change(
        "cluster.yaml", "proxmox_endpoint: https://127.213.79.4:8006", endpoint
    )
    planned_workspace.change(
        "cluster.yaml", "\nproxmox:\n", "\nproxmox:\n  tls: {ca_file: pve-ca.pem}\n"
    )
    factory = "\ntalos:\n  factory_url: http://127.213.79.3:8080\n"
    planned_workspace.change("cluster.yaml", "\ntalos:\n", factory)
    assert ran_inside("-C", str(directory), "render").status == 0
    return planned_workspace
