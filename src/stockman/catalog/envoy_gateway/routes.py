"""Routes that every gateway has: to HTTPS, and to a plain 404."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import EXTERNAL, INTERNAL

_NOT_PUBLISHED: Object = {"external-dns.alpha.kubernetes.io/controller": "none"}


def default_routes(scene: ComponentContext) -> tuple[Object, ...]:
    """Routes for requests that no application takes."""
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
        _route(scene, "https-redirect", "http", {"filters": [redirect]}),
        _route(scene, "not-found", "https", {"filters": [missing]}),
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
                "body": {"type": "Inline", "inline": "404: nothing here\n"},
            }
        },
    }


def _route(scene: ComponentContext, name: str, section: str, rule: Object) -> Object:
    external = scene.cluster.edge.ingress_mode != "none"
    parents = (EXTERNAL, INTERNAL) if external else (INTERNAL,)
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "annotations": _NOT_PUBLISHED},
        "spec": {
            "parentRefs": [
                {"name": one, "namespace": scene.namespace, "sectionName": section}
                for one in parents
            ],
            "rules": [rule],
        },
    }
