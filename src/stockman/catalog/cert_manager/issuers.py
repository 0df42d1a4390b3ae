"""Certificate issuers: Let's Encrypt for a public domain, a CA of the cluster otherwise."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext

_PUBLIC = "letsencrypt-production"
_OWN = "internal-ca"
_DIRECTORY = "https://acme-v02.api.letsencrypt.org/directory"


def issuer_name(context: ComponentContext) -> str:
    """Return the name of the issuer for certificates of gateways."""
    return _PUBLIC if context.cluster.edge.dns_provider == "cloudflare" else _OWN


def issuers(context: ComponentContext) -> tuple[Object, ...]:
    """Return the issuers of a cluster."""
    if issuer_name(context) == _PUBLIC:
        return (_issuer(_PUBLIC, {"acme": _acme(context)}),)
    authority: Object = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": _OWN},
        "spec": {
            "isCA": True,
            "commonName": _OWN,
            "secretName": _OWN,
            # Users have installed it in their browsers: neither key nor certificate may change
            # often.
            "duration": "87600h",
            "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Never"},
            "issuerRef": {"kind": "ClusterIssuer", "name": "selfsigned"},
        },
    }
    return (
        _issuer("selfsigned", {"selfSigned": {}}),
        authority,
        _issuer(_OWN, {"ca": {"secretName": _OWN}}),
    )


def _acme(context: ComponentContext) -> Object:
    solver: Object = {
        "dns01": {
            "cloudflare": {"apiTokenSecretRef": {"name": "cert-manager-secret", "key": "api-token"}}
        },
        "selector": {"dnsZones": [context.domain]},
    }
    return {
        "privateKeySecretRef": {"name": _PUBLIC},
        "profile": "shortlived",
        "server": _DIRECTORY,
        "solvers": [solver],
    }


def _issuer(name: str, spec: Object) -> Object:
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "ClusterIssuer",
        "metadata": {"name": name},
        "spec": spec,
    }
