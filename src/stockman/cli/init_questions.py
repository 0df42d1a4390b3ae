"""What `stockman init` asks on a terminal; options answer the same questions beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import click

from stockman.app.initialisation import Wish, complaint
from stockman.cli.ask import answer, confirmed
from stockman.cli.network import NETWORK
from stockman.cli.screen import Screen, current
from stockman.cli.tables import Cell, table
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


def wish_of(directory: Path, given: Mapping[str, Any]) -> Wish:
    """What the user wants: by options, and by answers where no preset was named."""
    asks = given["preset"] is None
    wish = Wish(
        directory=directory,
        preset=given["preset"] or _preset(),
        dialect=given["dialect"],
        network=given["network"],
        answers=Answers(**{name: given[name] for name in _ANSWERS}),
    )
    _check_used(wish)
    if asks and not given["yes"]:
        wish = _with_network(wish)
        wish = _with_answers(wish)
    return wish


def _preset() -> str:
    screen = current()
    if screen.can_ask:
        for line in _overview(screen):
            screen.note(line)
    # Without a terminal there is no default: a preset is never guessed.
    return answer(
        "Preset",
        option="--preset",
        choices=PRESETS,
        default=PRESETS[0] if screen.can_ask else None,
    )


def _overview(screen: Screen) -> Iterator[str]:
    rows = [(Cell(name, "name"), SUMMARIES[name]) for name in PRESETS]
    return table(("PRESET", "WHAT IT IS"), rows, width=screen.notes_width, paint=screen.notes_paint)


def _with_network(wish: Wish) -> Wish:
    if wish.network is not None:
        return wish
    own = NETWORKS[wish.preset]

    def check(text: str) -> str:
        try:
            network = NETWORK.convert(text, None, None)
        except click.BadParameter as error:
            return error.message
        return "" if network == own else complaint(replace(wish, network=network))

    text = answer("Network of the machines", option="--network", default=str(own), check=check)
    network = IPv4Network(text)
    return wish if network == own else replace(wish, network=network)


def _with_answers(wish: Wish) -> Wish:
    defaults = default_answers(wish.preset, wish.network)
    for name, question in _QUESTIONS.items():
        default = getattr(defaults, name)
        if default is not None and getattr(wish.answers, name) is None:
            wish = _asked(wish, name, question, default)
    return _with_domain(wish) if defaults.repository is not None else wish


def _asked(wish: Wish, name: str, question: str, default: str) -> Wish:
    text = answer(
        question,
        option=_option(name),
        default=default,
        check=lambda text: complaint(_answering(wish, name, text)),
    )
    return wish if text == default else _answering(wish, name, text)


def _with_domain(wish: Wish) -> Wish:
    if wish.answers.domain is not None:
        return wish
    if not confirmed("Publish services on the internet, through Cloudflare?", yes=False):
        return wish
    domain = answer(
        "Domain that Cloudflare serves",
        option=_option("domain"),
        default="example.com",
        check=lambda text: complaint(_answering(wish, "domain", text)),
    )
    return _answering(wish, "domain", domain)


def _answering(wish: Wish, name: str, text: str) -> Wish:
    return replace(wish, answers=replace(wish.answers, **{name: text}))


def _check_used(wish: Wish) -> None:
    """Refuse an answer that the preset has no place for."""
    defaults = replace(default_answers(wish.preset), domain=None)
    has_cluster = defaults.repository is not None
    for name in _ANSWERS:
        used = has_cluster if name == "domain" else getattr(defaults, name) is not None
        if getattr(wish.answers, name) is not None and not used:
            raise WrongUsage(_unused(_option(name), wish.preset))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _unused(option: str, preset: str) -> Problem:
    return Problem(
        code="init.unused-option",
        what=f"{option} has no place in the preset {preset}",
        why=f"{preset} has no Talos cluster",
        fix=f"leave {option} out, or choose another preset",
    )
