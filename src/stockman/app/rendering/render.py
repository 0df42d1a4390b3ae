"""Render a workspace: build files in memory, compare them with the disk, write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.file_tree import (
    PartialWrite,
    PathOutsideTree,
    move_file,
    read_files,
    write_files,
)
from stockman.app.rendering.materials import UNKNOWN, MaterialSource, read_materials
from stockman.app.rendering.secrets import (
    EncryptedFiles,
    Vault,
    check_leaks,
    encrypt_secret_files,
    find_kept_secrets,
    record_seals,
    to_forget,
    to_keep,
)
from stockman.app.rendering.templates import TemplateSources, apply_templates
from stockman.app.rendering.validation import has_patch_files, validate
from stockman.app.secrets.bundle import require_bundle
from stockman.app.secrets.keyring import Keyring, find_keyring
from stockman.app.secrets.proxmox_tokens import with_stored_tokens
from stockman.app.secrets.reading import decrypt_file
from stockman.app.secrets.references import ReferenceContext, ResolvedDesired, resolve_secrets
from stockman.catalog.component import InputFiles
from stockman.config.gc_pause import pause_gc
from stockman.config.language import Dialect
from stockman.config.load import LoadedConfig
from stockman.config.resolve import resolve
from stockman.config.source.tree import to_plain_data
from stockman.model.desired import Desired
from stockman.model.errors import Conflict, Refused, StockmanError
from stockman.model.names import NodeName
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering import kustomization, managed_files
from stockman.rendering.applications import check_shared_namespaces
from stockman.rendering.checks.tree import check_tree
from stockman.rendering.managed_files import (
    DesiredFile,
    FileAction,
    FileChange,
    FileDecisions,
    ManagedFile,
    digest,
    next_managed_files,
    plan_file_changes,
    resolve_decisions,
)
from stockman.rendering.repository import RenderedRepository, render_repository
from stockman.rendering.talos_files import without_references
from stockman.rendering.tree import FileTree, RenderedFile

if TYPE_CHECKING:
    from stockman.app.secrets.store import SecretStore
    from stockman.ports.system import Clock, Entropy
    from stockman.talos.patches.patch import Patch

OWN_LIST = "your list of apps"
"""Owner of a file of the user that is extended but not recorded in the lock."""
NEXT_LOCK = f"{managed_files.LOCK_PATH}.next"
"""The next lock, which exists only while files are being written."""


@record
class RenderContext:
    """System resources needed for rendering."""

    environment: Mapping[str, str]
    clock: Clock
    entropy: Entropy


@record
class Rendering:
    """What rendering did or would do."""

    actions: tuple[FileChange, ...]
    problems: Problems
    repository: RenderedRepository
    uncompared: tuple[str, ...]
    """Secret files compared only by their bytes, because no identity is available."""
    has_identity: bool = True
    """Whether an age identity is available; without one, secret files are not written."""
    unknown_kinds: Mapping[str, int] = field(default_factory=dict)
    """Kinds without a schema, with the number of their objects."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """Actions that change a file."""
        return tuple(action for action in self.actions if action.act.writes)

    @property
    def undecided(self) -> tuple[FileChange, ...]:
        """Files that need a decision of the user."""
        return tuple(action for action in self.actions if action.act.needs_a_decision)


AdjustDesired = Callable[[Desired], Desired]
"""Returns a changed desired state for rendering."""


def prepare_rendering(
    directory: Path,
    options: FileDecisions,
    context: RenderContext,
    adjust: AdjustDesired | None = None,
) -> Rendering:
    """Return what rendering would do, without changing anything.

    `adjust` changes the desired state first.
    """
    with pause_gc():
        try:
            return _prepare(directory, options, context, adjust)
        except PathOutsideTree as error:
            raise Conflict(out_of_tree(error)) from None
        except OSError as error:
            raise StockmanError(unreadable(error, directory)) from None


def _prepare(
    directory: Path, options: FileDecisions, context: RenderContext, adjust: AdjustDesired | None
) -> Rendering:
    loaded = validate(directory, context.environment).loaded
    if loaded.problems.errors:
        return _rendering_with_errors(loaded.problems)
    keyring = find_keyring(directory, context.environment)
    dialect: Dialect = "classic" if loaded.classic else "toml"
    reference_context = ReferenceContext(
        directory=directory, keyring=keyring, environment=context.environment
    )
    desired = with_stored_tokens(resolve(loaded), reference_context)
    if adjust is not None:
        desired = adjust(desired)
    resolved = resolve_secrets(desired, reference_context)
    source = MaterialSource(
        directory=directory, dialect=dialect, keyring=keyring, environment=context.environment
    )
    if desired.cluster is not None:
        require_bundle(directory)
    problems = Problems()
    materials = read_materials(source, desired)
    if source.is_complete:
        templates = _machine_templates(directory, desired, context)
        materials = replace(materials, machine_templates=templates)
    patches = _patches(directory, loaded, desired, keyring, problems)
    if not source.is_complete:
        resolved = replace(resolved, desired=without_references(resolved.desired))
    rendered = _render(resolved, materials, dialect, problems, patches)
    found, problems = problems, Problems()
    problems.extend(loaded.problems)
    problems.extend_new(found)
    if desired.cluster is None:
        return _rendering_with_errors(problems)
    if not problems.errors:
        sources = TemplateSources(
            directory=directory,
            dialect=dialect,
            loaded=loaded,
            desired=desired,
            known=resolved.desired,
            environment=context.environment,
        )
        apply_templates(rendered.tree, sources, problems)
    if problems.errors:
        return _rendering_with_errors(problems)
    check_leaks(rendered.tree, resolved.desired, materials)
    own_texts = _own_texts(directory, rendered.tree)
    checked = check_tree(rendered, problems, own_texts)
    if problems.errors:
        return _rendering_with_errors(problems)
    owned = read_managed_files(directory)
    disk = _read(directory, rendered.tree, owned)
    options = resolve_decisions(options, {*(file.path for file in rendered.tree), *owned})
    if _extend_own_list(rendered, disk):
        options = replace(options, overwrite=options.overwrite | {kustomization.PATH})
    vault = _vault(directory, keyring, context)
    secret = (file.path for file in rendered.tree if file.is_secret and file.path not in disk)
    kept = find_kept_secrets(directory, secret, vault.store)
    sealed = encrypt_secret_files(rendered.tree, {**disk, **kept}, vault)
    file_actions = plan_file_changes(
        _file_contents(rendered.tree, sealed, disk), disk, owned, options
    )
    check_shared_namespaces(rendered.apps, file_actions, own_texts.keys() - owned.keys(), problems)
    return Rendering(
        actions=file_actions,
        problems=problems,
        repository=rendered,
        uncompared=sealed.uncompared,
        has_identity=source.is_complete,
        unknown_kinds=checked.not_checked,
    )


def _rendering_with_errors(problems: Problems) -> Rendering:
    """Return a rendering without files, because of errors."""
    rendered = RenderedRepository(tree=FileTree(), apps=(), selection=())
    return Rendering(actions=(), problems=problems, repository=rendered, uncompared=())


def _own_texts(directory: Path, tree: FileTree) -> dict[str, str]:
    """Return the user's own files below `kubernetes`, which rendered files may refer to."""
    texts = {}
    base = directory / "kubernetes"
    for path in sorted(base.rglob("*.yaml")) if base.is_dir() and not base.is_symlink() else ():
        name = path.relative_to(directory).as_posix()
        if tree.get(name) is None and path.is_file() and ".sops." not in path.name:
            texts[name] = path.read_text(errors="replace")
    return texts


