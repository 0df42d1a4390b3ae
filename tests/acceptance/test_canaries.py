"""Known secrets are nowhere in what a run writes down, tells, raises, or starts programs with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from stockman_lab.world.world import World

from stockman.app.secrets.bundle import open_bundle
from stockman.app.secrets.keyring import find_keyring
from stockman.engine.journal import JournalEntry, entry_json
from stockman.steps.plan import render_plan
from stockman.talos.secrets.bundle import bundle_text
from tests.acceptance.reference import reference
from tests.acceptance.scene import Life, Scene

_LONG_ENOUGH = 16
"""Characters that no text has by chance."""


def secrets_of(scene: Scene) -> dict[str, str]:
    """Every secret of a scene by its name."""
    access = next(iter(scene.world.clusters.values())).state.access
    found = {
        f"token {user}!{name}": token.secret
        for user, one in access.users.items()
        for name, token in one.tokens.items()
    }
    directory = scene.files.directory
    found["age key"] = next(
        line for line in (directory / "age.key").read_text().splitlines() if "SECRET" in line
    )
    found["deploy key"] = (directory / "github-deploy.key").read_text().splitlines()[2]
    found["push token"] = (directory / "github-push-token.txt").read_text().strip()
    bundle = yaml.safe_load(
        bundle_text(open_bundle(directory, find_keyring(directory, {}))).reveal()
    )
    found |= dict(_leaves("bundle", bundle))
    return {name: text for name, text in found.items() if len(text) >= _LONG_ENOUGH}


def _leaves(name: str, content: Any) -> Iterator[tuple[str, str]]:  # YAML
    """Secret texts of a bundle; certificates, addresses and names are public."""
    if isinstance(content, dict):
        for key, one in content.items():
            if key not in ("crt", "id", "clusterid"):
                yield from _leaves(f"{name}.{key}", one)
    elif isinstance(content, str):
        yield name, content


@contextmanager
def programs_seen() -> Iterator[list[str]]:
    """Command lines of every program that is started meanwhile, as `/proc` shows them."""
    seen: list[str] = []

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if active and event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
            seen.append(repr(arguments))

    active = [True]
    sys.addaudithook(audit)
    yield seen
    active.clear()


def told_by(scene: Scene, life: Life, entries: list[JournalEntry]) -> dict[str, str]:
    """Everything that a run says, by where."""
    kept = scene.kept
    found = {
        "journal": b"".join(kept.journals.values()).decode(),
        "plans of runs": "".join(kept.plans.values()),
        "calls": "\n".join(str(call) for call in life.process.calls),
        "outcome": repr(life.outcome),
        "lines": "\n".join(map(entry_json, entries)),
        "entries": repr(entries),
    }
    if life.planned is not None:
        found["plan"] = render_plan(life.planned.plan)
        found["changes"] = repr(life.planned.changes)
        found["observed"] = repr(life.planned.observed)
    return found


def leaks(secrets: dict[str, str], told: dict[str, str]) -> list[str]:
    """Which secret is told where."""
    return [
        f"{name} in {where}"
        for where, text in told.items()
        for name, secret in secrets.items()
        if secret in text
    ]


def lab_log(world: World) -> str:
    """What the lab wrote down: tasks of Proxmox VE and their logs, consoles of machines."""
    tasks = [
        repr(task) for cluster in world.clusters.values() for task in cluster.state.tasks.values()
    ]
    consoles = [
        repr((machine.state.kernel_log, machine.state.logs, machine.state.events))
        for machine in world.talos.machines
    ]
    return "\n".join([*tasks, *consoles])


def test_a_bootstrap_tells_no_secret(tmp_path: Path) -> None:
    whole = reference()
    scene = whole.scene(tmp_path)
    secrets = secrets_of(scene)

    told = told_by(scene, whole.life, [])

    assert len(secrets) > 8
    assert leaks(secrets, {**told, "log of the lab": lab_log(scene.world)}) == []


def test_a_run_that_goes_on_tells_no_secret_to_programs_and_watchers(tmp_path: Path) -> None:
    scene = reference().grown(tmp_path)
    secrets = secrets_of(scene)
    entries: list[JournalEntry] = []

    with programs_seen() as programs:
        life = scene.apply(watchers=(entries.append,))

    assert life.is_done, life.why
    assert leaks(secrets, {**told_by(scene, life, entries), "programs": "\n".join(programs)}) == []


def test_the_search_itself_finds_what_is_planted() -> None:
    done = subprocess.run(["true"], check=True)

    assert done.returncode == 0
    assert leaks({"key": "canary-0123456789"}, {"log": "... canary-0123456789 ..."}) == [
        "key in log"
    ]
