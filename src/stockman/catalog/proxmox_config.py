"""Access of components to Proxmox VE: one config file in a Secret; clusters are regions."""

from __future__ import annotations

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext, ProxmoxAccess
from stockman.catalog.objects import config_map, secret
from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.proxmox_values import split_token
from stockman.model.secret import Secret

KEY = "config.yaml"
SECRETS = {
    "token-REGION": "secret of the token in the Proxmox cluster REGION, if there are several"
}
"""Secrets that a component with access to Proxmox VE reads."""
_AUTHORITIES = "/etc/pki/tls/certs"
"""Go programs also trust the CAs in this directory, besides those of their image."""


def secret_name(context: ComponentContext) -> str:
    """Return the name of the Secret with a component's config file."""
    return f"{context.facts.name}-config"


def region_token(context: ComponentContext, cluster: ProxmoxCluster) -> Secret | None:
    """Return the token of a cluster: its own, or for the first cluster that of the component."""
    own = context.options.secrets.get(f"token-{cluster.region}")
    first = context.desired.proxmox[0].region == cluster.region
    return own or (context.options.token_secret if first else None)


def missing_requirements(context: ComponentContext) -> str:
    """Return what a component needs before it can use Proxmox VE; empty: nothing."""
    clusters = context.desired.proxmox
    without = [
        str(cluster.region) for cluster in clusters if region_token(context, cluster) is None
    ]
    if not without:
        return ""
    where = f" ({', '.join(without)})" if len(clusters) > 1 else ""
    return f"its token in Proxmox VE{where}, which `apply` creates"


def config_secret(
    context: ComponentContext, access: ProxmoxAccess, features: Object
) -> tuple[Sheet, ...]:
    """Return the Secret with tokens and trusted CAs, if there are tokens."""
    name = context.options.token_id or f"{access.user}!{access.token}"
    tokens = [(cluster, region_token(context, cluster)) for cluster in context.desired.proxmox]
    clusters = [_cluster(cluster, name, token) for cluster, token in tokens if token is not None]
    if len(clusters) < len(tokens) or not tokens:
        return _authorities(context)
    content: Object = {"features": features} if features else {}
    text = Secret(render_yaml(content | {"clusters": clusters}))
    return (secret(secret_name(context), {KEY: text}), *_authorities(context))


def _cluster(cluster: ProxmoxCluster, named: str, token: Secret) -> Object:
    token_id, secret = split_token(named, token)
    return {
        "url": f"{(cluster.endpoint or '').rstrip('/')}/api2/json",
        "insecure": is_insecure(cluster),
        "token_id": token_id,
        "token_secret": secret.reveal(),
        "region": str(cluster.region),
    }


def reload_annotations(context: ComponentContext) -> Object:
    """Return annotations that let reloader restart the component when its config file changes."""
    return {"secret.reloader.stakater.com/reload": secret_name(context)}


def trust_values(context: ComponentContext) -> Object:
    """Return chart values with which a component trusts the configured CAs."""
    if not _authority_files(context):
        return {}
    name = _authorities_name(context)
    return {
        "extraVolumes": [{"name": "proxmox-ca", "configMap": {"name": name}}],
        "extraVolumeMounts": [{"name": "proxmox-ca", "mountPath": _AUTHORITIES, "readOnly": True}],
    }


def _authorities(context: ComponentContext) -> tuple[Sheet, ...]:
    materials = _authority_files(context)
    if not materials:
        return ()
    return (
        Sheet(
            name="authorities.yaml", objects=(config_map(_authorities_name(context), materials),)
        ),
    )


def _authorities_name(context: ComponentContext) -> str:
    return f"{context.facts.name}-authorities"


def _authority_files(context: ComponentContext) -> dict[str, str]:
    known = context.materials.proxmox_authorities
    regions = [
        str(cluster.region)
        for cluster in context.desired.proxmox
        if cluster.tls.ca_file is not None
    ]
    return {f"{region}.crt": known[region] for region in regions if region in known}


def is_insecure(cluster: ProxmoxCluster) -> bool:
    """Return whether a component cannot verify the certificate: only a fingerprint is set."""
    return cluster.tls.fingerprint is not None and cluster.tls.ca_file is None


def check_proxmox(context: ComponentContext, problems: Problems) -> None:
    """Report what prevents a component from reaching Proxmox VE."""
    name = context.facts.name
    if not context.desired.proxmox:
        problems.error(
            "component.no-proxmox",
            f"{name} is enabled, but there is no Proxmox VE",
            why=f"{name} uses the API of Proxmox VE",
            fix="add the section proxmox, or disable the component",
            at=context.options.where("enabled"),
        )
    missing = missing_requirements(context)
    if context.desired.proxmox and missing:
        problems.warn(
            "component.no-token",
            f"{name} stays suspended until it has a token",
            why=f"it needs {missing}; the token of stockman has other privileges",
            fix="let `stockman apply --only access` create it, and render again; or set"
            f" components.{name}.token_id and token_secret",
            at=context.options.where("enabled"),
        )
    for cluster in context.desired.proxmox:
        _check_cluster(context, cluster, problems)


def _check_cluster(context: ComponentContext, cluster: ProxmoxCluster, problems: Problems) -> None:
    name = context.facts.name
    if cluster.endpoint is None:
        problems.error(
            "component.no-endpoint",
            f"{name} cannot reach the Proxmox cluster {cluster.region}",
            why="the cluster has no endpoint",
            fix="set its endpoint",
            at=cluster.where(),
        )
    if is_insecure(cluster):
        problems.warn(
            "component.insecure",
            f"{name} cannot verify the certificate of the Proxmox cluster {cluster.region}",
            why="components in the cluster need a CA, and only a fingerprint is set",
            fix="set the CA with tls.ca_file",
            at=cluster.tls.where("fingerprint"),
        )
    missing = str(cluster.region) not in context.materials.proxmox_authorities
    if cluster.tls.ca_file is not None and missing:
        problems.error(
            "component.authority",
            f"{name} would not trust the Proxmox cluster {cluster.region}",
            why=f"its CA file {cluster.tls.ca_file} does not exist",
            fix="copy the CA certificate there, in PEM format, or correct tls.ca_file",
            at=cluster.tls.where("ca_file"),
        )
