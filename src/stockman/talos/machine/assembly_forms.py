"""Patches that write a thing in one form where the contract has it in the other.

Many fields of the v1alpha1 document became documents of their own, and Talos refuses a
configuration that has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem
from stockman.model.version import Version
from stockman.talos.patches.documents import V1ALPHA1, Document
from stockman.talos.patches.table import MINORS, table
from stockman.talos.patches.tree import Branch, Leaf, Tree

DOCUMENTS: dict[str, str] = {
    "machine.network.nameservers": "ResolverConfig",
    "machine.network.searchDomains": "ResolverConfig",
    "machine.network.disableSearchDomain": "ResolverConfig",
    "machine.network.hostname": "HostnameConfig",
    "machine.features.hostDNS": "ResolverConfig",
    "machine.features.stableHostname": "HostnameConfig",
    "machine.features.kubePrism": "KubePrismConfig",
    "machine.features.kubernetesTalosAPIAccess": "KubeTalosAPIAccessConfig",
    "machine.features.imageCache": "ImageCacheConfig",
    "machine.time": "TimeSyncConfig",
    "machine.install": "UnattendedInstallConfig",
    "machine.baseRuntimeSpecOverrides": "CRIBaseRuntimeSpecConfig",
    "machine.kubelet": "KubeletConfig",
    "machine.nodeLabels": "KubeNodeConfig",
    "machine.nodeAnnotations": "KubeNodeConfig",
    "machine.nodeTaints": "KubeNodeConfig",
    "machine.controlPlane.controllerManager": "KubeControllerManagerConfig",
    "machine.controlPlane.scheduler": "KubeSchedulerConfig",
    "cluster.network": "KubeNetworkConfig",
    "cluster.apiServer": "KubeAPIServerConfig",
    "cluster.controllerManager": "KubeControllerManagerConfig",
    "cluster.scheduler": "KubeSchedulerConfig",
    "cluster.proxy": "KubeProxyConfig",
    "cluster.coreDNS": "KubeCoreDNSConfig",
    "cluster.discovery": "DiscoveryServiceConfig",
    "cluster.allowSchedulingOnControlPlanes": "KubeNodeConfig",
}
"""Fields of the v1alpha1 document, and the kind that Talos refuses beside each."""


def two_forms(
    base: Iterable[Document], documents: Iterable[Document], contract: Version
) -> Iterator[Problem]:
    """What patches of a configuration say in one form while its contract has the other."""
    kinds = {document.kind.name: document.tree for document in documents}
    by_contract = {document.kind.name: document.tree for document in base}
    for path, kind in DOCUMENTS.items():
        part = _at(kinds.get(V1ALPHA1), path)
        if part is None or kind not in kinds:
            continue
        if kind in by_contract:
            if _at(by_contract.get(V1ALPHA1), path) is not None:
                continue  # the contract has both, each with fields of its own
            at = _place(part)
            yield _problem(f"{path} stands beside {kind}", at, contract, kind, _document(kind))
        else:
            at = _place(kinds[kind])
            yield _problem(f"{kind} stands beside {path}", at, contract, path, _field(path))


def explained(problems: Iterable[Problem], contract: Version, minor: str) -> Iterator[Problem]:
    """The problems; those that come from the wrong form say so."""
    for problem in problems:
        if problem.code == "patch.delete":
            yield _moved(problem, contract)
        elif problem.code == "patch.kind":
            yield _too_new(problem, minor)
        else:
            yield problem


def _moved(problem: Problem, contract: Version) -> Problem:
    """A field cannot be deleted because the contract has a document for it."""
    if contract.line < (1, 14):
        return problem
    for path, kind in DOCUMENTS.items():
        if re.search(rf"(^|\s){re.escape(path)}(\.\S+)? cannot be deleted", problem.what):
            why = f"{problem.why}; contract {contract.minor_text} has {kind} for it"
            return replace(problem, why=why, fix=f"delete it {_document(kind)}")
    return problem


def _too_new(problem: Problem, minor: str) -> Problem:
    """A document is of no kind because it came with a later Talos."""
    found = re.search(r"v1alpha1 (\w+) is no document of Talos", problem.what)
    if found is None:
        return problem
    kind = found[1]
    later = [one for one in MINORS[MINORS.index(minor) + 1 :] if kind in table(one).kinds]
    if not later:
        return problem
    fields = [path for path, other in DOCUMENTS.items() if other == kind]
    instead = f", or write the patch below {' and '.join(fields)}" if fields else ""
    return replace(
        problem,
        why=f"it came with Talos {later[0]}",
        fix=f"raise the version of Talos to {later[0]} first{instead}",
    )


def _problem(what: str, at: Position | None, contract: Version, has: str, write: str) -> Problem:
    return Problem(
        code="patch.two-forms",
        what=what,
        where=at or "",
        why=f"contract {contract.minor_text} has {has} for it, and Talos refuses both at once",
        fix=f"write the patch {write}",
    )


def _document(kind: str) -> str:
    return f"in a document with `apiVersion: v1alpha1` and `kind: {kind}`"


def _field(path: str) -> str:
    return f"below {path}, in the document without a kind"


def _at(tree: Branch | None, path: str) -> Tree | None:
    """What stands at a path; None: nothing, or nothing in it."""
    found: Tree | None = tree
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Branch) else None
    return found if isinstance(found, Leaf) or found else None


def _place(tree: Tree) -> Position | None:
    """Where the first thing below was written."""
    for origin in _origins(tree):
        if not origin.is_derived:
            return origin.at
    return None


def _origins(tree: Tree) -> Iterator[Origin]:
    yield tree.origin
    if not isinstance(tree, Leaf):
        for item in tree.values() if isinstance(tree, Branch) else tree:
            yield from _origins(item)
