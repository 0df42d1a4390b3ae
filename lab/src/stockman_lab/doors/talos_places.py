"""Where addresses of Talos machines are on this machine, the same for as long as it is served."""

from __future__ import annotations

import errno
import ipaddress
import socket

from stockman_lab.doors.talos_face import APID_PORT, Place
from stockman_lab.talos.api.call import ApiMachine

_LOCALHOST = "127.0.0.1"


class TalosPlaces:
    """Remembers places, so that a machine that reboots is found where it was before."""

    def __init__(self, port: int = APID_PORT, usual: int = APID_PORT) -> None:
        """Of the API instead of the usual one; with 0 every address answers on any free port."""
        self._ports_are_free = port == 0
        self._shift = port - usual
        self._known: dict[Place, Place] = {}

    def of(self, machine: ApiMachine, address: str, port: int) -> Place | None:
        """The place of an address and a port; None: it is not reached from here.

        An address that this machine does not have is a port of `127.0.0.1`.
        """
        del machine
        if not ipaddress.ip_address(address).is_loopback:
            return None
        asked = (address, port)
        if asked not in self._known:
            self._known[asked] = self._chosen(address, port)
        return self._known[asked]

    def _chosen(self, address: str, port: int) -> Place:
        try:
            free = _free_port(address)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            return _LOCALHOST, _free_port(_LOCALHOST)
        return address, free if self._ports_are_free else port + self._shift


def _free_port(address: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
