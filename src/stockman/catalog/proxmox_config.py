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


def region_token(context: ComponentContext, one: ProxmoxCluster) -> Secret | None:
    """Return the token of a cluster: its own, or for the first cluster that of the component."""
    own = context.options.secrets.get(f"token-{one.region}")
    first = context.desired.proxmox[0].region == one.region
    return own or (context.options.token_secret if first else None)


def missing_requirements(context: ComponentContext) -> str:
    """Return what a component needs before it can use Proxmox VE; empty: nothing."""
    clusters = context.desired.proxmox
    without = [str(one.region) for one in clusters if region_token(context, one) is None]
    if not without:
        return ""
    where = f" ({', '.join(without)})" if len(clusters) > 1 else ""
    return f"its token in Proxmox VE{where}, which is created for {context.facts.name} later"


def config_secret(
    context: ComponentContext, access: ProxmoxAccess, features: Object
) -> tuple[Sheet, ...]:
    """Return the Secret with tokens and trusted CAs, if there are tokens."""
    name = context.options.token_id or f"{access.user}!{access.token}"
    tokens = [(one, region_token(context, one)) for one in context.desired.proxmox]
    clusters = [_cluster(one, name, token) for one, token in tokens if token is not None]
    if len(clusters) < len(tokens) or not tokens:
        return _authorities(context)
    content: Object = {"features": features} if features else {}
    text = Secret(render_yaml(content | {"clusters": clusters}))
    return (secret(secret_name(context), {KEY: text}), *_authorities(context))


def _cluster(one: ProxmoxCluster, named: str, token: Secret) -> Object:
    token_id, secret = split_token(named, token)
    return {
        "url": f"{(one.endpoint or '').rstrip('/')}/api2/json",
        "insecure": is_insecure(one),
        "token_id": token_id,
        "token_secret": secret.reveal(),
        "region": str(one.region),
    }


def reload_annotations(context: ComponentContext) -> Object:
    """Return annotations that let reloader restart the component when its config file changes."""
    return {"secret.reloader.stakater.com/reload": secret_name(context)}


def trust_values(context: ComponentContext) -> Object:
    """Return chart values with which a component trusts the configured CAs."""
    if not _materials_given(context):
        return {}
    name = _authorities_name(context)
    return {
        "extraVolumes": [{"name": "proxmox-ca", "configMap": {"name": name}}],
        "extraVolumeMounts": [{"name": "proxmox-ca", "mountPath": _AUTHORITIES, "readOnly": True}],
    }


def _authorities(context: ComponentContext) -> tuple[Sheet, ...]:
    given = _materials_given(context)
    if not given:
        return ()
    return (
        Sheet(name="authorities.yaml", objects=(config_map(_authorities_name(context), given),)),
    )


def _authorities_name(context: ComponentContext) -> str:
    return f"{context.facts.name}-authorities"


def _materials_given(context: ComponentContext) -> dict[str, str]:
    known = context.materials.proxmox_authorities
    wanted = [str(one.region) for one in context.desired.proxmox if one.tls.ca_file is not None]
    return {f"{region}.crt": known[region] for region in wanted if region in known}


def is_insecure(one: ProxmoxCluster) -> bool:
    """Return whether a component cannot verify the certificate: only a fingerprint is set."""
    return one.tls.fingerprint is not None and one.tls.ca_file is None


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
    for one in context.desired.proxmox:
        _check_cluster(context, one, problems)


def _check_cluster(context: ComponentContext, one: ProxmoxCluster, problems: Problems) -> None:
    name = context.facts.name
    if one.endpoint is None:
        problems.error(
            "component.no-endpoint",
            f"{name} cannot reach the Proxmox cluster {one.region}",
            why="the cluster has no endpoint",
            fix="set its endpoint",
            at=one.where(),
        )
    if is_insecure(one):
        problems.warn(
            "component.insecure",
            f"{name} cannot verify the certificate of the Proxmox cluster {one.region}",
            why="components in the cluster need a CA, and only a fingerprint is set",
            fix="set the CA with tls.ca_file",
            at=one.tls.where("fingerprint"),
        )
    missing = str(one.region) not in context.materials.proxmox_authorities
    if one.tls.ca_file is not None and missing:
        problems.error(
            "component.authority",
            f"{name} would not trust the Proxmox cluster {one.region}",
            why=f"its CA file {one.tls.ca_file} does not exist",
            fix="copy the CA certificate there, in PEM format, or correct tls.ca_file",
            at=one.tls.where("ca_file"),
        )
