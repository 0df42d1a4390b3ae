"""TLS contexts for connections to Talos machines."""

from __future__ import annotations

import ssl

from stockman.adapters import tls
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import Trust
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
            raise Refused(errors.missing_identity_problem("it has no client certificate"))
        return cls(ca=context.ca, crt=context.crt, key=context.key)


def client_context(identity: ClientIdentity) -> ssl.SSLContext:
    """Return a TLS context with the client certificate that verifies the CA."""
    try:
        context = tls.verifying_context(Trust(ca=identity.ca.encode() if identity.ca else None))
        key = identity.key.reveal().replace(_TALOS_LABEL, _LABEL)
        tls.load_client_certificate(context, identity.crt, Secret(key, resolved=True))
    except tls.InvalidCa as error:
        raise Refused(errors.missing_identity_problem(f"its CA is invalid: {error}")) from None
    except (ssl.SSLError, ValueError):
        why = "certificate and key are invalid or do not match"
        raise Refused(errors.missing_identity_problem(why)) from None
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
