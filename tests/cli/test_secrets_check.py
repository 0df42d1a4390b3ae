"""`stockman secrets check` as a user runs it."""

import json
from pathlib import Path

import pytest

from tests.adapters.repositories import committed, git
from tests.app.workspaces import BUNDLE, committed_workspace
from tests.cli.inside import ran_inside
from tests.cli.running import Ran
from tests.talos.made import bundle

TOKEN = bundle().secrets.bootstraptoken.reveal()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return committed_workspace(tmp_path / "meadow")


def checked(directory: Path, *options: str) -> Ran:
    return ran_inside(
        "-C", str(directory), "secrets", "check", *options, HOME=str(directory.parent)
    )


def test_nothing_found_ends_with_zero_and_says_what_was_scanned(directory: Path) -> None:
    done = checked(directory)

    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == ["encrypted files: 1", "values compared: 8"]
    assert lines[2].startswith("scanned: 6 files, 1 commit, 7 objects of the history, ")
    assert lines[-1] == "no findings"


def test_a_finding_ends_with_one_and_shows_no_value(directory: Path) -> None:
    committed(directory, notes__txt=f"a\n{TOKEN}\n")

    done = checked(directory)

    assert done.status == 1
    assert "error[leak.value]: secrets.bootstraptoken of the secrets bundle" in done.err
    assert "where: notes.txt:2:1" in done.err
    assert done.out.splitlines()[-1] == "1 finding"
    assert TOKEN not in done.out + done.err


def test_programs_get_findings_and_what_was_not_scanned(directory: Path) -> None:
    first = committed(directory, notes__txt=f"a\n{TOKEN}\n")
    committed(directory, notes__txt="nothing\n")

    data = json.loads(checked(directory, "-o", "json").out)["data"]
    less = json.loads(checked(directory, "-o", "json", "--max-commits", "1").out)["data"]

    assert (data["clean"], data["complete"], data["encrypted"]) == (False, True, [BUNDLE])
    (finding,) = data["findings"]
    assert finding["code"] == "leak.value"
    assert (finding["file"], finding["line"], finding["commit"]) == ("notes.txt", 2, first)
    assert (less["clean"], less["complete"]) == (True, False)
    assert [reason["subject"] for reason in less["not_scanned"]] == ["2 older commits"]


def test_strict_counts_what_the_user_left_out(directory: Path) -> None:
    assert checked(directory, "--strict").status == 0
    assert checked(directory, "--no-history").status == 0
    done = checked(directory, "--no-history", "--strict")

    assert done.status == 4
    assert "not scanned: history: --no-history was given" in done.out.splitlines()
    assert done.out.splitlines()[-1] == "no findings in what was scanned"


def test_a_history_that_cannot_be_scanned_is_a_partial_result(directory: Path) -> None:
    committed(directory, notes__txt=f"a\n{TOKEN}\n")
    commit = committed(directory, notes__txt="nothing\n")
    (directory / ".git" / "objects" / commit[:2] / commit[2:]).unlink()

    done = checked(directory)

    assert done.status == 4
    assert "not scanned: the rest of the history: git reports: " in done.out
    assert done.out.splitlines()[-1] == "no findings in what was scanned"


def test_commits_beyond_the_limit_are_a_partial_result(directory: Path) -> None:
    committed(directory, notes__txt="one\n")

    assert checked(directory, "--max-commits", "1").status == 4


def test_without_an_identity_the_output_says_that_values_were_not_compared(directory: Path) -> None:
    (directory / "age.key").unlink()

    done = checked(directory)

    assert done.status == 0
    assert "values compared: 0" in done.out
    assert "not scanned: the values of encrypted files: there is no age identity here" in done.out


def test_fix_puts_modes_right_and_says_so(directory: Path) -> None:
    (directory / "age.key").chmod(0o644)

    assert checked(directory).status == 1
    done = checked(directory, "--fix")

    assert (done.status, done.out.splitlines()[0]) == (
        0,
        "fixed: age.key has mode 0600, and had 0644",
    )
    assert (directory / "age.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("option", ["--max-commits", "--max-object-bytes", "--max-bytes"])
def test_a_limit_of_nothing_is_wrong_usage(directory: Path, option: str) -> None:
    assert checked(directory, option, "0").status == 64


def test_the_working_directory_and_the_index_stay_as_they_are(directory: Path) -> None:
    committed(directory, notes__txt=f"{TOKEN}\n")
    (directory / "new.txt").write_text("x")
    before = git(directory, "status", "--porcelain=v2", "--branch")
    index = (directory / ".git" / "index").read_bytes()

    checked(directory)

    assert git(directory, "status", "--porcelain=v2", "--branch") == before
    assert (directory / ".git" / "index").read_bytes() == index
