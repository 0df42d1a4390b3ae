"""Words that shells complete: names out of the user's files and out of stockman's own tables.

A shell asks at every press of a key, so each function imports what it needs and nothing else, and
where nothing can be said it says nothing: no files, or files that cannot be read, are no names.
"""

from __future__ import annotations

from pathlib import Path


def node_names(directory: Path) -> tuple[str, ...]:
    """Names of the nodes in the files of a directory, as far as they can be read."""
    from stockman.app.workspace.directory import load_directory
    from stockman.model.errors import StockmanError

    try:
        estate = load_directory(directory).configuration
    except StockmanError:
        return ()
    return tuple(node.name for node in estate.nodes if node.name)


def subject_names(directory: Path) -> tuple[str, ...]:
    """Names of nodes and guests: what a part of a plan can be about."""
    from stockman.app.workspace.directory import load_directory
    from stockman.model.errors import StockmanError

    try:
        estate = load_directory(directory).configuration
    except StockmanError:
        return ()
    guests = (guest.name for guest in estate.guests if guest.name)
    return (*(node.name for node in estate.nodes if node.name), *guests)


def cluster_names(directory: Path) -> tuple[str, ...]:
    """The name of what the files of a directory describe; none where they cannot be read."""
    from stockman.app.workspace.directory import load_directory
    from stockman.config.resolve import configuration_name
    from stockman.model.errors import StockmanError

    try:
        estate = load_directory(directory).configuration
    except StockmanError:
        return ()
    return (configuration_name(estate),) if estate.nodes or estate.guests else ()


def step_names(directory: Path) -> tuple[str, ...]:
    """Ids of the steps of the newest run that is kept in a directory; a bucket is not asked."""
    import json

    from stockman.app.runs.store import RUNS

    kept = sorted((directory / RUNS).glob("*/plan.json"))
    if not kept:
        return ()
    steps = json.loads(kept[-1].read_text("utf-8"))["plan"]["steps"]
    return tuple(str(step["id"]) for step in steps)


def stage_and_step_names(directory: Path) -> tuple[str, ...]:
    """What `--until` takes: stages, and the steps of the newest run."""
    from stockman.steps.step import Stage

    return (*(stage.value for stage in Stage), *step_names(directory))


def secret_file_names(directory: Path) -> tuple[str, ...]:
    """Names of the secret files of a directory."""
    from stockman.app.workspace.secret_names import secret_names

    return secret_names(directory)


def run_names(directory: Path) -> tuple[str, ...]:
    """Names of the runs that are kept in a directory, the newest first; a bucket is not asked."""
    from stockman.app.runs.store import RUNS

    return tuple(sorted(plan.parent.name for plan in (directory / RUNS).glob("*/plan.json"))[::-1])


def preset_names() -> tuple[str, ...]:
    """Names of the presets that `init` knows."""
    from stockman.config.presets import PRESETS

    return tuple(PRESETS)


def key_names() -> tuple[str, ...]:
    """Every key that `explain` knows."""
    from stockman.config.reference.keys import keys_by_path

    return tuple(keys_by_path())


def problem_codes() -> tuple[str, ...]:
    """Every problem code that has a page."""
    from stockman.model.problems import problem_codes

    return problem_codes()


def catalog_names() -> tuple[str, ...]:
    """Components that stockman installs."""
    from stockman.model.component import all_component_facts

    return tuple(component.name for component in all_component_facts() if component.condition)


def component_names() -> tuple[str, ...]:
    """Components that the tables know."""
    from stockman.model.component import all_component_facts

    return tuple(component.name for component in all_component_facts())
