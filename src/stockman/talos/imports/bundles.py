"""The secrets bundle of another tool: taken over as it is, if it is encrypted."""

from __future__ import annotations

from stockman.config.source.text import Unreadable
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.problem import Problem, Severity
from stockman.talos.imports.files import Read, is_wholly_sealed, read_text
from stockman.talos.imports.foreign import Foreign

BUNDLE = "the secrets bundle"
"""Stands for the name that a dialect has for it."""
NAMES = {False: "talos/talsecret.sops.yaml", True: "talos/secrets.sops.yaml"}
"""Its name in a classic directory, and in one with `cluster.toml`."""


def take_bundle(foreign: Foreign, read: Read, names: tuple[str, ...]) -> None:
    """Take over the first of some files that exists; what is in the clear is never copied."""
    for name in names:
        try:
            text = read_text(read, name)
            tree = None if text is None else read_yaml(name, text)
        except Unreadable as unreadable:
            foreign.problems.add(unreadable.problem)
            return
        if text is None or tree is None:
            continue
        at = Position(name, 1, 1)
        if is_wholly_sealed(tree):
            foreign.files[BUNDLE] = text
            foreign.say(name, at, "taken", f"{BUNDLE}, byte for byte")
        else:
            foreign.say(name, at, "left out", "it is not encrypted, and was not copied")
            foreign.problems.add(_in_the_clear(name))
        return
    foreign.notes.append(
        f"there is no {' and no '.join(names[:2])}: take the bundle of the running cluster"
    )


def _in_the_clear(name: str) -> Problem:
    return Problem(
        code="import.open-bundle",
        what=f"{name} holds the secrets of the cluster in the clear",
        where=name,
        why="whoever reads it owns the cluster; it was not copied",
        fix=f"encrypt it with SOPS, and put it at {NAMES[False]} (beside cluster.toml: "
        f"{NAMES[True]})",
        severity=Severity.WARNING,
    )
