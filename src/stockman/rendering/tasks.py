"""`Taskfile.yaml` or `justfile`: the usual tasks of cluster-template, executed by stockman."""

from __future__ import annotations

from collections.abc import Iterator

from stockman import __version__
from stockman.config.language import Dialect
from stockman.config.writers.yaml_writer import Commented, render_yaml_document
from stockman.model.desired import Repository
from stockman.model.record import record
from stockman.rendering.tree import REPOSITORY, RenderedFile

_RECONCILE = "flux --namespace flux-system reconcile kustomization flux-system --with-source"


@record
class Task:
    """A task: name, description, commands."""

    name: str
    about: str
    runs: tuple[str, ...]
    takes: str = ""
    """Required variable. Empty: none."""


CLASSIC = (
    Task(name="init", about="Write starter files and create keys", runs=("stockman init .",)),
    Task(
        name="configure",
        about="Check the configuration and render the repository",
        runs=("stockman render",),
    ),
    Task(name="reconcile", about="Reconcile Flux now", runs=(_RECONCILE,)),
    Task(
        name="bootstrap:talos",
        about="Create the machines and the cluster",
        runs=("stockman apply",),
    ),
    Task(
        name="bootstrap:apps",
        about="Install what Flux needs, continuing after bootstrap:talos",
        runs=("stockman apply",),
    ),
    Task(
        name="talos:generate-config",
        about="Render the machine configurations",
        runs=("stockman render",),
    ),
    Task(
        name="talos:apply-node",
        about="Apply the configuration to one machine",
        runs=("stockman apply --only talos --node {IP}",),
        takes="IP",
    ),
    Task(name="talos:reset", about="Delete the cluster", runs=("stockman destroy",)),
    Task(name="template:debug", about="Show the status of the cluster", runs=("stockman status",)),
    Task(
        name="template:tidy",
        about="Remove files that are no longer rendered",
        runs=("stockman render --prune",),
    ),
)
"""Tasks for users of cluster.yaml."""

MODULES: dict[str, tuple[Task, ...]] = {
    "": (
        Task(name="init", about="Write starter files and create keys", runs=("stockman init .",)),
        Task(
            name="configure",
            about="Check the configuration and render the repository",
            runs=("stockman render",),
        ),
    ),
    "bootstrap": (
        Task(name="talos", about="Create the machines and the cluster", runs=("stockman apply",)),
        Task(
            name="apps",
            about="Install what Flux needs, continuing after `talos`",
            runs=("stockman apply",),
        ),
    ),
    "kubernetes": (Task(name="reconcile", about="Reconcile Flux now", runs=(_RECONCILE,)),),
    "talos": (
        Task(
            name="apply",
            about="Apply the configuration to all machines",
            runs=("stockman apply --only talos",),
        ),
        Task(
            name="apply-node",
            about="Apply the configuration to one machine",
            runs=("stockman apply --only talos --node {node}",),
            takes="node",
        ),
        Task(
            name="diff",
            about="Show the changes to the machines",
            runs=("stockman plan --only talos",),
        ),
        Task(name="nodes", about="Show the status of the machines", runs=("stockman status",)),
        Task(name="render", about="Render the machine configurations", runs=("stockman render",)),
        Task(name="reset", about="Delete the cluster", runs=("stockman destroy",)),
    ),
    "template": (
        Task(
            name="doctor",
            about="Check the configuration and the environment",
            runs=("stockman validate", "stockman doctor"),
        ),
        Task(
            name="tidy",
            about="Remove files that are no longer rendered",
            runs=("stockman render --prune",),
        ),
    ),
}
"""Tasks for users of cluster.toml, by directory of the module."""

_NAMES = {"kubernetes": "kube"}
"""Modules whose name differs from their directory."""


def task_files(dialect: Dialect) -> Iterator[RenderedFile]:
    """Return the task files of a layout."""
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
    # A task argument could end a shell line; the task runner quotes it.
    arguments = {task.takes: f"{{{{shellQuote .{task.takes}}}}}"}
    return described | {"cmds": [command.format(**arguments) for command in task.runs]}


def _justfiles() -> Iterator[tuple[str, str]]:
    modules = "".join(
        f"mod {_NAMES.get(module, module)} '{module}'\n" for module in MODULES if module
    )
    for folder, tasks in MODULES.items():
        recipes = [_recipe(task) for task in tasks]
        if folder:
            yield f"{folder}/mod.just", "\n".join(recipes)
        else:
            yield "justfile", "\n".join((modules, *recipes))


def _recipe(task: Task) -> str:
    # An argument of a recipe reaches the shell as $1 and is never part of its text.
    marks = "[positional-arguments]\n" if task.takes else ""
    head = f"{task.name} {task.takes}".strip()
    arguments = {task.takes: '"$1"'}
    runs = [command.format(**arguments) for command in task.runs]
    body = "".join(f"    @{_locate_command(run)}\n" for run in runs)
    return f"# {task.about}\n{marks}{head}:\n{body}"


def _locate_command(run: str) -> str:
    """Return a command that runs in the repository, wherever the module is."""
    return run.replace("stockman ", 'stockman -C "{{ justfile_directory() }}" ', 1)


GITHUB = ".github/workflows/stockman.yaml"
GITLAB = ".gitlab-ci.yml"

_PYTHON = "3.13"
_CHECKOUT = "actions/checkout@v5.0.0"
_SETUP_PYTHON = "actions/setup-python@v6.0.0"
_IMAGE = "docker.io/library/python:3.13.7-slim"
_PACKAGE = f"stockman=={__version__}"
_CHECKS = ("stockman validate", "stockman render --check")
_ABOUT = (
    "Checks the configuration, and that all rendered files are up to date.",
    "No secrets are needed: without an identity, encrypted files are compared by their bytes.",
    "The version is the one that rendered this repository, because the output depends on it. The",
    "repository variable STOCKMAN_PACKAGE selects another package, such as the URL of a wheel.",
)


def ci_files(repository: Repository) -> Iterator[RenderedFile]:
    """Return the CI file for the host of the repository; none for other hosts."""
    if repository.ci == "github":
        yield RenderedFile(path=GITHUB, owner=REPOSITORY, text=render_yaml_document(_github()))
    elif repository.ci == "gitlab":
        yield RenderedFile(path=GITLAB, owner=REPOSITORY, text=render_yaml_document(_gitlab()))


def _github() -> dict[str, object]:
    steps: list[object] = [
        {"uses": _CHECKOUT, "with": {"persist-credentials": False}},
        {"uses": _SETUP_PYTHON, "with": {"python-version": _PYTHON}},
        {
            "run": 'pip install "$STOCKMAN_PACKAGE"',
            "env": {"STOCKMAN_PACKAGE": f"${{{{ vars.STOCKMAN_PACKAGE || '{_PACKAGE}' }}}}"},
        },
        *({"run": command} for command in _CHECKS),
    ]
    return {
        "name": Commented(value="stockman", above=_ABOUT),
        "on": {"pull_request": {}},
        "permissions": {"contents": "read"},
        "jobs": {"check": {"runs-on": "ubuntu-24.04", "timeout-minutes": 10, "steps": steps}},
    }


def _gitlab() -> dict[str, object]:
    return {
        "stockman": Commented(
            value={
                "image": _IMAGE,
                "rules": [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}],
                "script": [f'pip install "${{STOCKMAN_PACKAGE:-{_PACKAGE}}}"', *_CHECKS],
            },
            above=_ABOUT,
        )
    }
