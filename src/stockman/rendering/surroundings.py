"""Everything around the apps: Flux's entry, bootstrap, machines, rules, and files for people."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.scene import Materials
from stockman.catalog.selection import Selected
from stockman.config.presets import Dialect
from stockman.model.desired import Cluster, Desired
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.rendering.arrangement import Placed
from stockman.rendering.bootstrap import bootstrap_secrets
from stockman.rendering.bootstrap_charts import (
    bringing_definitions,
    charts,
    installed_before_flux,
)
from stockman.rendering.bootstrap_helmfile import helmfile_files
from stockman.rendering.ci_files import ci_files
from stockman.rendering.cluster_files import cluster_files
from stockman.rendering.renovate import renovate_file
from stockman.rendering.sops_rules import sops_rules_file
from stockman.rendering.talos_part import Patches, talos_files
from stockman.rendering.tasks import task_files
from stockman.rendering.tree import RenderedFile


@record
class Surroundings:
    """What these files are made from."""

    desired: Desired
    cluster: Cluster
    materials: Materials
    dialect: Dialect
    """Of the files that say what should be."""
    layout: Dialect
    """Whose users find the files where they expect them."""
    patches: Patches


def surrounding_files(
    around: Surroundings,
    selection: tuple[Selected, ...],
    apps: tuple[Placed, ...],
    problems: Problems,
) -> Iterator[RenderedFile]:
    """The files that belong to no component."""
    cluster, materials, layout = around.cluster, around.materials, around.layout
    repository = cluster.repository
    yield from sops_rules_file(around.dialect, materials.age_recipient)
    if apps:
        # A cluster without any component is brought up by others, and follows nothing of ours.
        yield from cluster_files(cluster)
        yield from bootstrap_secrets(cluster, materials, layout, problems)
        yield from helmfile_files(
            bringing_definitions(selection, apps), installed_before_flux(selection, apps), layout
        )
    yield from talos_files(around.desired, layout, around.patches, problems, around.dialect)
    yield from ci_files(repository)
    if repository.renovate:
        yield from renovate_file(around.desired, charts(apps))
    if repository.tasks:
        yield from task_files(layout)
