"""The program talosctl, and how its output is judged."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen, TimeoutExpired, run

import yaml
from stockman_lab.talos.cosi.collection import collection
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import Definition, definitions
from stockman_lab.talos.machine import Machine

from tests.real.talos_served import talosconfig

VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
FORMS = ("table", "yaml", "json", "watch")
_SECONDS = 60
_ALWAYS_THERE = ["NODE", "NAMESPACE", "TYPE", "ID", "VERSION"]


class Talosctl:
    """One version of the program, with a file for one endpoint."""

    def __init__(self, program: Path, folder: Path, endpoint: str, role: str = "os:admin") -> None:
        self._program = program
        self._folder = folder
        self._endpoint = endpoint
        self._config = folder / f"talosconfig-{role.replace(':', '-')}"
        self._config.write_text(talosconfig(endpoint, role))

    def as_role(self, role: str) -> Talosctl:
        return Talosctl(self._program, self._folder, self._endpoint, role)

    def run(self, *arguments: str) -> CompletedProcess[str]:
        return self._run("--talosconfig", str(self._config), *arguments)

    def insecure(self, address: str, *arguments: str) -> CompletedProcess[str]:
        """Ask a machine in maintenance."""
        return self._run(*arguments, "--insecure", "-n", address)

    def output(self, *arguments: str) -> str:
        found = self.run(*arguments)
        assert found.returncode == 0, found.stderr
        return found.stdout

    def start(self, *arguments: str) -> Popen[str]:
        """Begin something that does not end by itself."""
        command = [str(self._program), "--talosconfig", str(self._config), *arguments]
        return Popen(command, stdout=PIPE, stderr=DEVNULL, text=True)

    def _run(self, *arguments: str) -> CompletedProcess[str]:
        command = [str(self._program), *arguments]
        return run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)


def judged(talosctl: Talosctl, twin: Machine, chosen: Iterable[tuple[str, str]]) -> list[str]:
    """Kinds and forms that did not come out as they are on a machine that is made alike."""
    known = definitions(twin.minor)
    wanted = [(known[name.lower()], form) for name, form in chosen]
    expected = [_expected(twin, definition) for definition, _ in wanted]
    with ThreadPoolExecutor(max_workers=3) as pool:
        found = pool.map(
            lambda one, held: _problem(talosctl, one[0], one[1], held), wanted, expected
        )
    return [one for one in found if one]


def _problem(
    talosctl: Talosctl, definition: Definition, form: str, expected: dict[str, object]
) -> str:
    name = definition.type
    if form == "watch":
        return _watch_problem(talosctl, definition, expected)
    extra = [] if form == "table" else ["-o", form]
    found = talosctl.run("get", definition.id, *extra)
    if found.returncode != 0:
        return f"{name} as {form}: {found.stderr}"
    if form == "table":
        return _table_problem(definition, expected, found.stdout)
    documents = (
        list(yaml.safe_load_all(found.stdout)) if form == "yaml" else _json_documents(found.stdout)
    )
    shown = [_told(document["spec"]) for document in documents]
    held = [expected[one] for one in sorted(expected)]
    return "" if _same(shown, held) else f"{name} as {form}: {shown} is not {held}"


def _told(spec: object) -> object:
    """Contents as they are shown; 1.11 shows a configuration as a text in JSON."""
    is_config = isinstance(spec, str) and spec.startswith("version: v1alpha1")
    return _content(str(spec)) if is_config else spec


def _expected(machine: Machine, definition: Definition) -> dict[str, object]:
    """Contents by id, as their YAML has them."""
    held = collection(machine, definition, claimed()[definition.type]).items
    return {name: _content(str(one.spec["yaml_spec"])) for name, one in held.items()}


def _content(text: str) -> object:
    """The first document: a configuration has several."""
    safe_load_all = next(yaml.safe_load_all(text))
    return _told(safe_load_all) if isinstance(safe_load_all, str) else safe_load_all


def _same(shown: object, expected: object) -> bool:
    return json.dumps(shown, sort_keys=True, default=str) == json.dumps(
        expected, sort_keys=True, default=str
    )


def _json_documents(text: str) -> list[dict[str, dict[str, object]]]:
    decoder, place, documents = json.JSONDecoder(), 0, []
    while place < len(text.rstrip()):
        one, place = decoder.raw_decode(text, place)
        documents.append(one)
        while place < len(text) and text[place].isspace():
            place += 1
    return documents


def _table_problem(definition: Definition, expected: dict[str, object], text: str) -> str:
    lines = text.splitlines()
    if not expected:
        return "" if len(lines) <= 1 else f"{definition.type}: {text}"
    header = [*_ALWAYS_THERE, *(name.upper() for name, _ in definition.columns)]
    if " ".join(lines[0].split()) != " ".join(" ".join(header).split()):
        return f"{definition.type}: columns are {lines[0]}"
    names = [line.split()[3] for line in lines[1:] if line.strip()]
    return "" if names == sorted(expected) else f"{definition.type}: rows are {names}"


def _watch_problem(talosctl: Talosctl, definition: Definition, expected: dict[str, object]) -> str:
    """The contents come first, and then nothing happens until the program is ended."""
    with talosctl.start("get", definition.id, "--watch") as process:
        lines = _read(process, len(expected) + 1)
        process.terminate()
    names = [line.split()[4] for line in lines[1:]]
    signs = {line.split()[1] for line in lines[1:]}
    if names == sorted(expected) and signs <= {"+"}:
        return ""
    return f"{definition.type} is followed as {lines}"


def _read(process: Popen[str], count: int) -> list[str]:
    """So many lines, or those that came before nothing more did."""
    assert process.stdout is not None
    with ThreadPoolExecutor(max_workers=1) as reader:
        stream = process.stdout
        reading = reader.submit(lambda: [stream.readline() for _ in range(count)])
        try:
            return [one for one in reading.result(timeout=_SECONDS) if one]
        except (TimeoutError, TimeoutExpired):
            process.kill()
            return [one for one in reading.result() if one]
