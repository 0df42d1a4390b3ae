"""Checks of secret files: permissions and presence."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from stockman.assessment.doctor.check import (
    CheckInput,
    CheckResult,
    check,
    fail,
    ok,
    skip,
    unknown,
    warn,
)
from stockman.model.secret import SecretForm
from stockman.ports.environment import NoAnswer

AGE_KEY = "age.key"
SECRET_FILES = (
    AGE_KEY,
    "github-deploy.key",
    "deploy.key",
    "github-push-token.txt",
    "flux-webhook-token.txt",
    "cloudflare-tunnel.json",
    "kubeconfig",
    "talosconfig",
    "talos/talosconfig",
    "talos/clusterconfig/talosconfig",
)
"""Files at conventional paths that nobody else may read."""
_VARIABLES = ("SOPS_AGE_KEY_FILE", "KUBECONFIG", "TALOSCONFIG")
"""Variables that move some of these files."""
_OTHERS = 0o077


@check("secret.files")
def files(scene: CheckInput) -> Iterator[CheckResult]:
    """Files with secrets are readable by their owner only, and git ignores them."""
    for name in _names(scene):
        facts = scene.machine.file(scene.directory / name)
        if facts is None:
            yield from _missing(scene, name)
        elif not facts.is_file:
            yield fail(name, "it is not a file", f"put the file where {name} is now")
        elif facts.mode & _OTHERS:
            yield fail(
                name,
                f"its mode is {facts.mode:04o}, so others on this machine can open it",
                f"run `chmod 600 {shlex.quote(name)}`",
            )
        elif not facts.readable:
            yield fail(name, "it is not readable", "run stockman as the owner of the file")
        else:
            yield _exposure(scene, name)


@check("secret.variables")
def variables(scene: CheckInput) -> Iterator[CheckResult]:
    """Environment variables that the configuration refers to are set."""
    for secret in scene.secrets:
        if secret.form is not SecretForm.ENVIRONMENT:
            continue
        name = secret.reference.strip("${}")
        if scene.machine.variable(name):
            yield ok(f"${name}", "it is set")
        else:
            yield warn(f"${name}", "it is not set here", "export it before a command that needs it")


def _exposure(scene: CheckInput, name: str) -> CheckResult:
    try:
        standing = scene.repo.file_state(name)
    except NoAnswer as none:
        return unknown(name, f"who can see it is not known: {none}", "see what `git status` says")
    quoted = shlex.quote(name)
    match standing:
        case "tracked":
            return fail(
                name,
                "it is tracked in git: everybody with the repository has it",
                f"run `git rm --cached {quoted}`, ignore it, and replace the secret with a new one",
            )
        case "untracked":
            return warn(
                name,
                "git does not ignore it: the next `git add .` would add it",
                f"run `echo /{quoted} >> .gitignore`",
            )
        case "ignored":
            return ok(name, "readable by its owner only, ignored by git")
        case "outside":
            return ok(name, "readable by its owner only, not in a repository")


def _missing(scene: CheckInput, name: str) -> Iterator[CheckResult]:
    if name in _list_variables(scene):
        yield warn(name, "the configuration refers to it, but it does not exist", f"write {name}")
    elif name == AGE_KEY and not scene.machine.variable("SOPS_AGE_KEY_FILE"):
        if scene.estate.nodes:
            yield warn(
                name,
                "it is missing, so encrypted values cannot be opened",
                "copy it from your backup; for a new cluster `stockman init` creates one",
            )
        else:
            yield skip(name, "not needed without nodes")


def _names(scene: CheckInput) -> tuple[str, ...]:
    moved = [
        entry
        for variable in _VARIABLES
        for entry in scene.machine.variable(variable).split(":")
        if entry
    ]
    once: dict[Path, str] = {}
    for name in (*SECRET_FILES, *moved, *_list_variables(scene)):
        once.setdefault((scene.directory / name).absolute(), name)
    return tuple(once.values())


def _list_variables(scene: CheckInput) -> tuple[str, ...]:
    return tuple(
        secret.reference.removeprefix("file:")
        for secret in scene.secrets
        if secret.form is SecretForm.FILE
    )


CHECKS = (files, variables)
