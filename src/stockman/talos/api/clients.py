"""Calls for files that let clients in."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable
from datetime import timedelta

from stockman.model.names import MachineAddress
from stockman.model.secret import Secret
from stockman.talos.api.calls import MACHINE
from stockman.talos.api.files import FileCalls
from stockman.talos.api.rows import OddAnswer

_KUBECONFIG, _GENERATE = f"{MACHINE}/Kubeconfig", f"{MACHINE}/GenerateClientConfiguration"
_LARGEST = 1 << 20


class ClientCalls(FileCalls):
    """`ports.talos.clients.Clients` over a wire."""

    async def kubeconfig(self, node: MachineAddress) -> Secret:
        packed = await self._whole(_KUBECONFIG, node, {}, _LARGEST)
        try:
            return Secret(_unpacked(packed), resolved=True)
        except OddAnswer as error:
            raise self._odd(_KUBECONFIG, node, str(error)) from None

    async def client_configuration(
        self, node: MachineAddress, roles: Iterable[str], lifetime: timedelta
    ) -> Secret:
        fields = {"roles": list(roles), "crt_ttl": lifetime.total_seconds()}
        row = await self._change(_GENERATE, node, fields)
        found = row.get("talosconfig")
        if not isinstance(found, bytes) or not found:
            raise self._odd(_GENERATE, node, "there is no talosconfig in its answer")
        return Secret(found.decode("utf-8", "replace"), resolved=True)


def _unpacked(packed: bytes) -> str:
    """The one file of a compressed archive; nothing is unpacked that could be endless."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as zipped:
            plain = zipped.read(_LARGEST + 1)
        if len(plain) > _LARGEST:
            raise OddAnswer("it is too large to be a kubeconfig")
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as archive:
            found = archive.extractfile("kubeconfig")
            content = b"" if found is None else found.read()
    except (OSError, EOFError, zlib.error, tarfile.TarError, KeyError):
        raise OddAnswer("there is no kubeconfig in its answer") from None
    if not content:
        raise OddAnswer("the kubeconfig is empty")
    return content.decode("utf-8", "replace")
