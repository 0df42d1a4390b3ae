"""`Taskfile.yaml` or `justfile`: the names of tasks that people are used to, done by stockman."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.presets import Dialect
from stockman.config.writers.yaml_writer import render_yaml_document
from stockman.model.record import record
from stockman.rendering.tree import REPOSITORY, RenderedFile

_RECONCILE = "flux --namespace flux-system reconcile kustomization flux-system --with-source"


@record
class Task:
    """A task: its name, what it is for, and what it runs."""

    name: str
    about: str
    runs: tuple[str, ...]
    takes: str = ""
    """The variable that has to be given. Empty: none."""


CLASSIC = (
    Task(name="init", about="Write starter files and make keys", runs=("stockman init .",)),
    Task(
        name="configure",
        about="Check the configuration and write what it asks for",
        runs=("stockman render",),
    ),
    Task(name="reconcile", about="Let Flux fetch and apply now", runs=(_RECONCILE,)),
    Task(
        name="bootstrap:talos",
        about="Make the machines and the cluster",
        runs=("stockman apply",),
    ),
    Task(
        name="bootstrap:apps",
        about="Install what comes before Flux; goes on where bootstrap:talos ended",
        runs=("stockman apply",),
    ),
    Task(
        name="talos:generate-config",
        about="Write the files of the machines",
        runs=("stockman render",),
    ),
    Task(
        name="talos:apply-node",
        about="Bring the configuration to one machine",
        runs=("stockman apply --only talos --node {IP}",),
        takes="IP",
    ),
    Task(name="talos:reset", about="Take the cluster down", runs=("stockman destroy",)),
    Task(name="template:debug", about="Show how the cluster is", runs=("stockman status",)),
    Task(
        name="template:tidy",
        about="Remove files that are no longer rendered",
        runs=("stockman render --prune",),
    ),
)
"""Tasks of people with cluster.yaml."""

MODULES: dict[str, tuple[Task, ...]] = {
    "": (
        Task(name="init", about="Write starter files and make keys", runs=("stockman init .",)),
        Task(
            name="configure",
            about="Check the configuration and write what it asks for",
            runs=("stockman render",),
        ),
    ),
    "bootstrap": (
        Task(name="talos", about="Make the machines and the cluster", runs=("stockman apply",)),
        Task(
            name="apps",
            about="Install what comes before Flux; goes on where `talos` ended",
            runs=("stockman apply",),
        ),
    ),
    "kubernetes": (
        Task(name="reconcile", about="Let Flux fetch and apply now", runs=(_RECONCILE,)),
    ),
    "talos": (
        Task(
            name="apply",
            about="Bring the configuration to all machines",
            runs=("stockman apply --only talos",),
        ),
        Task(
            name="apply-node",
            about="Bring the configuration to one machine",
            runs=("stockman apply --only talos --node {node}",),
            takes="node",
        ),
        Task(name="diff", about="Show what would change", runs=("stockman plan --only talos",)),
        Task(name="nodes", about="Show how the machines are", runs=("stockman status",)),
        Task(name="render", about="Write the files of the machines", runs=("stockman render",)),
        Task(name="reset", about="Take the cluster down", runs=("stockman destroy",)),
    ),
    "template": (
        Task(
            name="doctor",
            about="Check the configuration and what it needs",
            runs=("stockman validate", "stockman doctor"),
        ),
        Task(
            name="tidy",
            about="Remove files that are no longer rendered",
            runs=("stockman render --prune",),
        ),
    ),
}
"""Tasks of people with cluster.toml, by the directory of their module."""

_NAMES = {"kubernetes": "kube"}
"""Modules that are called otherwise than their directory."""


def task_files(dialect: Dialect) -> Iterator[RenderedFile]:
    """The files of the program that a dialect's users start tasks with."""
    texts = {"Taskfile.yaml": _taskfile()} if dialect == "classic" else dict(_justfiles())
    for path, text in texts.items():
        yield RenderedFile(path=path, owner=REPOSITORY, text=text)


def _taskfile() -> str:
    return render_yaml_document(
        {"version": "3", "tasks": {task.name: _task(task) for task in CLASSIC}}
    )


def _task(task: Task) -> dict[str, object]:
    described: dict[str, object] = {"desc": task.about}
    if task.takes:
        described["desc"] = f"{task.about} [{task.takes}=required]"
        described["requires"] = {"vars": [task.takes]}
    # An argument of the task may end a line of a shell: it is quoted by the program itself.
    given = {task.takes: f"{{{{shellQuote .{task.takes}}}}}"}
    return described | {"cmds": [one.format(**given) for one in task.runs]}


def _justfiles() -> Iterator[tuple[str, str]]:
    modules = "".join(f"mod {_NAMES.get(one, one)} '{one}'\n" for one in MODULES if one)
    for folder, tasks in MODULES.items():
        parts = [_recipe(task) for task in tasks]
        if folder:
            yield f"{folder}/mod.just", "\n".join(parts)
        else:
            yield "justfile", "\n".join((modules, *parts))


def _recipe(task: Task) -> str:
    # A recipe's argument reaches the shell as $1 and is never part of its text.
    marks = "[positional-arguments]\n" if task.takes else ""
    head = f"{task.name} {task.takes}".strip()
    given = {task.takes: '"$1"'}
    runs = [one.format(**given) for one in task.runs]
    body = "".join(f"    @{_locate_command(run)}\n" for run in runs)
    return f"# {task.about}\n{marks}{head}:\n{body}"


def _locate_command(run: str) -> str:
    """A command that works in the repository, wherever its module stands."""
    return run.replace("stockman ", 'stockman -C "{{ justfile_directory() }}" ', 1)
