"""One check of everything, on real repositories."""

import base64
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from stockman.adapters.git.probe import LocalGitHistory
from stockman.app.secrets_check.check import SecretsCheckOptions, check_secrets
from stockman.app.secrets_check.report import Coverage, Limits
from stockman.model.origin import Position
from stockman.talos.secrets.bundle import bundle_text
from tests.adapters.repositories import committed, git, repository
from tests.app.secret_workspace import NOBODY, SECRET, keyring, store_in
from tests.app.secrets_check.checking import checked, codes, places, unread
from tests.app.workspaces import BUNDLE, committed_workspace, workspace
from tests.crypto.keys_at_hand import OTHER, OWNER
from tests.talos.made import bundle

TOKEN = bundle().secrets.bootstraptoken.reveal()
TOKEN_NAME = "secrets.bootstraptoken of the secrets bundle"
NO_GIT = "there is no git repository here"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return committed_workspace(tmp_path / "meadow")


def many_files(directory: Path, count: int) -> None:
    """A branch with one commit of so many files, which are not in the working tree."""
    who = "tests <tests@stockman.invalid> 1790000000 +0000"
    lines = ["commit refs/heads/many", f"committer {who}", "data 4", "many"]
    for number in range(count):
        text = f"{number}\n"
        lines += [f"M 100644 inline f{number}", f"data {len(text)}", text]
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=directory,
        input="\n".join([*lines, "done", ""]),
        text=True,
        check=True,
    )


def test_a_workspace_as_it_should_be_has_no_finding(directory: Path) -> None:
    report = checked(directory)

    assert report.findings == ()
    assert report.complete
    assert report.encrypted == (BUNDLE,)
    assert report.scanned.commits == 1
    assert report.scanned.files == len(git(directory, "ls-files").splitlines())
    assert report.compared == 8
    assert report.too_plain == (
        "cluster.secret of the secrets bundle",
        "trustdinfo.token of the secrets bundle",
    )


def test_a_value_in_a_tracked_file_is_named_with_its_line(directory: Path) -> None:
    committed(directory, notes__txt=f"hello\nthe token is {TOKEN}\n")

    report = checked(directory)

    assert places(report) == [("notes.txt", 2, TOKEN_NAME)]
    assert report.findings[0].problem.where == Position("notes.txt", 2, 1)
    assert report.findings[0].commit == git(directory, "rev-parse", "HEAD")


def test_a_value_that_was_removed_is_found_in_history_at_its_first_commit(directory: Path) -> None:
    first = committed(directory, notes__txt=f"{TOKEN}\n")
    committed(directory, notes__txt=f"more\n{TOKEN}\n")
    committed(directory, notes__txt="nothing\n")

    report = checked(directory)

    assert places(report) == [("notes.txt", 1, TOKEN_NAME)]
    assert (report.findings[0].commit, report.findings[0].versions) == (first, 2)
    assert report.findings[0].problem.where == f"notes.txt:1 in commit {first[:12]}"


@pytest.mark.parametrize("stage", [False, True])
def test_a_value_that_is_not_committed_yet_is_found(directory: Path, stage: bool) -> None:
    (directory / "notes.txt").write_text(TOKEN)
    if stage:
        git(directory, "add", "notes.txt")
        (directory / "notes.txt").write_text("taken out again, and not staged")

    report = checked(directory)

    assert places(report) == [("notes.txt", 1, TOKEN_NAME)]
    assert report.findings[0].commit is None


def test_values_in_ignored_files_and_in_messages_are_told_apart(directory: Path) -> None:
    (directory / "age.key").write_text(OWNER.text.reveal())
    committed(directory, message=f"use {TOKEN}")

    report = checked(directory)

    assert [finding.secret for finding in report.findings] == [TOKEN_NAME]
    assert "stands in the message" in report.findings[0].problem.what


def test_links_and_files_with_odd_names_are_read(directory: Path) -> None:
    (directory / "link").symlink_to(TOKEN)
    (directory / "with\nbreak \u00e9").write_text(TOKEN)
    git(directory, "add", "--all")

    assert sorted(file for file, _, _ in places(checked(directory))) == [
        "link",
        "with\nbreak \u00e9",
    ]


