"""Plain Secrets anywhere in a workspace are found by every command that checks files."""

from pathlib import Path

import pytest

from stockman.app.rendering.validation import validate
from stockman.app.workspace.plain_secrets import plain_secrets
from tests.adapters.repositories import repository
from tests.app.secrets_check.checking import checked, codes
from tests.app.workspaces import committed_workspace
from tests.cli.inside import ran_inside

PLAIN = "apiVersion: v1\nkind: Secret\nmetadata: {name: echo}\nstringData: {word: a-word}\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    place = committed_workspace(tmp_path / "meadow")
    file = place / "anywhere/below/secret.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(PLAIN)
    return place


def test_secrets_check_finds_it(directory: Path) -> None:
    assert codes(checked(directory)) == ["leak.plain-secret"]


def test_validate_and_render_warn_of_it(directory: Path) -> None:
    problems = [problem.code for problem in validate(directory).problems]

    assert problems.count("leak.plain-secret") == 1
    assert "leak.plain-secret" in ran_inside("-C", str(directory), "render", "--check").err


def test_encrypted_and_ignored_files_and_other_repositories_are_left_out(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / ".gitignore").write_text("/mine.yaml\n")
    (tmp_path / "nested/.git").mkdir(parents=True)
    for name in ("mine.yaml", "a.sops.yaml", "nested/a.yaml"):
        (tmp_path / name).write_text(PLAIN)

    assert list(plain_secrets(tmp_path)) == []
