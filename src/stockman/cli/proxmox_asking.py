"""Who asks Proxmox VE before there are any files, and whose certificate is believed."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stockman.app import proxmox_credentials, proxmox_start
from stockman.app.proxmox_credentials import Asker
from stockman.cli.ask import answer, confirmed
from stockman.cli.screen import current
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.ports.probe import Network, Trust

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)


def trust_of(url: str, given: Mapping[str, Any], network: Network) -> Trust:
    """How the certificate behind an address is judged: as options say, or as somebody confirms."""
    if given["fingerprint"] is not None:
        return Trust(fingerprint=given["fingerprint"])
    if given["ca_file"] is not None:
        return Trust(ca=_certificates(given["ca_file"]))
    seen = asyncio.run(proxmox_start.shown_certificate(url, network))
    if not seen.flaw:
        return Trust()
    screen = current()
    if not screen.can_ask:
        raise proxmox_start.untrusted(url, seen)
    screen.note(f"{url} shows a certificate that no CA of this system signed: {seen.flaw}.")
    screen.note(f"Its SHA-256 fingerprint is\n  {seen.fingerprint}")
    screen.note("`pvenode cert info` on the host prints the one that it should be.")
    if not confirmed("Are both the same?", yes=False, option="--fingerprint"):
        raise proxmox_start.untrusted(url, seen)
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


def asker() -> Asker:
    """Who asks: as the environment says, or whoever sits at the terminal."""
    found = proxmox_credentials.asker_of(os.environ)
    if found is not None:
        return found
    if not current().can_ask:
        raise proxmox_credentials.missing()
    return typed_on_terminal()


def typed_on_terminal() -> Asker:
    """Whoever sits there; the secret is not shown."""
    who = answer(
        "Token that may look (user@realm!name), or user (user@realm)",
        option=proxmox_credentials.TOKEN_ID,
        default="root@pam",
    )
    kind = "Secret of the token" if "!" in who else "Password"
    return proxmox_credentials.typed_asker(who, current().prompt_hidden(f"{kind}: "))


def _unreadable(path: Path, why: str) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA of Proxmox VE cannot be read",
        where=str(path),
        why=why,
        fix="give the certificate that hosts have as /etc/pve/pve-root-ca.pem",
    )
