"""Compare machine configurations before and after an import, and the order of patches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.config.convert.output import MachineDifference
from stockman.talos.imports.configurations import Configuration
from stockman.talos.imports.foreign import ForeignPatch, PatchOrder
from stockman.talos.imports.patches import shared_paths

_REASONS: tuple[tuple[str, str], ...] = (
    ("LinkAliasConfig", "the node's link is named net0 and selected by its permanent MAC address"),
    ("LinkConfig", "the node's link is named net0, is up, and has an MTU"),
    ("VLANConfig", "the node's link is named net0, is up, and has an MTU"),
    ("Layer2VIPConfig", "the node's link is named net0"),
    ("ResolverConfig", "name servers are set, and no search domain"),
    ("TimeSyncConfig", "time servers are always set"),
    ("HostnameConfig", "the hostname is the node's name"),
    ("v1alpha1 machine.install.image", "the installer follows from platform and schematic"),
    ("v1alpha1 machine.install.diskSelector.serial", "any serial number matches"),
    ("v1alpha1 machine.certSANs", "the API address is a SAN of every machine"),
    ("v1alpha1 cluster.apiServer.certSANs", "the API address is a SAN of the API server"),
    ("v1alpha1 machine.kubelet.nodeIP", "nodes use an address of the node network"),
    ("v1alpha1 cluster.etcd.advertisedSubnets", "etcd uses an address of the node network"),
    ("v1alpha1 cluster.network.cni", "Cilium is the CNI"),
    ("v1alpha1 cluster.proxy.disabled", "Cilium replaces kube-proxy"),
    ("v1alpha1 cluster.coreDNS.disabled", "the catalog installs CoreDNS"),
    ("v1alpha1 cluster.allowSchedulingOnControlPlanes", "it is always set"),
    ("v1alpha1 machine.network", "links, name servers and search domains have keys"),
    ("v1alpha1 machine.time", "time servers have a key"),
    ("v1alpha1 machine.nodeLabels", "controllers keep the label that Talos sets"),
    ("v1alpha1 cluster.network", "there is one pod network and one service network"),
    ("v1alpha1 cluster.controlPlane.endpoint", "the endpoint is the API address"),
)
_OTHER_REASON = "it was left out or changed, see above"


def differences(
    theirs: Mapping[str, Configuration], ours: Mapping[str, Configuration]
) -> tuple[MachineDifference, ...]:
    """Return every value that differs, with the nodes where it differs."""
    nodes_by_change: dict[tuple[str, str, str], list[str]] = {}
    for node, before in theirs.items():
        after = ours.get(node)
        if after is None:
            continue
        for what, old, new in compare_configurations(before, after):
            nodes_by_change.setdefault((what, old, new), []).append(node)
    return tuple(
        MachineDifference(
            nodes=tuple(nodes), what=what, before=before, after=after, why=difference_reason(what)
        )
        for (what, before, after), nodes in nodes_by_change.items()
    )


def compare_configurations(
    theirs: Configuration, ours: Configuration
) -> Iterator[tuple[str, str, str]]:
    """Yield the label of every difference between two configurations, with both values."""
    for document in sorted(theirs.keys() | ours.keys()):
        label = " ".join(filter(None, document))
        before, after = theirs.get(document), ours.get(document)
        if before is None or after is None:
            yield label, _document_label(before), _document_label(after)
        else:
            yield from _compare_values(before, after, label, ())


def _compare_values(
    before: object, after: object, label: str, path: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    if isinstance(before, dict) or isinstance(after, dict):
        before, after = _mapping(before), _mapping(after)
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _compare_values(before.get(key), after.get(key), label, (*path, key))
    elif path[-1:] in (("certSANs",), ("certExtraSANs",)):
        if set(_list(before)) != set(_list(after)):
            yield f"{label} {'.'.join(path)}", _text(before), _text(after)
    elif before != after:
        yield f"{label} {'.'.join(path)}", _text(before), _text(after)


def difference_reason(what: str) -> str:
    """Return why machines differ in a value."""
    return next((why for start, why in _REASONS if what.startswith(start)), _OTHER_REASON)


def order_differences(
    patches: Mapping[str, list[ForeignPatch]], order: PatchOrder
) -> Iterator[tuple[ForeignPatch, ForeignPatch, str]]:
    """Yield pairs of patches where our order changes which one wins, and the path."""
    if order != "talhelper":
        return
    seen = set()
    for node_patches in patches.values():
        for index, first in enumerate(node_patches):
            for second in node_patches[index + 1 :]:
                if second.scope != "all" or first.scope == "all" or first.place[0] < 0:
                    continue
                for path in shared_paths(first, second):
                    key = (first.label, second.label, path)
                    if key not in seen:
                        seen.add(key)
                        yield first, second, path


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _document_label(document: object) -> str:
    return "" if document is None else "present"


def _text(value: object) -> str:
    import json

    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
