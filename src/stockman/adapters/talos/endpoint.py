"""Endpoints of the Talos API: addresses, client certificate and timeout."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from stockman.adapters import tls
from stockman.adapters.tls import certificate_flaw, certificate_reason, error_reason
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import ServerAddress, Trust
from stockman.talos.api import errors
from stockman.talos.credentials.talosconfig import TalosContext

_TALOS_LABEL, _LABEL = "ED25519 PRIVATE KEY", "PRIVATE KEY"


class WrongKey(ssl.SSLCertVerificationError):
    """The certificate has another key; nothing was sent."""


@record
class ClientIdentity:
    """A client certificate, and the CA of the machines. PEM texts."""

    ca: str
    """Empty: the CAs of the system."""
    crt: str
    key: Secret

    @classmethod
    def of(cls, context: TalosContext) -> ClientIdentity:
        """Return the identity in a talosconfig; raises `Refused` if it has none."""
        if not context.crt or context.key is None:
            raise Refused(
                errors.talos_problem(
                    "talos.identity", "talosconfig", "it has no client certificate"
                )
            )
        return cls(ca=context.ca, crt=context.crt, key=context.key)


def client_context(identity: ClientIdentity) -> ssl.SSLContext:
    """Return a TLS context with the client certificate that verifies the CA."""
    try:
        context = tls.verifying_context(Trust(ca=identity.ca.encode() if identity.ca else None))
        key = identity.key.reveal().replace(_TALOS_LABEL, _LABEL)
        tls.load_client_certificate(context, identity.crt, Secret(key, resolved=True))
    except tls.InvalidCa as error:
        raise Refused(
            errors.talos_problem("talos.identity", "talosconfig", f"its CA is invalid: {error}")
        ) from None
    except (ssl.SSLError, ValueError):
        why = "certificate and key are invalid or do not match"
        raise Refused(errors.talos_problem("talos.identity", "talosconfig", why)) from None
    return _require_http2(context)


def maintenance_context(fingerprint: str) -> ssl.SSLContext:
    """Return a TLS context without a client certificate that verifies the key fingerprint.

    Without a fingerprint, any certificate is accepted.
    """
    context = tls.insecure_context()
    if fingerprint:
        context.sslobject_class = _pinning_class(_normalize_fingerprint(fingerprint))
    return _require_http2(context)


def _require_http2(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])
    return context


def _pinning_class(fingerprint: str) -> type[ssl.SSLObject]:
    class Pinned(ssl.SSLObject):
        """A TLS connection that aborts the handshake for any other key."""

        def do_handshake(self) -> None:
            from stockman.crypto.certificates import key_fingerprint

            super().do_handshake()
            actual = key_fingerprint(self.getpeercert(binary_form=True) or b"")
            if _normalize_fingerprint(actual) != fingerprint:
                raise WrongKey(
                    1, f"the fingerprint of its key is {actual}, which is not the expected one"
                )

    return Pinned


def _normalize_fingerprint(fingerprint: str) -> str:
    return fingerprint.strip().rstrip("=")


PORT = 50000


@record
class TalosEndpoints:
    """Addresses of a cluster, tried in turn until a connection succeeds."""

    hosts: tuple[str, ...]
    """As in a talosconfig: `host`, `host:port`. Empty: only machines in maintenance are used."""
    identity: ClientIdentity | None = None
    """The client certificate. None: only machines in maintenance are used."""
    connect: Mapping[str, str] = field(default_factory=dict)
    """Replacement addresses, `host:port` to `host:port`; read for every connection."""
    connect_seconds: float = 5.0

    @classmethod
    def of(cls, context: TalosContext, connect: Mapping[str, str] | None = None) -> TalosEndpoints:
        """Return the endpoints of a talosconfig; raises `Refused` without a client certificate."""
        replacements = {} if connect is None else connect
        return cls(
            hosts=context.endpoints, identity=ClientIdentity.of(context), connect=replacements
        )

    def server(self, text: str) -> ServerAddress:
        """Return addresses to connect to, with expected certificate names; raises `Refused`."""
        host, port = _parse_address(text)
        replacement = self.connect.get(format_address(host, port))
        if replacement is None:
            return ServerAddress(host=host, port=port, name=host)
        other_host, other_port = _parse_address(replacement)
        return ServerAddress(host=other_host, port=other_port, name=host)


def format_address(host: str, port: int) -> str:
    """Format an address for messages and for the map of replacements."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _parse_address(text: str) -> tuple[str, int]:
    bracketed = f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text
    try:
        parts = urlsplit(bracketed if "://" in bracketed else f"//{bracketed}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Refused(errors.talos_problem("talos.address", "", "it is not a valid URL")) from None
    if parts.scheme not in ("", "https"):
        raise Refused(
            errors.talos_problem(
                "talos.address", host or "", f"the scheme {parts.scheme} is not supported"
            )
        )
    if not host or parts.username is not None or parts.path.strip("/") or parts.query:
        raise Refused(
            errors.talos_problem("talos.address", host or "", "it must have the form host:port")
        )
    return host, port or (443 if parts.scheme else PORT)


_ALERT = re.compile(r"ALERT_(?P<words>\w+)")
_REFUSAL_ALERTS = (
    "certificate",
    "unknown ca",
    "access denied",
    "decrypt error",
    "handshake failure",
)
"""TLS alerts for a rejected or missing client certificate."""


def describe_server(server: ServerAddress) -> str:
    """Format a server address for messages."""
    suffix = f" (as {server.name})" if server.name and server.name != server.host else ""
    return f"{format_address(server.host, server.port)}{suffix}"


def connection_error(server: ServerAddress, error: BaseException) -> StockmanError:
    """Return the error of a failed connection."""
    rejection = client_certificate_error(server, error)
    if rejection is not None:
        return rejection
    flaw = certificate_flaw(error)
    if flaw is None:
        return Unreachable(
            errors.talos_problem("talos.unreachable", describe_server(server), error_reason(error))
        )
    why = str(flaw.args[-1]) if isinstance(flaw, WrongKey) else certificate_reason(flaw)
    return Refused(errors.talos_problem("talos.certificate", describe_server(server), why))


def client_certificate_error(server: ServerAddress, error: BaseException | None) -> Denied | None:
    """Return the error of a TLS alert for the client certificate. None: another error."""
    match = _ALERT.search(getattr(error, "reason", None) or "")
    if match is None:
        return None
    alert = match["words"].lower().replace("_", " ")
    if not any(text in alert for text in _REFUSAL_ALERTS):
        return None
    return Denied(
        errors.talos_problem(
            "talos.not-let-in", describe_server(server), f"it aborts the handshake with {alert!r}"
        )
    )
