"""`stockman config talosconfig` and `config kubeconfig` as a user runs them."""

import base64
import json
import re
from pathlib import Path

import pytest

from tests.app.workspaces import BUNDLE, workspace
from tests.cli.inside import ran_inside
from tests.cli.running import Ran

FILES = {"talosconfig": "talos/clusterconfig/talosconfig", "kubeconfig": "kubeconfig"}
KEYS = {"talosconfig": r"\bkey: (\S+)", "kubeconfig": r"client-key-data: (\S+)"}
KINDS = list(FILES)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return workspace(tmp_path / "meadow")


def run(place: Path, *words: str, **environment: str) -> Ran:
    home = {"HOME": str(place.parent), **environment}
    return ran_inside("-C", str(place), "config", *words, **home)


def key_in(kind: str, text: str) -> str:
    found = re.search(KEYS[kind], text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_written_once_and_its_key_is_not_shown(place: Path, kind: str) -> None:
    first = run(place, kind, "-vv", "--debug")
    again = run(place, kind, "-o", "json")

    path = place / FILES[kind]
    assert (first.status, first.err) == (0, "")
    assert first.out.startswith(f"Wrote {FILES[kind]}\n")
    data = json.loads(again.out)["data"]
    assert (data["state"], data["file"], data["days_left"]) == ("unchanged", FILES[kind], 364)
    assert path.stat().st_mode & 0o777 == 0o600
    key = key_in(kind, path.read_text())
    shown = first.out + first.err + again.out + again.err
    assert key not in shown
    assert all(line not in shown for line in base64.b64decode(key).decode().splitlines()[1:-1])


@pytest.mark.parametrize("kind", KINDS)
def test_only_stdout_shows_the_key_and_nothing_is_written(place: Path, kind: str) -> None:
    done = run(place, kind, "--stdout", "--ttl", "8h")

    assert (done.status, done.err) == (0, "")
    assert "PRIVATE KEY" in base64.b64decode(key_in(kind, done.out)).decode()
    assert not (place / FILES[kind]).exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", [("--renew",), ("--merge", "x")])
def test_printing_and_writing_do_not_go_together(
    place: Path, kind: str, other: tuple[str, ...]
) -> None:
    done = run(place, kind, "--stdout", *other)

    assert (done.status, done.out) == (64, "")
    assert other[0] in done.err


@pytest.mark.parametrize("kind", KINDS)
def test_merging_and_renewing(place: Path, kind: str) -> None:
    target = str(place.parent / "mine")

    states = [
        json.loads(run(place, kind, "--merge", target, *more, "-o", "json").out)["data"]["state"]
        for more in ((), (), ("--renew",))
    ]

    assert states == ["written", "unchanged", "renewed"]
    assert not (place / FILES[kind]).exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ttl", ["5x", "1s", "", "-3h", "99999999h", "1.5h"])
def test_a_life_of_no_length_is_wrong_usage(place: Path, kind: str, ttl: str) -> None:
    assert run(place, kind, "--ttl", ttl).status == 64


def test_roles_are_words_that_talos_knows(place: Path) -> None:
    wrong = run(place, "talosconfig", "--role", "os:redaer")
    right = run(place, "talosconfig", "--role", "os:reader", "--role", "os:etcd:backup")

    assert wrong.status == 64
    assert "did you mean `os:reader`?" in wrong.err
    assert "roles:   os:etcd:backup, os:reader" in right.out


def test_a_role_that_the_contract_does_not_know_is_refused(place: Path) -> None:
    text = (place / "cluster.yaml").read_text()
    (place / "cluster.yaml").write_text(text.replace("1.13.9", "1.12.1"))

    done = run(place, "talosconfig", "--role", "os:meta:writer")

    assert (done.status, done.out) == (3, "")
    assert "error[talos.unknown-role]: Talos 1.12 has no role os:meta:writer" in done.err


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_key_or_a_bundle_the_reason_is_told(place: Path, kind: str) -> None:
    (place / "age.key").rename(place.parent / "age.key")
    assert "error[key.none]" in run(place, kind).err
    assert run(place, kind, SOPS_AGE_KEY_FILE=str(place.parent / "age.key")).status == 0

    (place / BUNDLE).unlink()
    assert "error[bundle.absent]" in run(place, kind, "--renew").err
