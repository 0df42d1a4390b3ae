"""What Flux does to objects after kustomize made them: variables, labels, annotations."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.kube.flux.kustomize.documents import BuildFailure, first_document, yaml_text
from stockman_lab.kube.flux.kustomize.variables import check_names, substituted
from stockman_lab.kube.objects import Object, Tree, metadata_of

GROUP = "kustomize.toolkit.fluxcd.io"
_SWITCH = f"{GROUP}/substitute"


def with_variables(content: Object, variables: Mapping[str, str]) -> Object:
    """An object with the values of variables in it, unless it says that it wants none.

    The text of the object is read anew, so that a word may become a number.
    """
    metadata = metadata_of(content)
    said = [(metadata.get(part) or {}).get(_SWITCH) for part in ("labels", "annotations")]
    if not variables or "disabled" in said:
        return content
    try:
        check_names(variables)
        if not _has_dollar(content):
            return content
        tree = first_document(substituted(yaml_text(content), variables).encode())
    except BuildFailure as why:
        what = f"{content.get('kind')}/{metadata.get('name')}"
        raise BuildFailure(f"post build failed for '{what}': envsubst error: {why}") from None
    return tree if isinstance(tree, dict) else content


def _has_dollar(value: Tree) -> bool:
    """Whether a variable stands anywhere; most objects have none, and writing them takes long."""
    if isinstance(value, str):
        return "$" in value
    if isinstance(value, dict):
        return any(_has_dollar(name) or _has_dollar(one) for name, one in value.items())
    return isinstance(value, list) and any(map(_has_dollar, value))


def with_metadata(content: Object, common: Object) -> Object:
    """An object with labels and annotations in addition."""
    metadata = dict(metadata_of(content))
    for part in ("labels", "annotations"):
        if common.get(part):
            metadata[part] = {**(metadata.get(part) or {}), **common[part]}
    return {**content, "metadata": metadata}


def owned(content: Object, name: str, namespace: str) -> Object:
    """An object with the labels that tell to which Kustomization it belongs."""
    labels = {f"{GROUP}/name": name, f"{GROUP}/namespace": namespace}
    return with_metadata(content, {"labels": labels})
