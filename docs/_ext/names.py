"""What inline code in the documentation names, and what it only seems to name.

A page writes names as inline code. What is judged, and by which form it is known:

- a command line: `stockman` and what follows; command, options and preset have to exist
- a problem code or key: two or more words with dots, the first of them an area of problems or a
  section of the files; the end of a key will do (`vm.nics`), and file names are not meant
- a flat key: words with `_`, the first of them as in the flat keys of cluster.yaml; fixtures of the
  plugin for pytest look like them, and are none
"""

from __future__ import annotations

import re
import shlex
from functools import cache

import click
from stockman_lab.testing import plugin

from docs._ext import commands, places
from docs._ext.commands import COMMANDS
from docs._ext.places import Place
from stockman.catalog.explanation import settings_keys
from stockman.catalog.registry import components
from stockman.cli import overview
from stockman.cli.registry import PROGRAM
from stockman.config.presets import PRESETS
from stockman.config.reference.keys import all_keys, find_key, flat_keys
from stockman.model.problems import problem_codes

_DOTTED = re.compile(r"([a-z]+)(\.[A-Za-z0-9_-]+(\[\d*\])?)+")
_FILE = re.compile(r".*\.(yaml|yml|toml|tf|key|md|py|json|txt|svg|lock)")
_FLAT = re.compile(r"([a-z]+)_[a-z0-9_]+")


def place_of(text: str) -> Place | None:
    """Where the reference tells about what a piece of inline code names; None: nowhere."""
    if text.startswith(f"{PROGRAM} "):
        name = command_in(text)
        return places.of_command(name) if name else None
    if _DOTTED.fullmatch(text) or text in _sections() or _FLAT.fullmatch(text):
        key = find_key(text)
        if key is not None:
            return places.of_key(key.path)
    if text in problem_codes():
        return places.of_problem(text)
    if text in PRESETS and "-" in text:
        return places.of_preset(text)
    return None


def complaint_about(text: str) -> str:
    """What is wrong with a piece of inline code; empty: nothing."""
    if text == PROGRAM or text.startswith(f"{PROGRAM} "):
        return _about_command(text)
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
    """The longest name of a command that a command line starts with; empty: none."""
    words = [word for word in _words(line)[1:] if not word.startswith("-")]
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS:
            return name
    return ""


def _about_command(line: str) -> str:
    words = _words(line)
    name = command_in(line)
    bare = [word for word in words[1:] if not word.startswith("-")]
    if not name and bare and bare != ["COMMAND"]:
        return f"there is no command in `{line}`"
    known = _options(name)
    for word in words:
        option = word.partition("=")[0]
        if option.startswith("-") and option not in known:
            return f"`{' '.join([PROGRAM, *name.split()])}` has no option {option}"
    if "--preset" in words:
        preset = words[words.index("--preset") + 1]
        if preset not in (*PRESETS, "NAME"):
            return f"there is no preset {preset}"
    return ""


def _words(line: str) -> list[str]:
    """The words of one command, without `-C` and its directory and without what the shell takes."""
    words = shlex.split(re.split(r"\s*(?:[|;&]|\d?>)", line)[0], comments=True)
    while "-C" in words:
        at = words.index("-C")
        del words[at : at + 2]
    return words


@cache
def _options(name: str) -> frozenset[str]:
    if not name:
        return frozenset(one for flag in overview.ROOT for one in flag.names)
    command = commands.command_named(name)
    taken = {
        one for param in command.params if isinstance(param, click.Option) for one in param.opts
    }
    return frozenset({*taken, *overview.HELP.names})


def _ends_a_key(text: str) -> bool:
    return any(key.path.endswith(f".{text}") for key in all_keys())


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
    settings = (key for one in components() for key in settings_keys(one))
    return frozenset(key.name for key in (*flat_keys(), *all_keys(), *settings))
