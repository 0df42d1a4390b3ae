"""Render users' own templates over the files of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stockman.app.secrets.generation import SECRET_NAMES
from stockman.config.language import Dialect
from stockman.config.load import LoadedConfig
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret, find_secrets
from stockman.rendering.tree import FileTree, RenderedFile

OWNER = "templates"
"""Owner of files rendered from a user's templates."""
_ROOTS: dict[Dialect, str] = {"classic": "templates", "toml": "template"}
_TUNNEL = "cloudflare-tunnel.json"
_LONGEST = 1 << 20


@record
class TemplateSources:
    """Variables of templates: the files, the desired state and known secrets."""

    directory: Path
    dialect: Dialect
    loaded: LoadedConfig
    desired: Desired
    known: Desired
    """`desired` with every secret that could be resolved."""
    environment: Mapping[str, str]


def apply_templates(tree: FileTree, sources: TemplateSources, problems: Problems) -> None:
    """Render the user's templates over a tree; an empty result removes the file."""
    root = sources.directory / _ROOTS[sources.dialect]
    if not any((root / folder).is_dir() for folder in ("config", "overrides")):
        return
    from stockman.rendering.templates.contract import CLASSIC, TOML, Limits, forbidden_path_reason
    from stockman.rendering.templates.names import template_names
    from stockman.rendering.templates.render import TemplateInputs as Names
    from stockman.rendering.templates.render import (
        find_exposed_secrets,
        is_sealed,
        render_templates,
    )
    from stockman.rendering.templates.tree import read_tree

    contract = CLASSIC if sources.dialect == "classic" else TOML
    templates = read_tree(sources.directory, contract, problems, Limits())
    if problems.errors:
        return
    rendering = render_templates(
        templates,
        Names(
            names=template_names(
                sources.loaded, sources.desired, pairs(sources.desired, sources.known)
            ),
            key_files=_read_key_files(sources),
            environment=sources.environment,
        ),
    )
    problems.extend(rendering.problems)
    problems.extend(find_exposed_secrets(rendering))
    for path, file in rendering.files.items():
        refused = forbidden_path_reason(path, file.origin)
        if refused is not None:
            problems.add(refused)
        elif file.content is None:
            tree.remove(path)
        else:
            text = file.content.decode(errors="surrogateescape")
            sealed = Secret(text) if is_sealed(path) else text
            tree.replace(RenderedFile(path=path, owner=OWNER, text=sealed, rights=file.mode))


def pairs(references: object, secrets: object) -> dict[Secret, Secret]:
    """Yield each reference with its secret, from two copies of the same records."""
    both = zip(find_secrets(references), find_secrets(secrets), strict=True)
    return {reference: secret for (_, reference), (_, secret) in both}


def _read_key_files(sources: TemplateSources) -> dict[str, Secret]:
    names = SECRET_NAMES[sources.dialect]
    key_files = {}
    for name in (names.age_key, names.deploy_key, names.token, _TUNNEL):
        try:
            with (sources.directory / name).open("rb") as file:
                key_files[name] = Secret(file.read(_LONGEST).decode(errors="replace"))
        except OSError:
            continue
    return key_files
