"""`stockman secrets rotate proxmox`, over the wire: an old token works until a new one does."""

from pathlib import Path

import pytest
from stockman_lab.testing.thread import ProxmoxLab

from tests.adapters.repositories import git
from tests.cli.planned_workspace import PlannedWorkspace, prepared_files, workspace

TOKENS = "talos/proxmox-tokens.sops.yaml"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_files(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def planned_workspace(tmp_path: Path, prepared: Path, proxmox_lab: ProxmoxLab) -> PlannedWorkspace:
    """A directory whose tokens are there."""
    planned_workspace = workspace(tmp_path, prepared, proxmox_lab)
    assert planned_workspace.ran("apply", "--only", "access", "--yes").status == 0
    return planned_workspace


def kept(workspace: PlannedWorkspace) -> dict[str, str]:
    """Secrets of tokens by name."""
    values: dict[str, str] = {}
    access = next(iter(workspace.lab.world.clusters.values())).state.access
    own = access.users["stockman@pve"].tokens
    workspace.lab.run(lambda: values.update({name: one.secret for name, one in own.items()}))
    return values


def tokens(workspace: PlannedWorkspace) -> list[str]:
    return sorted(kept(workspace))


def secrets(workspace: PlannedWorkspace) -> set[str]:
    return set(kept(workspace).values())


def test_a_token_is_renewed_and_access_is_as_it_should_be(
    planned_workspace: PlannedWorkspace,
) -> None:
    seen = planned_workspace.ran("secrets", "rotate", "proxmox", "--yes")

    assert seen.status == 0, seen.err
    assert tokens(planned_workspace) == ["stockman-2"]
    text = "No changes. The cluster matches the configuration.\n"
    assert planned_workspace.ran("apply", "--only", "access", "--yes").out == text


def test_the_new_token_is_the_one_that_stockman_works_with(
    planned_workspace: PlannedWorkspace,
) -> None:
    assert planned_workspace.ran("secrets", "rotate", "proxmox", "--yes").status == 0

    seen = planned_workspace.ran("plan", "--only", "vms", NOBODY="1")

    assert seen.status == 2, seen.err
    assert "VM 1030 (talos-trinity)" in seen.out


def test_no_secret_is_shown_or_written_down(planned_workspace: PlannedWorkspace) -> None:
    before = secrets(planned_workspace)
    seen = planned_workspace.ran("secrets", "rotate", "proxmox", "--yes", "-o", "json")

    texts = [seen.out, seen.err]
    texts += [
        path.read_text(errors="replace")
        for path in planned_workspace.directory.rglob("*")
        if path.is_file()
    ]
    for secret in before | secrets(planned_workspace):
        assert not [text for text in texts if secret in text]


def in_git(workspace: PlannedWorkspace) -> Path:
    """The directory is a repository whose branch is pushed; returns its remote."""
    directory, remote = workspace.directory, workspace.directory.parent / "remote.git"
    git(directory, "init", "--bare", "--quiet", "--initial-branch=main", str(remote))
    git(directory, "init", "--quiet", "--initial-branch=main")
    for key, value in {"user.name": "Anna", "user.email": "anna@stockman.test"}.items():
        git(directory, "config", key, value)
    git(directory, "remote", "add", "origin", str(remote))
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--message=first")
    git(directory, "push", "--quiet", "--set-upstream", "origin", "main")
    return remote


def test_before_there_is_a_cluster_new_tokens_are_committed_and_pushed(
    planned_workspace: PlannedWorkspace,
) -> None:
    remote = in_git(planned_workspace)

    seen = planned_workspace.ran("secrets", "rotate", "proxmox", "--push", "--yes")

    assert seen.status == 0, seen.err
    assert tokens(planned_workspace) == ["stockman-2"]
    assert git(planned_workspace.directory, "status", "--porcelain") == ""
    assert git(remote, "rev-parse", "main") == git(planned_workspace.directory, "rev-parse", "HEAD")
    changed = git(remote, "diff", "--name-only", "main~1", "main").split()
    assert TOKENS in changed


def test_without_a_repository_to_push_to_nothing_is_renewed(
    planned_workspace: PlannedWorkspace,
) -> None:
    seen = planned_workspace.ran("secrets", "rotate", "proxmox", "--push", "--yes")

    assert seen.status == 1
    assert "error[repo." in seen.err
    assert tokens(planned_workspace) == ["stockman"]


def test_a_name_that_nobody_has_is_refused(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("secrets", "rotate", "proxmox", "--token", "csi", "--yes")

    assert seen.status != 0
    assert "token.unknown" in seen.err
    assert tokens(planned_workspace) == ["stockman"]


def test_without_an_administrator_nothing_is_made(planned_workspace: PlannedWorkspace) -> None:
    seen = planned_workspace.ran("secrets", "rotate", "proxmox", "--yes", NOBODY="1")

    assert seen.status != 0
    assert "proxmox.no-administrator" in seen.err
    assert tokens(planned_workspace) == ["stockman"]
