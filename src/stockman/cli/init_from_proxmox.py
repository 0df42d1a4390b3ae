"""`stockman init --from-proxmox`: who asks, whom is trusted, and what the user decided."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stockman.app import proxmox_start
from stockman.app.initialisation import Wish
from stockman.cli.proxmox_asking import asker, trust_of
from stockman.cli.screen import current
from stockman.config.presets.answers import Answers
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.planning.starter.draft import DraftWish
from stockman.planning.starter.network_choice import NetworkWish
from stockman.planning.starter.shape import SHAPES

OWN_OPTIONS = ("fingerprint", "ca_file", "gateway")
"""What has a place beside `--from-proxmox` only."""
_ANSWERS = ("cluster_name", "repository", "domain", "talos_version")


def wish_from_proxmox(directory: Path, given: Mapping[str, Any]) -> Wish:
    """What the user wants, with files made for the hosts that are at an address."""
    from stockman.adapters.network import SocketNetwork
    from stockman.adapters.system import SystemTimekeeper

    _check(given)
    network = SocketNetwork()
    answers = Answers(**{name: given[name] for name in _ANSWERS})
    errand = proxmox_start.Errand(
        url=given["from_proxmox"],
        trust=trust_of(given["from_proxmox"], given, network),
        asker=asker(),
        wish=DraftWish(
            preset=given["preset"],
            network=NetworkWish(network=given["network"], gateway=given["gateway"]),
        ),
        answers=answers,
    )
    looked = asyncio.run(proxmox_start.looked(errand, network, SystemTimekeeper()))
    for line in proxmox_start.described(looked):
        current().note(line)
    return Wish(
        directory=directory,
        preset=looked.draft.shape.preset,
        dialect=given["dialect"],
        answers=answers,
        drafted=looked.files,
    )


def check_without(given: Mapping[str, Any]) -> None:
    """Refuse options that only have a place beside `--from-proxmox`."""
    for name in OWN_OPTIONS:
        if given[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise WrongUsage(_unused(option, "there is no --from-proxmox, which it belongs to"))


def _check(given: Mapping[str, Any]) -> None:
    if given["preset"] is not None and given["preset"] not in SHAPES:
        why = f"the preset {given['preset']} has no Talos cluster"
        raise WrongUsage(_unused("--from-proxmox", why))
    if given["proxmox_endpoint"] is not None:
        why = "--from-proxmox says already where the API answers"
        raise WrongUsage(_unused("--proxmox-endpoint", why))
    if given["fingerprint"] is not None and given["ca_file"] is not None:
        raise WrongUsage(_unused("--fingerprint", "--ca-file says already what is trusted"))


def _unused(option: str, why: str) -> Problem:
    return Problem(
        code="init.unused-option",
        what=f"{option} has no place here",
        why=why,
        fix=f"leave {option} out",
    )
