"""Which services a machine runs, and what each waits for."""

from __future__ import annotations

from dataclasses import dataclass

_ALL = frozenset({"start", "stop", "restart"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceKind:
    """One service, the same on every machine that has it."""

    id: str
    needs: tuple[str, ...] = ()
    """Services that have to be up before."""
    timing: str = "service"
    has_health: bool = True
    """Whether somebody asks how it is."""
    is_container: bool = True
    by_request: frozenset[str] = frozenset()
    """What can be done with it by request: `start`, `stop`, `restart`."""
    only_controllers: bool = False
    since: str = "1.11"


EARLY = (
    ServiceKind(id="machined", is_container=False),
    ServiceKind(id="auditd", is_container=False),
    ServiceKind(id="syslogd", is_container=False),
    ServiceKind(id="containerd", is_container=False),
    ServiceKind(id="udevd", is_container=False),
    ServiceKind(id="dashboard", is_container=False, has_health=False),
)
"""There as soon as the kernel is up, with or without a configuration."""
CONFIGURED = (
    ServiceKind(id="apid", needs=("containerd",)),
    ServiceKind(id="trustd", needs=("containerd",), only_controllers=True),
)
"""There as soon as there is a configuration and a network."""
LATE = (
    ServiceKind(id="cri", needs=("containerd",), timing="cri", is_container=False),
    ServiceKind(
        id="kubelet", needs=("cri",), timing="kubelet", by_request=frozenset({"start", "restart"})
    ),
    ServiceKind(id="etcd", needs=("cri",), timing="etcd", only_controllers=True),
)
"""Started at the end of a boot."""
KINDS = {one.id: one for one in (*EARLY, *CONFIGURED, *LATE)}


def extension_service(name: str) -> ServiceKind:
    """A service that an extension brings, `ext-qemu-guest-agent`."""
    return ServiceKind(id=name, needs=("containerd",), has_health=False, by_request=_ALL)


def kind_of(service: str) -> ServiceKind:
    """The kind of a service by its name."""
    return KINDS.get(service) or extension_service(service)
