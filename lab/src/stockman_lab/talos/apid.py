"""How the API of a machine shows itself: its certificate, and whom it lets in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman.crypto.pem import CertificateAndKey
    from stockman_lab.talos.machine import Machine

_RENEWED_AFTER = 43_200.0
"""Seconds: certificates hold for a day."""
_FAR = 1 << 43
"""Where the dice of these keys begin: who looks first must not change what others throw."""


@dataclass
class Apid:
    """The API of a machine while it is up."""

    machine: Machine
    mode: str
    """`maintenance` or `secured`."""
    boot: int
    """Another number after every boot."""
    _pair: CertificateAndKey | None = None
    _made_at: float = 0.0

    @property
    def ca(self) -> str:
        """Authorities of clients, in PEM."""
        config = self.machine.config
        if config is None:
            return ""
        return "\n".join(one for one in (config.os_ca.crt, *config.accepted_cas) if one)

    @property
    def certificate(self) -> str:
        return self._made().crt

    @property
    def key(self) -> str:
        return self._made().key.reveal()

    def _made(self) -> CertificateAndKey:
        now = self.machine.land.certificates_from
        if self._pair is None or not 0 <= now - self._made_at < _RENEWED_AFTER:
            self._pair = _certificate(self.machine, self.mode, self.boot)
            self._made_at = now
        return self._pair


def apid_of(machine: Machine) -> Apid | None:
    """The API of a machine. None: nobody answers."""
    state = machine.state
    if not state.api or not machine.is_reachable:
        return None
    if state.api == "secured" and _authority(machine) is None:
        return None
    known = machine.apid
    if known is None or (known.mode, known.boot) != (state.api, state.boot):
        known = machine.apid = Apid(machine, state.api, state.boot)
    return known


def _authority(machine: Machine) -> CertificateAndKey | None:
    """What signs for a machine: its own authority, or that of a control plane that it reaches."""
    from stockman.crypto.pem import CertificateAndKey
    from stockman.model.secret import Secret

    config = machine.config
    if config is None:
        return None
    for one in [config, *(controller.config for controller in machine.land.controllers(machine))]:
        if one is not None and one.os_ca.key and one.token == config.token:
            return CertificateAndKey(crt=one.os_ca.crt, key=Secret(one.os_ca.key))
    return None


def _certificate(machine: Machine, mode: str, number: int) -> CertificateAndKey:
    from stockman_lab.core.dice import Dice
    from stockman_lab.talos.security.tls import (
        Names,
        maintenance_certificate,
        server_certificate,
    )

    seed = machine.land.around.dice.seed
    dice = Dice(seed, _FAR + machine.state.vmid * (1 << 24) + number % (1 << 20)).random_bytes
    moment = datetime.fromtimestamp(machine.land.certificates_from, UTC)
    config, authority = machine.config, _authority(machine)
    if mode == "maintenance" or authority is None or config is None:
        return maintenance_certificate(machine.addresses, moment, dice)
    addresses = [*machine.addresses, "127.0.0.1", "::1"]
    names = [machine.hostname, "localhost"]
    for text in config.cert_sans:
        (addresses if _is_address(text) else names).append(text)
    if machine.state.network.vip:
        addresses.append(machine.state.network.vip)
    return server_certificate(authority, Names(machine.hostname, names, addresses), moment, dice)


def _is_address(text: str) -> bool:
    from ipaddress import ip_address

    try:
        ip_address(text)
    except ValueError:
        return False
    return True
