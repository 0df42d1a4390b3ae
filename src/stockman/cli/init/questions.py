"""The questions of `stockman init`; options answer them in advance."""

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
from stockman.config.presets import NETWORKS, PRESETS, SUMMARIES, Answers, default_answers
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem

_QUESTIONS = {
    "cluster_name": "Cluster name",
    "repository": "Git repository, as owner/name or URL",
    "proxmox_endpoint": "URL of the Proxmox VE API",
    "talos_version": "Talos version",
}
_ANSWERS = (*_QUESTIONS, "domain")


def request_from_answers(directory: Path, values: Mapping[str, Any]) -> InitOptions:
    """Return what to create: from options, and from answers if no preset is given."""
    asks = values["preset"] is None
    request = InitOptions(
        directory=directory,
        preset=values["preset"] or _preset(),
        dialect=values["dialect"],
        network=values["network"],
        answers=Answers(**{name: values[name] for name in _ANSWERS}),
    )
    _check_used(request)
    if asks and not values["yes"]:
        request = _add_network(request)
        request = _add_answers(request)
    return request


def _preset() -> str:
    screen = current_screen()
    if screen.can_prompt:
        for line in _overview(screen):
            screen.note(line)
    # There is no default without a terminal: a preset is never guessed.
    return ask(
        "Preset",
        option="--preset",
        choices=PRESETS,
        default=PRESETS[0] if screen.can_prompt else None,
    )


def _overview(screen: Screen) -> Iterator[str]:
    rows = [(Cell(name, "name"), SUMMARIES[name]) for name in PRESETS]
    return table(
        ("PRESET", "DESCRIPTION"), rows, width=screen.notes_width, paint=screen.notes_paint
    )


def _add_network(request: InitOptions) -> InitOptions:
    if request.network is not None:
        return request
    own = NETWORKS[request.preset]

    def check(text: str) -> str:
        try:
            network = NETWORK.convert(text, None, None)
        except click.BadParameter as error:
            return error.message
        return "" if network == own else invalid_option(replace(request, network=network))

    text = ask("Network of the machines", option="--network", default=str(own), check=check)
    network = IPv4Network(text)
    return request if network == own else replace(request, network=network)


def _add_answers(request: InitOptions) -> InitOptions:
    defaults = default_answers(request.preset, request.network)
    for name, question in _QUESTIONS.items():
        default = getattr(defaults, name)
        if default is not None and getattr(request.answers, name) is None:
            request = _ask(request, name, question, default)
    return _add_domain(request) if defaults.repository is not None else request


def _ask(request: InitOptions, name: str, question: str, default: str) -> InitOptions:
    text = ask(
        question,
        option=_option(name),
        default=default,
        check=lambda text: invalid_option(_answering_option(request, name, text)),
    )
    return request if text == default else _answering_option(request, name, text)


def _add_domain(request: InitOptions) -> InitOptions:
    if request.answers.domain is not None:
        return request
    if not confirm("Publish services on the internet through Cloudflare?", yes=False):
        return request
    domain = ask(
        "Domain hosted at Cloudflare",
        option=_option("domain"),
        default="example.com",
        check=lambda text: invalid_option(_answering_option(request, "domain", text)),
    )
    return _answering_option(request, "domain", domain)


def _answering_option(request: InitOptions, name: str, text: str) -> InitOptions:
    return replace(request, answers=replace(request.answers, **{name: text}))


def _check_used(request: InitOptions) -> None:
    """Refuse an option that the preset does not use."""
    defaults = replace(default_answers(request.preset), domain=None)
    has_cluster = defaults.repository is not None
    for name in _ANSWERS:
        used = has_cluster if name == "domain" else getattr(defaults, name) is not None
        if getattr(request.answers, name) is not None and not used:
            raise WrongUsage(_option_conflict(_option(name), request.preset))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option_conflict(option: str, preset: str) -> Problem:
    return Problem(
        code="init.unused-option",
        what=f"{option} cannot be used with the preset {preset}",
        why=f"{preset} has no Talos cluster",
        fix=f"remove {option}, or choose another preset",
    )
