"""What only a real git can do to us."""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from stockman.adapters.git.command import GitCommand
from stockman.adapters.git.repository import LocalGitRepository
from stockman.model.errors import (
    Conflict,
    Denied,
    NotFound,
    Refused,
    Rejected,
    StockmanError,
    Unreachable,
)
from stockman.ports.repository import RemoteBranch
from tests.contract.repo.doors import git

CANARY = "canary-that-must-not-sing"


@pytest.fixture(autouse=True)
def no_settings_of_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = tmp_path / "nothing"
    nothing.touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(nothing))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    git(path, "config", "user.name", "Shepherd")
    git(path, "config", "user.email", "shepherd@example.com")
    (path / "README.md").write_text("flock\n")
    git(path, "add", "README.md")
    git(path, "commit", "--quiet", "--message", "Begin")
    return path


def committed(top: Path, *paths: str) -> str | None:
    return asyncio.run(LocalGitRepository(top).commit(paths, "Render"))


def hook(top: Path, name: str) -> None:
    path = top / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch '{top}/{name}-ran'\nexit 1\n")
    path.chmod(0o755)


def test_no_hook_runs(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    git(top, "remote", "add", "origin", str(tmp_path / "bare.git"))
    for name in ("pre-commit", "commit-msg", "post-commit", "pre-push", "reference-transaction"):
        hook(top, name)
    (top / "a").write_text("a")
    assert committed(top, "a") is not None
    asyncio.run(LocalGitRepository(top).push())
    assert not list(top.glob("*-ran"))


def test_a_directory_within_is_fine_and_paths_are_those_of_the_top(top: Path) -> None:
    within = top / "kubernetes" / "apps"
    within.mkdir(parents=True)
    (within / "a.yaml").write_text("a: 1\n")
    made = asyncio.run(LocalGitRepository(within).commit(["kubernetes/apps/a.yaml"], "Render"))
    assert git(top, "show", "--name-only", "--format=", str(made)).split() == [
        "kubernetes/apps/a.yaml"
    ]


def test_a_place_without_a_repository_is_told(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(NotFound, match=r"repo\.none"):
            asyncio.run(LocalGitRepository(place).state())


def test_a_bare_repository_has_no_work_tree(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    with pytest.raises(NotFound, match=r"repo\.none"):
        asyncio.run(LocalGitRepository(tmp_path / "bare.git").state())


@pytest.mark.usefixtures("closed_directory_on_path")
def test_a_machine_without_git_is_told(top: Path) -> None:
    with pytest.raises(Refused, match=r"repo\.no-git"):
        asyncio.run(LocalGitRepository(top, program="git-that-is-not-there").state())


def test_a_git_that_never_answers_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "slow-git"
    program.write_text(f"#!/bin/sh\necho $$ > '{tmp_path}/pid'\nexec sleep 600\n")
    program.chmod(0o755)
    with pytest.raises(Unreachable, match=r"repo\.unreachable"):
        asyncio.run(LocalGitRepository(tmp_path, program=str(program), patience=0.5).state())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_an_unborn_branch_takes_its_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk", "new")
    top = tmp_path / "new"
    git(top, "config", "user.name", "Shepherd")
    git(top, "config", "user.email", "shepherd@example.com")
    assert committed(top, "nothing") is None
    (top / "a").write_text("a")
    made = committed(top, "a")
    assert git(top, "rev-parse", "trunk").strip() == made
    assert git(top, "status", "--porcelain") == ""


def test_an_unfinished_merge_is_left_alone(top: Path) -> None:
    git(top, "switch", "--quiet", "--create", "other")
    (top / "README.md").write_text("theirs\n")
    git(top, "commit", "--quiet", "--all", "--message", "Theirs")
    git(top, "switch", "--quiet", "main")
    (top / "README.md").write_text("ours\n")
    git(top, "commit", "--quiet", "--all", "--message", "Ours")
    subprocess.run(["git", "merge", "--quiet", "other"], cwd=top, check=False, capture_output=True)
    (top / "a").write_text("a")
    with pytest.raises(Refused, match=r"repo\.unfinished"):
        committed(top, "a")


def test_a_file_behind_a_link_is_refused(top: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "passwd").write_text("secret")
    (top / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(Refused, match=r"repo\.path"):
        committed(top, "link/passwd")
    made = committed(top, "link")
    files = asyncio.run(LocalGitRepository(top).tree(str(made)))
    assert [(file.path, file.is_link) for file in files] == [("README.md", False), ("link", True)]


def test_an_executable_file_stays_one(top: Path) -> None:
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    files = asyncio.run(LocalGitRepository(top).tree(str(committed(top, "run"))))
    assert [file.is_executable for file in files] == [False, True]


def test_what_git_is_told_to_change_on_the_way_in_is_changed(top: Path) -> None:
    (top / ".gitattributes").write_text("*.txt text eol=lf\n")
    (top / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    made = committed(top, ".gitattributes", "a.txt")
    assert asyncio.run(LocalGitRepository(top).read(str(made), "a.txt")) == b"one\ntwo\n"


def test_an_index_that_somebody_else_holds_is_told(top: Path) -> None:
    (top / ".git" / "index.lock").touch()
    (top / "a").write_text("a")
    before = git(top, "rev-parse", "HEAD")
    with pytest.raises(Rejected, match=r"repo\.rejected"):
        committed(top, "a")
    assert git(top, "rev-parse", "HEAD") == before


def test_a_branch_that_moved_meanwhile_is_not_moved_back(top: Path) -> None:
    first = git(top, "rev-parse", "HEAD").strip()
    (top / "theirs").write_text("theirs")
    git(top, "add", "theirs")
    git(top, "commit", "--quiet", "--message", "Theirs")
    after = git(top, "rev-parse", "HEAD")
    (top / "a").write_text("a")
    from stockman.adapters.git.repository import create_commit

    at = GitCommand(top, program="git", patience=30)
    with pytest.raises(Conflict, match=r"repo\.moved"):
        asyncio.run(create_commit(at, "main", first, ["a"], "Late"))
    assert git(top, "rev-parse", "HEAD") == after


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("/nowhere/at/all.git", NotFound),
        (f"http://user:{CANARY}@127.0.0.1:1/a.git", Unreachable),
        ("http://no-such-host.invalid/a.git", Unreachable),
    ],
)
def test_a_remote_that_is_not_there_is_told_without_credentials(
    top: Path, url: str, error: type[StockmanError]
) -> None:
    git(top, "remote", "add", "origin", url)
    for call in (LocalGitRepository(top).push, LocalGitRepository(top).fetch):
        with pytest.raises(error) as caught:
            asyncio.run(call())
        assert CANARY not in f"{caught.value} {caught.value.problem} {caught.value!r}"


def test_a_remote_that_wants_a_password_is_not_waited_for(top: Path) -> None:
    async def told() -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(
                b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"\r\n'
                b"Content-Length: 0\r\nConnection: close\r\n\r\n"
            )
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        git(top, "remote", "add", "origin", f"http://127.0.0.1:{port}/a.git")
        with pytest.raises(Denied, match=r"repo\.denied"):
            await LocalGitRepository(top).push()
        server.close()

    asyncio.run(told())


def test_a_remote_whose_own_rules_refuse_is_told(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    path = tmp_path / "bare.git" / "hooks" / "pre-receive"
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    git(top, "remote", "add", "origin", str(tmp_path / "bare.git"))
    with pytest.raises(Rejected, match=r"repo\.rejected") as caught:
        asyncio.run(LocalGitRepository(top).push())
    assert "pre-receive hook declined" in caught.value.problem.why


def test_a_branch_goes_where_it_is_told_to_go(top: Path, tmp_path: Path) -> None:
    for name in ("one.git", "two.git"):
        git(tmp_path, "init", "--quiet", "--bare", name)
        git(top, "remote", "add", name.removesuffix(".git"), str(tmp_path / name))
    with pytest.raises(NotFound, match=r"repo\.no-remote"):
        asyncio.run(LocalGitRepository(top).push())
    git(top, "config", "branch.main.remote", "two")
    git(top, "config", "branch.main.merge", "refs/heads/live")
    asyncio.run(LocalGitRepository(top).push())
    assert git(tmp_path / "two.git", "for-each-ref", "--format=%(refname)").split() == [
        "refs/heads/live"
    ]
    assert asyncio.run(LocalGitRepository(top).fetch()) == git(top, "rev-parse", "HEAD").strip()


SSH = """#!/bin/sh
printf '%s\\n' "$@" > "{log}"
for last; do :; done
eval "exec git upload-pack $(printf '%s' "${{last#git-upload-pack }}")"
"""


def test_a_remote_branch_is_read_with_the_deploy_key_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare, work = tmp_path / "repo.git", tmp_path / "work"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", bare], check=True)
    subprocess.run(["git", "clone", "-q", bare, work], check=True, capture_output=True)
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(
        ["git", "-C", work, *author, "commit", "-q", "--allow-empty", "-m", "a"], check=True
    )
    subprocess.run(["git", "-C", work, "push", "-q", "origin", "HEAD:main"], check=True)
    (work / "deploy.key").write_text("key")
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(SSH.format(log=tmp_path / "log"))
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    repo = LocalGitRepository(work)
    remote = RemoteBranch(url=f"ssh://git@git.test{bare}", branch="main", key_files=("deploy.key",))

    commit = asyncio.run(repo.read_remote(remote))
    missing = asyncio.run(repo.read_remote(replace(remote, branch="stable")))

    assert (
        commit
        == subprocess.check_output(["git", "-C", bare, "rev-parse", "main"], text=True).strip()
    )
    assert missing is None
    arguments = (tmp_path / "log").read_text()
    assert f"IdentityFile={work / 'deploy.key'}" in arguments
    assert "IdentityAgent=none" in arguments
    with pytest.raises(NotFound, match=r"repo\.no-key"):
        asyncio.run(repo.read_remote(replace(remote, key_files=("other.key",))))
