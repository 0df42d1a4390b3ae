"""The certificate of the gateways."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.cert_manager.issuers import issuer_name
from stockman.catalog.component import ComponentContext

_DASHED = "${SECRET_DOMAIN/./-}"
SECRET = f"{_DASHED}-production-tls"


def certificate(context: ComponentContext) -> Object:
    """Return the certificate for the domain and its direct subdomains."""
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": f"{_DASHED}-production"},
        "spec": {
            "dnsNames": [context.domain, f"*.{context.domain}"],
            "duration": "160h",
            "issuerRef": {"kind": "ClusterIssuer", "name": issuer_name(context)},
            "privateKey": {"algorithm": "ECDSA"},
            "secretName": SECRET,
            "usages": ["digital signature"],
        },
    }
