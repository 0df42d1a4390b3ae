"""Arguments of the `helm` program."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_FLAGS = frozenset(
    {
        "atomic",
        "cleanup-on-fail",
        "create-namespace",
        "debug",
        "dependency-update",
        "devel",
        "disable-openapi-validation",
        "dry-run",
        "enable-dns",
        "force",
        "force-conflicts",
        "force-replace",
        "hide-notes",
        "hide-secret",
        "insecure-skip-tls-verify",
        "install",
        "keep-history",
        "no-hooks",
        "pass-credentials",
        "plain-http",
        "render-subchart-notes",
        "replace",
        "reset-then-reuse-values",
        "reset-values",
        "reuse-values",
        "rollback-on-failure",
        "server-side",
        "skip-crds",
        "skip-schema-validation",
        "take-ownership",
        "verify",
        "wait",
        "wait-for-jobs",
        "ignore-not-found",
    }
)
_VALUED = frozenset(
    {
        "burst-limit",
        "ca-file",
        "cascade",
        "cert-file",
        "description",
        "history-max",
        "key-file",
        "keyring",
        "kube-apiserver",
        "kube-as-group",
        "kube-as-user",
        "kube-ca-file",
        "kube-context",
        "kube-token",
        "kubeconfig",
        "labels",
        "namespace",
        "output",
        "password",
        "post-renderer",
        "qps",
        "registry-config",
        "repo",
        "repository-cache",
        "repository-config",
        "set",
        "set-file",
        "set-json",
        "set-literal",
        "set-string",
        "timeout",
        "username",
        "values",
        "version",
    }
)
_SHORT = {"n": "namespace", "f": "values", "i": "install", "o": "output", "l": "labels"}
_OPTIONAL = frozenset({"wait", "dry-run", "server-side"})
"""Flags that can also be given a value, after a sign of equality."""
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")


class BadCommand(Exception):
    """What the program says to arguments that it does not know."""


@dataclass(slots=True)
class Command:
    """One command."""

    name: str
    arguments: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    options: list[tuple[str, str]] = field(default_factory=list)
    """In the order in which they are given."""

    def option(self, name: str, otherwise: str = "") -> str:
        """The last value of an option."""
        values = [value for key, value in self.options if key == name]
        return values[-1] if values else otherwise

    @property
    def seconds(self) -> float:
        """How long it waits at most; raises `BadCommand`."""
        return duration(self.option("timeout", "5m"))


def duration(text: str) -> float:
    """Seconds of `1h2m3s`; raises `BadCommand`."""
    found = _DURATION.fullmatch(text)
    if found is None or not text:
        raise BadCommand(
            f'invalid argument "{text}" for "--timeout" flag: time: invalid duration "{text}"'
        )
    hours, minutes, seconds = (float(group or 0) for group in found.groups())
    return hours * 3600 + minutes * 60 + seconds


def read_command(words: list[str]) -> Command:
    """What arguments after the name of the program mean; raises `BadCommand`."""
    command = Command("")
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            if command.name:
                command.arguments.append(word)
            else:
                command.name = word
            continue
        name, sign, value = word.lstrip("-").partition("=")
        is_short = not word.startswith("--")
        if is_short and name[:1] in _SHORT and len(name) > 1 and not sign:
            name, sign, value = name[:1], "=", name[1:]
        name = _SHORT.get(name, name) if is_short else name
        if name in _VALUED:
            if not sign:
                value = next(rest, "")
            command.options.append((name, value))
        elif name in _FLAGS:
            if value != "false":
                command.flags.add(name)
            if sign and name in _OPTIONAL:
                command.options.append((name, value))
        elif is_short:
            raise BadCommand(f"unknown shorthand flag: '{name[:1]}' in {word}")
        else:
            raise BadCommand(f"unknown flag: --{name}")
    return command
