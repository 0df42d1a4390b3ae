"""What is rendered for a cluster, in a repository of the real `git`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from stockman_lab.core.dice import Dice

from stockman.catalog.objects import merge_values
from stockman.config.language import Dialect
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.config.writers.yaml_writer import render_yaml
from stockman.crypto.age.identities import age_key_pair
from stockman.crypto.sops.files import EncryptionInputs, encrypt
from stockman.crypto.sops.selectors import EncryptionSettings, Selector
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.bootstrap import charts_before_flux
from stockman.rendering.repository import RenderedRepository, render_repository
from stockman.rendering.talos_files import without_references
from tests.catalog.estates import MATERIALS
from tests.contract.repo.doors import git
from tests.fast_yaml import load_all_yaml, load_yaml

KEY = age_key_pair(b"k" * 32)
_RECIPE = EncryptionSettings(
    recipients=(KEY.recipient,),
    selector=Selector(name="encrypted_regex", pattern="^(data|stringData)$"),
)
_WHO = ("-c", "user.name=Shepherd", "-c", "user.email=shepherd@example.org")


@dataclass(frozen=True)
class Written:
    """An estate: a preset with further keys of cluster.yaml."""

    preset: str
    more: Mapping[str, object]
    dialect: Dialect = "classic"

    @cached_property
    def texts(self) -> dict[str, str]:
        """The configuration."""
        texts = render_preset(self.preset)
        yaml = load_yaml(texts["cluster.yaml"])
        return {**texts, "cluster.yaml": render_yaml(merge_values(yaml, self.more))}

    @cached_property
    def rendered(self) -> RenderedRepository:
        problems = Problems()
        desired = resolve(load({name: text.encode() for name, text in self.texts.items()}))
        materials = replace(
            MATERIALS,
            age_recipient=KEY.recipient,
            age_identity=KEY.identity,
            machine_templates={"k8s-work-1": Secret("version: v1alpha1\n")},
        )
        rendered_repository = render_repository(
            without_references(desired, Secret("a resolved secret")),
            materials,
            self.dialect,
            problems,
        )
        assert not problems.errors, [str(problem) for problem in problems.errors]
        return rendered_repository

    @cached_property
    def files(self) -> dict[str, bytes]:
        """What is committed, secrets encrypted."""
        fresh = EncryptionInputs(
            random_bytes=Dice(5).random_bytes, now=datetime(2026, 1, 1, tzinfo=UTC)
        )
        return {
            item.path: item.text.encode()
            if isinstance(item.text, str)
            else encrypt(item.text.reveal().encode(), item.path, _RECIPE, fresh)
            for item in self.rendered.tree
        }

    def objects(self, kind: str) -> list[Any]:
        """All objects of a kind in the files, in the clear."""
        return [
            content
            for item in self.rendered.tree
            if item.path.startswith("kubernetes/") and item.path.endswith(".yaml")
            for content in load_all_yaml(
                item.text if isinstance(item.text, str) else item.text.reveal()
            )
            if isinstance(content, dict) and content.get("kind") == kind
        ]

    def namespaces(self) -> list[Any]:
        """Namespaces, with the labels that let privileged pods in."""
        return self.objects("Namespace")

    @property
    def url(self) -> str:
        """The address of the repository, as the sync of Flux names it."""
        return str(self._instance["values"]["instance"]["sync"]["url"])

    @property
    def _instance(self) -> Any:
        return next(release for release in self.releases if release["name"] == "flux-instance")

    def bootstrap_secrets(self) -> list[Any]:
        """The identity that opens secrets, and the key of a private repository."""
        return [
            load_yaml(item.text.reveal())
            for item in self.rendered.tree
            if item.path.startswith("bootstrap/") and isinstance(item.text, Secret)
        ]

    def early_secrets(self) -> list[Any]:
        """What charts read that are installed before Flux: it is there before them."""
        contents = []
        for release in self.releases:
            key = f"kubernetes/apps/{release['namespace']}/{release['name']}/"
            for item in self.rendered.tree:
                if item.path.startswith(key) and isinstance(item.text, Secret):
                    content = load_yaml(item.text.reveal())
                    content["metadata"].setdefault("namespace", release["namespace"])
                    contents.append(content)
        return contents

    @cached_property
    def releases(self) -> list[Any]:
        """What is installed before Flux takes over, in its order."""
        releases = []
        for chart in charts_before_flux(self.rendered.selection, self.rendered.apps):
            path = f"kubernetes/apps/{chart.namespace}/{chart.release}/app/helmrelease.yaml"
            values = load_yaml(self.files[path])["spec"].get("values", {})
            releases.append(
                {
                    "name": chart.release,
                    "namespace": chart.namespace,
                    "chart": chart.source if chart.is_oci else chart.name,
                    "repository": chart.source,
                    "version": chart.version,
                    # Flux takes this one over as soon as it runs: nobody waits for it meanwhile.
                    "wait": chart.is_waited_for and chart.release != "flux-instance",
                    "values": values,
                }
            )
        return releases

    def repository(self, key: Path) -> Path:
        """A bare repository with one commit."""
        git(key, "init", "--quiet", "--bare", "--initial-branch=main", "home.git")
        work = key / "work"
        for path, content in self.files.items():
            file = work / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        git(key, "init", "--quiet", "--initial-branch=main", "work")
        git(work, "add", "--all", "--force")
        git(work, *_WHO, "commit", "--quiet", "--message", "Render")
        git(work, "push", "--quiet", str(key / "home.git"), "main")
        return key / "home.git"