def _machine_templates(
    directory: Path, desired: Desired, context: RenderContext
) -> dict[str, Secret]:
    """Return configurations for machines that a component creates, by the worker they resemble."""
    karpenter = desired.components.get("karpenter")
    like = karpenter.settings.get("like") if karpenter is not None and karpenter.enabled else None
    names = [str(node.name) for node in desired.nodes if not node.is_controller]
    if like not in names:
        return {}
    from stockman.app.machine_config.machines import load_machines
    from stockman.talos.machine.assembly import render_worker_template

    machines = load_machines(directory, context.environment)
    name = str(like)
    return {
        name: render_worker_template(machines.documents(machines.find(name), show_secrets=True))
    }


def _render(
    resolved: ResolvedDesired,
    materials: InputFiles,
    dialect: Dialect,
    problems: Problems,
    patches: Mapping[NodeName, Sequence[Patch]],
) -> RenderedRepository:
    try:
        return render_repository(resolved.desired, materials, dialect, problems, patches)
    except Refused as refused:
        known = resolved.problems if refused.problem.code == "secret.unresolved" else ()
        problems.extend(known or (refused.problem,))
        return RenderedRepository(tree=FileTree(), apps=(), selection=())


def _patches(
    directory: Path, loaded: LoadedConfig, desired: Desired, keyring: Keyring, problems: Problems
) -> dict[NodeName, tuple[Patch, ...]]:
    """Return every node's patches as text in the order of application."""
    if desired.cluster is None or not (loaded.patch_nodes or has_patch_files(directory)):
        return {}
    from stockman.app.workspace.machine_patches import PatchFiles

    files = PatchFiles(directory, loaded, problems, _opener(keyring))
    patches = files.patches(desired)
    return {
        node.name: tuple(_as_text(patch) for patch in patches.of(node, desired.cluster))
        for node in desired.nodes
    }


