"""What machines without a configuration answer: less, and up to 1.12 by a server of its own."""

from __future__ import annotations

import ipaddress

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Refusal

_MACHINE = "machine.MachineService"
_OWN_SERVER = ("1.11", "1.12")
_SERVICES = frozenset({_MACHINE, "storage.StorageService", "cosi.resource.State"})
_ANSWERED = frozenset({"ApplyConfiguration", "GenerateConfiguration"})
_IPV6_BYTES, _LOCAL_PREFIX, _SIDEROLINK = 16, 0xFD, 0x03
_BY_ADMINS = frozenset({"Version", "Upgrade", "Reset", "MetaWrite", "MetaDelete"})


def has_own_server(minor: str) -> bool:
    """Whether another server than usual answers: it knows few methods, and asks for no roles."""
    return minor in _OWN_SERVER


def is_siderolink(peer: str) -> bool:
    """Whether a caller comes through the tunnel of a management service, and may do everything."""
    try:
        packed = ipaddress.ip_address(peer).packed
    except ValueError:
        return False
    return len(packed) == _IPV6_BYTES and packed[0] == _LOCAL_PREFIX and packed[7] == _SIDEROLINK


def check(service: str, name: str, *, by_admin: bool) -> None:
    """Refuse what the server of the older minors does not do."""
    if service not in _SERVICES:
        raise Refusal(GrpcCode.UNIMPLEMENTED, f"unknown service {service}")
    if service != _MACHINE or name in _ANSWERED:
        return
    if name == "GenerateClientConfiguration":
        raise Refusal(
            GrpcCode.UNIMPLEMENTED,
            "client configuration (talosconfig) can't be generated in the maintenance mode",
        )
    if name not in _BY_ADMINS:
        raise Refusal(GrpcCode.UNIMPLEMENTED, f"method {name} not implemented")
    if not by_admin:
        raise Refusal(GrpcCode.UNIMPLEMENTED, "API is not implemented in maintenance mode")