def test_every_secret_of_the_bundle_is_looked_for(directory: Path) -> None:
    (directory / "old.yaml").write_text(bundle_text(bundle()).reveal())

    names = {finding.secret for finding in checked(directory).findings}

    assert names == {
        f"{name} of the secrets bundle"
        for name in (
            "secrets.bootstraptoken",
            "secrets.secretboxencryptionsecret",
            *(f"certs.{text}.key" for text in ("etcd", "k8s", "k8saggregator", "os")),
            "certs.k8sserviceaccount.key",
        )
    }


def test_values_of_encrypted_files_are_looked_for_in_base64_too(directory: Path) -> None:
    secret = "kR7-vX2-pL9-wQ4-zT6"
    data = base64.b64encode(secret.encode()).decode()
    store_in(directory).create(SECRET, f"kind: Secret\ndata:\n  password: {data}\n".encode())
    (directory / "notes.txt").write_text(f"it is {secret}")

    assert places(checked(directory)) == [("notes.txt", 1, f"data.password of {SECRET}")]


def test_the_name_of_a_tunnel_is_no_secret_and_its_token_is(directory: Path) -> None:
    tunnel = "d9428888-122b-11e1-b85c-61cd3cbb3210"
    secret = base64.b64encode(bytes(range(40, 72))).decode()
    token = base64.b64encode(json.dumps({"t": tunnel, "s": secret}).encode()).decode()
    store_in(directory).create(SECRET, f"kind: Secret\nstringData:\n  token: {token}\n".encode())
    (directory / "dns.yaml").write_text(f"target: {tunnel}.cfargotunnel.com\n")
    (directory / "notes.txt").write_text(secret)

    assert [file for file, _, _ in places(checked(directory))] == ["notes.txt"]


def test_secrets_that_the_configuration_names_are_looked_for(directory: Path) -> None:
    secret = "kR7-vX2-pL9-wQ4-zT6"
    (directory / "notes.txt").write_text(secret)

    report = checked(directory, PROXMOX_TOKEN=secret)

    assert places(report) == [("notes.txt", 1, "proxmox_token_secret")]


@pytest.mark.parametrize("name", ["github-push-token.txt", "flux-webhook-token.txt"])
def test_tokens_of_key_files_are_looked_for(directory: Path, name: str) -> None:
    token = bytes(range(5, 245, 15)).hex()
    (directory / name).write_text(f"{token}\n")
    (directory / name).chmod(0o600)
    (directory / "notes.txt").write_text(f"token={token}")

    assert places(checked(directory)) == [("notes.txt", 1, name)]


def test_without_an_identity_only_patterns_are_looked_for_and_the_report_says_so(
    directory: Path,
) -> None:
    (directory / "notes.txt").write_text(f"{TOKEN}\n{OWNER.text.reveal()}\n")

    report = checked(directory, NOBODY)

    assert codes(report) == ["leak.pattern"]
    assert places(report) == [("notes.txt", 2, "an age identity")]
    why = "there is no age identity here, so only what looks like a key was looked for"
    assert unread(report) == [f"the values of encrypted files: {why}"]


def test_a_file_that_an_identity_does_not_open_is_not_compared(directory: Path) -> None:
    report = checked(directory, keyring(OTHER))

    assert report.findings == ()
    reason = "no available identity can decrypt the file"
    assert unread(report) == [f"the values of {BUNDLE}: it could not be opened: {reason}"]


def test_limits_are_told_and_never_taken_for_clean(directory: Path) -> None:
    committed(directory, notes__txt=f"{TOKEN}\n" + "x" * 5000)
    committed(directory, notes__txt="nothing\n")

    commits = checked(directory, limits=Limits(commits=1))
    objects = checked(directory, limits=Limits(object_bytes=4000))
    total = checked(directory, limits=Limits(total_bytes=1000))

    assert commits.findings == objects.findings == total.findings == ()
    assert unread(commits) == [
        "2 older commits: only the newest 1 are scanned (--max-commits)",
    ]
    assert unread(objects) == [
        f"{BUNDLE}: it is larger than 4,000 bytes (--max-object-bytes)",
        f"{BUNDLE}: larger than 4,000 bytes (--max-object-bytes)",
        "2 file versions: larger than 4,000 bytes (--max-object-bytes)",
    ]
    assert any(
        "beyond the 1,000 bytes that are read (--max-bytes)" in text for text in unread(total)
    )


def test_a_shallow_clone_is_not_taken_for_all_of_history(directory: Path, tmp_path: Path) -> None:
    committed(directory, notes__txt="one\n")
    git(tmp_path, "clone", "--depth=1", directory.as_uri(), "copy")

    report = checked(tmp_path / "copy")

    assert [result.subject for result in report.not_scanned] == ["older commits"]


