"""Values planted in encrypted files turn up nowhere, whatever goes wrong with a command."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from stockman.app.secrets.lock import LOCK
from tests.app.secret_workspace import store_in
from tests.cli.inside import ran_inside
from tests.cli.running import REAL, Ran, ran
from tests.crypto.keys_at_hand import OTHER, OWNER

SECRET = "kubernetes/secret.sops.yaml"
BUNDLE = "talos/talsecret.sops.yaml"
CANARY = "canary-4e1c7a90"
PLAIN = f"stringData:\n  token: {CANARY}-token\n  # {CANARY}-comment\n  user: {CANARY}-user\n"
KEY = OWNER.text.reveal()
COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "status json": ("status", "-o", "json"),
    "accept": ("status", "--accept"),
    "names": ("get", SECRET, "-o", "name"),
    "get missing": ("get", SECRET, "stringData.none"),
    "get mapping": ("get", SECRET, "stringData"),
    "set": ("set", SECRET, "stringData.token"),
    "set below": ("set", SECRET, "stringData.token.x"),
    "set json": ("set", SECRET, "stringData.token", "--json"),
    "edit": ("edit", SECRET),
    "rotate": ("rotate",),
    "rekey": ("rekey",),
    "create": ("create", "--from", SECRET),
}
Spoil = Callable[[Path], object]


def replaced(name: str, old: str, new: str) -> Spoil:
    def spoil(directory: Path) -> None:
        text = (directory / name).read_text()
        assert old in text
        (directory / name).write_text(text.replace(old, new))

    return spoil


def reordered(directory: Path) -> None:
    lines = (directory / SECRET).read_text().splitlines(keepends=True)
    lines[1], lines[2] = lines[2], lines[1]
    (directory / SECRET).write_text("".join(lines))


FAILURES: dict[str, Spoil] = {
    "nothing": lambda directory: None,
    "truncated": lambda directory: (directory / SECRET).write_bytes(
        (directory / SECRET).read_bytes()[:300]
    ),
    "re-ordered": reordered,
    "wrong MAC": replaced(SECRET, "mac: ENC[AES256_GCM,data:", "mac: ENC[AES256_GCM,data:AAAA"),
    "wrong recipient": lambda directory: (directory / "age.key").write_text(
        f"{OTHER.text.reveal()}\n"
    ),
    "no key": lambda directory: (directory / "age.key").unlink(),
    "broken key": lambda directory: (directory / "age.key").write_text(f"{KEY[:-1]}\n"),
    "open key": lambda directory: (directory / "age.key").chmod(0o666),
    "in the clear": lambda directory: (directory / SECRET).write_text(PLAIN),
    "CRLF": replaced(SECRET, "\n", "\r\n"),
    "duplicate keys": replaced(SECRET, "sops:\n", "stringData: {}\nsops:\n"),
    "broken rules": lambda directory: (directory / ".sops.yaml").write_text("creation_rules: {\n"),
    "broken lock": lambda directory: (directory / LOCK).write_text("<<<<<<<\n"),
    "a directory": lambda directory: (directory / BUNDLE).mkdir(parents=True),
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = tmp_path / "in"
    store_in(directory).write(SECRET, PLAIN.encode())
    (directory / "age.key").write_text(f"# public key: {OWNER.recipient}\n{KEY}\n")
    (directory / "age.key").chmod(0o600)
    return directory


def run(directory: Path, arguments: tuple[str, ...]) -> Ran:
    return ran_inside(
        "-C",
        str(directory),
        "secrets",
        *arguments,
        "--debug",
        "-vv",
        typed=f"{CANARY}-given",
        HOME=str(directory.parent),
        EDITOR=f"sed -i s/{CANARY}-user:/{CANARY}-edited/",
    )


def files_with(root: Path, text: str) -> set[str]:
    return {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    }


@pytest.mark.parametrize("failure", FAILURES)
def test_no_failure_shows_a_value_or_leaves_it_on_a_disk(directory: Path, failure: str) -> None:
    FAILURES[failure](directory)
    clear = files_with(directory, CANARY)

    runs = {name: run(directory, arguments) for name, arguments in COMMANDS.items()}

    shown = {name: done.out + done.err for name, done in runs.items()}
    assert [name for name, text in shown.items() if CANARY in text] == []
    assert [name for name, text in shown.items() if KEY[:-1] in text] == []
    assert [name for name, text in shown.items() if "internal.bug" in text] == []
    assert files_with(directory, CANARY) <= clear
    assert files_with(directory, KEY[:-1]) <= {"age.key"}
    assert not list(Path("/dev/shm").glob(f"stockman-edit-*/{Path(SECRET).name}"))


def test_no_value_is_on_a_command_line_while_an_editor_runs(directory: Path) -> None:
    seen = directory.parent / "seen"
    script = directory.parent / "editor"
    script.write_text(f"#!/bin/sh\ntr '\\0' ' ' < /proc/$PPID/cmdline > {seen}\nenv >> {seen}\n")
    script.chmod(0o755)

    done = ran(
        "-C",
        str(directory),
        "secrets",
        "edit",
        SECRET,
        program=REAL,
        HOME=str(directory.parent),
        EDITOR=str(script),
    )

    assert done.status == 0
    assert "secrets edit" in seen.read_text()
    assert CANARY not in seen.read_text()
    assert KEY not in seen.read_text()


def test_init_and_create_leave_no_part_of_the_bundle_in_the_clear(tmp_path: Path) -> None:
    target = tmp_path / "fresh"

    done = ran("init", str(target), "--preset", "single", "--debug", "-vv", program=REAL)
    plain = ran("-C", str(target), "secrets", "get", BUNDLE, program=REAL, HOME=str(tmp_path)).out

    values = [line.split(": ")[1] for line in plain.splitlines() if ": " in line]
    assert len(values) >= 14
    for value in values:
        assert value not in done.out + done.err
        assert files_with(tmp_path, value) == set()


def test_a_key_command_is_never_quoted(directory: Path) -> None:
    (directory / "age.key").unlink()

    done = ran(
        "-C",
        str(directory),
        "secrets",
        "rotate",
        "--debug",
        program=REAL,
        HOME=str(directory.parent),
        SOPS_AGE_KEY_CMD=f"sh -c 'echo {CANARY}; echo {CANARY} >&2'",
    )

    assert done.status == 1
    assert "SOPS_AGE_KEY_CMD" in done.err
    assert CANARY not in done.out + done.err


def test_git_sees_ciphertext_only(directory: Path) -> None:
    for command in (["init"], ["add", "."]):
        subprocess.run(["git", *command], cwd=directory, check=True, capture_output=True)
    before = files_with(directory, CANARY)

    run(directory, COMMANDS["set"])

    assert files_with(directory, CANARY) == before == set()
