"""Who we are to machines, and how theirs are judged: TLS of connections."""

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
    """The key behind a certificate is not the one that was named; nothing was sent."""


@record
class ClientIdentity:
    """A client certificate, and the authority of those who are asked. PEM texts."""

    ca: str
    """Empty: the authorities of the system."""
    crt: str
    key: Secret

    @classmethod
    def of(cls, context: TalosContext) -> ClientIdentity:
        """That of a talosconfig; `Refused` where it has none."""
        if not context.crt or context.key is None:
            raise Refused(errors.missing_identity_problem("it has no client certificate"))
        return cls(ca=context.ca, crt=context.crt, key=context.key)


def client_context(identity: ClientIdentity) -> ssl.SSLContext:
    """TLS with our certificate, to those whom our authority has signed."""
    try:
        made = tls.verifying_context(Trust(ca=identity.ca.encode() if identity.ca else None))
        key = identity.key.reveal().replace(_TALOS_LABEL, _LABEL)
        tls.load_client_certificate(made, identity.crt, Secret(key, resolved=True))
    except tls.InvalidCa as error:
        raise Refused(errors.missing_identity_problem(f"of its authority {error}")) from None
    except (ssl.SSLError, ValueError):
        why = "certificate and key cannot be read, or do not belong together"
        raise Refused(errors.missing_identity_problem(why)) from None
    return _require_http2(made)


def maintenance_context(fingerprint: str) -> ssl.SSLContext:
    """TLS without a certificate of ours, to whoever has the key of a fingerprint.

    Without a fingerprint to whoever answers.
    """
    made = tls.insecure_context()
    if fingerprint:
        made.sslobject_class = _pinning_class(_normalize_fingerprint(fingerprint))
    return _require_http2(made)


def _require_http2(made: ssl.SSLContext) -> ssl.SSLContext:
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["h2"])
    return made


def _pinning_class(fingerprint: str) -> type[ssl.SSLObject]:
    class Pinned(ssl.SSLObject):
        """One end of a connection that ends a handshake with any other key."""

        def do_handshake(self) -> None:
            from stockman.crypto.certificates import key_fingerprint

            super().do_handshake()
            found = key_fingerprint(self.getpeercert(binary_form=True) or b"")
            if _normalize_fingerprint(found) != fingerprint:
                raise WrongKey(1, f"the fingerprint of its key is {found}, which was not named")

    return Pinned


def _normalize_fingerprint(fingerprint: str) -> str:
    return fingerprint.strip().rstrip("=")
