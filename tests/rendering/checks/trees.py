"""Small trees of files that are checked, as a user's template could make them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from stockman.model.problem import Problem, Problems
from stockman.rendering.checks.tree import TreeCheck, check_tree
from stockman.rendering.repository import RenderedRepository
from stockman.rendering.tree import FileTree, RenderedFile
from tests.catalog.estates import rendered

MEADOW = "kubernetes/apps/default/meadow"


@cache
def _preset() -> RenderedRepository:
    return rendered()


def changed(files: Mapping[str, str]) -> RenderedRepository:
    """The tree of a preset with further files, or other ones in the place of its own."""
    base = _preset()
    tree = FileTree(base.tree)
    for path, text in files.items():
        tree.replace(RenderedFile(path=path, owner="templates", text=text))
    return RenderedRepository(tree=tree, apps=base.apps, selection=base.selection)


def judged(
    files: Mapping[str, str], others: Mapping[str, str] | None = None
) -> tuple[TreeCheck, list[Problem]]:
    """What the checks say of a preset with further files."""
    problems = Problems()
    checked = check_tree(changed(files), problems, others or {})
    return checked, list(problems)


def app(*objects: str, ks: str = "") -> dict[str, str]:
    """An app of the user's own in the namespace default; its objects are `object.yaml`."""
    return {
        f"{MEADOW}/app/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\n"
        "kind: Kustomization\nresources: [./object.yaml]\n",
        f"{MEADOW}/app/object.yaml": "---\n".join(objects),
        f"{MEADOW}/ks.yaml": KS + ks,
        "kubernetes/apps/default/kustomization.yaml": NAMESPACE,
    }


NAMESPACE = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: default
components: [../../components/sops]
resources: [./namespace.yaml, ./echo/ks.yaml, ./meadow/ks.yaml]
"""
KS = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: meadow
spec:
  interval: 1h
  path: ./kubernetes/apps/default/meadow/app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
    namespace: flux-system
  targetNamespace: default
"""


def config_map(name: str = "grass", more: str = "data: {height: '3'}\n") -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n{more}"


def pod(container: str, name: str = "ewe") -> str:
    """A HelmRelease of the user's own with a container in its values."""
    return (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
        f"metadata:\n  name: {name}\nspec:\n  interval: 1h\n"
        "  chartRef: {kind: OCIRepository, name: echo}\n"
        "  values:\n    controllers:\n      one:\n        containers:\n"
        f"          app: {container}\n"
    )
