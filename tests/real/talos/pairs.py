"""Which releases of talosctl meet which machines: their own, and those of the next minors."""

from __future__ import annotations

from tests.real.talos.served import VERSIONS

EVERY = [
    (client, server)
    for number, client in enumerate(VERSIONS)
    for server in VERSIONS[max(number - 1, 0) : number + 2]
]
"""Client and server, all that are supported together."""
