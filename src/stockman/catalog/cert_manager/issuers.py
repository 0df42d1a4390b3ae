"""Who issues certificates: Let's Encrypt for a public domain, an own authority otherwise."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext

_PUBLIC = "letsencrypt-production"
_OWN = "internal-ca"
_DIRECTORY = "https://acme-v02.api.letsencrypt.org/directory"


def issuer_name(scene: ComponentContext) -> str:
    """The issuer that certificates of gateways use."""
    return _PUBLIC if scene.cluster.edge.dns_provider == "cloudflare" else _OWN


def issuers(scene: ComponentContext) -> tuple[Object, ...]:
    """The issuers of a cluster."""
    if issuer_name(scene) == _PUBLIC:
        return (_issuer(_PUBLIC, {"acme": _acme(scene)}),)
    authority: Object = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": _OWN},
        "spec": {
            "isCA": True,
            "commonName": _OWN,
            "secretName": _OWN,
            # Browsers were told to trust it: neither the key nor the certificate may change soon.
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


def _acme(scene: ComponentContext) -> Object:
    solver: Object = {
        "dns01": {
            "cloudflare": {"apiTokenSecretRef": {"name": "cert-manager-secret", "key": "api-token"}}
        },
        "selector": {"dnsZones": [scene.domain]},
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
