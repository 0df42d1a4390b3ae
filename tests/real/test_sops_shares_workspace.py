"""A workspace of ours in the hands of the real `sops`: either goes on where the other stopped."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from stockman.crypto.age.identities import AgeIdentity
from stockman.rendering.sops_rules import sops_config_text
from tests.cli.inside import ran_inside
from tests.cli.running import Ran
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM
from tools.pytest_plugin import RealTool

SECRET = "kubernetes/secret.sops.yaml"
BUNDLE = "talos/talsecret.sops.yaml"
PRINTER = (
    "import os, sys; key = open(sys.argv[1] + os.environ['SOPS_AGE_RECIPIENT'][-9:]);"
    " sys.stdout.write(key.read()); key.close()"
)
"""A key command: prints the key of the recipient it is asked for."""


class Workspace:
    """A directory that stockman and sops work in by turns."""

    def __init__(self, sops: Path, directory: Path) -> None:
        self._sops = sops
        self.directory = directory / "in"
        self.directory.mkdir()
        self.keys: dict[str, str] = {}
        """Variables that say where keys are."""
        self._home = directory
        self.hold(OWNER)
        self.follow(OWNER.recipient)

    def hold(self, *identities: AgeIdentity) -> None:
        path = self.directory / "age.key"
        path.write_text("".join(f"{identity.text.reveal()}\n" for identity in identities))
        path.chmod(0o600)
        self.keys = {"SOPS_AGE_KEY_FILE": str(path)}

    def follow(self, *recipients: str) -> None:
        text = sops_config_text("classic", ",".join(recipients))
        (self.directory / ".sops.yaml").write_text(text)

    def ours(self, *arguments: str, given: str = "", **more: str) -> Ran:
        variables = {"HOME": str(self._home), **self.keys, **more}
        return ran_inside("-C", str(self.directory), *arguments, typed=given, **variables)

    def theirs(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._sops, *arguments],
            cwd=self.directory,
            env={"PATH": os.environ["PATH"], "HOME": str(self._home), **self.keys, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    def agreed(self, file: str = SECRET) -> str:
        """What both read in a file."""
        theirs = self.theirs("decrypt", "--output-type", "json", file)
        ours = self.ours("secrets", "get", file)
        assert theirs.returncode == ours.status == 0, (theirs.stderr, ours.err)
        again = self.theirs("decrypt", file).stdout
        assert again.split() == ours.out.split()
        return ours.out


@pytest.fixture
def workspace(real_tool: RealTool, tmp_path: Path) -> Workspace:
    made = Workspace(real_tool("sops"), tmp_path)
    made.ours("secrets", "set", SECRET, "stringData.token", given="wool")
    return made


def test_sops_opens_what_set_edit_and_rotate_wrote(workspace: Workspace) -> None:
    assert workspace.agreed() == "stringData:\n  token: wool\n"

    workspace.ours("secrets", "set", SECRET, 'stringData["tls.crt"]', given="a\nb\n")
    assert "tls.crt" in workspace.agreed()
    workspace.ours("secrets", "edit", SECRET, EDITOR="sed -i s/wool/fleece/")
    assert "fleece" in workspace.agreed()
    before = (workspace.directory / SECRET).read_text()
    assert workspace.ours("secrets", "rotate").status == 0
    assert "fleece" in workspace.agreed()
    assert (workspace.directory / SECRET).read_text() != before


def test_we_open_what_sops_set_edited_and_rotated(workspace: Workspace) -> None:
    assert workspace.theirs("set", SECRET, '["stringData"]["user"]', '"Dolly"').returncode == 0
    assert "user: Dolly" in workspace.agreed()
    edited = workspace.theirs("edit", SECRET, SOPS_EDITOR="sed -i s/Dolly/Shaun/")
    assert edited.returncode == 0, edited.stderr
    assert "user: Shaun" in workspace.agreed()
    assert workspace.theirs("rotate", "--in-place", SECRET).returncode == 0
    assert workspace.ours("secrets", "get", SECRET, "stringData.user").out == "Shaun\n"


def test_status_tells_values_that_sops_changed_from_those_it_kept(workspace: Workspace) -> None:
    workspace.theirs("rotate", "--in-place", SECRET)
    assert " unchanged " in workspace.ours("secrets", "status").out

    workspace.theirs("set", SECRET, '["stringData"]["token"]', '"cotton"')
    assert " changed " in workspace.ours("secrets", "status").out
    assert " unchanged " in workspace.ours("secrets", "status", "--accept").out


def test_rekeying_and_updatekeys_agree(workspace: Workspace) -> None:
    workspace.follow(OWNER.recipient, OTHER.recipient)
    assert workspace.ours("secrets", "rekey", "--dry-run").status == 2
    assert workspace.ours("secrets", "rekey").status == 0
    same = workspace.theirs("updatekeys", "--yes", SECRET)
    assert "already up to date" in same.stderr + same.stdout
    workspace.hold(OTHER)
    assert workspace.agreed()

    workspace.follow(QUANTUM.recipient)
    assert workspace.theirs("updatekeys", "--yes", SECRET).returncode == 0
    workspace.hold(QUANTUM)
    assert workspace.agreed()
    assert workspace.ours("secrets", "rekey", "--dry-run").status == 0


def test_both_encrypt_new_files_by_the_same_rules(workspace: Workspace) -> None:
    for name, plain in {
        "talos/extra.sops.yaml": "a: 1\nb: x\n",
        "bootstrap/key.sops.yml": "kind: Secret\ndata:\n  a: b\n",
        "cluster.yaml": "cluster_name: flock\ncloudflare_token: wool\nlock:\n  secret_key: x\n",
    }.items():
        path = workspace.directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(plain)
        assert workspace.theirs("encrypt", "--in-place", name).returncode == 0
        theirs = path.read_text()
        path.write_text(plain)
        workspace.ours("secrets", "set", name, "--from-file", str(path))
        ours = path.read_text()

        assert shape(ours) == shape(theirs)
        assert workspace.agreed(name) == plain


def shape(text: str) -> list[str]:
    """The lines of a file without what differs each time."""
    return [
        line.split("ENC[")[0].split("lastmodified")[0]
        for line in text.splitlines()
        if not line.startswith(" " * 8)
    ]


def test_the_bundle_that_init_makes_opens(real_tool: RealTool, tmp_path: Path) -> None:
    workspace = Workspace(real_tool("sops"), tmp_path)
    (workspace.directory / ".sops.yaml").unlink()
    for dialect, name in (("classic", BUNDLE), ("toml", "talos/secrets.sops.yaml")):
        target = tmp_path / dialect
        ran_inside("init", str(target), "--preset", "single", "--dialect", dialect)
        workspace.directory = target
        workspace.keys = {"SOPS_AGE_KEY_FILE": str(target / "age.key")}

        assert "k8sserviceaccount:" in workspace.agreed(name)


KEY = OWNER.text.reveal()
BOTH = f"{OTHER.text.reveal()} {KEY}"


@pytest.mark.parametrize(
    ("variables", "opens"),
    [
        ({"SOPS_AGE_KEY": KEY}, True),
        ({"SOPS_AGE_KEY": BOTH}, True),
        ({"SOPS_AGE_KEY": f"# x\n\n{KEY}\r\n"}, True),
        ({"SOPS_AGE_KEY": f" {KEY}"}, True),
        ({"SOPS_AGE_KEY": ""}, False),
        ({"SOPS_AGE_KEY": "nonsense"}, False),
        ({"SOPS_AGE_KEY": OTHER.text.reveal()}, False),
        ({"SOPS_AGE_KEY_FILE": "two.txt"}, True),
        ({"SOPS_AGE_KEY_FILE": "one-line.txt"}, False),
        ({"SOPS_AGE_KEY_FILE": "indented.txt"}, False),
        ({"SOPS_AGE_KEY_FILE": "none.txt"}, False),
        ({"SOPS_AGE_KEY_FILE": "none.txt", "SOPS_AGE_KEY": KEY}, True),
        ({"SOPS_AGE_KEY_FILE": "one-line.txt", "SOPS_AGE_KEY": KEY}, True),
        ({"SOPS_AGE_KEY_FILE": "other.txt", "SOPS_AGE_KEY": KEY}, True),
        ({"SOPS_AGE_KEY_CMD": "cat two.txt"}, True),
        ({"SOPS_AGE_KEY_CMD": "'cat' \"two.txt\""}, True),
        ({"SOPS_AGE_KEY_CMD": f"{sys.executable} -c {shlex.quote(PRINTER)} key-"}, True),
        ({"SOPS_AGE_KEY_CMD": "cat one-line.txt"}, False),
        ({"SOPS_AGE_KEY_CMD": "cat two.txt | head"}, False),
        ({"SOPS_AGE_KEY_CMD": "false"}, False),
        ({"SOPS_AGE_KEY_CMD": "no-such-program"}, False),
        ({"SOPS_AGE_KEY_CMD": "false", "SOPS_AGE_KEY": KEY}, True),
        ({"XDG_CONFIG_HOME": "{directory}/config"}, True),
        ({"HOME": "{directory}/home"}, True),
        ({"HOME": "{directory}/home", "XDG_CONFIG_HOME": "{directory}/empty"}, False),
        ({}, False),
    ],
)
def test_keys_are_found_where_sops_finds_them(
    workspace: Workspace, variables: dict[str, str], opens: bool
) -> None:
    directory = workspace.directory
    (directory / "age.key").unlink()
    for name, text in {
        "two.txt": f"# one\n{OTHER.text.reveal()}\n\n# two\n{KEY}\n",
        "one-line.txt": BOTH,
        "indented.txt": f"  {KEY}\n",
        "other.txt": OTHER.text.reveal(),
        f"key-{OWNER.recipient[-9:]}": KEY,
        "config/sops/age/keys.txt": KEY,
        "home/.config/sops/age/keys.txt": KEY,
    }.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    workspace.keys = {
        name: text.replace("{directory}", str(directory)) for name, text in variables.items()
    }

    theirs = workspace.theirs("decrypt", SECRET)
    ours = workspace.ours("secrets", "get", SECRET)

    assert (theirs.returncode == 0) is opens, theirs.stderr
    assert (ours.status == 0) is opens, ours.err
