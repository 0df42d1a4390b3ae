"""Shell completion of names from the user's files and from stockman's tables.

Shells call this on every key press, so each function imports only what it needs and returns nothing
on errors.
"""

from __future__ import annotations

from pathlib import Path


def node_names(directory: Path) -> tuple[str, ...]:
    """Return names of the nodes in the files of a directory."""
    from stockman.app.workspace.directory import load_directory
    from stockman.model.errors import StockmanError

    try:
        estate = load_directory(directory).configuration
    except StockmanError:
        return ()
    return tuple(node.name for node in estate.nodes if node.name)


def subject_names(directory: Path) -> tuple[str, ...]:
    """Return names of nodes and guests, which a plan can be limited to."""
    from stockman.app.workspace.directory import load_directory
    from stockman.model.errors import StockmanError

    try:
        estate = load_directory(directory).configuration
    except StockmanError:
        return ()
    guests = (guest.name for guest in estate.guests if guest.name)
    return (*(node.name for node in estate.nodes if node.name), *guests)


def cluster_names(directory: Path) -> tuple[str, ...]:
    """Return the cluster's name, or nothing if the files cannot be read."""
    from stockman.app.workspace.directory import load_directory
    from stockman.config.resolve import configuration_name
    from stockman.model.errors import StockmanError

    try:
        estate = load_directory(directory).configuration
    except StockmanError:
        return ()
    return (configuration_name(estate),) if estate.nodes or estate.guests else ()


def step_names(directory: Path) -> tuple[str, ...]:
    """Return step IDs of the newest local run; a bucket is not queried."""
    import json

    from stockman.app.runs.history import RUNS

    kept = sorted((directory / RUNS).glob("*/plan.json"))
    if not kept:
        return ()
    steps = json.loads(kept[-1].read_text("utf-8"))["plan"]["steps"]
    return tuple(str(step["id"]) for step in steps)


def stage_and_step_names(directory: Path) -> tuple[str, ...]:
    """Return values for `--until`: stages, and the steps of the newest run."""
    from stockman.steps.step import Stage

    return (*(stage.value for stage in Stage), *step_names(directory))


def secret_file_names(directory: Path) -> tuple[str, ...]:
    """Return names of the secret files of a directory."""
    from stockman.app.workspace.secret_names import secret_names

    return secret_names(directory)


def run_names(directory: Path) -> tuple[str, ...]:
    """Return names of local runs, newest first; a bucket is not queried."""
    from stockman.app.runs.history import RUNS

    return tuple(sorted(plan.parent.name for plan in (directory / RUNS).glob("*/plan.json"))[::-1])


def preset_names() -> tuple[str, ...]:
    """Return names of the presets of `init`."""
    from stockman.config.presets import PRESETS

    return tuple(PRESETS)


def key_names() -> tuple[str, ...]:
    """Return every key that `explain` documents."""
    from stockman.config.reference.keys import keys_by_path

    return tuple(keys_by_path())


def problem_codes() -> tuple[str, ...]:
    """Return every problem code that has a page."""
    from stockman.model.problems import problem_codes

    return problem_codes()


def catalog_names() -> tuple[str, ...]:
    """Return components that stockman installs."""
    from stockman.model.component import all_component_facts

    return tuple(component.name for component in all_component_facts() if component.condition)
