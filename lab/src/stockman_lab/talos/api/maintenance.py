"""What machines without a configuration answer: less, and up to 1.12 by a server of its own."""

from __future__ import annotations

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Refusal

_MACHINE = "machine.MachineService"
_OWN_SERVER = ("1.11", "1.12")
_SERVICES = frozenset({_MACHINE, "storage.StorageService", "cosi.resource.State"})
_ANSWERED = frozenset({"ApplyConfiguration", "GenerateConfiguration"})
_BY_ADMINS = frozenset({"Version", "Upgrade", "Reset", "MetaWrite", "MetaDelete"})


def has_own_server(minor: str) -> bool:
    """Whether another server than usual answers: it knows few methods, and asks for no roles."""
    return minor in _OWN_SERVER


def check(service: str, name: str) -> None:
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
    raise Refusal(GrpcCode.UNIMPLEMENTED, "API is not implemented in maintenance mode")
