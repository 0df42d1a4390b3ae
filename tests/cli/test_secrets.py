"""The commands on secret files."""

import json
import stat
from pathlib import Path

import pytest

from stockman.rendering.sops_rules import sops_config_text
from tests.app.secret_workspace import PLAIN, SECRET, WHOLE, contents, store_in
from tests.app.test_secret_resolving import CLUSTER, NODES
from tests.cli.inside import ran_inside
from tests.cli.running import REAL, Ran, on_terminal
from tests.crypto.keys_at_hand import OTHER, OWNER

CANARY = "canary-4e1c7a90"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with a key, rules and one secret file."""
    directory = tmp_path / "in"
    store_in(directory).write(SECRET, PLAIN)
    (directory / "age.key").write_text(f"{OWNER.text.reveal()}\n")
    (directory / "age.key").chmod(0o600)
    return directory


def run(directory: Path, *arguments: str, typed: str = "", **environment: str) -> Ran:
    home = str(directory.parent)
    return ran_inside(
        "-C",
        str(directory),
        "secrets",
        *arguments,
        typed=typed,
        **{"HOME": home, **environment},
    )


def test_a_value_is_printed_with_one_line_break(directory: Path) -> None:
    assert run(directory, "get", SECRET, "stringData.token") == Ran(0, f"{CANARY}\n", "")


def test_a_whole_file_is_printed_byte_for_byte(directory: Path) -> None:
    assert run(directory, "get", SECRET).out.encode() == PLAIN


def test_data_and_names_are_printed_for_programs(directory: Path) -> None:
    data = json.loads(run(directory, "get", SECRET, "stringData", "-o", "json").out)
    assert data["data"] == {"token": CANARY, "other": "canary-other"}

    names = run(directory, "get", SECRET, "-o", "name")
    assert names.out == "kind\nstringData.token\nstringData.other\n"


def test_a_value_is_taken_from_stdin_and_from_a_file(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "tls.key").write_text("one\ntwo\n")

    first = run(directory, "set", SECRET, "stringData.token", typed="new\n")
    run(directory, "set", SECRET, 'stringData["tls.key"]', "--from-file", str(tmp_path / "tls.key"))

    assert first == Ran(0, "", f"{SECRET}: written\n")
    assert run(directory, "get", SECRET, "stringData.token").out == "new\n"
    assert run(directory, "get", SECRET, "stringData['tls.key']").out == "one\ntwo\n"
    again = run(directory, "set", SECRET, "stringData.token", typed="new\n")
    assert again.err == f"{SECRET}: unchanged\n"


def test_no_value_is_taken_from_the_command_line(directory: Path) -> None:
    before = contents(directory)

    done = run(directory, "set", SECRET, "stringData.token", "value")

    assert done.status == 64
    assert contents(directory) == before


def test_a_typed_value_is_not_shown(directory: Path) -> None:
    done = on_terminal(
        "-C",
        str(directory),
        "secrets",
        "set",
        SECRET,
        "stringData.token",
        typed="typed-value\n",
        after="Value of stringData.token: ",
        program=REAL,
        HOME=str(directory.parent),
    )

    assert done.status == 0
    assert "Value of stringData.token: " in done.out
    assert "typed-value" not in done.out
    assert run(directory, "get", SECRET, "stringData.token").out == "typed-value\n"


def test_a_file_in_the_clear_is_encrypted_in_place(directory: Path) -> None:
    (directory / "talos").mkdir()
    (directory / WHOLE).write_text(f"password: {CANARY}\n")

    done = run(directory, "set", WHOLE, "--from-file", str(directory / WHOLE))

    assert done.status == 0
    assert CANARY not in (directory / WHOLE).read_text()
    assert run(directory, "get", WHOLE, "password").out == f"{CANARY}\n"


def test_an_edit_is_made_with_the_first_editor_that_is_named(directory: Path) -> None:
    done = run(
        directory,
        "edit",
        SECRET,
        SOPS_EDITOR="sed -i s/other:/another:/",
        VISUAL="false",
        EDITOR="false",
    )

    assert done == Ran(0, "", f"{SECRET}: written\n")
    assert "stringData.another" in run(directory, "get", SECRET, "-o", "name").out


def test_an_edit_that_stays_broken_is_given_up(directory: Path) -> None:
    before = contents(directory)

    done = run(directory, "edit", SECRET, EDITOR="sed -i s/kind:/[/")

    assert done.status == 1
    assert "error[sops." in done.err
    assert "the edit was discarded" in done.err
    assert "canary" not in done.out + done.err
    assert contents(directory) == before


def test_a_failing_editor_is_told(directory: Path) -> None:
    done = run(directory, "edit", SECRET, EDITOR="false")

    assert done.status == 1
    assert "false exited with status 1" in done.err


def test_the_bundle_is_made_once(directory: Path) -> None:
    (directory / "talos").mkdir()

    first = run(directory, "create", "-o", "name")
    again = run(directory, "create")

    assert first.out == "talos/talsecret.sops.yaml\n"
    assert again.status == 1
    assert "error[secret.exists]" in again.err
    names = run(directory, "get", "talos/talsecret.sops.yaml", "-o", "name").out
    assert "certs.k8sserviceaccount.key\n" in names


def test_rotation_and_rekeying_tell_what_they_did(directory: Path) -> None:
    rotated = run(directory, "rotate", "-o", "name")
    (directory / ".sops.yaml").write_text(
        sops_config_text("classic", f"{OWNER.recipient},{OTHER.recipient}")
    )
    dry = run(directory, "rekey", "--dry-run")
    rekeyed = run(directory, "rekey", "-o", "json")
    again = run(directory, "rekey")

    assert rotated == Ran(0, f"{SECRET}\n", "")
    assert dry.status == 2
    assert f"+ {OTHER.recipient[:12]}" in dry.out
    assert json.loads(rekeyed.out)["data"]["files"][0]["added"] == [OTHER.recipient]
    assert again.status == 0
    assert "unchanged" in again.out
    assert run(directory, "get", SECRET, SOPS_AGE_KEY=OTHER.text.reveal()).status == 0


def test_rekeying_with_some_failures_is_partly_done(directory: Path) -> None:
    store_in(directory).write(WHOLE, b"a: 1\n")
    (directory / WHOLE).write_bytes((directory / WHOLE).read_bytes()[:100])

    done = run(directory, "rotate")

    assert done.status == 4
    assert "failed" in done.out


def test_status_tells_everything_at_a_glance(directory: Path) -> None:
    done = run(directory, "status")

    assert done.status == 0
    header, line = done.out.splitlines()
    assert header.split() == ["FILE", "STATE", "DECRYPTABLE", "ENCRYPTED", "FOR"]
    assert line.split()[:3] == [SECRET, "unchanged", "yes"]


def test_status_says_when_bytes_alone_were_compared(directory: Path) -> None:
    run(directory, "rotate")
    lock = (directory / ".stockman/secrets.lock").read_bytes()
    run(directory, "rotate")
    (directory / ".stockman/secrets.lock").write_bytes(lock)
    assert "unchanged" in run(directory, "status").out
    (directory / "age.key").unlink()

    done = run(directory, "status")

    assert "changed (bytes)" in done.out
    assert "No identity available: file contents were compared, not values." in done.err


def test_changes_from_outside_are_accepted(directory: Path) -> None:
    lock = (directory / ".stockman/secrets.lock").read_bytes()
    run(directory, "set", SECRET, "stringData.token", typed="x")
    (directory / ".stockman/secrets.lock").write_bytes(lock)
    assert "changed" in run(directory, "status").out

    done = run(directory, "status", "--accept")

    assert "unchanged" in done.out
    assert "1 entry of the lock file" in done.err


def test_wrong_modes_are_reported_and_fixed(directory: Path) -> None:
    (directory / "age.key").chmod(0o644)

    warned = run(directory, "get", SECRET, "stringData.token")
    fixed = run(directory, "status", "--fix")

    assert warned.status == 0
    assert warned.out == f"{CANARY}\n"
    assert "warning[key.mode]" in warned.err
    assert "key.mode" not in fixed.err
    assert stat.S_IMODE((directory / "age.key").stat().st_mode) == 0o600


def test_without_an_identity_the_places_looked_at_are_named(directory: Path) -> None:
    (directory / "age.key").unlink()

    done = run(directory, "get", SECRET)

    assert done.status == 1
    assert "error[key.none]" in done.err
    assert "age.key" in done.err
    assert "SOPS_AGE_KEY_FILE" in done.err


@pytest.mark.parametrize("file", ["../x.sops.yaml", "/etc/passwd"])
def test_files_outside_are_refused(directory: Path, file: str) -> None:
    done = run(directory, "get", file)

    assert done.status == 3
    assert "error[secret.outside]" in done.err


def test_shells_complete_secret_files(directory: Path) -> None:
    done = ran_inside(
        _STOCKMAN_COMPLETE="bash_complete",
        COMP_WORDS=f"stockman -C {directory} secrets get k",
        COMP_CWORD="5",
        HOME=str(directory.parent),
    )

    assert done.out == f"plain,{SECRET}\n"


def test_validate_opens_every_secret_on_request(directory: Path) -> None:
    (directory / "cluster.yaml").write_text(CLUSTER.format(token="${MISSING}", secret="${OK}"))
    (directory / "nodes.yaml").write_text(NODES.replace("file:ssh.key", f"sops:{SECRET}#kind"))
    command = ("-C", str(directory), "validate", "--secrets")

    missing = ran_inside(*command, HOME=str(directory.parent), OK="x")
    ran = ran_inside(*command, HOME=str(directory.parent), OK="x", MISSING=CANARY)

    text = "error[secret.unresolvable]: cloudflare_token cannot be taken from ${MISSING}"
    assert missing.status == 1
    assert missing.err.count("error[") == 1
    assert text in missing.err
    assert ran.status == 0
    assert CANARY not in ran.out + ran.err
