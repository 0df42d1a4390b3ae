"""Validate the files of a directory, its components and patches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from stockman.app.workspace.directory import load_directory
from stockman.app.workspace.secret_names import PARTLY_ENCRYPTED, TOKENS_FILE
from stockman.config.load import LoadedConfig
from stockman.config.redact import build_redactor
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.config.template_differences import check_template_differences
from stockman.model.desired import Desired
from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
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


@record
class Validation:
    """The outcome of one validation."""

    problems: Problems
    loaded: LoadedConfig
    patch_texts: dict[str, str] = field(default_factory=dict)
    """Texts of patch files by name."""

    @property
    def texts(self) -> dict[str, str]:
        """Texts of all files by name."""
        return {**self.loaded.texts, **self.patch_texts}

    @property
    def redact(self) -> Callable[[str], str]:
        """Masks the secrets of a line."""
        return build_redactor(self.loaded.secrets)


def validate(directory: Path, environment: Mapping[str, str] = NO_ENVIRONMENT) -> Validation:
    """Check the files of a directory, the components and all patches of nodes."""
    validation = validate_files(directory)
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


def validate_files(directory: Path) -> Validation:
    """Check the files of a directory: form, rules between keys, and unencrypted secrets."""
    loaded = load_directory(directory)
    check_rules(loaded)
    _check_settings(loaded)
    for origin in loaded.plain_secrets:
        loaded.problems.add(_check_secrets_in_git(directory, origin))
    for origin in loaded.encrypted:
        loaded.problems.add(_is_encrypted(origin))
    return Validation(problems=loaded.problems, loaded=loaded)


def _check_settings(loaded: LoadedConfig) -> None:
    """Check settings of components, which only the catalog defines."""
    written = {
        name: component
        for name, component in loaded.configuration.components.items()
        if component.settings
    }
    if not written:
        return
    from stockman.catalog.registry import component, names
    from stockman.catalog.selection import read_settings

    for name in written.keys() & set(names()):
        read_settings(component(name), written[name], loaded.problems)


def _check_secrets_in_git(directory: Path, origin: Origin) -> Problem:
    from stockman.adapters.git.probe import LocalGitProbe

    exposure = LocalGitProbe(directory).exposure(origin.at.file)
    tracked = exposure == "tracked"
    return Problem(
        code="secret.exposed",
        what=f"{origin.name} is a secret in the clear",
        where=origin.at,
        why="git keeps the file, and history keeps the value for ever"
        if tracked
        else "whoever can read the file can read the value",
        fix=f"{_secret_fix(origin.at.file)}; change the secret if it was shared",
        severity=Severity.ERROR if tracked else Severity.WARNING,
    )


def _secret_fix(file: str) -> str:
    reference = "write a reference, `${NAME}`, `file:path` or `sops:path#key`"
    if file in PARTLY_ENCRYPTED:
        return f"encrypt it with `stockman secrets edit {file}`, or {reference}"
    return reference


def _is_encrypted(origin: Origin) -> Problem:
    return Problem(
        code="config.encrypted",
        what=f"{origin.name} is encrypted, and is no secret",
        where=origin.at,
        why="everything but secrets has to be known to check and to render the configuration",
        fix="write it in the clear; the rule for this file in .sops.yaml is to name secret keys"
        " only, as the one that `stockman init` writes",
    )


def load_desired(directory: Path) -> Desired:
    """Return the desired state of a directory; refuse files with errors."""
    return resolve(validate_files(directory).loaded)
