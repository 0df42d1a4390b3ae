"""What a kustomization makes of the files of a tree."""

from __future__ import annotations

import json

from stockman_lab.kube.flux.kustomize.decorating import (
    add_annotations,
    add_common_labels,
    add_labels,
    set_images,
    set_replicas,
)
from stockman_lab.kube.flux.kustomize.documents import BadDocument, objects
from stockman_lab.kube.flux.kustomize.failure import BuildFailure, not_modelled
from stockman_lab.kube.flux.kustomize.files import Files, joined
from stockman_lab.kube.flux.kustomize.generating import absorb, add_hashes, generated
from stockman_lab.kube.flux.kustomize.kustomization import kustomization_file, read_kustomization
from stockman_lab.kube.flux.kustomize.names import (
    add_prefix,
    add_suffix,
    follow_names,
    set_namespace,
)
from stockman_lab.kube.flux.kustomize.patches import merge_all, patch_all
from stockman_lab.kube.flux.kustomize.resource import Resource, Resources, append_all
from stockman_lab.kube.objects import Object

_LOCAL = "config.kubernetes.io/local-config"
_ORIGIN = "config.kubernetes.io/origin"
_REMOTE = ("http://", "https://", "git@", "git::", "ssh://", "oci://", "github.com/")


def built(files: Files, folder: str) -> list[Object]:
    """The objects of a kustomization; raises `BuildFailure`."""
    top = _Target(files, folder)
    resources = top.accumulated([])
    add_hashes(resources)
    follow_names(resources)
    kept = (
        resource for resource in resources if resource.annotations.get(_LOCAL, "false") == "false"
    )
    return [one.content for one in kept if one.content]


