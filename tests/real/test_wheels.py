"""The built wheels, installed in environments that hold their declared dependencies alone."""

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable, Sequence
from email import message_from_bytes
from email.message import Message
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from stockman import __version__

ROOT = Path(__file__).parents[2]
CACHES = {"__pycache__", ".mypy_cache", ".ruff_cache"}


INSTALL_LAB = "`stockman lab` is not installed: install stockman-talos-lab from the place"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def lab_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(ROOT / "lab", tmp_path_factory.mktemp("lab-dist"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the product alone."""
    return _install([wheel], tmp_path_factory.mktemp("product"))


@pytest.fixture(scope="module")
def lab_programs(wheel: Path, lab_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the product and the lab."""
    return _install([wheel, lab_wheel], tmp_path_factory.mktemp("both"))


def test_the_console_script_prints_the_version_only(programs: Path, tmp_path: Path) -> None:
    assert _output([programs / "stockman", "--version"], directory=tmp_path) == f"{__version__}\n"


def test_the_module_prints_the_version_only(programs: Path, tmp_path: Path) -> None:
    command = [str(programs / "python"), "-m", "stockman", "--version"]

    assert _output(command, directory=tmp_path) == f"{__version__}\n"


def test_every_module_is_found_in_the_environment_and_needs_nothing_undeclared(
    programs: Path, tmp_path: Path
) -> None:
    script = (
        "import importlib, pkgutil, stockman\n"
        "for module in pkgutil.walk_packages(stockman.__path__, 'stockman.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        print(importlib.import_module(module.name).__file__)\n"
    )

    files = _output([programs / "python", "-c", script], directory=tmp_path).splitlines()

    assert files
    assert all(Path(file).is_relative_to(programs.parent) for file in files)


def test_it_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "stockman").rglob("*")
        if path.is_file() and not CACHES.intersection(path.parts)
    }

    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}

    assert names == expected
    assert "stockman/py.typed" in names


def test_the_product_alone_makes_checks_and_renders_a_cluster(
    programs: Path, tmp_path: Path
) -> None:
    stockman = programs / "stockman"
    cluster = tmp_path / "cluster"

    _output([stockman, "init", cluster, "--preset", "three-node"], directory=tmp_path)
    _output([stockman, "-C", cluster, "validate"], directory=tmp_path)
    _output([stockman, "-C", cluster, "render"], directory=tmp_path)
    _output([stockman, "plan", "--help"], directory=tmp_path)

    assert (cluster / "kubernetes").is_dir()


def test_the_lab_is_missing_without_its_distribution(programs: Path, tmp_path: Path) -> None:
    result = _run([programs / "stockman", "lab", "up"], directory=tmp_path)

    assert result.returncode == 64
    assert INSTALL_LAB in " ".join(result.stderr.split())


def test_the_lab_is_a_command_once_its_distribution_is_installed(
    lab_programs: Path, tmp_path: Path
) -> None:
    text = _output([lab_programs / "stockman", "lab", "--help"], directory=tmp_path)
    page = _output([lab_programs / "stockman", "explain", "lab.absent"], directory=tmp_path)

    assert "lab up" in text
    assert page.startswith("# lab.absent")


def test_the_demo_runs_with_both_distributions(lab_programs: Path) -> None:
    text = _output([lab_programs / "python", "-m", "demo"], directory=ROOT)

    assert "three-node" in text


def test_both_distributions_have_one_version(wheel: Path, lab_wheel: Path) -> None:
    requirements = _metadata(lab_wheel).get_all("Requires-Dist") or []

    assert _metadata(wheel)["Version"] == _metadata(lab_wheel)["Version"] == __version__
    assert f"stockman-talos=={__version__}" in requirements


def test_it_says_its_licence_and_the_oldest_python(wheel: Path) -> None:
    metadata = _metadata(wheel)

    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert metadata["Requires-Python"] == ">=3.11"


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def _dependencies(requirements: Iterable[str]) -> list[Distribution]:
    """The distributions that these requirements lead to, from the environment of the tests."""
    distributions: dict[str, Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if requirement.name.startswith("stockman-talos"):
            continue
        if applies and requirement.name not in distributions:
            distributions[requirement.name] = distribution(requirement.name)
            requires = distributions[requirement.name].requires or []
            waiting += [Requirement(text) for text in requires]
    return list(distributions.values())


def _link(dependency: Distribution, packages: Path) -> None:
    names = {file.parts[0] for file in dependency.files or []} - {"..", "__pycache__"}
    for name in names:
        if not (packages / name).exists():
            (packages / name).symlink_to(str(dependency.locate_file(name)))


def _build(project: Path, target: Path) -> Path:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir"]
    _output([*build, str(target), str(project)], directory=target)
    (wheel,) = target.glob("*.whl")
    return wheel


def _install(wheels: Sequence[Path], environment: Path) -> Path:
    venv.EnvBuilder(with_pip=False).create(environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    for wheel in wheels:
        for dependency in _dependencies(_metadata(wheel).get_all("Requires-Dist") or []):
            _link(dependency, packages)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    _output([*pip, "--no-deps", "--no-index", *map(str, wheels)], directory=environment)
    return python.parent


def _output(command: Sequence[str | Path], *, directory: Path) -> str:
    process = _run(command, directory=directory)
    assert process.returncode == 0, process.stderr or process.stdout
    return process.stdout


def _run(command: Sequence[str | Path], *, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        env={"HOME": str(directory), "LANG": "C.UTF-8", "PATH": os.defpath},
        check=False,
        capture_output=True,
        text=True,
    )
