"""`stockman config check` as a user runs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.cli.inside import ran_inside
from tests.cli.running import PATIENCE, REAL, ROOT, clean
from tests.talos.validation.bases import base

BAD = "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: remote\nurl: https://logs.example.com:1\n"


def written(directory: Path, text: str) -> str:
    path = directory / "machine.yaml"
    path.write_text(text)
    return str(path)


def test_a_good_configuration_is_valid(tmp_path: Path) -> None:
    path = written(tmp_path, base("1.13", "worker"))

    done = ran_inside("config", "check", path, "--talos-version", "1.13")

    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{path}: valid for Talos 1.13 in metal mode (")


def test_a_bad_one_is_told_without_its_lines(tmp_path: Path) -> None:
    path = written(tmp_path, BAD)

    done = ran_inside("config", "check", path)

    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "error[machine.url]: url of KmsgLogConfig remote is not a valid URL\n"
        f"  where: {path}:4:6\n"
        "  why:   its scheme is neither tcp nor udp\n"
        "  fix:   use a URL such as tcp://logs.example.com:514\n"
        "\n"
        "1 error\n"
    )


def test_programs_get_every_problem(tmp_path: Path) -> None:
    done = ran_inside("config", "check", written(tmp_path, BAD), "-o", "json")

    document = json.loads(done.out)
    assert (done.status, document["kind"]) == (1, "MachineCheck")
    assert document["data"]["valid"] is False
    assert document["data"]["documents"] == ["KmsgLogConfig remote"]
    assert [problem["code"] for problem in document["data"]["problems"]] == ["machine.url"]


def test_a_dash_reads_stdin() -> None:
    done = subprocess.run(
        [*REAL, "config", "check", "-", "--mode", "cloud"],
        input=base("1.14", "controlplane"),
        capture_output=True,
        encoding="utf-8",
        env=clean(),
        cwd=ROOT,
        timeout=PATIENCE,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("stdin: valid for Talos 1.14 in cloud mode (")


def test_strict_fails_on_what_talos_counts(tmp_path: Path) -> None:
    text = base("1.11", "worker").replace("type: worker", "type: join", 1)
    path = written(tmp_path, text)

    lax, strict = (ran_inside("config", "check", path, *more) for more in ((), ("--strict",)))

    assert (lax.status, strict.status) == (0, 1)
    assert "warning[machine.spelling]" in lax.err
    assert "error[machine.spelling]" in strict.err


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "image.raw"
    path.write_bytes(b"\xff\xfe\x00")

    done = ran_inside("config", "check", str(path))

    assert done.status == 1
    assert "error[machine.unreadable]" in done.err
    assert "why:   byte 0 does not belong to a text in UTF-8" in done.err


def test_a_file_that_does_not_exist_is_wrong_usage(tmp_path: Path) -> None:
    done = ran_inside("config", "check", str(tmp_path / "none.yaml"))

    assert done.status == 64
    assert "Traceback" not in done.err