def test_repositories_inside_and_missing_objects_are_told(directory: Path) -> None:
    committed(directory, notes__txt="one\n")
    name = git(directory, "hash-object", "notes.txt")
    committed(directory, notes__txt="two\n")
    (directory / ".git" / "objects" / name[:2] / name[2:]).unlink()
    committed(repository(directory / "inner"), a__txt="x")

    assert unread(checked(directory)) == [
        "inner/: it is a repository of its own",
        "1 history object: this copy of the repository lacks it",
    ]


def test_links_that_lead_nowhere_are_no_trouble(directory: Path) -> None:
    (directory / "loop.txt").symlink_to("loop.txt")
    (directory / "big.sops.yaml").symlink_to("nowhere.yaml")

    report = checked(directory)

    assert report.findings == ()
    assert report.complete


def test_files_that_git_keeps_elsewhere_are_told(directory: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    committed(directory, big__bin=pointer)
    committed(directory, big__bin="x")

    assert unread(checked(directory)) == ["1 file version: git keeps it elsewhere (Git LFS)"]


def test_a_git_that_cannot_tell_is_not_taken_for_a_clean_one(directory: Path) -> None:
    (directory / ".git" / "config").write_text("[broken\n")

    report = checked(directory)

    assert [result.subject for result in report.not_scanned] == ["tracked files and history"]
    assert report.not_scanned[0].why.startswith("git reports: ")


def test_the_rest_of_a_broken_history_is_not_scanned(directory: Path) -> None:
    first = git(directory, "rev-parse", "HEAD")
    committed(directory, notes__txt="one\n")
    (directory / ".git" / "objects" / first[:2] / first[2:]).unlink()

    report = checked(directory)

    assert [result.subject for result in report.not_scanned] == ["the rest of the history"]


def test_without_a_repository_encrypted_files_are_judged_all_the_same(tmp_path: Path) -> None:
    place = workspace(tmp_path / "meadow")
    (place / "kubernetes").mkdir()
    (place / "kubernetes" / "new.sops.yaml").write_text("kind: Secret\n")

    report = checked(place)

    assert codes(report) == ["sops.not-encrypted"]
    assert report.scanned == Coverage()
    assert f"tracked files and history: {NO_GIT}" in unread(report)


def test_a_workspace_below_the_top_is_named_from_where_it_is(tmp_path: Path) -> None:
    top = repository(tmp_path / "top")
    place = workspace(top / "clusters" / "meadow")
    (top / "notes.txt").write_text(TOKEN)
    (place / "here.txt").write_text(TOKEN)

    report = checked(place)

    assert sorted(file for file, _, _ in places(report)) == ["../../notes.txt", "here.txt"]
    assert report.encrypted == (BUNDLE,)


def test_progress_is_told_as_objects_go_by(directory: Path) -> None:
    heard: list[Coverage] = []
    many_files(directory, 10_500)
    history = LocalGitHistory(directory)

    check_secrets(SecretsCheckOptions(directory=directory), NOBODY, {}, history, heard.append)
    history.close()

    assert len(heard) == 1
    assert heard[0].objects >= 10_000


def test_reports_compare_by_value(directory: Path) -> None:
    report = checked(directory)

    assert report == checked(directory)
    assert replace(report, compared=0) != report


def test_an_old_key_in_history_can_be_accepted_with_a_reason(directory: Path) -> None:
    committed(directory, notes__txt=OTHER.text.reveal())
    committed(directory, notes__txt="nothing\n")
    (finding,) = checked(directory).findings
    accepted = directory / ".stockman" / "accepted-leaks.txt"

    accepted.write_text(f"# old keys\n{finding.id}\n")
    assert checked(directory).findings == (finding,)
    accepted.write_text(f"# old keys\n{finding.id} made anew in March\n")
    report = checked(directory)

    assert finding.id is not None
    assert f"write `{finding.id} REASON`" in finding.problem.fix
    assert (report.findings, report.accepted) == ((), 1)


def test_a_value_that_is_in_use_or_still_in_a_file_cannot_be_accepted(directory: Path) -> None:
    committed(directory, notes__txt=f"{TOKEN}\n")
    committed(directory, notes__txt="nothing\n", other__txt=OTHER.text.reveal())

    assert [finding.id for finding in checked(directory).findings] == [None, None]
