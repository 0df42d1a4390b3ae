"""Files for clients: kubeconfig and talosconfig."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.model.secret import Secret
from stockman.talos.api.transport import GrpcCode
from stockman.talos.credentials.kubeconfig import render_kubeconfig
from stockman.talos.credentials.talosconfig import Talosconfig, client_context, talosconfig_text
from stockman_lab.talos.api.call import Call, Refusal, seconds_in
from stockman_lab.talos.api.registry import Fields, method, streamed
from stockman_lab.talos.config.effective_record import Effective
from stockman_lab.talos.config.node_setting import Authority

_SERVICE = "machine.MachineService"
_YEAR = timedelta(days=365)
_ADMINS, _ADMIN = "system:masters", "admin"


def _config(call: Call) -> Effective:
    config = call.machine.config
    if config is None:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "machine configuration is not available")
    return config


def _issue(call: Call, authority: Authority, leaf: CertificateRequest) -> CertificateAndKey:
    """A certificate under an authority of the configuration, whatever that holds."""
    pair = CertificateAndKey(crt=authority.crt, key=Secret(authority.key))
    try:
        return issue_certificate(pair, leaf, call.land.around.dice.random_bytes)
    except NotPem:
        raise Refusal(GrpcCode.UNKNOWN, "failed to parse PEM block") from None


def _period(call: Call, lifetime: timedelta) -> ValidityPeriod:
    """From when on a client can use it to the end of its lifetime in the world."""
    start = datetime.fromtimestamp(call.land.certificates_from, UTC)
    end = max(start, datetime.fromtimestamp(call.machine.clock, UTC)) + lifetime
    return ValidityPeriod.lasting(start, end - start)


@streamed(_SERVICE, "Kubeconfig")
async def kubeconfig_file(call: Call) -> AsyncIterator[Fields]:
    """A kubeconfig of an admin, packed."""
    config = _config(call)
    if not config.k8s_ca.key:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, "Kubernetes root secrets are not available")
    leaf = CertificateRequest(
        period=_period(call, _YEAR),
        purposes=(Purpose.CLIENT,),
        organizations=(_ADMINS,),
        common_name=_ADMIN,
        key_encipherment=True,
    )
    client = _issue(call, config.k8s_ca, leaf)
    text = render_kubeconfig(config.cluster_name, config.endpoint, config.k8s_ca.crt, client)
    yield {"bytes": _pack_archive("kubeconfig", text.reveal().encode(), call.now)}


def _pack_archive(name: str, content: bytes, now: float) -> bytes:
    """An archive as Talos 1.13.9 sends it: neither the file nor the end is padded."""
    packed = io.BytesIO()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(content), 0o600, int(now)
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=int(now)) as zipped:
        zipped.write(entry.tobuf(tarfile.USTAR_FORMAT) + content)
    return packed.getvalue()


@method(_SERVICE, "GenerateClientConfiguration")
def client_configuration(call: Call) -> Fields:
    """A talosconfig for somebody with some roles."""
    config, request = _config(call), call.request
    lifetime = timedelta(seconds=seconds_in(request.crt_ttl))
    if lifetime <= timedelta(0):
        raise Refusal(GrpcCode.INVALID_ARGUMENT, "crt_ttl should be positive")
    roles = tuple(sorted(request.roles))
    leaf = CertificateRequest(
        period=_period(call, lifetime), purposes=(Purpose.CLIENT,), organizations=roles
    )
    client = _issue(call, config.os_ca, leaf)
    name = config.cluster_name
    if len(roles) == 1:
        name = f"{roles[0].removeprefix('os:')}@{name}"
    context = client_context(config.os_ca.crt, client)
    text = talosconfig_text(Talosconfig(context=name, contexts={name: context}))
    return {
        "ca": config.os_ca.crt.encode(),
        "crt": client.crt.encode(),
        "key": client.key.reveal().encode(),
        "talosconfig": text.reveal().encode(),
    }
