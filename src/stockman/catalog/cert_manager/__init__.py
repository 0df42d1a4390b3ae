"""cert-manager: certificates for gateways and services."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet, manifest
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import SmokeTest, deployment_condition, object_condition
from stockman.catalog.objects import chart_sheets, secret

_VERSION = "cert-manager.io/v1"
_RESOLVERS = "https://1.1.1.1:443/dns-query,https://1.0.0.1:443/dns-query"
_TEST_NAME = "stockman-certificate-test"
_PUBLIC = "letsencrypt-production"
_OWN = "internal-ca"
_DIRECTORY = "https://acme-v02.api.letsencrypt.org/directory"


def _apps(context: ComponentContext) -> Iterator[App]:
    monitored = context.is_enabled("prometheus-operator-crds")
    values: Object = {
        "crds": {"enabled": True},
        "replicaCount": 2 if len(context.desired.nodes) > 1 else 1,
        "dns01RecursiveNameservers": _RESOLVERS,
        "dns01RecursiveNameserversOnly": True,
        "prometheus": {"enabled": monitored, "servicemonitor": {"enabled": monitored}},
    }
    namespace = context.namespace
    yield App(name="cert-manager", namespace=namespace, sheets=chart_sheets(context, values))
    sheets = [Sheet(name="clusterissuer.yaml", objects=_issuers(context))]
    if context.cluster.edge.dns_provider == "cloudflare":
        token = context.require(context.cluster.edge.dns_token, "dns.token")
        sheets.append(secret("cert-manager-secret", {"api-token": token}))
    yield App(
        name="cert-manager-config", namespace=namespace, folder="config", sheets=tuple(sheets)
    )


def issuer_name(context: ComponentContext) -> str:
    """Return the name of the issuer for certificates of gateways."""
    return _PUBLIC if context.cluster.edge.dns_provider == "cloudflare" else _OWN


def _issuers(context: ComponentContext) -> tuple[Object, ...]:
    """Return issuers: Let's Encrypt for a public domain, a CA of the cluster otherwise."""
    if issuer_name(context) == _PUBLIC:
        return (_issuer(_PUBLIC, acme=_acme(context)),)
    authority = manifest(
        _VERSION,
        "Certificate",
        _OWN,
        isCA=True,
        commonName=_OWN,
        secretName=_OWN,
        # Users have installed it in their browsers: neither key nor certificate may change often.
        duration="87600h",
        privateKey={"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Never"},
        issuerRef={"kind": "ClusterIssuer", "name": "selfsigned"},
    )
    return (
        _issuer("selfsigned", selfSigned={}),
        authority,
        _issuer(_OWN, ca={"secretName": _OWN}),
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


def _issuer(name: str, **spec: object) -> Object:
    return manifest(_VERSION, "ClusterIssuer", name, **spec)


COMPONENT = Component(
    name="cert-manager",
    about="Certificates for gateways and services, renewed before they expire.",
    phase=Phase.DELIVERY,
    apps=_apps,
    ready=(
        deployment_condition("cert-manager", "cert-manager"),
        deployment_condition("cert-manager-webhook", "cert-manager"),
        object_condition("cert-manager.io/v1 ClusterIssuer", "", "every issuer is ready"),
    ),
    smoke_test=SmokeTest(
        says="a certificate is issued",
        objects=(
            {
                "apiVersion": "cert-manager.io/v1",
                "kind": "Issuer",
                "metadata": {"name": _TEST_NAME, "namespace": "cert-manager"},
                "spec": {"selfSigned": {}},
            },
            {
                "apiVersion": "cert-manager.io/v1",
                "kind": "Certificate",
                "metadata": {"name": _TEST_NAME, "namespace": "cert-manager"},
                "spec": {
                    "dnsNames": ["test.invalid"],
                    "secretName": _TEST_NAME,
                    "secretTemplate": {"labels": {"app.kubernetes.io/managed-by": "stockman"}},
                    "issuerRef": {"kind": "Issuer", "name": _TEST_NAME},
                },
            },
        ),
        created=(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": _TEST_NAME, "namespace": "cert-manager"},
            },
        ),
        until=(
            object_condition(
                "cert-manager.io/v1 Certificate",
                _TEST_NAME,
                "the certificate is issued",
                namespace="cert-manager",
            ),
        ),
        seconds=120,
    ),
    alerts=(
        Alert(
            name="CertificateEndsSoon",
            expr="certmanager_certificate_expiration_timestamp_seconds - time() < 3 * 24 * 3600",
            holds="1h",
            severity="critical",
            summary="The certificate {{ $labels.exported_namespace }}/{{ $labels.name }} "
            "expires in less than three days and was not renewed.",
            metrics=("certmanager_certificate_expiration_timestamp_seconds",),
        ),
        Alert(
            name="CertificateNotReady",
            expr="max by (name, exported_namespace)"
            ' (certmanager_certificate_ready_status{condition!="True"}) == 1',
            holds="30m",
            severity="warning",
            summary="The certificate {{ $labels.exported_namespace }}/{{ $labels.name }}"
            " is not ready.",
            metrics=("certmanager_certificate_ready_status",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="a Challenge stays pending with `propagation check failed`",
            cause="the DNS token cannot edit the zone, or the answer is cached",
            fix="give the token permission to edit the DNS of the zone, and delete the challenge",
        ),
    ),
    definitions=("cert-manager.io", "acme.cert-manager.io"),
)
