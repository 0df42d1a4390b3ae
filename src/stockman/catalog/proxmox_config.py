"""How components reach Proxmox VE: one config file in a Secret, several clusters as regions."""

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
SECRETS = {"token-REGION": "secret of the token in the Proxmox cluster REGION, where several are"}
"""Names of secrets that a component with access to Proxmox VE reads."""
_AUTHORITIES = "/etc/pki/tls/certs"
"""Go programs trust what stands here too, besides the authorities of their image."""


def secret_name(scene: ComponentContext) -> str:
    """The Secret with a component's config file."""
    return f"{scene.known.name}-config"


def region_token(scene: ComponentContext, one: ProxmoxCluster) -> Secret | None:
    """The token of one cluster: its own, or for the first cluster the component's."""
    own = scene.wish.secrets.get(f"token-{one.region}")
    first = scene.desired.proxmox[0].region == one.region
    return own or (scene.wish.token_secret if first else None)


def missing_requirements(scene: ComponentContext) -> str:
    """What a component waits for before it can talk to Proxmox VE; empty: nothing."""
    clusters = scene.desired.proxmox
    without = [str(one.region) for one in clusters if region_token(scene, one) is None]
    if not without:
        return ""
    where = f" ({', '.join(without)})" if len(clusters) > 1 else ""
    return f"its token in Proxmox VE{where}, which is made for {scene.known.name} later"


def config_secret(
    scene: ComponentContext, access: ProxmoxAccess, features: Object
) -> tuple[Sheet, ...]:
    """The Secret, once there are tokens to put into it, and the authorities to be trusted."""
    name = scene.wish.token_id or f"{access.user}!{access.token}"
    tokens = [(one, region_token(scene, one)) for one in scene.desired.proxmox]
    clusters = [_cluster(one, name, token) for one, token in tokens if token is not None]
    if len(clusters) < len(tokens) or not tokens:
        return _authorities(scene)
    content: Object = {"features": features} if features else {}
    text = Secret(render_yaml(content | {"clusters": clusters}))
    return (secret(secret_name(scene), {KEY: text}), *_authorities(scene))


def _cluster(one: ProxmoxCluster, named: str, token: Secret) -> Object:
    token_id, secret = split_token(named, token)
    return {
        "url": f"{(one.endpoint or '').rstrip('/')}/api2/json",
        "insecure": is_insecure(one),
        "token_id": token_id,
        "token_secret": secret.reveal(),
        "region": str(one.region),
    }


def reload_annotations(scene: ComponentContext) -> Object:
    """Annotations with which reloader restarts the component when its config file changes."""
    return {"secret.reloader.stakater.com/reload": secret_name(scene)}


def trust_values(scene: ComponentContext) -> Object:
    """Chart values with which a component trusts the authorities that the configuration names."""
    if not _materials_given(scene):
        return {}
    name = _authorities_name(scene)
    return {
        "extraVolumes": [{"name": "proxmox-ca", "configMap": {"name": name}}],
        "extraVolumeMounts": [{"name": "proxmox-ca", "mountPath": _AUTHORITIES, "readOnly": True}],
    }


def _authorities(scene: ComponentContext) -> tuple[Sheet, ...]:
    given = _materials_given(scene)
    if not given:
        return ()
    return (Sheet(name="authorities.yaml", objects=(config_map(_authorities_name(scene), given),)),)


def _authorities_name(scene: ComponentContext) -> str:
    return f"{scene.known.name}-authorities"


def _materials_given(scene: ComponentContext) -> dict[str, str]:
    known = scene.materials.proxmox_authorities
    wanted = [str(one.region) for one in scene.desired.proxmox if one.tls.ca_file is not None]
    return {f"{region}.crt": known[region] for region in wanted if region in known}


def is_insecure(one: ProxmoxCluster) -> bool:
    """Whether a component cannot check the certificate: it knows CAs, not fingerprints."""
    return one.tls.fingerprint is not None and one.tls.ca_file is None


def check_proxmox(scene: ComponentContext, problems: Problems) -> None:
    """Report what keeps a component from reaching Proxmox VE."""
    name = scene.known.name
    if not scene.desired.proxmox:
        problems.error(
            "component.no-proxmox",
            f"{name} is on, and there is no Proxmox VE",
            why=f"{name} works through the API of Proxmox VE",
            fix="add the section proxmox, or turn the component off",
            at=scene.wish.where("enabled"),
        )
    for one in scene.desired.proxmox:
        _check_cluster(scene, one, problems)


def _check_cluster(scene: ComponentContext, one: ProxmoxCluster, problems: Problems) -> None:
    name = scene.known.name
    if one.endpoint is None:
        problems.error(
            "component.no-endpoint",
            f"{name} has no way to the Proxmox cluster {one.region}",
            why="the cluster has no endpoint",
            fix="set its endpoint",
            at=one.where(),
        )
    if is_insecure(one):
        problems.warn(
            "component.insecure",
            f"{name} cannot check the certificate of the Proxmox cluster {one.region}",
            why="components in the cluster know CAs, and only a fingerprint is given",
            fix="give the CA with tls.ca_file",
            at=one.tls.where("fingerprint"),
        )
    missing = str(one.region) not in scene.materials.proxmox_authorities
    if one.tls.ca_file is not None and missing:
        problems.error(
            "component.authority",
            f"{name} would not trust the Proxmox cluster {one.region}",
            why=f"its CA {one.tls.ca_file} was not found",
            fix="put the CA's certificate there, in PEM, or correct tls.ca_file",
            at=one.tls.where("ca_file"),
        )
