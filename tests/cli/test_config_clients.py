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
def directory(tmp_path: Path) -> Path:
    return workspace(tmp_path / "meadow")


def run(directory: Path, *text: str, **environment: str) -> Ran:
    home = {"HOME": str(directory.parent), **environment}
    return ran_inside("-C", str(directory), "config", *text, **home)


def key_in(kind: str, text: str) -> str:
    count = re.search(KEYS[kind], text)
    assert count is not None
    return count[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_written_once_and_its_key_is_not_shown(directory: Path, kind: str) -> None:
    first = run(directory, kind, "-vv", "--debug")
    again = run(directory, kind, "-o", "json")

    path = directory / FILES[kind]
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
def test_only_stdout_shows_the_key_and_nothing_is_written(directory: Path, kind: str) -> None:
    done = run(directory, kind, "--stdout", "--ttl", "8h")

    assert (done.status, done.err) == (0, "")
    assert "PRIVATE KEY" in base64.b64decode(key_in(kind, done.out)).decode()
    assert not (directory / FILES[kind]).exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [("--renew",), ("--merge", "x")])
def test_printing_and_writing_do_not_go_together(
    directory: Path, kind: str, texts: tuple[str, ...]
) -> None:
    done = run(directory, kind, "--stdout", *texts)

    assert (done.status, done.out) == (64, "")
    assert texts[0] in done.err


@pytest.mark.parametrize("kind", KINDS)
def test_merging_and_renewing(directory: Path, kind: str) -> None:
    target = str(directory.parent / "mine")

    states = [
        json.loads(run(directory, kind, "--merge", target, *more, "-o", "json").out)["data"][
            "state"
        ]
        for more in ((), (), ("--renew",))
    ]

    assert states == ["written", "unchanged", "renewed"]
    assert not (directory / FILES[kind]).exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ttl", ["5x", "1s", "", "-3h", "99999999h", "1.5h"])
def test_a_life_of_no_length_is_wrong_usage(directory: Path, kind: str, ttl: str) -> None:
    assert run(directory, kind, "--ttl", ttl).status == 64


def test_roles_are_words_that_talos_knows(directory: Path) -> None:
    wrong = run(directory, "talosconfig", "--role", "os:redaer")
    right = run(directory, "talosconfig", "--role", "os:reader", "--role", "os:etcd:backup")

    assert wrong.status == 64
    assert "did you mean `os:reader`?" in wrong.err
    assert "roles:   os:etcd:backup, os:reader" in right.out


def test_a_role_that_the_contract_does_not_know_is_refused(directory: Path) -> None:
    text = (directory / "cluster.yaml").read_text()
    (directory / "cluster.yaml").write_text(text.replace("1.13.9", "1.12.1"))

    done = run(directory, "talosconfig", "--role", "os:meta:writer")

    assert (done.status, done.out) == (3, "")
    assert "error[talos.unknown-role]: Talos 1.12 has no role os:meta:writer" in done.err


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_key_or_a_bundle_the_reason_is_told(directory: Path, kind: str) -> None:
    (directory / "age.key").rename(directory.parent / "age.key")
    assert "error[key.none]" in run(directory, kind).err
    assert run(directory, kind, SOPS_AGE_KEY_FILE=str(directory.parent / "age.key")).status == 0

    (directory / BUNDLE).unlink()
    assert "error[bundle.absent]" in run(directory, kind, "--renew").err
