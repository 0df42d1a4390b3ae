"""talosconfig and kubeconfig: written, and renewed before they end."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.talos_client_file import ClientFile


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
        from stockman.steps.talos_client_texts import lack

        return await lack(self, ports)

    async def run(self, ports: Ports) -> None:
        from stockman.steps.talos_client_texts import new_text

        text = await new_text(self, ports)
        if text is not None:
            await ports.to_secrets().write(self.place, text)
