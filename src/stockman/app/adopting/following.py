"""What a cluster follows: its repository, and the addresses of its gateways."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from stockman.app.adopting.sight import Follows
from stockman.model.errors import Denied, NotFound, Unsupported
from stockman.model.secret import Secret
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import SECRETS, Kind, Ref
from stockman.ports.kubernetes.objects import Object
from stockman.steps.kube_kinds import FLUX_INSTANCES, GIT_REPOSITORIES
from stockman.steps.kube_reading import name_of, text

_SERVICES = Kind(api_version="v1", name="Service", plural="services")
_GATEWAYS = Kind(api_version="gateway.networking.k8s.io/v1", name="Gateway", plural="gateways")
_ADDRESSES = "lbipam.cilium.io/ips"
_KEYS = {
    "envoy-internal": "internal",
    "internal": "internal",
    "envoy-external": "external",
    "external": "external",
    "k8s-gateway": "dns",
}
"""What gateways are called in clusters of the catalog and of templates that it follows."""
_FLUX = "flux-system"
_SECRETS = (
    ("age.key", "sops-age", "age.agekey"),
    ("github-deploy.key", "github-deploy-key", "identity"),
    ("github-deploy.key", "deploy-key", "identity"),
    ("github-deploy.key", "flux-system", "identity"),
    ("github-push-token.txt", "flux-webhook-token", "token"),
    ("github-push-token.txt", "github-webhook-token-secret", "token"),
)
"""File, and the name and key of the Secret that holds the same."""


async def follows(kubernetes: Kubernetes) -> Follows:
    """What the cluster says of it; nothing where it has neither Flux nor gateways."""
    instances = await _listed(kubernetes, FLUX_INSTANCES)
    repositories = await _listed(kubernetes, GIT_REPOSITORIES)
    gateways = await _listed(kubernetes, _GATEWAYS)
    services = await _listed(kubernetes, _SERVICES)
    url, branch = _repository(instances, repositories)
    return Follows(
        url=url,
        branch=branch,
        addresses=_addresses((*gateways, *services)),
        keys=await _keys(kubernetes),
    )


async def _keys(kubernetes: Kubernetes) -> dict[str, Secret]:
    """What Flux opens secrets with, fetches its repository with, and is called by.

    With others, what is encrypted so far would be lost, and the Git server had to be told anew.
    """
    found: dict[str, Secret] = {}
    for file, name, key in _SECRETS:
        ref = Ref(kind=SECRETS, name=name, namespace=_FLUX)
        try:
            packed = text(await kubernetes.get(ref), "data", key)
        except (NotFound, Denied):
            continue
        try:
            plain = base64.b64decode(packed, validate=True).decode("ascii")
        except ValueError:
            continue
        if plain:
            found.setdefault(file, Secret(plain, resolved=True))
    return found


async def _listed(kubernetes: Kubernetes, kind: Kind) -> tuple[Object, ...]:
    try:
        return (await kubernetes.objects(kind)).items
    except (NotFound, Unsupported):
        return ()


def _repository(instances: Iterable[Object], repositories: Iterable[Object]) -> tuple[str, str]:
    for one in instances:
        if url := text(one, "spec", "sync", "url"):
            return url, _branch(text(one, "spec", "sync", "ref"))
    for one in repositories:
        if name_of(one) == _FLUX:
            return text(one, "spec", "url"), text(one, "spec", "ref", "branch")
    return "", ""


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _addresses(objects: Iterable[Object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in objects:
        key = _KEYS.get(name_of(one), "")
        address = text(one, "spec", "infrastructure", "annotations", _ADDRESSES) or text(
            one, "metadata", "annotations", _ADDRESSES
        )
        if key and address:
            found.setdefault(key, address.partition(",")[0].strip())
    return found
