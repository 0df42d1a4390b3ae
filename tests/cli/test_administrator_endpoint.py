"""An administrator's credentials go to the Proxmox VE that the user named, and to no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from stockman_lab.testing.thread import ProxmoxLab

from tests.adapters.loopback import authority, issued, listening, web
from tests.cli.planned_workspace import PlannedWorkspace, prepared_files, workspace

CANARY = "5ec7e7ca-0000-4000-8000-00000000ca9a"
TOKEN = f"root@pam!setup={CANARY}"
READING = (("status",), ("drift",), ("plan",), ("apply", "--only", "access", "--yes"))
"""Commands, of which all but the first need an administrator to read or grant access."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_files(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def planned_workspace(tmp_path: Path, prepared: Path, proxmox_lab: ProxmoxLab) -> PlannedWorkspace:
    return workspace(tmp_path, prepared, proxmox_lab)


class Imposter:
    """A server that the files name and trust: they come from whoever runs it."""

    def __init__(self, directory: Path) -> None:
        self.certificate = issued(authority())
        self.heard: list[bytes] = []
        self.serve = web("", self.certificate.context(directory), self.heard)

    @property
    def has_secret(self) -> bool:
        return CANARY.encode() in b"".join(self.heard)


@pytest.fixture
def imposter(planned_workspace: PlannedWorkspace, tmp_path: Path) -> Iterator[Imposter]:
    server = Imposter(tmp_path)
    with listening(server.serve) as port:
        url = f"https://127.66.0.4:{port}"
        planned_workspace.change("cluster.yaml", planned_workspace.lab.endpoint, url)
        trust = f"fingerprint: {server.certificate.fingerprint}"
        planned_workspace.change("cluster.yaml", "ca_file: pve-ca.pem", trust)
        yield server


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.parametrize("named", ["", "https://pve.example.org:8006"], ids=["unset", "another"])
def test_an_administrator_is_not_sent_to_an_address_that_only_the_files_name(
    planned_workspace: PlannedWorkspace, imposter: Imposter, command: tuple[str, ...], named: str
) -> None:
    seen = planned_workspace.ran(
        *command, PROXMOX_VE_API_TOKEN=TOKEN, PROXMOX_VE_ENDPOINT=named, PROXMOX_TOKEN_SECRET="own"
    )

    assert not imposter.has_secret
    assert CANARY not in seen.out + seen.err
    if command[0] != "status":
        assert seen.status == 64
        assert "proxmox.administrator" in seen.err
        assert "nothing was sent" in seen.err


def test_a_replaced_address_is_another_address(
    planned_workspace: PlannedWorkspace, imposter: Imposter
) -> None:
    url = next(
        line.partition(": ")[2]
        for line in (planned_workspace.directory / "cluster.yaml").read_text().splitlines()
        if line.startswith("proxmox_endpoint:")
    )
    planned_workspace.change("cluster.yaml", url, "https://pve.example.org:8006")
    replaced = f"connect: {{'pve.example.org:8006': '{url.removeprefix('https://')}'}}"
    planned_workspace.change("cluster.yaml", "\nproxmox:\n", f"\nproxmox:\n  {replaced}\n")

    seen = planned_workspace.ran(
        "plan", PROXMOX_VE_API_TOKEN=TOKEN, PROXMOX_VE_ENDPOINT="https://pve.example.org:8006"
    )

    assert (seen.status, imposter.has_secret) == (64, False)


def test_an_administrator_is_sent_to_the_address_that_the_user_named(
    planned_workspace: PlannedWorkspace, imposter: Imposter
) -> None:
    text = (planned_workspace.directory / "cluster.yaml").read_text()
    url = text.partition("proxmox_endpoint: ")[2].partition("\n")[0]

    planned_workspace.ran("plan", PROXMOX_VE_API_TOKEN=TOKEN, PROXMOX_VE_ENDPOINT=f"{url}/")

    assert imposter.has_secret


def test_status_does_not_use_an_administrator(
    planned_workspace: PlannedWorkspace, imposter: Imposter
) -> None:
    text = (planned_workspace.directory / "cluster.yaml").read_text()
    url = text.partition("proxmox_endpoint: ")[2].partition("\n")[0]

    planned_workspace.ran(
        "status", PROXMOX_VE_API_TOKEN=TOKEN, PROXMOX_VE_ENDPOINT=url, PROXMOX_TOKEN_SECRET="own"
    )

    assert imposter.heard
    assert not imposter.has_secret


def test_init_refuses_an_address_other_than_the_named_one(
    planned_workspace: PlannedWorkspace, imposter: Imposter, tmp_path: Path
) -> None:
    text = (planned_workspace.directory / "cluster.yaml").read_text()
    url = text.partition("proxmox_endpoint: ")[2].partition("\n")[0]
    new = tmp_path / "new"

    seen = planned_workspace.ran(
        *("init", str(new), "--from-proxmox", url),
        *("--fingerprint", imposter.certificate.fingerprint, "--yes"),
        PROXMOX_VE_API_TOKEN=TOKEN,
        PROXMOX_VE_ENDPOINT="https://pve.example.org:8006",
    )

    assert (seen.status, imposter.has_secret) == (64, False)
    assert "proxmox.administrator" in seen.err
