"""Check that names in inline code exist, and find the pages they can be linked to.

- A command line starts with `stockman`; command, options and preset must exist.
- A problem code or key has two or more words with dots, the first of which is an area of problems
  or a section of the files. The end of a key is sufficient (`vm.nics`). File names are ignored.
- A flat key has words with `_`, the first of which occurs in a flat key of cluster.yaml. Fixtures
  of the pytest plugin are ignored.
"""

from __future__ import annotations

import re
import shlex
from functools import cache

import click
from stockman_lab.testing import plugin

from docs._ext import commands, link_targets
from docs._ext.commands import COMMANDS
from docs._ext.link_targets import LinkTarget
from stockman.catalog.explanation import settings_keys
from stockman.catalog.registry import components
from stockman.cli import overview
from stockman.cli.registry import PROGRAM
from stockman.config.presets import PRESETS
from stockman.config.reference.keys import Key, all_keys, find_key, flat_keys
from stockman.model.problems import problem_codes

_DOTTED = re.compile(r"([a-z]+)(\.[A-Za-z0-9_-]+(\[\d*\])?)+")
_FILE = re.compile(r".*\.(yaml|yml|toml|tf|key|md|py|json|txt|svg|lock)")
_FLAT = re.compile(r"([a-z]+)_[a-z0-9_]+")


def link_target(text: str) -> LinkTarget | None:
    """Return the reference page for inline code. None: there is none."""
    if text.startswith(f"{PROGRAM} "):
        name = command_in(text)
        return link_targets.of_command(name) if name else None
    if _DOTTED.fullmatch(text) or text in _sections() or _FLAT.fullmatch(text):
        key = find_key(text)
        if key is not None:
            return link_targets.of_key(key.path)
    if text in problem_codes():
        return link_targets.of_problem(text)
    if text in PRESETS and "-" in text:
        return link_targets.of_preset(text)
    return None


def find_mistake(text: str) -> str:
    """Return what is wrong with inline code. Empty: nothing."""
    if text == PROGRAM or text.startswith(f"{PROGRAM} "):
        return _mistake_in_command(text)
    dotted = _DOTTED.fullmatch(text)
    if dotted is not None and not _FILE.fullmatch(text):
        known = text in problem_codes() or find_key(text) is not None or _ends_a_key(text)
        if dotted[1] in _sections() | _areas() and not known:
            return f"there is no key and no problem code {text}"
    flat = _FLAT.fullmatch(text)
    is_fixture = hasattr(plugin, text)
    if flat and flat[1] in _flat_words() and text not in _last_words() and not is_fixture:
        return f"there is no key {text}"
    return ""


def command_in(line: str) -> str:
    """Return the longest command name that a command line starts with. Empty: none."""
    arguments = [argument for argument in _split_command(line)[1:] if not argument.startswith("-")]
    for length in (2, 1):
        name = " ".join(arguments[:length])
        if name in COMMANDS:
            return name
    return ""


def _mistake_in_command(line: str) -> str:
    arguments = _split_command(line)
    name = command_in(line)
    bare = [argument for argument in arguments[1:] if not argument.startswith("-")]
    if not name and bare and bare != ["COMMAND"]:
        return f"there is no command in `{line}`"
    known = _options(name)
    for argument in arguments:
        option = argument.partition("=")[0]
        if option.startswith("-") and option not in known:
            return f"`{' '.join([PROGRAM, *name.split()])}` has no option {option}"
    if "--preset" in arguments:
        preset = arguments[arguments.index("--preset") + 1]
        if preset not in (*PRESETS, "NAME"):
            return f"there is no preset {preset}"
    return ""


def _split_command(line: str) -> list[str]:
    """Split a command line, without `-C DIR`, pipes and redirections."""
    arguments = shlex.split(re.split(r"\s*(?:[|;&]|\d?>)", line)[0], comments=True)
    while "-C" in arguments:
        at = arguments.index("-C")
        del arguments[at : at + 2]
    return arguments


@cache
def _options(name: str) -> frozenset[str]:
    if not name:
        return frozenset(option for flag in overview.ROOT for option in flag.names)
    command = commands.find_command(name)
    taken = {
        option
        for param in command.params
        if isinstance(param, click.Option)
        for option in param.opts
    }
    return frozenset({*taken, *overview.HELP.names})


def _ends_a_key(text: str) -> bool:
    return any(key.path.endswith(f".{text}") for key in (*all_keys(), *_settings()))


@cache
def _sections() -> frozenset[str]:
    return frozenset(key.path for key in all_keys() if not key.parent)


@cache
def _areas() -> frozenset[str]:
    return frozenset(code.partition(".")[0] for code in problem_codes())


@cache
def _flat_words() -> frozenset[str]:
    return frozenset(key.path.partition("_")[0] for key in flat_keys())


@cache
def _last_words() -> frozenset[str]:
    return frozenset(key.name for key in (*flat_keys(), *all_keys(), *_settings()))


@cache
def _settings() -> tuple[Key, ...]:
    return tuple(key for component in components() for key in settings_keys(component))
