"""talosctl, kubectl and git read what stockman writes for clients, as users do."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stockman.crypto.sops.files import EncryptionInputs, encrypt
from stockman.crypto.sops.selectors import EncryptionSettings
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.secrets.bundle import bundle_text
from tests.app.workspaces import BUNDLE, committed_workspace, workspace
from tests.cli.running import REAL, ran
from tests.config.written import CLUSTER
from tests.crypto.keys_at_hand import OWNER
from tests.real.talos_pki import CLOCK, ENTROPY, bundle, output
from tests.talos.made import bundle as small_bundle
from tools.pytest_plugin import RealTool

TALOSCONFIG = "talos/clusterconfig/talosconfig"
VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
LISTS = ("clusters", "users", "contexts")
OLD_ROLES = [role for role in TalosRole if role.since is None]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace whose bundle is made now, with all its keys."""
    path = workspace(tmp_path / "meadow")
    fresh = EncryptionInputs(now=CLOCK.now(), random_bytes=ENTROPY.random_bytes)
    recipe = EncryptionSettings(recipients=(OWNER.recipient,))
    plain = bundle_text(bundle()).reveal().encode()
    (path / BUNDLE).write_bytes(encrypt(plain, BUNDLE, recipe, fresh))
    return path


def stockman(place: Path, *words: str) -> dict[str, object]:
    done = ran(
        *("-C", str(place), "config", *words, "-o", "json"), program=REAL, HOME=str(place.parent)
    )
    assert done.status == 0, done.err
    data: dict[str, object] = json.loads(done.out)["data"]
    return data


@pytest.mark.parametrize(
    ("version", "role"),
    [
        *((version, TalosRole.ADMIN) for version in VERSIONS),
        *((VERSIONS[-1], role) for role in TalosRole if role is not TalosRole.ADMIN),
    ],
)
def test_talosctl_reads_context_endpoints_nodes_and_roles(
    place: Path, version: str, role: TalosRole, real_tool: RealTool
) -> None:
    stockman(place, "talosconfig", "--role", role.value)

    talosctl = (real_tool(f"talosctl@{version}"), "--talosconfig", place / TALOSCONFIG)
    info = json.loads(output(*talosctl, "config", "info", "--output", "json"))

    assert (info["context"], info["endpoints"]) == ("meadow", ["127.66.0.21"])
    assert (info["nodes"], info["roles"]) == (["127.66.0.21"], [role.value])


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_talosctl_lists_contexts_that_were_merged_into_its_own_file(
    place: Path, version: str, real_tool: RealTool, tmp_path: Path
) -> None:
    talosctl = real_tool(f"talosctl@{version}")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    output(talosctl, "gen", "config", "meadow", "https://127.0.0.1:6443", "--output", theirs)
    mine = theirs / "talosconfig"

    admin = stockman(place, "talosconfig", "--merge", str(mine))
    reader = stockman(place, "talosconfig", "--merge", str(mine), "--role", "os:reader")
    again = stockman(place, "talosconfig", "--merge", str(mine))

    rows = [
        line.split()
        for line in output(talosctl, "--talosconfig", mine, "config", "contexts").splitlines()
    ]
    assert (admin["context"], reader["context"]) == ("meadow-1", "meadow-2")
    assert (again["context"], again["state"]) == ("meadow-1", "unchanged")
    assert [row[:2] for row in rows if row[0] == "*"] == [["*", "meadow-2"]]
    assert {name for row in rows[1:] for name in row if name.startswith("meadow")} == {
        "meadow",
        "meadow-1",
        "meadow-2",
    }


def test_talosctl_rewrites_our_file_byte_for_byte(place: Path, real_tool: RealTool) -> None:
    stockman(place, "talosconfig")
    before = (place / TALOSCONFIG).read_bytes()

    talosctl = (real_tool("talosctl@1.14.1"), "--talosconfig", place / TALOSCONFIG)
    output(*talosctl, "config", "context", "meadow")

    assert (place / TALOSCONFIG).read_bytes() == before


