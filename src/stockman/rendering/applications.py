"""`kubernetes/apps`: namespaces, components and their apps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.catalog.app import Sheet
from stockman.rendering.arrangement import Placed
from stockman.rendering.flux import app_kustomization, flux_kustomization, namespace_sheets
from stockman.rendering.sheets import rendered_sheet
from stockman.rendering.tree import REPOSITORY, RenderedFile

APPS = "kubernetes/apps"


def application_files(placed: Iterable[Placed], security: dict[str, str]) -> Iterator[RenderedFile]:
    """Every file below the apps' directory; `security`: pod security level by namespace."""
    folders: dict[str, dict[str, list[Placed]]] = {}
    for one in placed:
        folders.setdefault(one.app.namespace, {}).setdefault(one.folder, []).append(one)
    for namespace, members in folders.items():
        for sheet in namespace_sheets(namespace, security.get(namespace, ""), members):
            yield rendered_sheet(f"{APPS}/{namespace}/{sheet.name}", REPOSITORY, sheet)
        for folder, apps in members.items():
            yield from _component(f"{APPS}/{namespace}/{folder}", apps)


def _component(directory: str, apps: list[Placed]) -> Iterator[RenderedFile]:
    owner = apps[0].owner
    entry = Sheet(
        name="ks.yaml",
        objects=tuple(
            flux_kustomization(one.app, one.directory, one.after, waited_for=one.waited_for)
            for one in apps
        ),
    )
    yield rendered_sheet(f"{directory}/ks.yaml", owner, entry)
    for one in apps:
        for sheet in (app_kustomization(one.app), *one.app.sheets):
            yield rendered_sheet(f"{one.directory}/{sheet.name}", owner, sheet)
