"""`stockman init --from-proxmox` over the wire: a lab that answers on loopback addresses."""

import hashlib
import io
import json
import ssl
from pathlib import Path

import click
import pytest
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.testing.thread import ProxmoxLab

from stockman.app.proxmox import TOKEN_ID, TOKEN_SECRET
from stockman.cli.init.proxmox import prompt_login
from stockman.cli.terminal.screen import Screen
from tests.cli.inside import ran_inside
from tests.cli.kept_keys import with_keys
from tests.cli.running import REAL, Ran, on_terminal

ESTATES = [
    pytest.param(
        preset,
        count,
        marks=pytest.mark.proxmox_lab(preset=preset, pve=pve),
        id=f"{preset}-{pve}",
    )
    for preset, count in (("single", 1), ("three-node", 3), ("fifteen-node", 15))
    for pve in ("8.4", "9.1")
]


class Terminal(io.StringIO):
    """A terminal with somebody who types, or with somebody who reads."""

    def isatty(self) -> bool:
        return True


def started(lab: ProxmoxLab, directory: Path, *options: str, **environment: str) -> Ran:
    """A start with the token of the lab, unless the environment names another one."""
    found = environment or {TOKEN_ID: lab.token_id, TOKEN_SECRET: lab.token_secret}
    return ran_inside("init", str(directory), "--from-proxmox", lab.endpoint, *options, **found)


def fingerprint(lab: ProxmoxLab) -> str:
    host, _, port = lab.endpoint.removeprefix("https://").rpartition(":")
    pem = ssl.get_server_certificate((host, int(port)))
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
    return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))


@pytest.mark.parametrize(("preset", "count"), ESTATES)
def test_files_fit_the_hosts_that_answer(
    proxmox_lab: ProxmoxLab, tmp_path: Path, preset: str, count: int
) -> None:
    seen = started(proxmox_lab, with_keys(tmp_path), "--fingerprint", fingerprint(proxmox_lab))
    checked = ran_inside("-C", str(tmp_path), "validate", "-o", "json")
    rendered = ran_inside("-C", str(tmp_path), "render")

    assert (seen.status, rendered.status) == (0, 0), seen.err + rendered.err
    assert f"chosen: preset {preset}," in seen.err
    assert json.loads(checked.out)["data"]["problems"] == []
    assert (tmp_path / "nodes.yaml").read_text().count("  - name: ") == count


def test_the_authority_of_the_hosts_is_kept_beside_the_files(
    proxmox_lab: ProxmoxLab, tmp_path: Path
) -> None:
    started(proxmox_lab, with_keys(tmp_path), "--fingerprint", fingerprint(proxmox_lab))

    assert "ca_file: pve-root-ca.pem" in (tmp_path / "cluster.yaml").read_text()
    assert (tmp_path / "pve-root-ca.pem").read_text() == proxmox_lab.ca.read_text()


