"""What Karpenter's nodes are made from: image, class, pool, machine configuration."""

from __future__ import annotations

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.karpenter.settings import settings_of, template_of
from stockman.catalog.objects import secret
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.images import FactoryImage, node_image, template_name

_GROUP = "karpenter.proxmox.sinextra.dev"
_NAME = "default"
_SECRET = "karpenter-machine"
_KARPENTER_TEMPLATE = "ProxmoxTemplate"
_STOCKMAN_TEMPLATE = "ProxmoxUnmanagedTemplate"
TAG = "karpenter"
"""Tag of VMs that Karpenter made; stockman leaves them alone."""

_META_DATA = """\
instance-id: "{{ .InstanceID }}"
local-hostname: "{{ .Hostname }}"
region: "{{ .Region }}"
zone: "{{ .Zone }}"
instance-type: "{{ .InstanceType }}"
provider-id: "{{ .ProviderID }}"
"""
"""Karpenter fills this in with the machine itself; only user-data has it below `.Metadata`."""
_NETWORK_CONFIG = """\
version: 2
ethernets:
  eth0:
    dhcp4: true
"""


def machines(scene: ComponentContext) -> tuple[Object, ...]:
    """The template, the class and the pool."""
    return (_template(scene), _class(scene), _pool(scene))


def machine_secret(scene: ComponentContext) -> tuple[Sheet, ...]:
    """The machine configuration of new nodes, once the bundle is at hand."""
    like = settings_of(scene).like
    text = scene.materials.machine_templates.get(str(like))
    if text is None:
        return ()
    texts: dict[str, Secret | str] = {
        "meta-data": _META_DATA,
        "network-config": _NETWORK_CONFIG,
        "user-data": text,
    }
    return (secret(_SECRET, texts),)


def _template(scene: ComponentContext) -> Object:
    template, image = template_of(scene), _image(scene)
    if template is not None and image is not None:
        return _object(
            _STOCKMAN_TEMPLATE,
            templateName=template_name(template.name, image),
            region=_region(scene),
        )
    settings = settings_of(scene)
    network: Object = {"name": "net0", "bridge": settings.bridge, "model": "virtio"}
    if settings.vlan is not None:
        network["vlan"] = settings.vlan
    return _object(
        _KARPENTER_TEMPLATE,
        sourceImage={
            "url": image.url("qcow2") if image is not None else "",
            "imageName": f"talos-{scene.cluster.talos.version}-{_NAME}.qcow2",
        },
        storageIDs=[str(scene.wish.storage)],
        network=[network],
        cpu={"type": "host"},
        agent={"enabled": True},
        region=_region(scene),
        tags=[TAG],
    )


def _class(scene: ComponentContext) -> Object:
    settings = settings_of(scene)
    is_ours = template_of(scene) is not None
    return _object(
        "ProxmoxNodeClass",
        region=_region(scene),
        instanceTemplateRef={
            "kind": _STOCKMAN_TEMPLATE if is_ours else _KARPENTER_TEMPLATE,
            "name": _NAME,
        },
        bootDevice={"size": f"{settings.disk_gb}G", "storage": str(scene.wish.storage)},
        tags=[TAG],
        metadataOptions={
            "type": "cdrom",
            "templatesRef": {"name": _SECRET, "namespace": scene.namespace},
        },
    )


def _pool(scene: ComponentContext) -> Object:
    settings = settings_of(scene)
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
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": _NAME},
        "spec": {
            "template": template,
            "limits": {"cpu": settings.cpu_limit, "memory": settings.memory_limit},
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": settings.idle,
            },
        },
    }


def _image(scene: ComponentContext) -> FactoryImage | None:
    like = settings_of(scene).like
    for node in scene.desired.nodes:
        if node.name == like:
            return node_image(node, scene.cluster.talos, Problems())
    return None


def _region(scene: ComponentContext) -> str:
    return str(settings_of(scene).region or scene.desired.proxmox[0].region)


def _object(kind: str, **spec: object) -> Object:
    return {
        "apiVersion": f"{_GROUP}/v1alpha1",
        "kind": kind,
        "metadata": {"name": _NAME},
        "spec": spec,
    }
