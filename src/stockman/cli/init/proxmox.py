"""`stockman init --from-proxmox`: login, verification of the certificate, and choices."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stockman.app import proxmox
from stockman.app.init import from_proxmox
from stockman.app.init.directory import InitOptions
from stockman.app.proxmox import ProxmoxLogin
from stockman.cli.terminal.prompts import ask, confirm
from stockman.cli.terminal.screen import current_screen
from stockman.config.presets import Answers
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.planning.starter.draft import DraftOptions
from stockman.planning.starter.network import NetworkOptions
from stockman.planning.starter.sizing import SHAPES
from stockman.ports.environment import Network, Trust

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)


def certificate_trust(url: str, values: Mapping[str, Any], network: Network) -> Trust:
    """Return how to verify the certificate: as options say, or after confirmation of its
    fingerprint."""
    if values["fingerprint"] is not None:
        return Trust(fingerprint=values["fingerprint"])
    if values["ca_file"] is not None:
        return Trust(ca=_certificates(values["ca_file"]))
    seen = asyncio.run(from_proxmox.fetch_certificate(url, network))
    if not seen.flaw:
        return Trust()
    screen = current_screen()
    if not screen.can_prompt:
        raise from_proxmox.unknown_certificate(url, seen)
    screen.note(
        f"The certificate of {url} is not signed by a CA that this system trusts: {seen.flaw}."
    )
    screen.note(f"Its SHA-256 fingerprint is\n  {seen.fingerprint}")
    screen.note("Compare it with the output of `pvenode cert info` on the host.")
    if not confirm("Do the fingerprints match?", yes=False, option="--fingerprint"):
        raise from_proxmox.unknown_certificate(url, seen)
    return Trust(fingerprint=seen.fingerprint)


def _certificates(path: Path) -> bytes:
    """Return the certificates of a file; private keys in it are ignored."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WrongUsage(_unreadable(path, error.strerror or type(error).__name__)) from None
    certificates = b"".join(_CERTIFICATE.findall(content))
    if not certificates:
        raise WrongUsage(_unreadable(path, "it does not contain a certificate"))
    return certificates


def find_login(url: str) -> ProxmoxLogin:
    """Return the login for a URL from the environment, or prompt for it."""
    proxmox.check_named_endpoint(os.environ, url)
    login = proxmox.login_from_environment(os.environ)
    if login is not None:
        return login
    if not current_screen().can_prompt:
        raise proxmox.no_login()
    return prompt_login()


def prompt_login() -> ProxmoxLogin:
    """Prompt for a login; the secret is not echoed."""
    user = ask(
        "API token with read access (user@realm!name), or user (user@realm)",
        option=proxmox.TOKEN_ID,
        default="root@pam",
    )
    kind = "Token secret" if "!" in user else "Password"
    return proxmox.login_from_prompt(user, current_screen().prompt_hidden(f"{kind}: "))


def _unreadable(path: Path, why: str) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA certificate of Proxmox VE cannot be read",
        where=str(path),
        why=why,
        fix="use the certificate in /etc/pve/pve-root-ca.pem on the hosts",
    )


OWN_OPTIONS = ("fingerprint", "ca_file")
"""Options that need `--from-proxmox`."""
_ANSWERS = ("cluster_name", "repository", "domain", "talos_version")
_READ = ("hosts", "storage", "bridge", "vlan")
"""Answers that are read from Proxmox VE."""


def request_from_proxmox(directory: Path, values: Mapping[str, Any]) -> InitOptions:
    """Return what to create, with files for the Proxmox VE hosts at an address."""
    from stockman.adapters.network import SocketNetwork
    from stockman.adapters.system import SystemTimekeeper

    _check(values)
    network = SocketNetwork()
    answers = Answers(**{name: values[name] for name in _ANSWERS})
    errand = from_proxmox.ProxmoxSource(
        url=values["from_proxmox"],
        trust=certificate_trust(values["from_proxmox"], values, network),
        asker=find_login(values["from_proxmox"]),
        options=DraftOptions(
            preset=values["preset"],
            network=NetworkOptions(network=values["network"], gateway=values["gateway"]),
        ),
        answers=answers,
    )
    looked = asyncio.run(from_proxmox.propose_files(errand, network, SystemTimekeeper()))
    for line in from_proxmox.describe_proposal(looked):
        current_screen().note(line)
    return InitOptions(
        directory=directory,
        preset=looked.draft.shape.preset,
        dialect=values["dialect"],
        answers=answers,
        draft=looked.files,
    )


def reject_proxmox_options(values: Mapping[str, Any]) -> None:
    """Refuse options that need `--from-proxmox`."""
    for name in OWN_OPTIONS:
        if values[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise WrongUsage(_option_unused_by_proxmox(option, "it needs --from-proxmox"))


def _check(values: Mapping[str, Any]) -> None:
    if values["preset"] is not None and values["preset"] not in SHAPES:
        why = f"the preset {values['preset']} has no Talos cluster"
        raise WrongUsage(_option_unused_by_proxmox("--from-proxmox", why))
    for name in _READ:
        if values[name] is not None:
            raise WrongUsage(
                _option_unused_by_proxmox(f"--{name}", "--from-proxmox reads it from the hosts")
            )
    if values["proxmox_endpoint"] is not None:
        why = "--from-proxmox already sets the API address"
        raise WrongUsage(_option_unused_by_proxmox("--proxmox-endpoint", why))
    if values["fingerprint"] is not None and values["ca_file"] is not None:
        raise WrongUsage(
            _option_unused_by_proxmox("--fingerprint", "--ca-file already sets the trusted CA")
        )


def _option_unused_by_proxmox(option: str, why: str) -> Problem:
    return Problem(
        code="init.unused-option",
        what=f"{option} cannot be used here",
        why=why,
        fix=f"remove {option}",
    )
