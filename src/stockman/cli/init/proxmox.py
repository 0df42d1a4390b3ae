"""Who asks Proxmox VE before there are any files, and whose certificate is believed."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stockman.app.init import from_proxmox
from stockman.app.init.directory import InitOptions
from stockman.app.proxmox import credentials
from stockman.app.proxmox.credentials import ProxmoxLogin
from stockman.cli.terminal.prompts import ask, confirm
from stockman.cli.terminal.screen import current_screen
from stockman.config.presets.answers import Answers
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.planning.starter.draft import DraftOptions
from stockman.planning.starter.network import NetworkOptions
from stockman.planning.starter.sizing import SHAPES
from stockman.ports.environment import Network, Trust

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)


def certificate_trust(url: str, given: Mapping[str, Any], network: Network) -> Trust:
    """How the certificate behind an address is judged: as options say, or as somebody confirms."""
    if given["fingerprint"] is not None:
        return Trust(fingerprint=given["fingerprint"])
    if given["ca_file"] is not None:
        return Trust(ca=_certificates(given["ca_file"]))
    seen = asyncio.run(from_proxmox.fetch_certificate(url, network))
    if not seen.flaw:
        return Trust()
    screen = current_screen()
    if not screen.can_ask:
        raise from_proxmox.untrusted_certificate(url, seen)
    screen.note(f"{url} shows a certificate that no CA of this system signed: {seen.flaw}.")
    screen.note(f"Its SHA-256 fingerprint is\n  {seen.fingerprint}")
    screen.note("`pvenode cert info` on the host prints the one that it should be.")
    if not confirm("Are both the same?", yes=False, option="--fingerprint"):
        raise from_proxmox.untrusted_certificate(url, seen)
    return Trust(fingerprint=seen.fingerprint)


def _certificates(path: Path) -> bytes:
    """The certificates of a file; a key that stands beside them goes nowhere."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WrongUsage(_unreadable(path, error.strerror or type(error).__name__)) from None
    found = b"".join(_CERTIFICATE.findall(content))
    if not found:
        raise WrongUsage(_unreadable(path, "it holds no certificate"))
    return found


def find_login() -> ProxmoxLogin:
    """Who asks: as the environment says, or whoever sits at the terminal."""
    found = credentials.login_from_environment(os.environ)
    if found is not None:
        return found
    if not current_screen().can_ask:
        raise credentials.no_login()
    return prompt_login()


def prompt_login() -> ProxmoxLogin:
    """Whoever sits there; the secret is not shown."""
    who = ask(
        "Token that may look (user@realm!name), or user (user@realm)",
        option=credentials.TOKEN_ID,
        default="root@pam",
    )
    kind = "Secret of the token" if "!" in who else "Password"
    return credentials.login_from_prompt(who, current_screen().prompt_hidden(f"{kind}: "))


def _unreadable(path: Path, why: str) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA of Proxmox VE cannot be read",
        where=str(path),
        why=why,
        fix="give the certificate that hosts have as /etc/pve/pve-root-ca.pem",
    )


OWN_OPTIONS = ("fingerprint", "ca_file", "gateway")
"""What has a place beside `--from-proxmox` only."""
_ANSWERS = ("cluster_name", "repository", "domain", "talos_version")


def request_from_proxmox(directory: Path, given: Mapping[str, Any]) -> InitOptions:
    """What the user wants, with files made for the hosts that are at an address."""
    from stockman.adapters.network import SocketNetwork
    from stockman.adapters.system import SystemTimekeeper

    _check(given)
    network = SocketNetwork()
    answers = Answers(**{name: given[name] for name in _ANSWERS})
    errand = from_proxmox.ProxmoxSource(
        url=given["from_proxmox"],
        trust=certificate_trust(given["from_proxmox"], given, network),
        asker=find_login(),
        wish=DraftOptions(
            preset=given["preset"],
            network=NetworkOptions(network=given["network"], gateway=given["gateway"]),
        ),
        answers=answers,
    )
    looked = asyncio.run(from_proxmox.propose_files(errand, network, SystemTimekeeper()))
    for line in from_proxmox.describe_proposal(looked):
        current_screen().note(line)
    return InitOptions(
        directory=directory,
        preset=looked.draft.shape.preset,
        dialect=given["dialect"],
        answers=answers,
        drafted=looked.files,
    )


def reject_proxmox_options(given: Mapping[str, Any]) -> None:
    """Refuse options that only have a place beside `--from-proxmox`."""
    for name in OWN_OPTIONS:
        if given[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise WrongUsage(
                _option_unused_by_proxmox(option, "there is no --from-proxmox, which it belongs to")
            )


def _check(given: Mapping[str, Any]) -> None:
    if given["preset"] is not None and given["preset"] not in SHAPES:
        why = f"the preset {given['preset']} has no Talos cluster"
        raise WrongUsage(_option_unused_by_proxmox("--from-proxmox", why))
    if given["proxmox_endpoint"] is not None:
        why = "--from-proxmox says already where the API answers"
        raise WrongUsage(_option_unused_by_proxmox("--proxmox-endpoint", why))
    if given["fingerprint"] is not None and given["ca_file"] is not None:
        raise WrongUsage(
            _option_unused_by_proxmox("--fingerprint", "--ca-file says already what is trusted")
        )


def _option_unused_by_proxmox(option: str, why: str) -> Problem:
    return Problem(
        code="init.unused-option",
        what=f"{option} has no place here",
        why=why,
        fix=f"leave {option} out",
    )
