"""Secrets that the configuration names: followed, or all reported where they are written."""

import os
from pathlib import Path

import pytest

from stockman.app.rendering.validation import validate
from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets.references import ReferenceContext, ResolvedDesired, resolve_secrets
from stockman.app.secrets.store import SecretStore
from stockman.app.workspace.validation import load_desired
from stockman.crypto.sops.update import NewValue
from stockman.model.origin import Position
from stockman.model.secret import Secret, SecretForm
from tests.app.secret_workspace import NOBODY, PLAIN, SECRET, keyring, store_in
from tests.crypto.keys_at_hand import OTHER

CLUSTER = """\
node_cidr: 127.66.0.0/24
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_gateway_addr: 127.66.0.13
cloudflare_domain: example.com
cloudflare_token: {token}
repository_name: owner/meadow
talos_version: 1.13.9
talos: {{extensions: [siderolabs/qemu-guest-agent]}}
proxmox_endpoint: https://127.66.0.4:8006
proxmox_token_id: stockman@pve!stockman
proxmox_token_secret: {secret}
"""
NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    mac_addr: bc:24:11:00:00:21
    vm: {vmid: 1021, host: pve-a}
hosts:
  pve-a:
    ssh: {key: "file:ssh.key"}
"""
CANARY = "canary-4e1c7a90"


def workspace(directory: Path, token: str, secret: str = "${SECRET}") -> SecretStore:
    store = store_in(directory)
    (directory / "cluster.yaml").write_text(CLUSTER.format(token=token, secret=secret))
    (directory / "nodes.yaml").write_text(NODES)
    (directory / "ssh.key").write_text("line one\nline two\n")
    store.write(SECRET, PLAIN)
    return store


def resolved(directory: Path, keys: Keyring | None = None, **environment: str) -> ResolvedDesired:
    reference_context = ReferenceContext(
        directory=directory,
        keyring=keys or keyring(),
        environment={"SECRET": "from the environment"} | environment,
    )
    return resolve_secrets(load_desired(directory), reference_context)


def token_of(resolved_desired: ResolvedDesired) -> Secret:
    assert resolved_desired.desired.cluster is not None
    assert resolved_desired.desired.cluster.edge.dns_token is not None
    return resolved_desired.desired.cluster.edge.dns_token


def test_every_form_of_reference_is_followed(tmp_path: Path) -> None:
    workspace(tmp_path, f'"sops:{SECRET}#stringData.token"')

    found = resolved(tmp_path)

    assert not found.problems
    assert token_of(found).reveal() == CANARY
    [proxmox] = found.desired.proxmox
    assert proxmox.token_secret is not None
    assert proxmox.token_secret.reveal() == "from the environment"
    key = found.desired.hosts["pve-a"].ssh
    assert key is not None
    assert key.key is not None
    assert key.key.reveal() == "line one\nline two"


def test_encrypted_values_of_the_configuration_are_opened(tmp_path: Path) -> None:
    store = workspace(tmp_path, "${OTHER}")
    store.set_value("cluster.yaml", NewValue(path=("proxmox_token_secret",), value=CANARY))

    found = resolved(tmp_path, OTHER="the other")

    assert not found.problems
    [proxmox] = found.desired.proxmox
    assert proxmox.token_secret is not None
    assert proxmox.token_secret.reveal() == CANARY
    # SOPS encrypted the reference too, which means what it meant before.
    assert token_of(found).reveal() == "the other"


def test_configuration_that_is_encrypted_in_part_is_valid_without_an_identity(
    tmp_path: Path,
) -> None:
    store = workspace(tmp_path, "${OTHER}")
    store.set_value("cluster.yaml", NewValue(path=("proxmox_token_secret",), value=CANARY))

    assert not validate(tmp_path).problems.errors


def test_an_encrypted_value_that_is_no_secret_is_an_error(tmp_path: Path) -> None:
    workspace(tmp_path, "${OTHER}")
    text = (tmp_path / "cluster.yaml").read_text()
    opaque = "ENC[AES256_GCM,data:8kZ,iv:a,tag:b,type:str]"
    (tmp_path / "cluster.yaml").write_text(
        text.replace("1.13.9", opaque).replace(
            "agent]", f"agent], patches: {{all: [{{machine: {{env: {{token: '{opaque}'}}}}}}]}}"
        )
    )

    errors = validate(tmp_path).problems.errors

    assert [problem.code for problem in errors] == ["config.encrypted", "config.encrypted"]
    assert "talos_version" in errors[0].what
    assert "token" in errors[1].what


def test_a_secret_that_looks_like_a_reference_stays_what_it_is(tmp_path: Path) -> None:
    workspace(tmp_path, "${TRAP}")

    token = token_of(resolved(tmp_path, TRAP="file:/etc/passwd"))

    assert token.reveal() == "file:/etc/passwd"
    assert token.form is SecretForm.LITERAL


def test_results_do_not_print(tmp_path: Path) -> None:
    workspace(tmp_path, f'"sops:{SECRET}#stringData.token"')

    found = resolved(tmp_path)

    assert CANARY not in repr(found)
    assert CANARY not in f"{token_of(found)}"


def test_all_that_fails_is_reported_where_it_is_written(tmp_path: Path) -> None:
    workspace(tmp_path, "${MISSING}", "file:none.txt")
    (tmp_path / "ssh.key").write_text("")

    problems = list(resolved(tmp_path).problems)

    assert {problem.code for problem in problems} == {"secret.unresolvable"}
    wheres = [problem.where for problem in problems]
    assert wheres == [
        Position("cluster.yaml", 7, 19),
        Position("cluster.yaml", 13, 23),
        Position("nodes.yaml", 9, 16),
    ]
    assert [problem.what.split()[0] for problem in problems] == [
        "cloudflare_token",
        "proxmox_token_secret",
        "hosts.pve-a.ssh.key",
    ]


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("${EMPTY}", "the variable is empty"),
        ("file:none.txt", "No such file"),
        ("file:.", "Is a directory"),
        ("file:out/../out/secret", "`..` is not allowed"),
        ("file:pipe", "it is no regular file"),
        ("file:/dev/zero", "it is no regular file"),
        (f"sops:{SECRET}#stringData.none", "no value at stringData.none"),
        (f"sops:{SECRET}#stringData", "a mapping"),
        (f"sops:{SECRET}#a..b", "a name in it is empty"),
        ("sops:none.sops.yaml#a", "there is no such file"),
        ("sops:../out.sops.yaml#a", "is not inside this directory"),
        ("sops:out/out.sops.yaml#a", "is not inside this directory"),
        ("sops:nodes.yaml#nodes", "is not encrypted"),
        ("ENC[AES256_GCM,data:8kZ,iv:a,tag:b,type:str]", "is not encrypted"),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(tmp_path: Path, reference: str, why: str) -> None:
    workspace(tmp_path / "in", f'"{reference}"')
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "in" / "pipe")
    store = store_in(tmp_path, rules=(tmp_path / "in" / ".sops.yaml").read_text())
    store.write("talos/out.sops.yaml", b"a: 1\n")
    (tmp_path / "talos/out.sops.yaml").rename(tmp_path / "out.sops.yaml")

    [problem] = resolved(tmp_path / "in", EMPTY="").problems

    assert problem.code == "secret.unresolvable"
    assert why in problem.why
    assert problem.where == Position("cluster.yaml", 7, 19)
    assert problem.fix


@pytest.mark.parametrize("keys", [NOBODY, keyring(OTHER)])
def test_what_cannot_be_opened_is_reported_for_each_reference(
    tmp_path: Path, keys: Keyring
) -> None:
    workspace(tmp_path, f'"sops:{SECRET}#stringData.token"', f'"sops:{SECRET}#stringData.other"')

    problems = list(resolved(tmp_path, keys).problems)

    assert [problem.where for problem in problems] == [
        Position("cluster.yaml", 7, 19),
        Position("cluster.yaml", 13, 23),
    ]
    assert "canary" not in "".join(str(problem) for problem in problems)


def test_a_file_whose_values_were_swapped_gives_no_secret(tmp_path: Path) -> None:
    workspace(tmp_path, f'"sops:{SECRET}#stringData.token"')
    text = (tmp_path / SECRET).read_text().splitlines(keepends=True)
    token = next(line for line in text if "token:" in line)
    other = next(line for line in text if "other:" in line)
    swapped = {
        token: token.replace(token.split(": ", 1)[1], other.split(": ", 1)[1]),
        other: other.replace(other.split(": ", 1)[1], token.split(": ", 1)[1]),
    }
    (tmp_path / SECRET).write_text("".join(swapped.get(line, line) for line in text))

    [problem] = resolved(tmp_path).problems

    assert "changed, moved or damaged" in problem.why


def test_ciphertext_that_was_copied_from_elsewhere_gives_no_secret(tmp_path: Path) -> None:
    store = workspace(tmp_path, "${OTHER}")
    store.set_value("cluster.yaml", NewValue(path=("cloudflare_token",), value=CANARY))
    text = (tmp_path / "cluster.yaml").read_text()
    cipher = next(line for line in text.splitlines() if line.startswith("cloudflare_token"))
    nodes = NODES.replace('"file:ssh.key"', f"'{cipher.split(': ')[1]}'")
    (tmp_path / "nodes.yaml").write_text(nodes)

    [problem] = resolved(tmp_path, OTHER="x").problems

    assert problem.where == Position("nodes.yaml", 9, 16)
    assert "is not encrypted" in problem.why
