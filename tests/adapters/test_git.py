"""Asking git, on real repositories."""

import os
import subprocess
from pathlib import Path

import pytest

from stockman.adapters.git.probe import LocalGitProbe
from stockman.ports.environment import NoAnswer, Remote, WorkTree


def git(directory: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


def program(directory: Path, script: str) -> str:
    """A program that stands in for git."""
    path = directory / "git"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    path.mkdir()
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one tracked, one ignored and one new file."""
    path = tmp_path / "tree"
    path.mkdir()
    git(path, "init", "--initial-branch=main")
    (path / ".gitignore").write_text("/age.key\n*.log\n")
    for name in ("cluster.yaml", "age.key", "nodes.yaml", "kept.log"):
        (path / name).write_text("x")
    git(path, "add", "cluster.yaml", ".gitignore")
    git(path, "add", "--force", "kept.log")
    git(path, "commit", "--message=first")
    return path


def test_the_version_is_a_number() -> None:
    version = LocalGitProbe(Path()).version()

    assert version is not None
    assert version[0].isdigit()


@pytest.mark.usefixtures("closed_directory_on_path")
def test_without_git_there_is_no_version_and_no_answer(tree: Path) -> None:
    repo = LocalGitProbe(tree, program="no-such-git")

    assert repo.version() is None
    with pytest.raises(NoAnswer, match=r"^git is not installed$"):
        repo.work_tree()


def test_a_work_tree_tells_branch_and_remotes(tree: Path) -> None:
    git(tree, "remote", "add", "origin", "git@git.example.com:owner/repo.git")
    (tree / "below").mkdir()

    assert LocalGitProbe(tree / "below").work_tree() == WorkTree(
        branch="main",
        has_commits=True,
        remotes=(Remote(name="origin", url="git@git.example.com:owner/repo.git"),),
    )


def test_a_repository_without_a_commit_has_a_branch_already(outside: Path) -> None:
    git(outside, "init", "--initial-branch=trunk")

    assert LocalGitProbe(outside).work_tree() == WorkTree(
        branch="trunk", has_commits=False, remotes=()
    )


def test_a_detached_head_is_no_branch(tree: Path) -> None:
    git(tree, "checkout", "--detach")

    seen = LocalGitProbe(tree).work_tree()

    assert seen is not None
    assert seen.branch is None


def test_outside_of_a_repository_there_is_no_work_tree(outside: Path, tree: Path) -> None:
    assert LocalGitProbe(outside).work_tree() is None
    assert LocalGitProbe(tree / ".git").work_tree() is None


@pytest.mark.parametrize(
    ("name", "standing", "exposure"),
    [
        ("cluster.yaml", "tracked", "tracked"),
        ("nodes.yaml", "untracked", "tracked"),
        ("missing.yaml", "untracked", "tracked"),
        ("age.key", "ignored", "ignored"),
        ("missing.log", "ignored", "ignored"),
        ("kept.log", "tracked", "tracked"),
        ("*.yaml", "untracked", "tracked"),
        ("../elsewhere", "outside", "outside"),
    ],
)
def test_git_sees_files_differently(tree: Path, name: str, standing: str, exposure: str) -> None:
    assert LocalGitProbe(tree).file_state(name) == standing
    assert LocalGitProbe(tree).exposure(name) == exposure


def test_a_file_in_no_repository_is_outside(outside: Path) -> None:
    assert LocalGitProbe(outside).file_state("cluster.yaml") == "outside"
    assert LocalGitProbe(outside).exposure("cluster.yaml") == "outside"


def test_outside_of_a_repository_no_process_is_started_for_the_exposure(outside: Path) -> None:
    repo = LocalGitProbe(outside, program=program(outside, "touch started; exit 1"))

    assert repo.exposure("cluster.yaml") == "outside"
    assert not (outside / "started").exists()


@pytest.mark.parametrize(
    "script", ["echo 'fatal: dubious ownership' >&2; exit 128", "exec sleep 60"]
)
def test_where_git_cannot_tell_a_file_counts_as_exposed(
    tree: Path, tmp_path: Path, script: str
) -> None:
    repo = LocalGitProbe(tree, program=program(tmp_path, script), patience=0.2)

    assert repo.exposure("age.key") == "tracked"
    with pytest.raises(NoAnswer):
        repo.file_state("age.key")


def test_a_git_that_hangs_is_asked_once(tree: Path, tmp_path: Path) -> None:
    script = f"echo asked >> {tmp_path}/log; exec sleep 60"
    repo = LocalGitProbe(tree, program=program(tmp_path, script), patience=0.2)

    for _ in range(3):
        with pytest.raises(NoAnswer, match=r"^git did not respond within 0\.2 s$"):
            repo.file_state("age.key")

    assert (tmp_path / "log").read_text() == "asked\n"


def test_the_complaint_of_git_is_told(tree: Path, tmp_path: Path) -> None:
    repo = LocalGitProbe(tree, program=program(tmp_path, "echo 'fatal: too bad' >&2; exit 128"))

    with pytest.raises(NoAnswer, match=r"^git reports: too bad$"):
        repo.work_tree()


def test_the_environment_does_not_lead_git_elsewhere(
    tree: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", os.fspath(outside))
    monkeypatch.setenv("GIT_PAGER", "false")

    assert LocalGitProbe(tree).file_state("cluster.yaml") == "tracked"


def test_programs_that_a_repository_names_are_not_started(tree: Path) -> None:
    monitor = program(tree, f"touch {tree}/started; exit 1")
    git(tree, "config", "core.fsmonitor", monitor)
    git(tree, "config", "core.hooksPath", os.fspath(tree))
    (tree / "started").unlink(missing_ok=True)

    LocalGitProbe(tree).file_state("cluster.yaml")
    LocalGitProbe(tree).work_tree()

    assert not (tree / "started").exists()


def test_git_and_its_helpers_get_no_secret_variables(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = (
        "PROXMOX_VE_API_TOKEN",
        "PROXMOX_VE_PASSWORD",
        "SOPS_AGE_KEY",
        "AWS_SECRET_ACCESS_KEY",
    )
    for name in secrets:
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
    stand_in = program(tree, f"env > {tree}/seen; exit 0")

    LocalGitProbe(tree, program=stand_in).exposure("age.key")

    seen = (tree / "seen").read_text()
    assert "canary" not in seen
    assert "SSH_AUTH_SOCK=/agent" in seen
