"""`Taskfile.yaml` or `justfile`: the usual tasks of cluster-template, executed by stockman."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stockman.config.language import Dialect
from stockman.config.writers.yaml_writer import Commented, render_yaml_document
from stockman.model.desired import Repository
from stockman.rendering.tree import REPOSITORY, RenderedFile

_RECONCILE = "flux --namespace flux-system reconcile kustomization flux-system --with-source"


class Task(NamedTuple):
    """A task: name, description, commands."""

    name: str
    about: str
    runs: str
    """Commands, one per line."""
    takes: str = ""
    """Required variable. Empty: none."""


_INIT = Task("init", "Write starter files and create keys", "stockman init .")
_CONFIGURE = Task(
    "configure", "Check the configuration and render the repository", "stockman render"
)
_TIDY = ("Remove files that are no longer rendered", "stockman render --prune")
_RESET = ("Delete the cluster", "stockman destroy")
_MACHINE_CONFIGS = ("Render the machine configurations", "stockman render")
_CREATE = ("Create the machines and the cluster", "stockman apply")
_APPLY_NODE = "Apply the configuration to one machine"

CLASSIC = (
    _INIT,
    _CONFIGURE,
    Task("reconcile", "Reconcile Flux now", _RECONCILE),
    Task("bootstrap:talos", *_CREATE),
    Task(
        "bootstrap:apps",
        "Install what Flux needs, continuing after bootstrap:talos",
        "stockman apply",
    ),
    Task("talos:generate-config", *_MACHINE_CONFIGS),
    Task("talos:apply-node", _APPLY_NODE, "stockman apply --only talos --node {IP}", "IP"),
    Task("talos:reset", *_RESET),
    Task("template:debug", "Show the status of the cluster", "stockman status"),
    Task("template:tidy", *_TIDY),
)
"""Tasks for users of cluster.yaml."""

MODULES: dict[str, tuple[Task, ...]] = {
    "": (_INIT, _CONFIGURE),
    "bootstrap": (
        Task("talos", *_CREATE),
        Task("apps", "Install what Flux needs, continuing after `talos`", "stockman apply"),
    ),
    "kubernetes": (Task("reconcile", "Reconcile Flux now", _RECONCILE),),
    "talos": (
        Task("apply", "Apply the configuration to all machines", "stockman apply --only talos"),
        Task("apply-node", _APPLY_NODE, "stockman apply --only talos --node {node}", "node"),
        Task("diff", "Show the changes to the machines", "stockman plan --only talos"),
        Task("nodes", "Show the status of the machines", "stockman status"),
        Task("render", *_MACHINE_CONFIGS),
        Task("reset", *_RESET),
    ),
    "template": (
        Task(
            "doctor",
            "Check the configuration and the environment",
            "stockman validate\nstockman doctor",
        ),
        Task("tidy", *_TIDY),
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
    return described | {"cmds": [command.format(**arguments) for command in task.runs.splitlines()]}


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
    runs = [command.format(**arguments) for command in task.runs.splitlines()]
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
_CHECKS = ("stockman validate", "stockman render --check")
_ABOUT = (
    "Checks the configuration, and that all rendered files are up to date.",
    "No secrets are needed: without an identity, encrypted files are compared by their bytes.",
)
_VARIABLE = (
    "The variable STOCKMAN_PACKAGE of the repository has the address of a wheel with its hash,",
    "https://HOST/stockman_talos-VERSION-py3-none-any.whl#sha256=HASH. Use the version that",
    "rendered this repository. `repository.package` in the configuration replaces the variable.",
)
_INSTALL = (
    # No package index has a release of stockman, and the name belongs to another project there.
    (
        'case "$STOCKMAN_PACKAGE" in https://*.whl#sha256=*) ;; *)'
        " echo 'set STOCKMAN_PACKAGE to a wheel with #sha256=HASH' >&2; exit 1 ;; esac"
    ),
    'pip install "$STOCKMAN_PACKAGE"',
)


def ci_files(repository: Repository) -> Iterator[RenderedFile]:
    """Return the CI file for the host of the repository; none for other hosts."""
    if repository.ci == "github":
        text = render_yaml_document(_github(repository))
        yield RenderedFile(path=GITHUB, owner=REPOSITORY, text=text)
    elif repository.ci == "gitlab":
        text = render_yaml_document(_gitlab(repository))
        yield RenderedFile(path=GITLAB, owner=REPOSITORY, text=text)


def _about(repository: Repository) -> tuple[str, ...]:
    return _ABOUT if repository.package is not None else (*_ABOUT, *_VARIABLE)


def _image_of(package: str | None) -> str | None:
    """Return the image that a package is. None: it is a wheel, or not configured."""
    return package if package is not None and not package.startswith("https://") else None


def _github(repository: Repository) -> dict[str, object]:
    package = repository.package
    image = _image_of(package)
    install: list[object] = [
        {"uses": _SETUP_PYTHON, "with": {"python-version": _PYTHON}},
        {
            "run": "\n".join(_INSTALL) + "\n",
            "env": {"STOCKMAN_PACKAGE": package or "${{ vars.STOCKMAN_PACKAGE }}"},
        },
    ]
    steps: list[object] = [
        {"uses": _CHECKOUT, "with": {"persist-credentials": False}},
        *(install if image is None else ()),
        *({"run": command} for command in _CHECKS),
    ]
    container = {"container": image} if image is not None else {}
    job = {"runs-on": "ubuntu-24.04", "timeout-minutes": 10, **container, "steps": steps}
    return {
        "name": Commented(value="stockman", above=_about(repository)),
        "on": {"pull_request": {}},
        "permissions": {"contents": "read"},
        "jobs": {"check": job},
    }


def _gitlab(repository: Repository) -> dict[str, object]:
    package = repository.package
    image = _image_of(package)
    is_wheel = package is not None and image is None
    variables = {"variables": {"STOCKMAN_PACKAGE": package}} if is_wheel else {}
    return {
        "stockman": Commented(
            value={
                "image": image or _IMAGE,
                "rules": [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}],
                **variables,
                "script": [*(_INSTALL if image is None else ()), *_CHECKS],
            },
            above=_about(repository),
        )
    }
