"""cert-manager: certificates for gateways and services."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.cert_manager.issuers import issuer_name, issuers
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import SmokeTest, deployment_condition, object_condition
from stockman.catalog.objects import chart_sheets, secret

_RESOLVERS = "https://1.1.1.1:443/dns-query,https://1.0.0.1:443/dns-query"
_TRIAL = "stockman-certificate-trial"


def _apps(scene: ComponentContext) -> Iterator[App]:
    monitored = scene.on("prometheus-operator-crds")
    values: Object = {
        "crds": {"enabled": True},
        "replicaCount": 2 if len(scene.desired.nodes) > 1 else 1,
        "dns01RecursiveNameservers": _RESOLVERS,
        "dns01RecursiveNameserversOnly": True,
        "prometheus": {"enabled": monitored, "servicemonitor": {"enabled": monitored}},
    }
    namespace = scene.namespace
    yield App(name="cert-manager", namespace=namespace, sheets=chart_sheets(scene, values))
    sheets = [Sheet(name="clusterissuer.yaml", objects=issuers(scene))]
    if scene.cluster.edge.dns_provider == "cloudflare":
        token = scene.needed(scene.cluster.edge.dns_token, "dns.token")
        sheets.append(secret("cert-manager-secret", {"api-token": token}))
    yield App(
        name="cert-manager-config", namespace=namespace, folder="config", sheets=tuple(sheets)
    )


COMPONENT = Component(
    name="cert-manager",
    about="Certificates for gateways and services, renewed before they end.",
    phase=Phase.DELIVERY,
    apps=_apps,
    ready=(
        deployment_condition("cert-manager", "cert-manager"),
        deployment_condition("cert-manager-webhook", "cert-manager"),
        object_condition("cert-manager.io/v1 ClusterIssuer", "", "every issuer is ready"),
    ),
    trial=SmokeTest(
        says="a certificate is issued by an authority made for the trial",
        objects=(
            {
                "apiVersion": "cert-manager.io/v1",
                "kind": "Issuer",
                "metadata": {"name": _TRIAL, "namespace": "cert-manager"},
                "spec": {"selfSigned": {}},
            },
            {
                "apiVersion": "cert-manager.io/v1",
                "kind": "Certificate",
                "metadata": {"name": _TRIAL, "namespace": "cert-manager"},
                "spec": {
                    "dnsNames": ["trial.invalid"],
                    "secretName": _TRIAL,
                    "issuerRef": {"kind": "Issuer", "name": _TRIAL},
                },
            },
        ),
        until=(
            object_condition(
                "cert-manager.io/v1 Certificate",
                _TRIAL,
                "the certificate was issued",
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
            summary="The certificate {{ $labels.exported_namespace }}/{{ $labels.name }} ends in"
            " less than three days, and was not renewed.",
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
    troubles=(
        KnownProblem(
            shows="a Challenge stays pending with `propagation check failed`",
            because="the DNS token may not edit the zone, or the answer is cached",
            fix="give the token the right to edit the zone's DNS, and delete the challenge",
        ),
    ),
    definitions=("cert-manager.io", "acme.cert-manager.io"),
)

__all__ = ["COMPONENT", "issuer_name"]
