"""The comparison with a real Proxmox VE asks with GET only, and prints shapes, never values."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.testing.thread import ProxmoxLab

from scripts.compare_with_proxmox import differences, kinds, main


def told(tmp_path: Path, lab: ProxmoxLab) -> int:
    token = tmp_path / "token"
    token.write_text(f"{lab.token_id}={lab.token_secret}\n")
    return main([lab.endpoint, "--token-file", str(token), "--ca", str(lab.ca)])


@pytest.mark.proxmox_lab(preset="home")
def test_the_lab_is_compared_with_itself_and_nothing_is_changed(
    tmp_path: Path, proxmox_lab: ProxmoxLab, capsys: pytest.CaptureFixture[str]
) -> None:
    version = proxmox_lab.world.clusters["pve"].state.cfs_version
    told(tmp_path, proxmox_lab)
    printed = capsys.readouterr()
    assert "calls compared" in printed.err
    assert int(printed.err.split()[0]) > 5
    assert "fun-bedbug" not in printed.out + printed.err
    assert proxmox_lab.world.clusters["pve"].state.cfs_version == version


@pytest.mark.proxmox_lab(preset="home")
def test_a_lab_does_not_differ_from_the_lab(
    tmp_path: Path, proxmox_lab: ProxmoxLab, capsys: pytest.CaptureFixture[str]
) -> None:
    status = told(tmp_path, proxmox_lab)
    assert capsys.readouterr().out == ""
    assert status == 0


@pytest.mark.proxmox_lab(preset="single")
def test_who_is_not_let_in_or_finds_nobody_is_told_so(
    tmp_path: Path, proxmox_lab: ProxmoxLab, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("root@pam!lab=wool\n")
    assert (
        main([proxmox_lab.endpoint, "--token-file", str(token), "--ca", str(proxmox_lab.ca)]) == 2
    )
    assert capsys.readouterr().err == "it does not let this token in\n"
    assert main(["https://127.0.0.1:1", "--token-file", str(token)]) == 2
    assert capsys.readouterr().err.startswith("https://127.0.0.1:1 does not answer: ")


def test_what_the_lab_does_not_know_is_told_by_name_and_kind() -> None:
    mine = dict(seen({"release": "9.1", "wool": 3}))
    lines = list(differences(mine, {}, {"/version.release"}))
    assert lines == ["/version.wool is not known to the lab (number)"]


def test_another_kind_is_told() -> None:
    mine, labs = dict(seen([{"pid": "1"}])), dict(seen([{"pid": 1}]))
    lines = list(differences(mine, labs, set()))
    assert lines == ["/version[].pid is str, and number in the lab"]


def test_numbered_names_are_one() -> None:
    assert dict(seen({"net0": "x", "net1": "y"})) == {"/version.net[n]": {"str"}}


def seen(answer: object) -> dict[str, set[str]]:
    return {place: {kind} for place, kind in kinds(answer, "/version")}
