"""Flux instance: which controllers run, and which repository the cluster follows."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import SmokeTest, object_condition
from stockman.catalog.flux_instance.tuning import PATCHES
from stockman.catalog.objects import chart_sheets, public_gateway, route, secret

_CONTROLLERS = (
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
)
_TOKEN = "flux-webhook-token"


def _apps(scene: ComponentContext) -> Iterator[App]:
    repository = scene.cluster.repository
    sync: Object = {
        "kind": "GitRepository",
        "url": repository.url,
        "ref": f"refs/heads/{repository.branch}",
        "path": "kubernetes/flux/cluster",
    }
    if repository.private:
        sync["pullSecret"] = "deploy-key" if scene.dialect == "toml" else "github-deploy-key"
    values: Object = {
        "instance": {
            "cluster": {"networkPolicy": False},
            "components": list(_CONTROLLERS),
            "sync": sync,
            "commonMetadata": {"labels": {"app.kubernetes.io/name": "flux"}},
            "kustomize": {"patches": list(PATCHES)},
        }
    }
    sheets = chart_sheets(scene, values)
    yield App(name="flux-instance", namespace=scene.namespace, sheets=(*sheets, *_webhook(scene)))


def _webhook(scene: ComponentContext) -> Iterator[Sheet]:
    provider = scene.cluster.repository.webhook_provider
    token = scene.materials.webhook_token
    if provider == "none" or token is None:
        return
    name = "flux-webhook" if scene.dialect == "toml" else "github-webhook"
    receiver: Object = {
        "apiVersion": "notification.toolkit.fluxcd.io/v1",
        "kind": "Receiver",
        "metadata": {"name": name},
        "spec": {
            "type": provider,
            "events": ["ping", "push"],
            "secretRef": {"name": _TOKEN},
            "resources": [
                _resource("source.toolkit.fluxcd.io/v1", "GitRepository"),
                _resource("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
            ],
        },
    }
    yield Sheet(name="receiver.yaml", objects=(receiver,))
    yield secret(_TOKEN, {"token": token})
    hook = route(
        "flux-webhook",
        f"flux-webhook.{scene.domain}",
        public_gateway(scene),
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
    about="The controllers that make the cluster follow its Git repository.",
    phase=Phase.DELIVERY,
    apps=_apps,
    ready=(
        object_condition(
            "fluxcd.controlplane.io/v1 FluxInstance",
            "flux",
            "Flux is installed as asked for",
            namespace="flux-system",
        ),
    ),
    trial=SmokeTest(
        says="the repository is fetched and applied",
        until=(
            object_condition(
                "source.toolkit.fluxcd.io/v1 GitRepository",
                "flux-system",
                "the repository was fetched",
                namespace="flux-system",
            ),
            object_condition(
                "kustomize.toolkit.fluxcd.io/v1 Kustomization",
                "cluster-apps",
                "the repository was applied",
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
    troubles=(
        KnownProblem(
            shows="GitRepository says `authentication required`",
            because="the deploy key is not known to the host of the repository",
            fix="add the public half of the deploy key to the repository, with read access",
        ),
        KnownProblem(
            shows="Kustomization says `failed to decrypt`",
            because="the Secret sops-age holds another identity than the files are encrypted for",
            fix="put the identity of age.key into the Secret sops-age, and render again",
        ),
    ),
)
