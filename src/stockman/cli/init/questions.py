"""What `stockman init` asks on a terminal; options answer the same questions beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import click

from stockman.app.init.directory import InitOptions, invalid_option
from stockman.cli.terminal.prompts import ask, confirm
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table
from stockman.cli.types import NETWORK
from stockman.config.presets import NETWORKS, PRESETS, SUMMARIES, default_answers
from stockman.config.presets.answers import Answers
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem

_QUESTIONS = {
    "cluster_name": "Name of the cluster",
    "repository": "Git repository, as owner/name or address",
    "proxmox_endpoint": "Address of the Proxmox API",
    "talos_version": "Version of Talos",
}
_ANSWERS = (*_QUESTIONS, "domain")


def request_from_answers(directory: Path, given: Mapping[str, Any]) -> InitOptions:
    """What the user wants: by options, and by answers where no preset was named."""
    asks = given["preset"] is None
    wish = InitOptions(
        directory=directory,
        preset=given["preset"] or _preset(),
        dialect=given["dialect"],
        network=given["network"],
        answers=Answers(**{name: given[name] for name in _ANSWERS}),
    )
    _check_used(wish)
    if asks and not given["yes"]:
        wish = _add_network(wish)
        wish = _add_answers(wish)
    return wish


def _preset() -> str:
    screen = current_screen()
    if screen.can_ask:
        for line in _overview(screen):
            screen.note(line)
    # Without a terminal there is no default: a preset is never guessed.
    return ask(
        "Preset",
        option="--preset",
        choices=PRESETS,
        default=PRESETS[0] if screen.can_ask else None,
    )


def _overview(screen: Screen) -> Iterator[str]:
    rows = [(Cell(name, "name"), SUMMARIES[name]) for name in PRESETS]
    return table(("PRESET", "WHAT IT IS"), rows, width=screen.notes_width, paint=screen.notes_paint)


def _add_network(wish: InitOptions) -> InitOptions:
    if wish.network is not None:
        return wish
    own = NETWORKS[wish.preset]

    def check(text: str) -> str:
        try:
            network = NETWORK.convert(text, None, None)
        except click.BadParameter as error:
            return error.message
        return "" if network == own else invalid_option(replace(wish, network=network))

    text = ask("Network of the machines", option="--network", default=str(own), check=check)
    network = IPv4Network(text)
    return wish if network == own else replace(wish, network=network)


def _add_answers(wish: InitOptions) -> InitOptions:
    defaults = default_answers(wish.preset, wish.network)
    for name, question in _QUESTIONS.items():
        default = getattr(defaults, name)
        if default is not None and getattr(wish.answers, name) is None:
            wish = _ask(wish, name, question, default)
    return _add_domain(wish) if defaults.repository is not None else wish


def _ask(wish: InitOptions, name: str, question: str, default: str) -> InitOptions:
    text = ask(
        question,
        option=_option(name),
        default=default,
        check=lambda text: invalid_option(_answering_option(wish, name, text)),
    )
    return wish if text == default else _answering_option(wish, name, text)


def _add_domain(wish: InitOptions) -> InitOptions:
    if wish.answers.domain is not None:
        return wish
    if not confirm("Publish services on the internet, through Cloudflare?", yes=False):
        return wish
    domain = ask(
        "Domain that Cloudflare serves",
        option=_option("domain"),
        default="example.com",
        check=lambda text: invalid_option(_answering_option(wish, "domain", text)),
    )
    return _answering_option(wish, "domain", domain)


def _answering_option(wish: InitOptions, name: str, text: str) -> InitOptions:
    return replace(wish, answers=replace(wish.answers, **{name: text}))


def _check_used(wish: InitOptions) -> None:
    """Refuse an answer that the preset has no place for."""
    defaults = replace(default_answers(wish.preset), domain=None)
    has_cluster = defaults.repository is not None
    for name in _ANSWERS:
        used = has_cluster if name == "domain" else getattr(defaults, name) is not None
        if getattr(wish.answers, name) is not None and not used:
            raise WrongUsage(_option_conflict(_option(name), wish.preset))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option_conflict(option: str, preset: str) -> Problem:
    return Problem(
        code="init.unused-option",
        what=f"{option} has no place in the preset {preset}",
        why=f"{preset} has no Talos cluster",
        fix=f"leave {option} out, or choose another preset",
    )
