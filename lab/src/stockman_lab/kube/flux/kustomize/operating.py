"""Lists of operations on an object, with the texts of kustomize."""

from __future__ import annotations

from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.objects import Object, Tree
from stockman_lab.kube.patching.json_patch import Unpatched, json_patched


def operated(content: Object, operations: list[Object]) -> Object:
    """What an object becomes; raises `BuildFailure`."""
    for operation in operations:
        op, path = operation.get("op"), str(operation.get("path", ""))
        if op in {"remove", "replace"} and not _is_there(content, path):
            raise BuildFailure(_missing(content, op, path))
        if op == "add" and not _is_there(content, path.rpartition("/")[0]):
            why = f'doc is missing path: "{path}": missing value'
            raise BuildFailure(f"add operation does not apply: {why}")
        try:
            content = json_patched(content, [operation])
        except Unpatched as why:
            raise BuildFailure(f"{op} operation does not apply: {why}") from None
    return content


def _missing(content: Object, word: str, path: str) -> str:
    parent, _, name = path.rpartition("/")
    if word == "remove" and _is_there(content, parent):
        why = f"Unable to remove nonexistent key: {name}: missing value"
        return f"error in remove for path: '{path}': {why}"
    what = "path" if word == "remove" or not _is_there(content, parent) else "key"
    return f'{word} operation does not apply: doc is missing {what}: "{path}": missing value'


def _is_there(content: Tree, path: str) -> bool:
    found = content
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.lstrip("-").isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            return False
    return True
