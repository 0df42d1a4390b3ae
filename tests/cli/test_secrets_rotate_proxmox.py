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
def place(tmp_path: Path, prepared: Path, proxmox_lab: ProxmoxLab) -> PlannedWorkspace:
    """A directory whose tokens are there."""
    planned_workspace = workspace(tmp_path, prepared, proxmox_lab)
    assert planned_workspace.ran("apply", "--only", "access", "--yes").status == 0
    return planned_workspace


def kept(place: PlannedWorkspace) -> dict[str, str]:
    """Secrets of tokens by name."""
    found: dict[str, str] = {}
    access = next(iter(place.lab.world.clusters.values())).state.access
    own = access.users["stockman@pve"].tokens
    place.lab.run(lambda: found.update({name: one.secret for name, one in own.items()}))
    return found


def tokens(place: PlannedWorkspace) -> list[str]:
    return sorted(kept(place))


def secrets(place: PlannedWorkspace) -> set[str]:
    return set(kept(place).values())


def test_a_token_is_renewed_and_access_is_as_it_should_be(place: PlannedWorkspace) -> None:
    seen = place.ran("secrets", "rotate", "proxmox", "--yes")

    assert seen.status == 0, seen.err
    assert tokens(place) == ["stockman-2"]
    told = "No changes. The cluster matches the configuration.\n"
    assert place.ran("apply", "--only", "access", "--yes").out == told


def test_the_new_token_is_the_one_that_stockman_works_with(place: PlannedWorkspace) -> None:
    assert place.ran("secrets", "rotate", "proxmox", "--yes").status == 0

    seen = place.ran("plan", "--only", "vms", NOBODY="1")

    assert seen.status == 2, seen.err
    assert "VM 1030 (talos-trinity)" in seen.out


def test_no_secret_is_shown_or_written_down(place: PlannedWorkspace) -> None:
    before = secrets(place)
    seen = place.ran("secrets", "rotate", "proxmox", "--yes", "-o", "json")

    texts = [seen.out, seen.err]
    texts += [
        path.read_text(errors="replace") for path in place.directory.rglob("*") if path.is_file()
    ]
    for secret in before | secrets(place):
        assert not [text for text in texts if secret in text]


def in_git(place: PlannedWorkspace) -> Path:
    """The directory is a repository whose branch is pushed; returns its remote."""
    directory, remote = place.directory, place.directory.parent / "remote.git"
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
    place: PlannedWorkspace,
) -> None:
    remote = in_git(place)

    seen = place.ran("secrets", "rotate", "proxmox", "--push", "--yes")

    assert seen.status == 0, seen.err
    assert tokens(place) == ["stockman-2"]
    assert git(place.directory, "status", "--porcelain") == ""
    assert git(remote, "rev-parse", "main") == git(place.directory, "rev-parse", "HEAD")
    changed = git(remote, "diff", "--name-only", "main~1", "main").split()
    assert TOKENS in changed


def test_without_a_repository_to_push_to_nothing_is_renewed(place: PlannedWorkspace) -> None:
    seen = place.ran("secrets", "rotate", "proxmox", "--push", "--yes")

    assert seen.status == 1
    assert "error[repo." in seen.err
    assert tokens(place) == ["stockman"]


def test_a_name_that_nobody_has_is_refused(place: PlannedWorkspace) -> None:
    seen = place.ran("secrets", "rotate", "proxmox", "--token", "csi", "--yes")

    assert seen.status != 0
    assert "token.unknown" in seen.err
    assert tokens(place) == ["stockman"]


def test_without_an_administrator_nothing_is_made(place: PlannedWorkspace) -> None:
    seen = place.ran("secrets", "rotate", "proxmox", "--yes", NOBODY="1")

    assert seen.status != 0
    assert "proxmox.no-administrator" in seen.err
    assert tokens(place) == ["stockman"]
