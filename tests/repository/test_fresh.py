"""`make fresh`: what it runs where, and what it takes along. No system is built here."""

import os
from pathlib import Path

import pytest

from scripts import fresh


def test_somebody_without_root_gets_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(SystemExit) as ended:
        fresh.main()

    assert ended.value.code == 1
    assert capsys.readouterr().err.endswith("run `sudo make fresh`\n")


def test_the_demo_runs_everywhere_and_the_tests_where_they_are_asked_for() -> None:
    demos = [run.system for run in fresh.plan_runs("trixie") if run.command == "make demo"]
    tests = {
        value: [run.system for run in fresh.plan_runs(value) if run.command == "make test"]
        for value in ("", "trixie", "all", "bookworm, testing")
    }

    assert demos == ["bookworm", "trixie", "testing"]
    assert tests == {
        "": [],
        "trixie": ["trixie"],
        "all": ["bookworm", "trixie", "testing"],
        "bookworm, testing": ["bookworm", "testing"],
    }


def test_an_unknown_system_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        fresh.plan_runs("sid")

    assert "FRESH_TESTS names sid: use bookworm, trixie, testing, or all" in capsys.readouterr().err


def test_only_settings_of_downloads_are_passed_on() -> None:
    environment = {"PIP_CERT": "/ca.crt", "HTTPS_PROXY": "http://proxy", "HOME": "/root", "CI": "1"}

    assert fresh.inherit_variables(environment) == {
        "PIP_CERT": "/ca.crt",
        "HTTPS_PROXY": "http://proxy",
    }


def test_one_demo_runs_under_poor_conditions_in_a_folder_with_a_space() -> None:
    (harsh,) = (run for run in fresh.plan_runs("") if run.harsh)

    script = fresh.script_of(harsh, {})

    assert {"LANG=C", "TERM=dumb"} <= set(script)
    assert not any(argument.startswith("HOME=") for argument in script)
    assert script[-1] == "umask 077 && cd '/home/tester/a clone' && exec make demo PRESET=single"


def test_a_recent_system_is_not_built_again(tmp_path: Path) -> None:
    archive = tmp_path / "trixie.tar"
    archive.touch()

    assert fresh.build_system("trixie", tmp_path, Path("/nonexistent/mmdebstrap")) == archive


def test_a_system_that_is_too_old_is_built_again(tmp_path: Path) -> None:
    archive = tmp_path / "testing.tar"
    archive.write_text("old")
    os.utime(archive, (0, 0))
    builder = tmp_path / "mmdebstrap"
    builder.write_text('#!/bin/sh\nfor last; do target=$last; done\necho "$*" >"$target"\n')
    builder.chmod(0o755)

    built = fresh.build_system("testing", tmp_path, builder)

    assert built == archive
    assert "Acquire::Check-Valid-Until" in archive.read_text()
    assert list(tmp_path.glob("*.new.tar")) == []
