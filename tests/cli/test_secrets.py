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
def place(tmp_path: Path) -> Path:
    """A directory with a key, rules and one secret file."""
    directory = tmp_path / "in"
    store_in(directory).write(SECRET, PLAIN)
    (directory / "age.key").write_text(f"{OWNER.text.reveal()}\n")
    (directory / "age.key").chmod(0o600)
    return directory


def run(directory: Path, *arguments: str, given: str = "", **environment: str) -> Ran:
    home = str(directory.parent)
    return ran_inside(
        "-C",
        str(directory),
        "secrets",
        *arguments,
        given=given,
        **{"HOME": home, **environment},
    )


def test_a_value_is_printed_with_one_line_break(place: Path) -> None:
    assert run(place, "get", SECRET, "stringData.token") == Ran(0, f"{CANARY}\n", "")


def test_a_whole_file_is_printed_byte_for_byte(place: Path) -> None:
    assert run(place, "get", SECRET).out.encode() == PLAIN


def test_data_and_names_are_printed_for_programs(place: Path) -> None:
    data = json.loads(run(place, "get", SECRET, "stringData", "-o", "json").out)
    assert data["data"] == {"token": CANARY, "other": "canary-other"}

    names = run(place, "get", SECRET, "-o", "name")
    assert names.out == "kind\nstringData.token\nstringData.other\n"


def test_a_value_is_taken_from_stdin_and_from_a_file(place: Path, tmp_path: Path) -> None:
    (tmp_path / "tls.key").write_text("one\ntwo\n")

    first = run(place, "set", SECRET, "stringData.token", given="new\n")
    run(place, "set", SECRET, 'stringData["tls.key"]', "--from-file", str(tmp_path / "tls.key"))

    assert first == Ran(0, "", f"{SECRET}: written\n")
    assert run(place, "get", SECRET, "stringData.token").out == "new\n"
    assert run(place, "get", SECRET, "stringData['tls.key']").out == "one\ntwo\n"
    again = run(place, "set", SECRET, "stringData.token", given="new\n")
    assert again.err == f"{SECRET}: unchanged\n"


def test_no_value_is_taken_from_the_command_line(place: Path) -> None:
    before = contents(place)

    done = run(place, "set", SECRET, "stringData.token", "value")

    assert done.status == 64
    assert contents(place) == before


def test_a_typed_value_is_not_shown(place: Path) -> None:
    done = on_terminal(
        "-C",
        str(place),
        "secrets",
        "set",
        SECRET,
        "stringData.token",
        typed="typed-value\n",
        after="Value of stringData.token: ",
        program=REAL,
        HOME=str(place.parent),
    )

    assert done.status == 0
    assert "Value of stringData.token: " in done.out
    assert "typed-value" not in done.out
    assert run(place, "get", SECRET, "stringData.token").out == "typed-value\n"


def test_a_file_in_the_clear_is_encrypted_in_place(place: Path) -> None:
    (place / "talos").mkdir()
    (place / WHOLE).write_text(f"password: {CANARY}\n")

    done = run(place, "set", WHOLE, "--from-file", str(place / WHOLE))

    assert done.status == 0
    assert CANARY not in (place / WHOLE).read_text()
    assert run(place, "get", WHOLE, "password").out == f"{CANARY}\n"


def test_an_edit_is_made_with_the_first_editor_that_is_named(place: Path) -> None:
    done = run(
        place,
        "edit",
        SECRET,
        SOPS_EDITOR="sed -i s/other:/another:/",
        VISUAL="false",
        EDITOR="false",
    )

    assert done == Ran(0, "", f"{SECRET}: written\n")
    assert "stringData.another" in run(place, "get", SECRET, "-o", "name").out


def test_an_edit_that_stays_broken_is_given_up(place: Path) -> None:
    before = contents(place)

    done = run(place, "edit", SECRET, EDITOR="sed -i s/kind:/[/")

    assert done.status == 1
    assert "error[sops." in done.err
    assert "the edit was discarded" in done.err
    assert "canary" not in done.out + done.err
    assert contents(place) == before


def test_a_failing_editor_is_told(place: Path) -> None:
    done = run(place, "edit", SECRET, EDITOR="false")

    assert done.status == 1
    assert "false exited with status 1" in done.err


def test_the_bundle_is_made_once(place: Path) -> None:
    (place / "talos").mkdir()

    first = run(place, "create", "-o", "name")
    again = run(place, "create")

    assert first.out == "talos/talsecret.sops.yaml\n"
    assert again.status == 1
    assert "error[secret.exists]" in again.err
    names = run(place, "get", "talos/talsecret.sops.yaml", "-o", "name").out
    assert "certs.k8sserviceaccount.key\n" in names


