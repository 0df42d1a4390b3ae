"""`stockman versions`, as people and as programs call it."""

import json
import socket
from pathlib import Path

import pytest

from stockman.cli import versions
from stockman.cli.edge import run
from stockman.cli.versions import TOPICS
from stockman.model import tables


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["versions", *arguments]) == 0
    return capsys.readouterr().out


def test_outside_a_project_the_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys)

    assert "TALOS" in text
    assert "not pinned" in text


def test_there_is_a_view_for_every_table() -> None:
    assert set(TOPICS) == set(tables.TABLE_NAMES) == set(versions.VIEWS)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_prints_for_people_and_lists_names(
    topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = printed(capsys, topic, "-o", "name").split()
    text = printed(capsys, topic)

    assert names
    assert all(name in text for name in names)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_tells_programs_who_keeps_the_table_and_since_when(
    topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(printed(capsys, topic, "-o", "json"))

    assert document["apiVersion"] == "stockman/v1"
    assert document["data"]["refreshed"] == tables.table_info(topic).refreshed
    assert document["data"]["owner"]
    assert document["data"]["rows"]


def test_the_age_of_the_tables_is_told_beside_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    run(["versions", "talos"])

    assert capsys.readouterr().err.startswith("Tables of 20")


def test_versions_of_the_files_are_shown_beside_the_newest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cluster.yaml").write_text("talos_version: 1.11.5\nkubernetes_version: v1.32.0\n")
    (tmp_path / "nodes.yaml").write_text("nodes: []\n")

    platform = json.loads(printed(capsys, "-o", "json"))["data"]["platform"]

    assert [(one["name"], one["pinned"]) for one in platform] == [
        ("talos", "1.11.5"),
        ("kubernetes", "1.32.0"),
        ("proxmox", None),
    ]
    assert platform[0]["standing"] == "newer exists"


@pytest.mark.parametrize("topic", ["talos", "kubernetes", "proxmox", "extensions"])
def test_online_is_for_charts_only(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["versions", topic, "--online"]) == 64

    assert f"it cannot be combined with {topic}" in capsys.readouterr().err


def test_when_nothing_can_be_reached_every_chart_is_unknown_and_none_current(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{nobody.getsockname()[1]}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)

        text = printed(capsys, "components", "--online", "-o", "json")

    rows = json.loads(text)["data"]["rows"]
    assert {row["standing"] for row in rows} == {"unknown"}
    assert all(row["because"] for row in rows)


def test_a_misspelt_topic_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["versions", "component"]) == 64

    assert "components" in capsys.readouterr().err
