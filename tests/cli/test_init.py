"""`stockman init` on the command line: usage, output, and questions on a terminal."""

import io
import json
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import click
import pytest

from stockman.app.init.directory import InitOptions
from stockman.cli.init.init import request_from_answers
from stockman.cli.terminal.screen import Screen
from stockman.config.presets import PRESETS, SUMMARIES
from stockman.model.errors import WrongUsage
from tests.cli.inside import ran_inside
from tests.cli.running import Ran
from tests.crypto.keys_at_hand import OWNER

SECRETS = ["age.key", "github-deploy.key", "github-deploy.key.pub", "github-push-token.txt"]
NOTHING_GIVEN = dict.fromkeys(
    (
        "preset",
        "dialect",
        "network",
        "cluster_name",
        "repository",
        "domain",
        "proxmox_endpoint",
        "talos_version",
        "hosts",
        "storage",
        "bridge",
        "vlan",
        "gateway",
    )
)


class Terminal(io.StringIO):
    """A terminal with somebody who types, or with somebody who reads."""

    def isatty(self) -> bool:
        return True


def stockman(directory: Path, *arguments: str) -> Ran:
    return ran_inside("-C", str(directory), *arguments)


def asked(typed: str, **given: Any) -> tuple[InitOptions, str]:
    """What a user wants who types this, and what was shown meanwhile."""
    shown = Terminal()
    screen = Screen(Terminal(typed), Terminal(), shown, {"COLUMNS": "100"})
    with click.Context(click.Command("init"), obj=screen):
        init_options = request_from_answers(Path("here"), NOTHING_GIVEN | {"yes": False} | given)
    return init_options, shown.getvalue()


def test_a_start_tells_every_file_and_what_to_do_next(tmp_path: Path) -> None:
    seen = stockman(tmp_path, "init", "my", "--preset", "single")

    assert seen.status == 0
    lines = seen.out.splitlines()
    assert lines[0].split() == ["FILE", "STATE", "DESCRIPTION"]
    assert len(lines) == 13
    assert all(line.split()[1] == "written" for line in lines[1:])
    assert f"`stockman -C {tmp_path / 'my'} validate`" in seen.err
    assert (tmp_path / "my" / "cluster.yaml").is_file()


def test_the_directory_is_the_current_one_unless_named(tmp_path: Path) -> None:
    assert stockman(tmp_path, "init", "--preset", "home").status == 0

    assert (tmp_path / "nodes.yaml").is_file()


def test_a_second_run_keeps_everything(tmp_path: Path) -> None:
    stockman(tmp_path, "init", "--preset", "single")

    seen = stockman(tmp_path, "init", "--preset", "single", "-o", "json")

    files = json.loads(seen.out)["data"]["files"]
    assert {file["state"] for file in files} == {"kept"}


def test_json_lists_the_files_and_says_which_are_secret(tmp_path: Path) -> None:
    seen = stockman(
        tmp_path, "init", "--preset", "three-node", "--network", "127.66.0.0/16", "-o", "json"
    )

    document = json.loads(seen.out)
    assert document["kind"] == "Start"
    data = document["data"]
    assert (data["preset"], data["dialect"], data["dryRun"]) == ("three-node", "classic", False)
    assert [file["path"] for file in data["files"] if file["secret"]] == SECRETS
    assert data["problems"] == []


def test_names_are_those_of_new_files(tmp_path: Path) -> None:
    (tmp_path / "age.key").write_text(f"{OWNER.text.reveal()}\n")

    seen = stockman(tmp_path, "init", "--preset", "single", "-o", "name", "-q")

    names = seen.out.splitlines()
    assert "cluster.yaml" in names
    assert "age.key" not in names
    assert seen.err == ""


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    seen = stockman(tmp_path, "init", "new", "--preset", "single", "--dry-run", "-v")

    assert seen.status == 0
    assert not (tmp_path / "new").exists()
    assert "cluster_name: single" in seen.err
    assert "nothing was written" in seen.err


@pytest.mark.parametrize("verbosity", [(), ("-v", "-v"), ("-o", "json"), ("--debug",)])
def test_key_material_is_in_no_output(tmp_path: Path, verbosity: tuple[str, ...]) -> None:
    first = stockman(tmp_path, "init", "--preset", "fifteen-node", *verbosity)
    second = stockman(tmp_path, "init", "--preset", "fifteen-node", *verbosity)

    shown = first.out + first.err + second.out + second.err
    for name in SECRETS:
        for line in (tmp_path / name).read_text().splitlines():
            assert line not in shown


def test_without_a_terminal_a_preset_has_to_be_named(tmp_path: Path) -> None:
    for options in ((), ("--yes",), ("--network", "127.66.0.0/16")):
        seen = stockman(tmp_path, "init", *options)

        assert (seen.status, seen.out) == (64, "")
        assert "`--preset`" in seen.err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_preset_suggests_the_nearest(tmp_path: Path) -> None:
    seen = stockman(tmp_path, "init", "--preset", "tree-node")

    assert seen.status == 64
    assert "`three-node`" in seen.err