def test_kubectl_reads_a_file_that_was_merged_and_everything_in_it(
    place: Path, real_tool: RealTool, tmp_path: Path
) -> None:
    kubectl, mine = real_tool("kubectl"), tmp_path / "config"
    for words in (
        ("set-cluster", "meadow", "--server=https://127.0.0.9:6443"),
        ("set-credentials", "me", "--exec-command=oidc", "--exec-arg=1", "--exec-arg=yes"),
        ("set-context", "admin@meadow", "--cluster=meadow", "--user=me", "--namespace=wool"),
        ("use-context", "admin@meadow"),
    ):
        output(kubectl, "--kubeconfig", mine, "config", *words)
    before = _viewed(kubectl, mine)

    done = stockman(place, "kubeconfig", "--merge", str(mine))
    after = _viewed(kubectl, mine)

    assert (done["context"], after["current-context"]) == ("admin@meadow-1", "admin@meadow-1")
    assert [len(after[name]) for name in LISTS] == [2, 2, 2]
    assert all(one in after[name] for name in LISTS for one in before[name])
    users = {user["name"]: user["user"] for user in after["users"]}
    contexts = {context["name"]: context["context"] for context in after["contexts"]}
    assert contexts["admin@meadow-1"]["cluster"] == "meadow-1"
    key = users["admin@meadow-1"]["client-key-data"]
    assert b"PRIVATE KEY" in base64.b64decode(key)
    assert stockman(place, "kubeconfig", "--merge", str(mine))["state"] == "unchanged"


def test_kubectl_rewrites_our_file_without_losing_anything(
    place: Path, real_tool: RealTool
) -> None:
    stockman(place, "kubeconfig")
    path = place / "kubeconfig"
    before = yaml.safe_load(path.read_text())

    output(real_tool("kubectl"), "--kubeconfig", path, "config", "use-context", "admin@meadow")

    after = yaml.safe_load(path.read_text())
    assert {name: after[name] for name in before} == before
    assert stockman(place, "kubeconfig")["state"] == "unchanged"


@pytest.mark.parametrize("kind", ["PKCS#8", "DER"])
def test_keys_that_openssl_wrote_in_another_form_are_found(tmp_path: Path, kind: str) -> None:
    path = committed_workspace(tmp_path / "meadow")
    form = ("-outform", "DER") if kind == "DER" else ()
    written = subprocess.run(
        ["openssl", "pkcs8", "-topk8", "-nocrypt", *form],
        input=small_bundle().certs.etcd.key.reveal().encode(),
        capture_output=True,
        check=True,
    )
    (path / "copy").write_bytes(written.stdout)

    done = ran("-C", str(path), "secrets", "check", program=REAL, HOME=str(tmp_path))

    assert done.status == 1
    assert "certs.etcd.key of the secrets bundle stands in copy" in done.err


def test_files_that_sops_made_are_judged_as_it_made_them(
    tmp_path: Path, real_tool: RealTool
) -> None:
    path = committed_workspace(tmp_path / "meadow")
    folder = path / "kubernetes"
    folder.mkdir()
    secret = folder / "secret.sops.yaml"
    secret.write_text("kind: Secret\nmetadata: {name: a}\nstringData: {token: kR7-vX2-pL9-wQ4}\n")
    subprocess.run(
        [real_tool("sops"), "encrypt", "--in-place", "kubernetes/secret.sops.yaml"],
        cwd=path,
        check=True,
        capture_output=True,
    )

    clean = ran("-C", str(path), "secrets", "check", "-o", "json", program=REAL)
    (path / "notes.txt").write_text("kR7-vX2-pL9-wQ4")
    leaked = ran("-C", str(path), "secrets", "check", program=REAL)

    data = json.loads(clean.out)["data"]
    assert (data["clean"], len(data["encrypted"])) == (True, 2)
    assert "stringData.token of kubernetes/secret.sops.yaml stands in notes.txt" in leaked.err


@pytest.mark.parametrize("role", OLD_ROLES, ids=lambda role: role.value)
def test_roles_of_old_contracts_are_given_out(tmp_path: Path, role: TalosRole) -> None:
    cluster = CLUSTER.replace("1.13.9", "1.11.5")
    place = workspace(tmp_path / "meadow", cluster=cluster)

    assert stockman(place, "talosconfig", "--role", role.value)["roles"] == [role.value]


def _viewed(kubectl: Path, path: Path) -> Any:
    text = output(kubectl, "--kubeconfig", path, "config", "view", "--raw", "-o", "json")
    return json.loads(text)
