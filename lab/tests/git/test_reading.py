"""Reading repositories without a work tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.git.reading import Repository, Unreadable

from tests.contract.repo.doors import git

_WHO = ("-c", "user.name=Shepherd", "-c", "user.email=shepherd@example.org")


def written(root: Path) -> Path:
    work = root / "work"
    git(root, "init", "--quiet", "--initial-branch=main", "work")
    (work / "deep").mkdir()
    (work / "deep" / "a.yaml").write_text("x: 1\n")
    (work / "empty").write_text("")
    (work / "link").symlink_to("deep")
    git(work, "add", "--all")
    git(work, *_WHO, "commit", "--quiet", "--message", "Begin\n\nMore")
    git(work, *_WHO, "tag", "--annotate", "--message", "v1", "v1")
    git(root, "clone", "--quiet", "--bare", "work", "bare.git")
    return root / "bare.git"


def test_names_lead_to_commits(tmp_path: Path) -> None:
    repository = Repository(str(written(tmp_path)))
    references = repository.references()
    assert references["refs/tags/v1"] == references["refs/heads/main"]
    commit = repository.commit(references["refs/heads/main"])
    assert commit is not None
    assert commit.subject == "Begin"
    assert repository.commit("0" * 40) is None


def test_files_are_read_and_links_followed(tmp_path: Path) -> None:
    repository = Repository(str(written(tmp_path)))
    files = repository.files(repository.references()["refs/heads/main"])
    assert files == {"deep/a.yaml": b"x: 1\n", "empty": b"", "link/a.yaml": b"x: 1\n"}


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        Repository(str(tmp_path)).references()
