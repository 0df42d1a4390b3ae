"""Renders the talosconfig and kubeconfig of a cluster, and renews their certificates."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from stockman.crypto.certificates import read_certificate_facts
from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.talos.configuration import BUNDLE
from stockman.talos.credentials.certificates import (
    CLIENT_LIFETIME,
    KUBERNETES_ADMIN,
    KUBERNETES_ADMINS,
    CertificateRequirements,
    CertificateState,
    ClientIssuer,
    client_certificate_state,
)
from stockman.talos.credentials.kubeconfig import (
    DesiredAdmin,
    client_certificates,
    update_kubeconfig,
)
from stockman.talos.credentials.roles import TalosRole, organizations
from stockman.talos.credentials.talosconfig import (
    DesiredContext,
    Talosconfig,
    read_talosconfig,
    talosconfig_text,
    update_talosconfig,
)
from stockman.talos.secrets.bundle import SecretsBundle
from stockman.talos.secrets.bundle_reader import read_bundle

TALOSCONFIG, KUBECONFIG = "talosconfig", "kubeconfig"


@record
class ClientFile:
    """The talosconfig or the kubeconfig of a cluster."""

    cluster: str
    file: str
    """`talosconfig` or `kubeconfig`."""
    place: SecretRef
    """Its location: `private:kubeconfig`."""
    contract: str
    """Version contract of Talos, which defines the roles: `1.13`."""
    endpoints: tuple[str, ...]
    """For the talosconfig: addresses of controllers."""
    nodes: tuple[str, ...]
    """For the talosconfig: default target nodes."""
    api: str
    """For the kubeconfig: `https://10.42.0.10:6443`."""


@record
class WriteClientFile(Action, ClientFile):
    """Write the talosconfig or the kubeconfig of the cluster with mode 0600.

    Valid certificates and everything else in the file are kept.
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
        """Return why the file has to be written. Empty: it is up to date."""
        return await renewal_reason(self, ports)

    async def run(self, ports: Ports) -> None:
        text = await render_client_file(self, ports)
        if text is not None:
            await ports.to_secrets().write(self.place, text)


class _CertificateNeeded(Exception):
    """A new certificate is needed."""


async def renewal_reason(file: ClientFile, ports: Ports) -> str:
    """Return why a file has to be written. Empty: it is up to date."""
    old = await _old(file, ports)
    if not old.reveal():
        return "it does not exist"
    bundle = await _bundle(ports)
    try:
        text = _render_file(file, old, _issuer(file, bundle, ports), makes=False)
    except _CertificateNeeded:
        return _expiry(file, old, ports.clock.now())
    return "" if text is None else "it contains the addresses of other machines"


async def render_client_file(file: ClientFile, ports: Ports) -> Secret | None:
    """Return the new content of a file. None: it is up to date."""
    bundle = await _bundle(ports)
    return _render_file(file, await _old(file, ports), _issuer(file, bundle, ports), makes=True)


async def _old(file: ClientFile, ports: Ports) -> Secret:
    try:
        return await ports.to_secrets().read(file.place)
    except NotFound:
        return Secret("")


def _expiry(file: ClientFile, old: Secret, now: datetime) -> str:
    if file.file == TALOSCONFIG:
        encoded = [context.crt for context in _read(file.place, old).contexts.values()]
    else:
        encoded = list(client_certificates(file.place.place, old, Problems()).values())
    try:
        certificates = [read_certificate_facts(crt) for crt in encoded if crt]
    except NotPem:
        return "its certificate cannot be read"
    for certificate in certificates:
        if client_certificate_state(certificate, now) in (
            CertificateState.DUE,
            CertificateState.ENDED,
        ):
            ends = certificate.period.end
            return f"its certificate {'ends' if ends > now else 'ended'} {ends:%Y-%m-%d %H:%M}"
    return "it has no certificate of this cluster"


def _issuer(file: ClientFile, bundle: SecretsBundle, ports: Ports) -> ClientIssuer:
    return ClientIssuer(
        bundle=bundle,
        talos=Version.parse(file.contract),
        now=ports.clock.now(),
        random_bytes=ports.entropy.random_bytes,
    )


def _render_file(
    file: ClientFile, old: Secret, issuer: ClientIssuer, *, makes: bool
) -> Secret | None:
    """Return the new text of a file. None: it is up to date."""
    if file.file == TALOSCONFIG:
        return _talosconfig(file, old, issuer, makes=makes)
    return _kubeconfig(file, old, issuer, makes=makes)


def _talosconfig(
    file: ClientFile, old: Secret, issuer: ClientIssuer, *, makes: bool
) -> Secret | None:
    authority = issuer.bundle.certs.os.crt

    def make() -> CertificateAndKey:
        if not makes:
            raise _CertificateNeeded
        return issuer.talos_client([TalosRole.ADMIN], _lifetime(authority, issuer.now))

    roles = organizations([TalosRole.ADMIN], issuer.talos)
    desired = DesiredContext(
        name=file.cluster,
        required=CertificateRequirements(authority=authority, organizations=roles),
        endpoints=file.endpoints,
        nodes=file.nodes,
        renew=False,
        shared=False,
    )
    updated = update_talosconfig(_read(file.place, old), desired, issuer.now, make)
    return None if updated.state == "unchanged" else talosconfig_text(updated.config)


def _kubeconfig(
    file: ClientFile, old: Secret, issuer: ClientIssuer, *, makes: bool
) -> Secret | None:
    authority = issuer.bundle.certs.k8s.crt

    def make() -> CertificateAndKey:
        if not makes:
            raise _CertificateNeeded
        return issuer.kubernetes_admin(_lifetime(authority, issuer.now))

    desired = DesiredAdmin(
        cluster=file.cluster,
        endpoint=file.api,
        required=CertificateRequirements(
            authority=authority,
            organizations=(KUBERNETES_ADMINS,),
            common_name=KUBERNETES_ADMIN,
        ),
        renew=False,
        shared=False,
    )
    updated = update_kubeconfig(file.place.place, old, desired, issuer.now, make)
    return None if updated.state == "unchanged" else updated.text


async def _bundle(ports: Ports) -> SecretsBundle:
    problems = Problems()
    bundle = read_bundle("bundle", await ports.to_secrets().read(BUNDLE), problems)
    if bundle is None:
        raise Refused(next(iter(problems)))
    return bundle


def _read(ref: SecretRef, text: Secret) -> Talosconfig:
    problems = Problems()
    config = read_talosconfig(ref.place, text, problems)
    if config is None:
        raise Refused(next(iter(problems)))
    return config


def _lifetime(authority: str, now: datetime) -> timedelta:
    return min(CLIENT_LIFETIME, read_certificate_facts(authority).period.end - now)
