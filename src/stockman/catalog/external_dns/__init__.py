"""external-dns: public DNS records for routes."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition, deployment_condition
from stockman.catalog.objects import EXTERNAL, chart_sheets, secret

_NAME = "cloudflare-dns"
_SECRET = "cloudflare-dns-secret"


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": _NAME,
        "provider": "cloudflare",
        "env": [
            {
                "name": "CF_API_TOKEN",
                "valueFrom": {"secretKeyRef": {"name": _SECRET, "key": "api-token"}},
            }
        ],
        "extraArgs": [
            "--cloudflare-dns-records-per-page=1000",
            "--cloudflare-proxied",
            "--crd-source-apiversion=externaldns.k8s.io/v1alpha1",
            "--crd-source-kind=DNSEndpoint",
            f"--gateway-name={EXTERNAL}",
        ],
        "triggerLoopOnEvent": True,
        "policy": "sync",
        "sources": ["crd", "gateway-httproute"],
        "txtPrefix": "k8s.",
        "txtOwnerId": context.cluster.name,
        "domainFilters": [context.domain],
        "serviceMonitor": {"enabled": context.is_enabled("prometheus-operator-crds")},
        "podAnnotations": {"secret.reloader.stakater.com/reload": _SECRET},
    }
    token = context.require(context.cluster.edge.dns_token, "dns.token")
    yield App(
        name=_NAME,
        namespace=context.namespace,
        sheets=(*chart_sheets(context, values), secret(_SECRET, {"api-token": token})),
    )


COMPONENT = Component(
    name="external-dns",
    about="Public DNS records for the routes of the external gateway.",
    phase=Phase.PLATFORM,
    apps=_apps,
    ready=(
        deployment_condition(_NAME, "network"),
        crd_condition("dnsendpoints.externaldns.k8s.io"),
    ),
    alerts=(
        Alert(
            name="PublicDnsNotUpdated",
            expr="time() - external_dns_controller_last_sync_timestamp_seconds > 1800",
            holds="10m",
            severity="warning",
            summary="Public DNS records have not been updated for half an hour.",
            metrics=("external_dns_controller_last_sync_timestamp_seconds",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="records of an old cluster remain, and new ones are not created",
            cause="their ownership records name another cluster",
            fix="delete the TXT records with the prefix `k8s.` of the old cluster",
        ),
    ),
    definitions=("externaldns.k8s.io",),
)
