"""Objects for Karpenter's nodes: image, node class, node pool, machine configuration."""

from __future__ import annotations

from stockman.catalog.app import Object, Sheet, manifest
from stockman.catalog.component import ComponentContext
from stockman.catalog.karpenter.settings import KarpenterSettings, template_of
from stockman.catalog.objects import secret
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.schematic import FactoryImage, node_image, template_name

_GROUP = "karpenter.proxmox.sinextra.dev"
_NAME = "default"
_SECRET = "karpenter-machine"
_KARPENTER_TEMPLATE = "ProxmoxTemplate"
_STOCKMAN_TEMPLATE = "ProxmoxUnmanagedTemplate"
TAG = "karpenter"
"""Tag of VMs that Karpenter created; stockman ignores them."""

_META_DATA = """\
instance-id: "{{ .InstanceID }}"
local-hostname: "{{ .Hostname }}"
region: "{{ .Region }}"
zone: "{{ .Zone }}"
instance-type: "{{ .InstanceType }}"
provider-id: "{{ .ProviderID }}"
"""
"""Template that Karpenter fills in; only user-data has the values below `.Metadata`."""
_NETWORK_CONFIG = """\
version: 2
ethernets:
  eth0:
    dhcp4: true
"""


def machines(context: ComponentContext) -> tuple[Object, ...]:
    """Return the template, the node class and the node pool."""
    return (_template(context), _class(context), _pool(context))


def machine_secret(context: ComponentContext) -> tuple[Sheet, ...]:
    """Return the machine configuration of new nodes, if the secrets bundle is available."""
    like = context.settings_as(KarpenterSettings).like
    text = context.materials.machine_templates.get(str(like))
    if text is None:
        return ()
    texts: dict[str, Secret | str] = {
        "meta-data": _META_DATA,
        "network-config": _NETWORK_CONFIG,
        "user-data": text,
    }
    return (secret(_SECRET, texts),)


def _template(context: ComponentContext) -> Object:
    template, image = template_of(context), _image(context)
    if template is not None and image is not None:
        return _object(
            _STOCKMAN_TEMPLATE,
            templateName=template_name(template.name, image),
            region=_region(context),
        )
    settings = context.settings_as(KarpenterSettings)
    network: Object = {"name": "net0", "bridge": settings.bridge, "model": "virtio"}
    if settings.vlan is not None:
        network["vlan"] = settings.vlan
    return _object(
        _KARPENTER_TEMPLATE,
        sourceImage={
            "url": image.url("qcow2") if image is not None else "",
            "imageName": f"talos-{context.cluster.talos.version}-{_NAME}.qcow2",
        },
        storageIDs=[str(context.options.storage)],
        network=[network],
        cpu={"type": "host"},
        agent={"enabled": True},
        region=_region(context),
        tags=[TAG],
    )


def _class(context: ComponentContext) -> Object:
    settings = context.settings_as(KarpenterSettings)
    is_ours = template_of(context) is not None
    return _object(
        "ProxmoxNodeClass",
        region=_region(context),
        instanceTemplateRef={
            "kind": _STOCKMAN_TEMPLATE if is_ours else _KARPENTER_TEMPLATE,
            "name": _NAME,
        },
        bootDevice={"size": f"{settings.disk_gb}G", "storage": str(context.options.storage)},
        tags=[TAG],
        metadataOptions={
            "type": "cdrom",
            "templatesRef": {"name": _SECRET, "namespace": context.namespace},
        },
    )


def _pool(context: ComponentContext) -> Object:
    settings = context.settings_as(KarpenterSettings)
    families = {
        "key": f"{_GROUP}/instance-family",
        "operator": "In",
        "values": list(settings.families),
    }
    processors = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
    template: Object = {
        "spec": {
            "expireAfter": "Never",
            "nodeClassRef": {"group": _GROUP, "kind": "ProxmoxNodeClass", "name": _NAME},
            "requirements": [families, processors],
        }
    }
    return manifest(
        "karpenter.sh/v1",
        "NodePool",
        _NAME,
        template=template,
        limits={"cpu": settings.cpu_limit, "memory": settings.memory_limit},
        disruption={
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
            "consolidateAfter": settings.idle,
        },
    )


def _image(context: ComponentContext) -> FactoryImage | None:
    like = context.settings_as(KarpenterSettings).like
    for node in context.desired.nodes:
        if node.name == like:
            return node_image(node, context.cluster.talos, Problems())
    return None


def _region(context: ComponentContext) -> str:
    return str(context.settings_as(KarpenterSettings).region or context.desired.proxmox[0].region)


def _object(kind: str, **spec: object) -> Object:
    return manifest(f"{_GROUP}/v1alpha1", kind, _NAME, **spec)
