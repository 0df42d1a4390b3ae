"""Validate everything that rendering checks, without secrets: files, components and patches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stockman.app.workspace.plain_secrets import plain_secrets
from stockman.app.workspace.secret_names import TOKENS_FILE
from stockman.app.workspace.validation import Validation, validate_files
from stockman.config.load import LoadedConfig
from stockman.config.resolve import resolve
from stockman.config.template_differences import check_template_differences
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.secret import Secret

PATCH_DIRECTORIES = tuple(
    f"{root}/{layer}/talos"
    for root in ("templates", "template")
    for layer in ("config", "overrides")
)
"""Directories of a user's templates for machine configurations."""
NO_ENVIRONMENT: Mapping[str, str] = {}


def has_patch_files(directory: Path) -> bool:
    """Return whether the user's templates may contain patches of machine configurations."""
    return any((directory / name).is_dir() for name in PATCH_DIRECTORIES)


def check_components(
    directory: Path, loaded: LoadedConfig, desired: Desired, environment: Mapping[str, str]
) -> None:
    """Add problems that components find to those of loaded files.

    Git-ignored files are assumed to exist; rendering checks them.
    """
    if desired.cluster is None:
        return
    from stockman.app.workspace.secret_names import dialect_of
    from stockman.catalog.component import InputFiles, Tunnel
    from stockman.catalog.selection import select_components

    materials = InputFiles(
        age_recipient=_recipients(directory, desired, environment),
        age_identity=Secret(""),
        tunnel=Tunnel(id="", token=Secret("")),
        proxmox_authorities={
            str(cluster.region): ""
            for cluster in desired.proxmox
            if cluster.tls.ca_file is None or (directory / cluster.tls.ca_file).is_file()
        },
    )
    component_problems = Problems()
    select_components(
        _with_stored_tokens(directory, desired, environment),
        desired.cluster,
        materials,
        dialect_of(directory),
        component_problems,
    )
    loaded.problems.extend_new(component_problems)


def _recipients(directory: Path, desired: Desired, environment: Mapping[str, str]) -> str:
    if not desired.backup.recipients:
        return ""
    from stockman.app.rendering.materials import find_recipients

    return find_recipients(directory, environment)


def _with_stored_tokens(
    directory: Path, desired: Desired, environment: Mapping[str, str]
) -> Desired:
    """Return the desired state with stored tokens; only their names are read."""
    if not (directory / TOKENS_FILE).is_file():
        return desired
    from stockman.app.secrets.keyring import Keyring
    from stockman.app.secrets.proxmox_tokens import with_stored_tokens
    from stockman.app.secrets.references import ReferenceContext

    context = ReferenceContext(directory=directory, keyring=Keyring(), environment=environment)
    return with_stored_tokens(desired, context)


def validate(directory: Path, environment: Mapping[str, str] = NO_ENVIRONMENT) -> Validation:
    """Check the files of a directory, the components and all patches of nodes."""
    validation = validate_files(directory)
    validation.problems.extend_new(plain_secrets(directory))
    if validation.problems.errors or validation.loaded.encrypted:
        return validation
    desired = resolve(validation.loaded)
    patched = has_patch_files(directory)
    check_template_differences(
        validation.loaded.configuration, validation.problems, has_patch_files=patched
    )
    check_components(directory, validation.loaded, desired, environment)
    if not validation.loaded.patch_nodes and not patched:
        return validation
    from stockman.app.workspace.machine_patches import check_patches

    texts = check_patches(directory, validation.loaded, desired)
    return Validation(problems=validation.problems, loaded=validation.loaded, patch_texts=texts)
