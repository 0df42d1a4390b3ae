"""talosconfig and kubeconfig: written, and renewed before they end."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.crypto.certificates import facts
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.talos_rendered import BUNDLE
from stockman.talos.bundle import SecretsBundle
from stockman.talos.bundle_reader import read_bundle
from stockman.talos.clients import CLIENT_LIFETIME, KUBERNETES_ADMIN, KUBERNETES_ADMINS, Issuer
from stockman.talos.kubeconfig_placing import AdminWish, placed_admin
from stockman.talos.roles import TalosRole, organizations
from stockman.talos.talosconfig import Talosconfig, read_talosconfig, talosconfig_text
from stockman.talos.talosconfig_placing import ClientWish, placed
from stockman.talos.usable import Wanted

TALOSCONFIG, KUBECONFIG = "talosconfig", "kubeconfig"


class _CertificateNeeded(Exception):
    """A file cannot stay as it is."""


@record
class WriteClientFile(Action):
    """Write the talosconfig or the kubeconfig of the cluster, closed to others (0600).

    Certificates that still serve stay, and so does everything else in the file.
    """

    kind: ClassVar[str] = "talos.client-file"
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

    @property
    def summary(self) -> str:
        return f"write {self.place.place.partition(':')[2] or self.file}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"file/{self.file}",)

    async def done(self, ports: Ports) -> bool:
        bundle = await _bundle(ports)
        old = await self._old(ports)
        try:
            text = self._written(old, bundle, ports, makes=False)
        except _CertificateNeeded:
            return False
        return text is None

    async def run(self, ports: Ports) -> None:
        bundle = await _bundle(ports)
        text = self._written(await self._old(ports), bundle, ports, makes=True)
        if text is not None:
            await ports.to_secrets().write(self.place, text)

    async def _old(self, ports: Ports) -> Secret:
        try:
            return await ports.to_secrets().read(self.place)
        except NotFound:
            return Secret("")

    def _written(
        self, old: Secret, bundle: SecretsBundle, ports: Ports, *, makes: bool
    ) -> Secret | None:
        """The new text of the file. None: it stays as it is."""
        now = ports.clock.now()
        issuer = Issuer(
            bundle=bundle,
            talos=Version.parse(self.contract),
            now=now,
            random_bytes=ports.entropy.random_bytes,
        )
        if self.file == TALOSCONFIG:
            return self._talosconfig(old, issuer, makes=makes)
        return self._kubeconfig(old, issuer, makes=makes)

    def _talosconfig(self, old: Secret, issuer: Issuer, *, makes: bool) -> Secret | None:
        authority = issuer.bundle.certs.os.crt

        def make() -> CertificateAndKey:
            if not makes:
                raise _CertificateNeeded
            return issuer.talos_client([TalosRole.ADMIN], _lifetime(authority, issuer.now))

        roles = organizations([TalosRole.ADMIN], issuer.talos)
        wish = ClientWish(
            name=self.cluster,
            wanted=Wanted(authority=authority, organizations=roles),
            endpoints=self.endpoints,
            nodes=self.nodes,
            renew=False,
            shared=False,
        )
        made = placed(_read(self.place, old), wish, issuer.now, make)
        return None if made.state == "unchanged" else talosconfig_text(made.config)

    def _kubeconfig(self, old: Secret, issuer: Issuer, *, makes: bool) -> Secret | None:
        authority = issuer.bundle.certs.k8s.crt

        def make() -> CertificateAndKey:
            if not makes:
                raise _CertificateNeeded
            return issuer.kubernetes_admin(_lifetime(authority, issuer.now))

        wish = AdminWish(
            cluster=self.cluster,
            endpoint=self.api,
            wanted=Wanted(
                authority=authority,
                organizations=(KUBERNETES_ADMINS,),
                common_name=KUBERNETES_ADMIN,
            ),
            renew=False,
            shared=False,
        )
        made = placed_admin(self.place.place, old, wish, issuer.now, make)
        return None if made.state == "unchanged" else made.text


async def _bundle(ports: Ports) -> SecretsBundle:
    problems = Problems()
    found = read_bundle("bundle", await ports.to_secrets().read(BUNDLE), problems)
    if found is None:
        raise Refused(next(iter(problems)))
    return found


def _read(place: SecretRef, text: Secret) -> Talosconfig:
    problems = Problems()
    found = read_talosconfig(place.place, text, problems)
    if found is None:
        raise Refused(next(iter(problems)))
    return found


def _lifetime(authority: str, now: datetime) -> timedelta:
    return min(CLIENT_LIFETIME, facts(authority).period.end - now)