def _opener(keyring: Keyring) -> Callable[[bytes, str], bytes] | None:
    if not keyring.identities:
        return None
    return lambda content, name: decrypt_file(content, name, keyring)


def _as_text(patch: Patch) -> Patch:
    """Return a patch in the form that other tools accept."""
    if patch.node is None:
        return patch
    from stockman.talos.go_yaml import dump

    content = to_plain_data(patch.node)
    text = dump(content) if isinstance(content, dict) else json.dumps(content)
    return replace(patch, text=text, node=None)


def _extend_own_list(rendered: RenderedRepository, disk: Mapping[str, bytes]) -> bool:
    """Add rendered namespaces to a list of apps that the user maintains."""
    content = disk.get(kustomization.PATH)
    if content is None or rendered.tree.get(kustomization.PATH) is not None:
        return False
    entries = sorted({f"./{placed.app.namespace}" for placed in rendered.apps})
    text = kustomization.add_entries(content.decode(), entries)
    file = RenderedFile(path=kustomization.PATH, owner=OWN_LIST, text=text)
    rendered.tree.replace(file)
    return True


def write_rendering(directory: Path, done: Rendering, context: RenderContext) -> None:
    """Write a prepared rendering; all new files are on disk before the first one is replaced."""
    ours = next_managed_files(done.actions, read_managed_files(directory))
    after = managed_files.lock_text(
        {path: entry for path, entry in ours.items() if entry.component != OWN_LIST}
    ).encode()
    written = {
        entry.path: entry.after or b""
        for entry in done.actions
        if entry.act in (FileAction.CREATE, FileAction.UPDATE)
    }
    removed = [entry.path for entry in done.actions if entry.act is FileAction.REMOVE]
    removed += to_forget(directory, written)
    rights = {file.path: file.rights for file in done.repository.tree if file.rights is not None}
    tag = context.entropy.random_bytes(4).hex()
    if not written and not removed and _lock(directory) == after:
        _record_seals(directory, done, context)
        return
    try:
        _finish_last_write(directory, tag)
        # The next lock is written first, so that it records what was started.
        write_files(
            directory, {NEXT_LOCK: after, **to_keep(done.actions), **written}, removed, tag, rights
        )
        move_file(directory, NEXT_LOCK, managed_files.LOCK_PATH)
    except PathOutsideTree as error:
        raise Conflict(out_of_tree(error)) from None
    except OSError as error:
        raise StockmanError(unwritable(error)) from None
    _record_seals(directory, done, context)


def _finish_last_write(directory: Path, tag: str) -> None:
    """Record files of an interrupted run in the lock before starting another one."""
    if _file(directory / NEXT_LOCK) is not None:
        merged = managed_files.lock_text(read_managed_files(directory)).encode()
        write_files(directory, {managed_files.LOCK_PATH: merged}, (NEXT_LOCK,), tag)


def _record_seals(directory: Path, done: Rendering, context: RenderContext) -> None:
    plain = {file.path: file.text for file in done.repository.tree if isinstance(file.text, Secret)}
    contents = {
        action.path: (action.after, plain[action.path].reveal())
        for action in done.actions
        if action.after is not None and action.path in plain and not action.act.needs_a_decision
    }
    record_seals(contents, _vault(directory, find_keyring(directory, context.environment), context))


def _vault(directory: Path, keyring: Keyring, context: RenderContext) -> Vault:
    @cache
    def store() -> SecretStore:
        from stockman.app.secrets.store import SecretStore

        return SecretStore(directory, keyring, context.environment, context.clock, context.entropy)

    return Vault(directory=directory, keyring=keyring, store=store)