@pytest.mark.parametrize(
    ("network", "says"),
    [
        ("127.66.0.1/16", "the network is 127.66.0.0/16"),
        ("127.66.0.0", "the network is 127.66.0.0/32"),
        ("127.66.0.0/33", "is not an IPv4 network"),
        ("lab", "is not an IPv4 network"),
        ("127.66.0.0/29", "too small"),
        ("10.42.0.0/16", "overlaps"),
    ],
)
def test_a_network_that_does_not_do_is_wrong_usage(tmp_path: Path, network: str, says: str) -> None:
    seen = stockman(tmp_path, "init", "--preset", "single", "--network", network)

    assert (seen.status, seen.out) == (64, "")
    assert says in seen.err
    assert list(tmp_path.iterdir()) == []


def test_options_that_do_not_fit_are_all_shown_with_their_lines(tmp_path: Path) -> None:
    seen = stockman(
        tmp_path,
        "init",
        *("--preset", "single"),
        *("--cluster-name", "No Name"),
        *("--talos-version", "1.2.3"),
    )

    assert seen.status == 64
    assert 'cluster_name: "No Name"' in seen.err or "cluster_name: No Name" in seen.err
    assert "talos_version: 1.2.3" in seen.err
    assert list(tmp_path.iterdir()) == []


def test_an_option_without_a_place_in_the_preset_is_wrong_usage(tmp_path: Path) -> None:
    for option, value in (("--talos-version", "1.13.0"), ("--domain", "example.org")):
        seen = stockman(tmp_path, "init", "--preset", "home", option, value)

        assert seen.status == 64
        assert seen.err.startswith(f"error[init.unused-option]: {option} ")


def test_what_is_refused_leaves_the_work_partly_done(tmp_path: Path) -> None:
    (tmp_path / "github-deploy.key.pub").write_bytes(b"mine\n")

    seen = stockman(tmp_path, "init", "--preset", "single")

    assert seen.status == 4
    assert "warning[init.half-key]" in seen.err


def test_help_names_every_preset(tmp_path: Path) -> None:
    seen = stockman(tmp_path, "init", "--help")

    assert all(name in seen.out for name in PRESETS)


def test_the_defaults_of_all_questions_are_the_preset_itself() -> None:
    wish, shown = asked("\n" * 12)

    assert wish == InitOptions(directory=Path("here"), preset="single")
    assert all(summary in shown for summary in SUMMARIES.values())


def test_every_question_has_a_default_and_an_answer_has_its_place() -> None:
    wish, shown = asked(
        "three-node\n127.66.0.0/16\nlab\nowner/lab\n\na, b,c\nceph\nvmbr7\n44\n127.66.0.2\n"
        "v1.12.3\ny\nexample.org\n"
    )

    assert wish.preset == "three-node"
    assert wish.network == IPv4Network("127.66.0.0/16")
    assert wish.answers.cluster_name == "lab"
    assert wish.answers.repository == "owner/lab"
    assert wish.answers.proxmox_endpoint is None
    assert wish.answers.talos_version == "v1.12.3"
    assert wish.answers.domain == "example.org"
    assert (wish.answers.hosts, wish.answers.storage) == ("a, b,c", "ceph")
    assert (wish.answers.bridge, wish.answers.vlan) == ("vmbr7", "44")
    assert wish.answers.gateway == "127.66.0.2"
    assert "--from-proxmox" in shown.partition("Preset (")[0]
    assert "URL of the Proxmox VE API [https://127.66.0.4:8006]: " in shown


def test_an_answer_that_does_not_fit_is_asked_again_with_the_reason() -> None:
    wish, shown = asked(
        "singel\nsingle\n10.42.0.0/16\n127.66.0.0/30\n127.66.0.1/24\n127.66.0.0/24\n"
        "No Name\nlab\nnothing\n\nftp://x\n\na,b\n\n\nbridge of all\n\n5000\n\nnorth\n\n"
        "1.9.0\n\nmaybe\ny\nlocal\nexample.org\n"
    )

    assert wish.network == IPv4Network("127.66.0.0/24")
    assert wish.answers.cluster_name == "lab"
    for text in (
        "Did you mean single?",
        "overlaps",
        "or larger",
        "the network is 127.66.0.0/24",
        "DNS label",
        "scp-like Git URL",
        "a URL with a host",
        "the preset has 1 hosts",
        "a bridge name",
        "is not between 1 and 4094",
        "an IPv4 address",
        "supports Talos",
        "Please answer y or n.",
        "a host name with a domain",
    ):
        assert text in shown


def test_questions_that_options_answered_are_not_asked() -> None:
    wish, shown = asked(
        "single\n\n\n\n\n\n\n\nn\n",
        network=IPv4Network("127.66.0.0/24"),
        cluster_name="lab",
        repository="owner/lab",
    )

    assert wish.answers.cluster_name == "lab"
    assert "Network" not in shown
    assert "Cluster name" not in shown


def test_a_preset_without_a_cluster_asks_nothing_of_one() -> None:
    wish, shown = asked("home\n\n\n\n")

    assert wish.preset == "home"
    assert "Talos" not in shown.partition("Preset (")[2]
    assert "Cloudflare" not in shown


def test_a_named_preset_asks_nothing() -> None:
    wish, shown = asked("", preset="fifteen-node")

    assert wish.preset == "fifteen-node"
    assert shown == ""


def test_yes_asks_for_the_preset_alone() -> None:
    wish, _ = asked("home\n", yes=True)

    assert wish == InitOptions(directory=Path("here"), preset="home")


def test_ctrl_d_interrupts() -> None:
    with pytest.raises(KeyboardInterrupt):
        asked("single\n")


def test_an_answer_without_a_place_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(WrongUsage):
        asked("home\n", domain="example.org")
