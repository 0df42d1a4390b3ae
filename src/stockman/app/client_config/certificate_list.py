"""List the certificates of a workspace and their remaining lifetime."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from stockman.app.client_config import files, kubeconfig, talosconfig
from stockman.app.secrets.bundle import bundle_path, open_bundle
from stockman.app.secrets.keyring import Keyring
from stockman.app.workspace.secret_names import dialect_of
from stockman.assessment.status.observed import CertificateKind, CertificateList, ListedCertificate
from stockman.config.source.tree import SequenceNode, Unreadable
from stockman.config.source.yaml_reader import read_yaml
from stockman.crypto.certificates import CertificateFacts, is_issued_by, read_certificate_facts
from stockman.crypto.pem import NotPem
from stockman.model.errors import NotFound, StockmanError
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import (
    RENEWAL_MARGIN,
    CertificateState,
    client_certificate_state,
    lifetime,
)
from stockman.talos.credentials.talosconfig import Talosconfig, read_talosconfig
from stockman.talos.documents import node_at, text_at
from stockman.talos.secrets.bundle import SecretsBundle
from stockman.talos.secrets.bundle_reader import AUTHORITIES

_DAY = timedelta(days=1)
_ROTATE = "give the cluster new authorities with `talosctl rotate-ca`, which takes planning"


def list_certificates(
    directory: Path, keyring: Keyring, environment: Mapping[str, str], now: datetime
) -> CertificateList:
    """List every certificate of the bundle and of the client configurations of a directory."""
    return _CertificateReader(directory, environment, now).read(keyring)


class _CertificateReader:
    def __init__(self, directory: Path, environment: Mapping[str, str], now: datetime) -> None:
        self._directory = directory
        self._environment = environment
        self._now = now
        self._problems = Problems()
        self._not_read: list[Problem] = []
        self._authorities: dict[str, str] = {}
        self._bundle_opened = False

    def read(self, keyring: Keyring) -> CertificateList:
        certificates = [*self._bundle(keyring), *self._talosconfigs(), *self._kubeconfig()]
        for certificate in certificates:
            self._judge(certificate)
        return CertificateList(
            certificates=tuple(certificates),
            problems=tuple(self._problems),
            not_read=tuple(self._not_read),
        )

    def _bundle(self, keyring: Keyring) -> Iterator[ListedCertificate]:
        try:
            bundle = open_bundle(self._directory, keyring)
        except NotFound:
            return
        except StockmanError as error:
            self._not_read.append(error.problem)
            return
        self._bundle_opened = True
        self._authorities = _authorities(bundle)
        file = bundle_path(dialect_of(self._directory))
        for name, pem in self._authorities.items():
            yield self._certificate(file, name, "authority", read_certificate_facts(pem), pem)

    def _talosconfigs(self) -> Iterator[ListedCertificate]:
        usual = (*talosconfig.FILES.values(), talosconfig.OLD_FILE)
        for path in self._files(talosconfig.VARIABLE, usual):
            config = self._talosconfig(path)
            for name, context in config.contexts.items() if config else ():
                pems = {"client": context.crt, "authority": context.ca}
                yield from self._both(self._display_name(path), name, pems)

    def _talosconfig(self, path: Path) -> Talosconfig | None:
        text = self._text(path)
        return (
            None
            if text is None
            else read_talosconfig(self._display_name(path), text, self._problems)
        )

    def _kubeconfig(self) -> Iterator[ListedCertificate]:
        for path in self._files(kubeconfig.VARIABLE, (kubeconfig.FILE,)):
            text = self._text(path)
            try:
                tree = (
                    read_yaml(self._display_name(path), text.reveal()) if text is not None else None
                )
            except Unreadable as error:
                self._problems.add(error.problem)
                continue
            for lists, key, kind in (
                ("users", "user.client-certificate-data", "client"),
                ("clusters", "cluster.certificate-authority-data", "authority"),
            ):
                items = node_at(tree, lists)
                for item in items.items if isinstance(items, SequenceNode) else []:
                    name, data = text_at(item, "name"), text_at(item, key)
                    if name is not None and data is not None:
                        pems = {kind: self._decode(path, name.text, data.text)}
                        yield from self._both(self._display_name(path), name.text, pems)

    def _both(self, file: str, name: str, pems: dict[str, str]) -> Iterator[ListedCertificate]:
        """Yield a client's certificate, and its authority if that is not one of the bundle's."""
        known = {pem.strip() for pem in self._authorities.values()}
        kinds: tuple[CertificateKind, ...] = ("client", "authority")
        for kind in kinds:
            pem = pems.get(kind, "")
            if not pem or (kind == "authority" and pem.strip() in known):
                continue
            try:
                yield self._certificate(file, name, kind, read_certificate_facts(pem), pem)
            except NotPem as error:
                self._problems.add(_unreadable_file(file, name, str(error)))

    def _certificate(
        self, file: str, name: str, kind: CertificateKind, certificate: CertificateFacts, pem: str
    ) -> ListedCertificate:
        held = lifetime(name, certificate, self._now)
        is_client = kind == "client"
        ours = any(is_issued_by(pem, authority) for authority in self._authorities.values())
        return ListedCertificate(
            file=file,
            name=name,
            kind=kind,
            subject=held.subject,
            organizations=certificate.organizations,
            ours=ours if self._bundle_opened else None,
            ends=held.ends,
            days_left=held.days_left,
            standing=client_certificate_state(certificate, self._now) if is_client else held.state,
            renew=_renewal(file) if is_client else _ROTATE,
        )

    def _judge(self, certificate: ListedCertificate) -> None:
        end = f"{certificate.ends:%Y-%m-%d}"
        name = f"{certificate.name} in {certificate.file}"
        match certificate.standing:
            case CertificateState.ENDED:
                self._problems.error(
                    "certificate.expired",
                    f"the certificate of {name} has expired",
                    why=f"it expired on {end} and is not accepted any more",
                    fix=certificate.renew,
                    at=certificate.file,
                )
            case CertificateState.DUE:
                self._problems.warn(
                    "certificate.due",
                    f"the certificate of {name} expires in {max(certificate.days_left, 0)} days",
                    why=f"it is valid until {end}, and is renewed {RENEWAL_MARGIN // _DAY} days"
                    " before, or in the last third of a shorter lifetime",
                    fix=certificate.renew,
                    at=certificate.file,
                )
            case CertificateState.EARLY:
                self._problems.warn(
                    "certificate.early",
                    f"the certificate of {name} is not valid yet",
                    why="it starts in the future: the clock of this machine, or of the one that"
                    " issued it, is wrong",
                    fix="correct that clock; if it was the issuer's, issue the certificate again",
                    at=certificate.file,
                )

    def _files(self, variable: str, usual: tuple[str, ...]) -> list[Path]:
        directory = self._directory
        paths = [directory / name for name in usual]
        paths.append(files.client_file_path(directory, variable, self._environment, usual[0]))
        once = {path.resolve(): path for path in reversed(paths)}
        return [path for path in reversed(once.values()) if path.exists()]

    def _text(self, path: Path) -> Secret | None:
        try:
            return files.read_client_file(path, self._display_name(path))
        except StockmanError as error:
            self._not_read.append(error.problem)
            return None

    def _display_name(self, path: Path) -> str:
        return files.shown_name(path, self._directory)

    def _decode(self, path: Path, name: str, data: str) -> str:
        try:
            return base64.b64decode("".join(data.split()), validate=True).decode("ascii")
        except ValueError:
            self._problems.add(
                _unreadable_file(self._display_name(path), name, "it is not base64 of a text")
            )
            return ""


def _authorities(bundle: SecretsBundle) -> dict[str, str]:
    return {f"certs.{name}": getattr(bundle.certs, name).crt for name in AUTHORITIES}


def _renewal(file: str) -> str:
    command = "kubeconfig" if "kubeconfig" in file else "talosconfig"
    return f"run `stockman config {command}`"


def _unreadable_file(file: str, name: str, why: str) -> Problem:
    return Problem(
        code="certificate.unreadable",
        what=f"the certificate of {name} cannot be read",
        where=file,
        why=why,
        fix=f"create the {file} again",
        severity=Severity.ERROR,
    )