def read_managed_files(directory: Path) -> dict[str, ManagedFile]:
    """Return managed files, even after an interrupted run."""
    lock = _lock(directory)
    owned = managed_files.read_lock(lock.decode(errors="replace")) if lock is not None else {}
    begun = _file(directory / NEXT_LOCK)
    if begun is None:
        return owned
    # Replaced files match the next lock, the others the current one.
    following = managed_files.read_lock(begun.decode(errors="replace"))
    disk = read_files(directory, following)
    for path, entry in following.items():
        if path in disk and digest(disk[path]) == entry.digest:
            owned[path] = entry
    return owned


def _read(directory: Path, tree: FileTree, owned: Mapping[str, ManagedFile]) -> dict[str, bytes]:
    return read_files(
        directory, sorted({*(file.path for file in tree), *owned, kustomization.PATH})
    )


def _file_contents(
    tree: FileTree, sealed: EncryptedFiles, disk: Mapping[str, bytes]
) -> tuple[DesiredFile, ...]:
    files = []
    for file in tree:
        if isinstance(file.text, str) and UNKNOWN in file.text:
            content = disk.get(file.path)
        elif isinstance(file.text, str):
            content = file.text.encode(errors="surrogateescape")
        else:
            content = sealed.contents.get(file.path)
        if content is not None:
            files.append(DesiredFile(path=file.path, component=file.owner, content=content))
    return tuple(files)


def _lock(directory: Path) -> bytes | None:
    return _file(directory / managed_files.LOCK_PATH)


def _file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def out_of_tree(error: PathOutsideTree) -> Problem:
    """Return the problem of a path that cannot be written."""
    return Problem(
        code="render.out-of-tree",
        what=f"{error.path} cannot be rendered",
        where=error.path,
        why=error.why,
        fix="put a directory or a file of its own there",
    )


def unwritable(error: OSError) -> Problem:
    """Return the problem of a failed write."""
    if isinstance(error, PartialWrite):
        fix = "give the right to write, and render again: that ends what was begun"
    else:
        fix = "make room or give the right to write, and render again: nothing was changed"
    return Problem(
        code="render.unwritable",
        what="the files cannot be written",
        where=str(error.filename or ""),
        why=error.strerror or type(error).__name__,
        fix=fix,
    )


def unreadable(error: OSError, directory: Path) -> Problem:
    """Return the problem of a failed read; nothing was changed."""
    name = Path(str(error.filename or ""))
    if name.is_relative_to(directory):
        name = name.relative_to(directory)
    return Problem(
        code="render.unreadable",
        what=f"{name} cannot be read",
        where=str(name),
        why=error.strerror or type(error).__name__,
        fix="check that it is a file, and that you may read it: nothing was changed",
    )


class RenderedTree:
    """The rendered files of one directory."""

    def __init__(self, directory: Path, context: RenderContext) -> None:
        self._directory = directory
        self._context = context

    async def changed_files(self) -> tuple[str, ...]:
        """Return sorted paths of files that rendering would change."""
        return tuple(sorted(change.path for change in self.rendering().changes))

    async def render(self) -> None:
        """Write every rendered file, or none."""
        write_rendering(self._directory, self.rendering(), self._context)

    def rendering(self) -> Rendering:
        """Return what rendering would do. Raises `Refused` for errors and undecided files."""
        done = prepare_rendering(self._directory, FileDecisions(), self._context)
        for problem in done.problems.errors:
            raise Refused(problem)
        if done.undecided:
            raise Refused(decision_needed([action.path for action in done.undecided]))
        return done


class ReadOnlyTree(RenderedTree):
    """A rendered tree for reading, which ignores undecided files."""

    def rendering(self) -> Rendering:
        done = prepare_rendering(self._directory, FileDecisions(), self._context)
        for problem in done.problems.errors:
            raise Refused(problem)
        return done


def decision_needed(paths: list[str]) -> Problem:
    """Return the problem of files that both the user and rendering changed."""
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    return Problem(
        code="tree.undecided",
        what=f"files wait for a decision: {shown}",
        where=paths[0],
        why="they were changed by hand, and rendering would write them differently",
        fix="run `stockman render` and decide with `--accept`, `--overwrite` or `--prune`",
    )


class OverwrittenTree(RenderedTree):
    """A rendered tree that overwrites undecided files, so that plans can be made."""

    def __init__(self, directory: Path, context: RenderContext, paths: frozenset[str]) -> None:
        super().__init__(directory, context)
        self._directory = directory
        self._with = context
        self._paths = paths

    def rendering(self) -> Rendering:
        done = prepare_rendering(self._directory, FileDecisions(overwrite=self._paths), self._with)
        for problem in done.problems.errors:
            raise Refused(problem)
        return done
