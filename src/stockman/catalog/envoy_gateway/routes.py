"""Default routes of the gateways: redirect to HTTPS, and 404."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import EXTERNAL, INTERNAL

_NOT_PUBLISHED: Object = {"external-dns.alpha.kubernetes.io/controller": "none"}


def default_routes(context: ComponentContext) -> tuple[Object, ...]:
    """Return the routes for requests that match no application."""
    redirect: Object = {
        "type": "RequestRedirect",
        "requestRedirect": {"scheme": "https", "statusCode": 301},
    }
    missing: Object = {
        "type": "ExtensionRef",
        "extensionRef": {
            "group": "gateway.envoyproxy.io",
            "kind": "HTTPRouteFilter",
            "name": "not-found",
        },
    }
    return (
        _filter(),
        _route(context, "https-redirect", "http", {"filters": [redirect]}),
        _route(context, "not-found", "https", {"filters": [missing]}),
    )


def _filter() -> Object:
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "HTTPRouteFilter",
        "metadata": {"name": "not-found"},
        "spec": {
            "directResponse": {
                "contentType": "text/plain",
                "statusCode": 404,
                "body": {"type": "Inline", "inline": "404: not found\n"},
            }
        },
    }


def _route(context: ComponentContext, name: str, section: str, rule: Object) -> Object:
    external = context.cluster.edge.ingress_mode != "none"
    parents = (EXTERNAL, INTERNAL) if external else (INTERNAL,)
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "annotations": _NOT_PUBLISHED},
        "spec": {
            "parentRefs": [
                {"name": parent, "namespace": context.namespace, "sectionName": section}
                for parent in parents
            ],
            "rules": [rule],
        },
    }
