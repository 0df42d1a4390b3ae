"""The certificate of the gateways."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.cert_manager.issuers import issuer_name
from stockman.catalog.component import ComponentContext

_DASHED = "${SECRET_DOMAIN/./-}"
SECRET = f"{_DASHED}-production-tls"


def certificate(scene: ComponentContext) -> Object:
    """One certificate for the domain and everything directly below it."""
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": f"{_DASHED}-production"},
        "spec": {
            "dnsNames": [scene.domain, f"*.{scene.domain}"],
            "duration": "160h",
            "issuerRef": {"kind": "ClusterIssuer", "name": issuer_name(scene)},
            "privateKey": {"algorithm": "ECDSA"},
            "secretName": SECRET,
            "usages": ["digital signature"],
        },
    }