class _Target:
    """One kustomization of a build."""

    def __init__(
        self, files: Files, folder: str, above: tuple[str, ...] = (), way: str = ""
    ) -> None:
        self._files = files
        self._folder = folder
        self._above = (*above, folder)
        """The folders that led here, and this one."""
        self._way = way
        """The path from the first folder, as origins tell it."""
        self.fields = read_kustomization(files, folder)

    def accumulated(self, resources: Resources) -> Resources:
        """The resources of this kustomization, with those that were there before."""
        try:
            for path in self.fields["resources"]:
                self._add_resource(resources, str(path))
        except BuildFailure as why:
            raise BuildFailure(f"accumulating resources: {why}") from None
        self._generate(resources)
        try:
            for path in self.fields.get("components") or ():
                self._add_component(resources, str(path))
        except BuildFailure as why:
            raise BuildFailure(f"accumulating components: {why}") from None
        self._transform(resources)
        return resources

    # -- what is there ----------------------------------------------------------------------------

    def _add_resource(self, resources: Resources, path: str) -> None:
        if path.startswith(_REMOTE):
            raise not_modelled(f"the remote resource {path}")
        try:
            self._add_file(resources, path)
        except BuildFailure as why:
            folder = joined(self._folder, path)
            if folder is None or not self._files.is_folder(folder):
                if isinstance(why, BadDocument):
                    raise
                raise BuildFailure(
                    f"accumulation err='{why}': must build at directory: {self._no_folder(path)}"
                ) from None
            try:
                target = self._target(path, folder)
                if target.fields["kind"] == "Component":
                    text = f"expected kind != 'Component' for path '{self._files.shown(folder)}'"
                    raise BuildFailure(text)
                more = _below(target, [], self._files.shown(folder))
                _merge(resources, more, self._files.shown(folder))
            except BuildFailure as problem:
                raise BuildFailure(f"accumulation err='{why}': {problem}") from None

    def _add_file(self, resources: Resources, path: str) -> None:
        try:
            content = self._read(path)
            found = objects(content)
        except BadDocument as why:
            raise BadDocument(
                f"accumulating resources from '{path}': MalformedYAMLError: {why} in File: {path}"
            ) from None
        except BuildFailure as why:
            raise BuildFailure(f"accumulating resources from '{path}': {why}") from None
        made = [Resource(one) for one in found]
        for one in made:
            self._tell_origin(one, f"path: {_way(self._way, path)}\n")
        try:
            append_all(resources, made)
        except BuildFailure as why:
            raise BuildFailure(f"merging resources from '{path}': {why}") from None

    def _add_component(self, resources: Resources, path: str) -> None:
        if path.startswith(_REMOTE):
            raise not_modelled(f"the remote component {path}")
        folder = joined(self._folder, path)
        if folder is None or not self._files.is_folder(folder):
            text = f"must build at directory: {self._no_folder(path)}"
            raise BuildFailure(f"loader.New {json.dumps(text)}")
        shown = self._files.shown(folder)
        try:
            target = self._target(path, folder)
            kind = target.fields["kind"]
            if kind != "Component":
                raise BuildFailure(f"expected kind 'Component' for path '{shown}' but got '{kind}'")
            _below(target, resources, shown)
        except BuildFailure as why:
            text = json.dumps(str(why), ensure_ascii=False)
            raise BuildFailure(f"accumulateDirectory: {text}") from None

    def _target(self, path: str, folder: str) -> _Target:
        for visited in self._above:
            if folder in {"", visited} or visited.startswith(f"{folder}/"):
                raise BuildFailure(
                    f"cycle detected: candidate root '{self._files.shown(folder)}' contains"
                    f" visited root '{self._files.shown(self._folder)}'"
                )
        try:
            target = _Target(self._files, folder, self._above, _way(self._way, path))
        except BuildFailure as why:
            shown = self._files.shown(folder)
            raise BuildFailure(f"couldn't make target for path '{shown}': {why}") from None
        target.fields["buildMetadata"] = self.fields.get("buildMetadata")
        return target

    def _read(self, path: str) -> bytes:
        """A file that the kustomization names; raises `BuildFailure`."""
        place = joined(self._folder, path)
        shown = self._files.shown(place if place is not None else path)
        if place is not None and self._files.is_file(place):
            return self._files.contents[place]
        if place is not None and self._files.is_folder(place):
            raise BuildFailure(f"read {shown}: is a directory")
        raise BuildFailure(f"open {shown}: no such file or directory")

    def _no_folder(self, path: str) -> str:
        place = joined(self._folder, path)
        shown = self._files.shown(place if place is not None else path)
        if place is not None and self._files.is_file(place):
            return f"'{shown}': file is not directory"
        problem = f"lstat {shown}: no such file or directory"
        return f"not a valid directory: evalsymlink failure on '{shown}' : {problem}"

    # -- what is made and changed -----------------------------------------------------------------

    def _generate(self, resources: Resources) -> None:
        common = self.fields.get("generatorOptions") or {}
        for name, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
            for entry in self.fields.get(name) or ():
                made = generated(kind, entry, common, self._read)
                file = kustomization_file(self._files, self._folder) or ""
                place = _way(self._way, file.rpartition("/")[2])
                plugin = f"{kind}Generator"
                self._tell_origin(
                    made,
                    f"configuredIn: {place}\nconfiguredBy:\n  apiVersion: builtin\n"
                    f"  kind: {plugin}\n",
                )
                try:
                    absorb(resources, made)
                except BuildFailure as why:
                    raise BuildFailure(f"merging from generator {plugin}: {why}") from None

    def _transform(self, resources: Resources) -> None:
        fields = self.fields
        for patch in fields.get("patchesStrategicMerge") or ():
            merge_all(resources, str(patch), self._read)
        for patch in fields.get("patches") or ():
            patch_all(resources, patch, self._read)
        if fields.get("namespace"):
            set_namespace(resources, fields["namespace"])
        add_prefix(resources, fields.get("namePrefix") or "")
        add_suffix(resources, fields.get("nameSuffix") or "")
        for entry in fields.get("labels") or ():
            add_labels(resources, entry)
        add_common_labels(resources, fields.get("commonLabels") or {})
        add_annotations(resources, fields.get("commonAnnotations") or {})
        for patch in fields.get("patchesJson6902") or ():
            patch_all(resources, patch, self._read)
        for entry in fields.get("replicas") or ():
            set_replicas(resources, entry)
        for entry in fields["images"]:
            set_images(resources, entry)

    def _tell_origin(self, one: Resource, text: str) -> None:
        if "originAnnotations" in (self.fields.get("buildMetadata") or ()):
            one.annotate(_ORIGIN, text)


def _way(way: str, path: str) -> str:
    return joined(way, path) or path


def _below(target: _Target, resources: Resources, shown: str) -> Resources:
    try:
        return target.accumulated(resources)
    except BuildFailure as why:
        raise BuildFailure(f"recursed accumulation of path '{shown}': {why}") from None


def _merge(resources: Resources, more: Resources, shown: str) -> None:
    try:
        append_all(resources, more)
    except BuildFailure as why:
        raise BuildFailure(f"recursed merging from path '{shown}': {why}") from None
