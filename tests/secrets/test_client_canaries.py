"""Commands that work with keys show none of them, and leave them in their own files only."""

import base64
from pathlib import Path
from typing import NamedTuple

import pytest

from stockman.app.secrets_check.known import bundle_secrets
from stockman.app.secrets_check.scanner import KnownSecret, is_searchable
from tests.adapters.repositories import committed
from tests.app.workspaces import committed_workspace
from tests.cli.inside import ran_inside
from tests.cli.running import Ran
from tests.crypto.keys_at_hand import OWNER
from tests.talos.made import bundle

COMMANDS = [
    ("secrets", "check"),
    ("secrets", "check", "-o", "json"),
    ("secrets", "check", "-o", "yaml", "--fix", "--strict"),
    ("secrets", "check", "--max-bytes", "1000"),
    ("secrets", "certs"),
    ("secrets", "certs", "-o", "json"),
    ("config", "talosconfig"),
    ("config", "talosconfig", "--renew", "-o", "json"),
    ("config", "talosconfig", "--merge", "../theirs/config"),
    ("config", "talosconfig", "--merge", "../broken"),
    ("config", "talosconfig", "--role", "os:nobody"),
    ("config", "kubeconfig"),
    ("config", "kubeconfig", "--renew", "-o", "yaml"),
    ("config", "kubeconfig", "--merge", "../theirs/kube"),
    ("config", "kubeconfig", "--merge", "../broken"),
]


def values() -> dict[str, str]:
    """Everything that may be shown nowhere, in pieces that stay in one line."""
    found = {"age identity": OWNER.text.reveal()}
    for name, value in bundle_secrets(bundle()).items():
        if value is not None and is_searchable(KnownSecret(name=name, value=value)):
            lines = [line for line in value.reveal().splitlines() if not line.startswith("-----")]
            found[name] = max(lines, key=len)
            found[f"{name} in base64"] = base64.b64encode(value.reveal().encode()).decode()
    return found


def client_keys(directory: Path) -> dict[str, str]:
    """The keys that were made, as the files hold them."""
    return {
        f"{name} {number}": line.split()[-1]
        for name in ("kubeconfig", "talos/clusterconfig/talosconfig")
        for number, line in enumerate((directory / name).read_text().splitlines())
        if "key" in line.partition(":")[0]
    }


class Meadow(NamedTuple):
    """A workspace in which every secret has leaked, and all commands were run."""

    directory: Path
    runs: dict[str, Ran]


@pytest.fixture(scope="module")
def meadow(tmp_path_factory: pytest.TempPathFactory) -> Meadow:
    path = committed_workspace(tmp_path_factory.mktemp("canaries") / "meadow")
    leaks = "\n".join(values().values())
    committed(path, notes__txt=leaks)
    committed(path, notes__txt="nothing\n", message=leaks)
    (path.parent / "broken").write_text(f"contexts: [{leaks}\n")
    home = str(path.parent)
    runs = {
        " ".join(command): ran_inside("-C", str(path), *command, "--debug", "-vv", HOME=home)
        for command in COMMANDS
    }
    return Meadow(path, runs)


def test_no_command_shows_a_key_unless_it_is_asked_to(meadow: Meadow) -> None:
    hidden = values() | client_keys(meadow.directory)

    shown = [
        (command, name)
        for command, done in meadow.runs.items()
        for name, value in hidden.items()
        if value in done.out + done.err
    ]

    assert shown == []
    assert "leak.value" in meadow.runs["secrets check"].err
    assert "yaml.syntax" in meadow.runs["config kubeconfig --merge ../broken"].err
    assert meadow.runs["config kubeconfig"].status == 0


def test_keys_of_clients_are_in_their_own_files_only(meadow: Meadow) -> None:
    keys = client_keys(meadow.directory)
    top = meadow.directory.parent

    found = {
        str(path.relative_to(top))
        for path in top.rglob("*")
        if path.is_file() and any(key.encode() in path.read_bytes() for key in keys.values())
    }

    assert len(keys) == 2
    assert found == {"meadow/kubeconfig", "meadow/talos/clusterconfig/talosconfig"}


def test_every_file_with_a_key_is_for_its_owner_only(meadow: Meadow) -> None:
    written = [
        meadow.directory / "kubeconfig",
        meadow.directory / "talos/clusterconfig/talosconfig",
    ]
    written += [meadow.directory.parent / "theirs" / name for name in ("config", "kube")]

    assert [path.stat().st_mode & 0o777 for path in written] == [0o600] * 4
