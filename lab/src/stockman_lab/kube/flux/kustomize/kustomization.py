"""The file of a kustomization: its fields, checked."""

from __future__ import annotations

from stockman_lab.kube.flux.kustomize.documents import first_document
from stockman_lab.kube.flux.kustomize.failure import BuildFailure, not_modelled
from stockman_lab.kube.flux.kustomize.files import Files
from stockman_lab.kube.objects import Object

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_KIND, _COMPONENT = "Kustomization", "Component"
_VERSIONS = {
    _KIND: "kustomize.config.k8s.io/v1beta1",
    _COMPONENT: "kustomize.config.k8s.io/v1alpha1",
}
_TEXTS = frozenset({"apiVersion", "kind", "namePrefix", "nameSuffix", "namespace"})
_OBJECTS = frozenset(
    {
        *("metadata", "openapi", "commonLabels", "commonAnnotations", "sortOptions"),
        *("helmGlobals", "generatorOptions"),
    }
)
_LISTS = frozenset(
    {
        *("labels", "patchesStrategicMerge", "patchesJson6902", "patches", "images", "imageTags"),
        *("replacements", "replicas", "vars", "resources", "components", "crds", "bases"),
        *("configMapGenerator", "secretGenerator", "helmCharts", "helmChartInflationGenerator"),
        *("configurations", "generators", "transformers", "validators", "buildMetadata"),
    }
)
_NOT_MODELLED = (
    *("configurations", "crds", "generators", "transformers", "validators", "replacements"),
    *("vars", "helmCharts", "helmGlobals", "helmChartInflationGenerator", "openapi"),
)
_METADATA = frozenset({"originAnnotations"})


def kustomization_file(files: Files, folder: str) -> str | None:
    """The path of the file of a folder; None: there is none. Several are one too many."""
    names = [
        path
        for path in (f"{folder}/{name}" if folder else name for name in NAMES)
        if files.is_file(path)
    ]
    if len(names) > 1:
        shown = files.shown(folder)
        raise BuildFailure(f"Found multiple kustomization files under: {shown}\n")
    return names[0] if names else None


def read_kustomization(files: Files, folder: str) -> Object:
    """The kustomization of a folder; raises `BuildFailure`."""
    path = kustomization_file(files, folder)
    if path is None:
        raise BuildFailure(
            "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization'"
            f" in directory '{files.shown(folder)}'"
        )
    return checked(files.contents[path], files.shown(folder))


def checked(content: bytes, shown: str) -> Object:
    """The fields of a file; raises `BuildFailure`."""
    try:
        tree = first_document(content) or {}
    except BuildFailure as why:
        raise BuildFailure(f"invalid Kustomization: {why}") from None
    if not isinstance(tree, dict):
        kind = "array" if isinstance(tree, list) else "string"
        raise BuildFailure(
            f"invalid Kustomization: json: cannot unmarshal {kind} into Go value of type"
            " types.Kustomization"
        )
    for name, value in tree.items():
        _check_field(name, value)
    for name in ("commonLabels", "commonAnnotations"):
        _check_texts(name, tree.get(name) or {})
    values = {name: value for name, value in tree.items() if value not in (None, [], {}, "")}
    _check_kind(values, shown)
    for name in _NOT_MODELLED:
        if name in values:
            raise not_modelled(f"field {name} of a kustomization")
    unknown = set(values.get("buildMetadata") or ()) - _METADATA
    if unknown:
        raise not_modelled(f"buildMetadata {', '.join(sorted(unknown))}")
    if not values.keys() - {"apiVersion", "kind"}:
        raise BuildFailure("kustomization.yaml is empty")
    values["resources"] = [*(values.get("resources") or ()), *(values.pop("bases", None) or ())]
    values["images"] = [*(values.get("images") or ()), *(values.pop("imageTags", None) or ())]
    return values


def _check_field(name: str, value: object) -> None:
    wanted: type
    if name in _TEXTS:
        wanted, shown = str, "string"
    elif name in _OBJECTS:
        wanted, shown = dict, "object"
    elif name in _LISTS:
        wanted, shown = list, "array"
    else:
        raise BuildFailure(f'invalid Kustomization: json: unknown field "{name}"')
    if value is not None and not isinstance(value, wanted):
        said = {dict: "object", list: "array", str: "string", bool: "bool"}
        got = said.get(type(value), "number")
        raise BuildFailure(
            f"invalid Kustomization: json: cannot unmarshal {got} into Go struct field"
            f" Kustomization.{name} ({shown})"
        )


def _check_texts(name: str, words: Object) -> None:
    for value in words.values():
        if not isinstance(value, str) and value is not None:
            got = "bool" if isinstance(value, bool) else "number"
            raise BuildFailure(
                f"invalid Kustomization: json: cannot unmarshal {got} into Go struct field"
                f" Kustomization.{name} of type string"
            )


def _check_kind(made: Object, shown: str) -> None:
    kind = made.setdefault("kind", _KIND)
    wrong = []
    if kind not in _VERSIONS:
        wrong.append(f"kind should be {_KIND} or {_COMPONENT}")
    version = _VERSIONS.get(kind, _VERSIONS[_KIND])
    if made.setdefault("apiVersion", version) != version:
        wrong.append(f"apiVersion for {kind} should be {version}")
    if wrong:
        lines = "\n".join(wrong)
        raise BuildFailure(f"Failed to read kustomization file under {shown}:\n{lines}")
