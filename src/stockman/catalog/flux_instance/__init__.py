"""Flux instance: the Flux controllers, and the repository they follow."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet, manifest
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import SmokeTest, object_condition
from stockman.catalog.objects import chart_sheets, public_gateway, route, secret
from stockman.catalog.proxy import proxy_variables
from stockman.config.writers.yaml_writer import render_yaml

_CONTROLLERS = (
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
)
_TOKEN = "flux-webhook-token"

_BUILDERS = "(kustomize-controller|helm-controller|source-controller)"
_APPLIERS = "(helm-controller|kustomize-controller)"


def _apps(context: ComponentContext) -> Iterator[App]:
    repository = context.cluster.repository
    sync: Object = {
        "kind": "GitRepository",
        "url": repository.url,
        "ref": f"refs/heads/{repository.branch}",
        "path": "kubernetes/flux/cluster",
    }
    if repository.private:
        sync["pullSecret"] = "deploy-key" if context.dialect == "toml" else "github-deploy-key"
    values: Object = {
        "instance": {
            "cluster": {"networkPolicy": False},
            "components": list(_CONTROLLERS),
            "sync": sync,
            "commonMetadata": {"labels": {"app.kubernetes.io/name": "flux"}},
            "kustomize": {"patches": [*_patches(), *_proxy_patches(context)]},
        }
    }
    sheets = chart_sheets(context, values)
    yield App(
        name="flux-instance", namespace=context.namespace, sheets=(*sheets, *_webhook(context))
    )


def _flags(target: str, *flags: str) -> Object:
    operations = [
        {"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": flag}
        for flag in flags
    ]
    return {"patch": render_yaml(operations), "target": {"kind": "Deployment", "name": target}}


def _memory() -> Object:
    limits = {"name": "manager", "resources": {"limits": {"memory": "1Gi"}}}
    patch: Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "all"},
        "spec": {"template": {"spec": {"containers": [limits]}}},
    }
    return {"patch": render_yaml(patch), "target": {"kind": "Deployment", "name": _BUILDERS}}


def _in_memory_builds() -> Object:
    volume = {"name": "temp", "emptyDir": {"medium": "Memory"}}
    patch = [{"op": "replace", "path": "/spec/template/spec/volumes/0", "value": volume}]
    return {
        "patch": render_yaml(patch),
        "target": {"kind": "Deployment", "name": "kustomize-controller"},
    }


def _patches() -> list[Object]:
    """Return patches for resources and concurrency of the controllers, in order."""
    return [
        _flags(_BUILDERS, "--concurrent=10", "--requeue-dependency=5s"),
        _memory(),
        _flags("kustomize-controller", "--concurrent=20"),
        _in_memory_builds(),
        _flags(
            "source-controller",
            "--helm-cache-max-size=10",
            "--helm-cache-ttl=60m",
            "--helm-cache-purge-interval=5m",
        ),
        _flags(
            "helm-controller",
            "--feature-gates=OOMWatch=true,DisableChartDigestTracking=true",
            "--oom-watch-memory-threshold=95",
            "--oom-watch-interval=500ms",
        ),
        _flags(
            "kustomize-controller",
            "--sops-age-secret=sops-age",
            "--feature-gates=CancelHealthCheckOnNewRevision=true",
        ),
        _flags(_APPLIERS, "--watch-configs-label-selector=owner!=helm"),
    ]


def _proxy_patches(context: ComponentContext) -> Iterator[Object]:
    """Yield patches with the proxy for the controllers that reach other servers."""
    variables = proxy_variables(context.desired)
    operations = [
        {
            "op": "add",
            "path": "/spec/template/spec/containers/0/env/-",
            "value": {"name": name, "value": value},
        }
        for name, value in variables.items()
    ]
    if operations:
        target = {"kind": "Deployment", "name": "(source-controller|notification-controller)"}
        yield {"patch": render_yaml(operations), "target": target}


def _webhook(context: ComponentContext) -> Iterator[Sheet]:
    provider = context.cluster.repository.webhook_provider
    token = context.materials.webhook_token
    if provider == "none" or token is None:
        return
    name = "flux-webhook" if context.dialect == "toml" else "github-webhook"
    receiver = manifest(
        "notification.toolkit.fluxcd.io/v1",
        "Receiver",
        name,
        type=provider,
        events=["ping", "push"],
        secretRef={"name": _TOKEN},
        resources=[
            _resource("source.toolkit.fluxcd.io/v1", "GitRepository"),
            _resource("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        ],
    )
    yield Sheet(name="receiver.yaml", objects=(receiver,))
    yield secret(_TOKEN, {"token": token})
    hook = route(
        "flux-webhook",
        f"flux-webhook.{context.domain}",
        public_gateway(context),
        ("webhook-receiver", 80),
        prefix="/hook/",
    )
    yield Sheet(name="httproute.yaml", objects=(hook,))


def _resource(version: str, kind: str) -> Object:
    return {
        "apiVersion": version,
        "kind": kind,
        "name": "flux-system",
        "namespace": "flux-system",
    }


COMPONENT = Component(
    name="flux-instance",
    about="The Flux controllers, which keep the cluster in sync with its Git repository.",
    phase=Phase.DELIVERY,
    apps=_apps,
    ready=(
        object_condition(
            "fluxcd.controlplane.io/v1 FluxInstance",
            "flux",
            "Flux is installed as configured",
            namespace="flux-system",
        ),
    ),
    smoke_test=SmokeTest(
        says="the repository is fetched and applied",
        until=(
            object_condition(
                "source.toolkit.fluxcd.io/v1 GitRepository",
                "flux-system",
                "the repository is fetched",
                namespace="flux-system",
            ),
            object_condition(
                "kustomize.toolkit.fluxcd.io/v1 Kustomization",
                "cluster-apps",
                "the repository is applied",
                namespace="flux-system",
            ),
        ),
    ),
    alerts=(
        Alert(
            name="FluxNotReady",
            expr='max by (kind, name, exported_namespace) (flux_resource_info{ready="False"}) == 1',
            holds="15m",
            severity="warning",
            summary="{{ $labels.kind }} {{ $labels.exported_namespace }}/{{ $labels.name }}"
            " has not been ready for a quarter of an hour.",
            metrics=("flux_resource_info",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="GitRepository reports `authentication required`",
            cause="the deploy key is not registered at the Git host",
            fix="add the public deploy key to the repository, with read access",
        ),
        KnownProblem(
            symptom="Kustomization reports `failed to decrypt`",
            cause=("the Secret sops-age contains another identity than the recipient of the files"),
            fix="put the identity from age.key into the Secret sops-age, and render again",
        ),
    ),
)