def test_a_file_with_the_authority_is_enough(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    path = tmp_path / "given.pem"
    path.write_text(f"{proxmox_lab.ca.read_text()}-----BEGIN PRIVATE KEY-----\nhunter2\n")

    seen = started(proxmox_lab, tmp_path / "k", "--ca-file", str(path))

    assert seen.status == 0, seen.err
    assert (tmp_path / "k" / "pve-root-ca.pem").read_text() == proxmox_lab.ca.read_text()


def test_a_file_without_a_certificate_is_refused(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    path = tmp_path / "given.pem"
    path.write_text("nothing\n")

    seen = started(proxmox_lab, tmp_path / "k", "--ca-file", str(path))

    assert seen.status == 64
    assert "error[proxmox.authority]" in seen.err


def test_nothing_is_written_to_proxmox_and_no_secret_into_files(
    proxmox_lab: ProxmoxLab, tmp_path: Path
) -> None:
    lab = proxmox_lab
    started(lab, with_keys(tmp_path), "--fingerprint", fingerprint(lab))

    state = next(iter(lab.world.clusters.values())).state
    assert (state.guests, state.tasks) == ({}, {})
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert all(lab.token_secret.encode() not in content for content in written)


def test_a_certificate_that_nobody_vouched_for_is_shown_and_refused(
    proxmox_lab: ProxmoxLab, tmp_path: Path
) -> None:
    seen = started(proxmox_lab, tmp_path / "k", "--yes")

    assert seen.status == 3
    assert "error[init.untrusted]" in seen.err
    assert f"`--fingerprint {fingerprint(proxmox_lab)}`" in seen.err
    assert not (tmp_path / "k").exists()


def test_a_certificate_can_be_confirmed_on_a_terminal(
    proxmox_lab: ProxmoxLab, tmp_path: Path
) -> None:
    lab = proxmox_lab
    seen = on_terminal(
        *("-C", str(tmp_path), "init", "--from-proxmox", lab.endpoint),
        typed="y\n",
        after="Do the fingerprints match?",
        program=REAL,
        PROXMOX_TOKEN_ID=lab.token_id,
        PROXMOX_TOKEN_SECRET=lab.token_secret,
    )

    assert seen.status == 0, seen.out
    assert fingerprint(lab) in seen.out
    assert (tmp_path / "pve-root-ca.pem").is_file()


def test_another_certificate_than_the_pinned_one_gets_no_token(
    proxmox_lab: ProxmoxLab, tmp_path: Path
) -> None:
    seen = started(proxmox_lab, tmp_path / "k", "--fingerprint", ":".join(["AB"] * 32))

    assert seen.status == 3
    assert "error[proxmox.certificate]" in seen.err


def test_a_wrong_token_is_not_let_in(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    lab = proxmox_lab
    wrong = {TOKEN_ID: lab.token_id, TOKEN_SECRET: "00000000-0000-4000-8000-000000000000"}

    seen = started(lab, tmp_path / "k", "--fingerprint", fingerprint(lab), **wrong)

    assert seen.status == 1
    assert "error[proxmox.authentication]" in seen.err
    assert not (tmp_path / "k").exists()


def test_a_user_with_a_password_may_look_too(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    lab = proxmox_lab

    def make() -> None:
        root = MemoryClient(lab.world, next(iter(lab.world.clusters)))
        root.post("/access/users", userid="ada@pve", password="hunter2-hunter2")
        root.put("/access/acl", path="/", roles="PVEAuditor", users="ada@pve")

    lab.run(make)
    ada = {"PROXMOX_VE_USERNAME": "ada@pve", "PROXMOX_VE_PASSWORD": "hunter2-hunter2"}

    seen = started(lab, with_keys(tmp_path), "--fingerprint", fingerprint(lab), **ada)

    assert seen.status == 0, seen.err
    assert "proxmox_token_id: stockman@pve!stockman\n" in (tmp_path / "cluster.yaml").read_text()


def test_the_role_of_an_auditor_is_enough_and_less_is_named(
    proxmox_lab: ProxmoxLab, tmp_path: Path
) -> None:
    lab = proxmox_lab
    root = MemoryClient(lab.world, next(iter(lab.world.clusters)))
    lab.run(lambda: root.post("/access/users", userid="ada@pve"))
    token = lab.run(lambda: root.post("/access/users/ada@pve/token/look", privsep=0))
    assert isinstance(token, dict)
    lab.run(lambda: root.put("/access/acl", path="/nodes", roles="PVEAuditor", users="ada@pve"))
    ada = {TOKEN_ID: "ada@pve!look", TOKEN_SECRET: str(token["value"])}

    before = started(lab, tmp_path / "k", "--fingerprint", fingerprint(lab), **ada)
    lab.run(lambda: root.put("/access/acl", path="/", roles="PVEAuditor", users="ada@pve"))
    after = started(lab, tmp_path / "k", "--fingerprint", fingerprint(lab), **ada)

    assert (before.status, after.status) == (1, 0), after.err
    assert "error[proxmox.denied]: the token ada@pve!look lacks Sys.Audit on /\n" in before.err


def test_without_anybody_who_asks_there_is_no_look(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    lab = proxmox_lab
    seen = started(lab, tmp_path / "k", "--fingerprint", fingerprint(lab), LANG="C.UTF-8")

    assert seen.status == 64
    assert "error[init.no-credentials]" in seen.err


def test_what_the_user_decided_is_in_the_files(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    lab = proxmox_lab
    decided = ("--preset", "single", "--network", "127.66.8.0/24", "--gateway", "127.66.8.254")
    named = ("--cluster-name", "meadow", "--repository", "owner/meadow")

    seen = started(lab, with_keys(tmp_path), "--fingerprint", fingerprint(lab), *decided, *named)

    cluster = (tmp_path / "cluster.yaml").read_text()
    assert seen.status == 0, seen.err
    assert "node_cidr: 127.66.8.0/24\nnode_default_gateway: 127.66.8.254\n" in cluster
    assert "cluster_name: meadow\n" in cluster
    assert "repository_name: owner/meadow\n" in cluster
    assert "  - name: meadow-1\n    address: 127.66.8.11\n" in (tmp_path / "nodes.yaml").read_text()


def test_the_other_dialect_is_written_too(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    lab = proxmox_lab
    seen = started(lab, tmp_path, "--fingerprint", fingerprint(lab), "--dialect", "toml")

    assert seen.status == 0, seen.err
    assert ran_inside("-C", str(tmp_path), "validate").status == 0


def test_a_dry_run_looks_and_writes_nothing(proxmox_lab: ProxmoxLab, tmp_path: Path) -> None:
    lab = proxmox_lab
    seen = started(
        lab, tmp_path / "k", "--fingerprint", fingerprint(lab), "--dry-run", "-o", "json"
    )

    assert seen.status == 0, seen.err
    assert json.loads(seen.out)["data"]["preset"] == "three-node"
    assert not (tmp_path / "k").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--from-proxmox", "https://127.0.0.1:1", "--preset", "home"), "--from-proxmox"),
        (
            ("--from-proxmox", "https://127.0.0.1:1", "--proxmox-endpoint", "x"),
            "--proxmox-endpoint",
        ),
        (("--from-proxmox", "https://127.0.0.1:1", "--storage", "x"), "--storage"),
        (("--preset", "single", "--fingerprint", "AB"), "--fingerprint"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, options: tuple[str, ...], text: str
) -> None:
    seen = ran_inside("init", str(tmp_path / "k"), *options)

    assert seen.status == 64
    assert f"error[init.unused-option]: {text} cannot be used here" in seen.err


def test_an_address_without_tls_gets_no_token(tmp_path: Path) -> None:
    seen = ran_inside("init", str(tmp_path / "k"), "--from-proxmox", "http://127.0.0.1:8006")

    assert "error[proxmox.address]" in seen.err


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    seen = ran_inside("init", str(tmp_path / "k"), "--from-proxmox", "https://127.0.0.1:1")

    assert seen.status == 1
    assert "error[proxmox.unreachable]" in seen.err


def test_who_asks_can_be_typed_and_is_not_shown() -> None:
    shown = Terminal()
    screen = Screen(Terminal("ops@pve!look\nhunter2\n"), Terminal(), shown, {})

    with click.Context(click.Command("init"), obj=screen):
        asker = prompt_login()

    assert (asker.user, asker.secret.reveal()) == ("ops@pve!look", "hunter2")
    assert asker.token_id == "ops@pve!look"
    assert "hunter2" not in shown.getvalue()
