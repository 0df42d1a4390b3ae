"""How a world is served."""

from __future__ import annotations

from stockman_lab.core.state import state

API_PORT = 8006
TALOS_PORT = 50000
KUBE_PORT = 6443


@state
class ServingOptions:
    """How a world is served."""

    speed: float | None = None
    """Seconds inside for one outside. None: as fast as possible."""
    port: int = API_PORT
    """0: any that is free."""
    ssh_port: int | None = None
    """The same for SSH. None: no host has such a door."""
    images_port: int | None = None
    """Of Image Factory and registry. None: nobody serves them."""
    talos_port: int = TALOS_PORT
    """Of Talos machines, each on its own address. 0: any that is free."""
    objects_port: int | None = None
    """Of object storage. None: nobody serves it."""
    git_port: int | None = None
    """Of git repositories, beside object storage. None: nobody serves them."""
    kube_port: int | None = KUBE_PORT
    """Of API servers, each on the address of its machine. 0: any that is free; None: none opens."""
    slow_refusals: bool = False
    """Whether failed logins are answered late, as the real one does."""
