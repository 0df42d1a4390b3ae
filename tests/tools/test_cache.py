import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.machine import TIMEOUT_SECONDS, Gate, Machine
from tools.cache import Cache, default_root
from tools.errors import ToolError
from tools.recipe import GoCheck, GoModule, GoProgram, Program

MODULE = GoModule(path="example.org/thing", version="v1.2.3")
PROGRAM = Program(name="thing", version="1.2.3", recipe=GoProgram(source=MODULE))


def entry(program: Program) -> Path:
    return Cache(Path("/cache")).executable(program)


def test_the_place_names_program_and_version() -> None:
    assert str(entry(PROGRAM)).startswith("/cache/programs/thing/1.2.3-")
    assert entry(PROGRAM).name == "thing"


@pytest.mark.parametrize(
    "recipe",
    [
        GoProgram(source=MODULE, package="./cmd/thing"),
        GoProgram(source=MODULE, ldflags=("-X main.version=1",)),
        GoProgram(source=replace(MODULE, replaces=("a=b@v1",))),
        GoProgram(source=replace(MODULE, local_replaces="v1.2.3")),
    ],
)
def test_another_recipe_is_another_place(recipe: GoProgram) -> None:
    assert entry(replace(PROGRAM, recipe=recipe)) != entry(PROGRAM)


def test_another_version_is_another_place() -> None:
    assert entry(replace(PROGRAM, version="1.2.4")) != entry(PROGRAM)


def test_being_core_is_no_other_place() -> None:
    assert entry(replace(PROGRAM, core=True)) == entry(PROGRAM)


def test_a_check_program_is_kept_under_its_own_source_text() -> None:
    first, second = (
        replace(PROGRAM, recipe=GoProgram(source=GoCheck(file=file, requires=("a@v1",))))
        for file in ("schematic.go", "machinery.go")
    )

    assert entry(first) != entry(second)


def test_the_cache_is_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("STOCKMAN_TOOLS", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_root() == tmp_path / ".cache" / "stockman" / "tools"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_root() == tmp_path / "xdg" / "stockman" / "tools"

    monkeypatch.setenv("STOCKMAN_TOOLS", str(tmp_path / "mine"))
    assert default_root() == tmp_path / "mine"


def test_a_failed_build_leaves_nothing_that_looks_finished(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def build() -> None:
        with cache.publish(PROGRAM) as publish:
            (publish / "thing").write_text("half")
            raise ToolError("no more")

    with pytest.raises(ToolError):
        build()

    assert not cache.executable(PROGRAM).exists()
    assert list((tmp_path / "programs" / "thing").iterdir()) == []


def test_a_program_appears_only_when_it_is_finished(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    with cache.publish(PROGRAM) as publish:
        (publish / "thing").write_text("whole")
        assert not cache.executable(PROGRAM).exists()

    assert cache.executable(PROGRAM).read_text() == "whole"
    assert [*(tmp_path / "programs" / "thing").iterdir()] == [cache.executable(PROGRAM).parent]


def test_a_source_copy_without_its_marker_is_made_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    half = tmp_path / "sources" / "thing"
    half.mkdir(parents=True)
    (half / "leftover").touch()

    source = cache.stage("thing", lambda directory: (directory / "file").touch(), lambda: None)

    assert source == half
    assert [path.name for path in source.iterdir()] == ["file"]


def test_a_source_copy_with_its_marker_is_used_as_it_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    fillings: list[Path] = []

    cache.stage("thing", fillings.append, lambda: None)
    cache.stage("thing", fillings.append, lambda: None)

    assert len(fillings) == 1


def test_a_distrusted_source_copy_is_made_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    fillings: list[Path] = []

    cache.stage("thing", fillings.append, lambda: None)
    cache.invalidate("thing")
    cache.stage("thing", fillings.append, lambda: None)

    assert len(fillings) == 2


def test_two_processes_build_a_program_once(machine: Machine, gate: Gate) -> None:
    with machine.start("path", "cue", FAKE_GO_GATE=str(gate.root)) as first:
        gate.await_start()
        with machine.start("path", "cue") as second:
            assert second.stderr
            line = second.stderr.readline()
            gate.let_through()
            paths = {process.communicate(timeout=TIMEOUT_SECONDS)[0] for process in (first, second)}

    assert line.endswith("cue: another process is building it; waiting\n")
    assert (first.returncode, second.returncode) == (0, 0)
    assert len(paths) == 1
    assert len(machine.calls("build")) == 1


def test_two_processes_build_different_programs_side_by_side(machine: Machine, gate: Gate) -> None:
    with machine.start("path", "cue", FAKE_GO_GATE=str(gate.root)) as first:
        gate.await_start()
        meanwhile = machine.run("path", "age")
        gate.let_through()
        first.communicate(timeout=TIMEOUT_SECONDS)

    assert meanwhile.returncode == 0
    assert "waiting" not in meanwhile.stderr


def test_a_killed_build_goes_on_from_its_source_copy(machine: Machine, gate: Gate) -> None:
    with machine.start("path", "cue", FAKE_GO_GATE=str(gate.root)) as process:
        compiler = gate.await_start()
        process.kill()
        os.kill(compiler, 9)
        process.communicate(timeout=TIMEOUT_SECONDS)

    again = machine.run("path", "cue")

    assert again.returncode == 0, again.stderr
    assert len(machine.calls("mod", "download")) == 1
    assert len(machine.calls("build")) == 2
    path = Path(again.stdout.strip())
    assert [*path.parent.parent.iterdir()] == [path.parent]


def test_a_terminated_build_ends_its_compiler(machine: Machine, gate: Gate) -> None:
    with machine.start("path", "cue", FAKE_GO_GATE=str(gate.root)) as process:
        compiler = gate.await_start()
        process.terminate()
        _, output = process.communicate(timeout=TIMEOUT_SECONDS)

    assert process.returncode == 143
    assert "Traceback" not in output
    with pytest.raises(ProcessLookupError):
        os.kill(compiler, 0)


def test_what_is_built_can_be_executed(machine: Machine) -> None:
    path = Path(machine.run("path", "cue").stdout.strip())

    assert path.stat().st_mode & stat.S_IXUSR
