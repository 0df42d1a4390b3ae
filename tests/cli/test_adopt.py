"""`stockman adopt` on the command line: what it refuses before it asks anybody."""

from pathlib import Path

from tests.cli.inside import ran_inside
from tests.cli.running import Ran

URL = "https://127.0.0.1:1"


def adopt(directory: Path, *more: str, **environment: str) -> Ran:
    texts = ("adopt", "--proxmox", URL, "--fingerprint", "ab" * 32, "--out", str(directory), *more)
    return ran_inside(*texts, HOME=str(directory.parent), **environment)


def test_files_that_are_there_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.mkdir()
    (path / "cluster.yaml").write_text("mine\n")

    seen = adopt(path)

    assert seen.status == 1
    assert "error[adopt.exists]: cluster.yaml is there already" in seen.err


def test_without_a_token_and_a_terminal_it_says_how_to_give_one(tmp_path: Path) -> None:
    seen = adopt(tmp_path / "mine")

    assert seen.status == 64
    assert "PROXMOX_TOKEN_ID" in seen.err


def test_a_talosconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    token = {"PROXMOX_TOKEN_ID": "a@pve!b", "PROXMOX_TOKEN_SECRET": "canary"}

    seen = adopt(tmp_path / "mine", **token)

    assert seen.status == 3
    assert "error[adopt.talosconfig]" in seen.err
    assert str(tmp_path / ".talos" / "config") in seen.err
    assert "canary" not in seen.out + seen.err
    assert not (tmp_path / "mine").exists()


def test_it_cannot_be_used_without_an_address_of_proxmox() -> None:
    seen = ran_inside("adopt")

    assert seen.status == 64
    assert "--proxmox" in seen.err