def test_rotation_and_rekeying_tell_what_they_did(place: Path) -> None:
    rotated = run(place, "rotate", "-o", "name")
    (place / ".sops.yaml").write_text(
        sops_config_text("classic", f"{OWNER.recipient},{OTHER.recipient}")
    )
    dry = run(place, "rekey", "--dry-run")
    rekeyed = run(place, "rekey", "-o", "json")
    again = run(place, "rekey")

    assert rotated == Ran(0, f"{SECRET}\n", "")
    assert dry.status == 2
    assert f"+ {OTHER.recipient[:12]}" in dry.out
    assert json.loads(rekeyed.out)["data"]["files"][0]["added"] == [OTHER.recipient]
    assert again.status == 0
    assert "unchanged" in again.out
    assert run(place, "get", SECRET, SOPS_AGE_KEY=OTHER.text.reveal()).status == 0


def test_rekeying_with_some_failures_is_partly_done(place: Path) -> None:
    store_in(place).write(WHOLE, b"a: 1\n")
    (place / WHOLE).write_bytes((place / WHOLE).read_bytes()[:100])

    done = run(place, "rotate")

    assert done.status == 4
    assert "failed" in done.out


def test_status_tells_everything_at_a_glance(place: Path) -> None:
    done = run(place, "status")

    assert done.status == 0
    header, line = done.out.splitlines()
    assert header.split() == ["FILE", "STATE", "DECRYPTABLE", "ENCRYPTED", "FOR"]
    assert line.split()[:3] == [SECRET, "unchanged", "yes"]


def test_status_says_when_bytes_alone_were_compared(place: Path) -> None:
    run(place, "rotate")
    lock = (place / ".stockman/secrets.lock").read_bytes()
    run(place, "rotate")
    (place / ".stockman/secrets.lock").write_bytes(lock)
    assert "unchanged" in run(place, "status").out
    (place / "age.key").unlink()

    done = run(place, "status")

    assert "changed (bytes)" in done.out
    assert "No identity available: file contents were compared, not values." in done.err


def test_changes_from_outside_are_accepted(place: Path) -> None:
    lock = (place / ".stockman/secrets.lock").read_bytes()
    run(place, "set", SECRET, "stringData.token", given="x")
    (place / ".stockman/secrets.lock").write_bytes(lock)
    assert "changed" in run(place, "status").out

    done = run(place, "status", "--accept")

    assert "unchanged" in done.out
    assert "1 entry of the lock file" in done.err


def test_wrong_modes_are_reported_and_fixed(place: Path) -> None:
    (place / "age.key").chmod(0o644)

    warned = run(place, "get", SECRET, "stringData.token")
    fixed = run(place, "status", "--fix")

    assert warned.status == 0
    assert warned.out == f"{CANARY}\n"
    assert "warning[key.mode]" in warned.err
    assert "key.mode" not in fixed.err
    assert stat.S_IMODE((place / "age.key").stat().st_mode) == 0o600


def test_without_an_identity_the_places_looked_at_are_named(place: Path) -> None:
    (place / "age.key").unlink()

    done = run(place, "get", SECRET)

    assert done.status == 1
    assert "error[key.none]" in done.err
    assert "age.key" in done.err
    assert "SOPS_AGE_KEY_FILE" in done.err


@pytest.mark.parametrize("file", ["../x.sops.yaml", "/etc/passwd"])
def test_files_outside_are_refused(place: Path, file: str) -> None:
    done = run(place, "get", file)

    assert done.status == 3
    assert "error[secret.outside]" in done.err


def test_shells_complete_secret_files(place: Path) -> None:
    done = ran_inside(
        _STOCKMAN_COMPLETE="bash_complete",
        COMP_WORDS=f"stockman -C {place} secrets get k",
        COMP_CWORD="5",
        HOME=str(place.parent),
    )

    assert done.out == f"plain,{SECRET}\n"


def test_validate_opens_every_secret_on_request(place: Path) -> None:
    (place / "cluster.yaml").write_text(CLUSTER.format(token="${MISSING}", secret="${OK}"))
    (place / "nodes.yaml").write_text(NODES.replace("file:ssh.key", f"sops:{SECRET}#kind"))
    command = ("-C", str(place), "validate", "--secrets")

    missing = ran_inside(*command, HOME=str(place.parent), OK="x")
    ran = ran_inside(*command, HOME=str(place.parent), OK="x", MISSING=CANARY)

    told = "error[secret.unresolvable]: cloudflare_token cannot be taken from ${MISSING}"
    assert missing.status == 1
    assert missing.err.count("error[") == 1
    assert told in missing.err
    assert ran.status == 0
    assert CANARY not in ran.out + ran.err
