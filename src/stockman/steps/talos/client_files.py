"""A file that clients of a cluster use, and what it is for."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef

TALOSCONFIG, KUBECONFIG = "talosconfig", "kubeconfig"


@record
class ClientFile:
    """The talosconfig or the kubeconfig of a cluster."""

    cluster: str
    file: str
    """`talosconfig` or `kubeconfig`."""
    place: SecretRef
    """Where it is: `private:kubeconfig`."""
    contract: str
    """Of Talos: which roles there are, `1.13`."""
    endpoints: tuple[str, ...]
    """Of the talosconfig: addresses of controllers."""
    nodes: tuple[str, ...]
    """Of the talosconfig: addresses that commands act on."""
    api: str
    """Of the kubeconfig: `https://10.42.0.10:6443`."""


@record
class WriteClientFile(Action, ClientFile):
    """Write the talosconfig or the kubeconfig of the cluster, closed to others (0600).

    Certificates that still serve stay, and so does everything else in the file.
    """

    kind: ClassVar[str] = "talos.client-file"

    @property
    def summary(self) -> str:
        return f"write {self.place.place.partition(':')[2] or self.file}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"file/{self.file}",)

    async def done(self, ports: Ports) -> bool:
        return not await self.lack(ports)

    async def lack(self, ports: Ports) -> str:
        """Why the file cannot stay as it is; empty: it can."""
        # Certificates take long to import, and estates of VMs alone have no such file.
        from stockman.steps.talos.client_file_contents import renewal_reason

        return await renewal_reason(self, ports)

    async def run(self, ports: Ports) -> None:
        from stockman.steps.talos.client_file_contents import render_client_file

        text = await render_client_file(self, ports)
        if text is not None:
            await ports.to_secrets().write(self.place, text)
