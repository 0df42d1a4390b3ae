"""Rendering a workspace: files built in memory, compared with the disk, then put in place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.many_files import OutOfTree, move_file, read_files, write_files
from stockman.app.bundles import require_bundle
from stockman.app.kept_tokens import with_kept_tokens
from stockman.app.keyring import Keyring, find_keyring
from stockman.app.materials import UNKNOWN, Place, read_materials
from stockman.app.removed_secrets import kept_secrets, to_forget, to_keep
from stockman.app.render_leaks import check_leaks
from stockman.app.render_problems import out_of_tree, unreadable, unwritable
from stockman.app.render_secrets import Sealed, Vault, seal_files, sealed_files
from stockman.app.render_templates import Sources, overlay
from stockman.app.secret_reading import revealed
from stockman.app.secret_resolving import Resolved, Surroundings, resolve_secrets
from stockman.app.validation import validate_files
from stockman.catalog.scene import Materials
from stockman.config.load import Loaded
from stockman.config.presets import Dialect
from stockman.config.resolve import resolve
from stockman.config.source.tree import untyped
from stockman.config.uncollected import uncollected
from stockman.model.desired import Desired
from stockman.model.errors import Conflict, Refused, StockmanError
from stockman.model.names import NodeName
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering import lock_file, own_kustomization
from stockman.rendering.checks.check_tree import check_tree
from stockman.rendering.decisions import decided
from stockman.rendering.ownership import (
    Act,
    Action,
    Owned,
    Wanted,
    Wishes,
    actions,
    digest,
    owned_after,
)
from stockman.rendering.repository import Rendered, rendered_repository
from stockman.rendering.shared_namespaces import check_shared_namespaces
from stockman.rendering.talos_part import settled
from stockman.rendering.tree import FileTree, RenderedFile

if TYPE_CHECKING:
    from stockman.app.secret_store import SecretStore
    from stockman.ports.clock import Clock
    from stockman.ports.entropy import Entropy
    from stockman.talos.patches.patch import Patch

OWN_LIST = "your list of apps"
"""Owner of a file that stays the user's: it is extended, and never taken into the lock."""
NEXT_LOCK = f"{lock_file.PATH}.next"
"""What the lock will say once files are in place; there only while they are being put there."""


@record
class Doors:
    """What rendering needs from the system."""

    environment: Mapping[str, str]
    clock: Clock
    entropy: Entropy


@record
class Rendering:
    """What rendering did, or would do."""

    actions: tuple[Action, ...]
    problems: Problems
    rendered: Rendered
    uncompared: tuple[str, ...]
    """Secret files of which only the bytes were compared: no identity is at hand."""
    unjudged: Mapping[str, int] = field(default_factory=dict)
    """Kinds that no table describes, with the number of their objects."""

    @property
    def changes(self) -> tuple[Action, ...]:
        """Actions that change a file."""
        return tuple(one for one in self.actions if one.act.writes)

    @property
    def undecided(self) -> tuple[Action, ...]:
        """Files that wait for the user's decision."""
        return tuple(one for one in self.actions if one.act.needs_a_decision)


Adjust = Callable[[Desired], Desired]
"""Makes a configuration another one before it is rendered."""


def rendering(
    directory: Path, wishes: Wishes, doors: Doors, adjust: Adjust | None = None
) -> Rendering:
    """What rendering would do; nothing is changed.

    With `adjust`, what it would do for another configuration than the files have.
    """
    with uncollected():
        try:
            return _rendering(directory, wishes, doors, adjust)
        except OutOfTree as error:
            raise Conflict(out_of_tree(error)) from None
        except OSError as error:
            raise StockmanError(unreadable(error, directory)) from None


def _rendering(directory: Path, wishes: Wishes, doors: Doors, adjust: Adjust | None) -> Rendering:
    loaded = validate_files(directory).loaded
    if loaded.problems.errors:
        return _nothing(loaded.problems)
    keyring = find_keyring(directory, doors.environment)
    dialect: Dialect = "classic" if loaded.classic else "toml"
    around = Surroundings(directory=directory, keyring=keyring, environment=doors.environment)
    desired = with_kept_tokens(resolve(loaded), around)
    if adjust is not None:
        desired = adjust(desired)
    resolved = resolve_secrets(desired, around)
    place = Place(
        directory=directory, dialect=dialect, keyring=keyring, environment=doors.environment
    )
    if desired.cluster is not None:
        require_bundle(directory)
    problems = Problems()
    problems.extend(loaded.problems)
    materials = read_materials(place, desired)
    if place.is_complete:
        templates = _machine_templates(directory, desired, doors)
        materials = replace(materials, machine_templates=templates)
    patches = _patches(directory, loaded, desired, keyring, problems)
    if not place.is_complete:
        resolved = replace(resolved, desired=settled(resolved.desired))
    rendered = _rendered(resolved, materials, dialect, problems, patches)
    if desired.cluster is None:
        return _nothing(problems)
    if not problems.errors:
        sources = Sources(
            directory=directory,
            dialect=dialect,
            loaded=loaded,
            desired=desired,
            known=resolved.desired,
            environment=doors.environment,
        )
        overlay(rendered.tree, sources, problems)
    if problems.errors:
        return _nothing(problems)
    check_leaks(rendered.tree, resolved.desired, materials)
    others = _own_texts(directory, rendered.tree)
    checked = check_tree(rendered, problems, others)
    if problems.errors:
        return _nothing(problems)
    owned = read_owned(directory)
    disk = _read(directory, rendered.tree, owned)
    wishes = decided(wishes, {*(file.path for file in rendered.tree), *owned})
    if _extend_own_list(rendered, disk):
        wishes = replace(wishes, overwrite=wishes.overwrite | {own_kustomization.PATH})
    vault = _vault(directory, keyring, doors)
    secret = (file.path for file in rendered.tree if file.is_secret and file.path not in disk)
    kept = kept_secrets(directory, secret, vault.store)
    sealed = sealed_files(rendered.tree, {**disk, **kept}, vault)
    found = actions(_wanted(rendered.tree, sealed, disk), disk, owned, wishes)
    check_shared_namespaces(rendered.apps, found, others.keys() - owned.keys(), problems)
    return Rendering(
        actions=found,
        problems=problems,
        rendered=rendered,
        uncompared=sealed.uncompared,
        unjudged=checked.not_checked,
    )


def _nothing(problems: Problems) -> Rendering:
    """No file becomes anything: mistakes come first, all of them."""
    rendered = Rendered(tree=FileTree(), apps=(), selection=())
    return Rendering(actions=(), problems=problems, rendered=rendered, uncompared=())


def _own_texts(directory: Path, tree: FileTree) -> dict[str, str]:
    """The user's own files below `kubernetes`, which rendered ones may name."""
    found = {}
    base = directory / "kubernetes"
    for path in sorted(base.rglob("*.yaml")) if base.is_dir() and not base.is_symlink() else ():
        name = path.relative_to(directory).as_posix()
        if tree.get(name) is None and path.is_file() and ".sops." not in path.name:
            found[name] = path.read_text(errors="replace")
    return found


def _machine_templates(directory: Path, desired: Desired, doors: Doors) -> dict[str, Secret]:
    """Configurations for machines that a component makes by itself, by the worker they are like."""
    karpenter = desired.components.get("karpenter")
    like = karpenter.settings.get("like") if karpenter is not None and karpenter.enabled else None
    names = [str(node.name) for node in desired.nodes if not node.is_controller]
    if like not in names:
        return {}
    from stockman.app.machine_configuration import machines
    from stockman.talos.machine.fleeting import fleeting_configuration

    found = machines(directory, doors.environment)
    name = str(like)
    return {name: fleeting_configuration(found.documents(found.named(name), show_secrets=True))}


def _rendered(
    resolved: Resolved,
    materials: Materials,
    dialect: Dialect,
    problems: Problems,
    patches: Mapping[NodeName, Sequence[Patch]],
) -> Rendered:
    try:
        return rendered_repository(resolved.desired, materials, dialect, problems, patches)
    except Refused as refused:
        known = resolved.problems if refused.problem.code == "secret.unresolved" else ()
        problems.extend(known or (refused.problem,))
        return Rendered(tree=FileTree(), apps=(), selection=())


def _patches(
    directory: Path, loaded: Loaded, desired: Desired, keyring: Keyring, problems: Problems
) -> dict[NodeName, tuple[Patch, ...]]:
    """Every node's patches as text, in the order in which they apply."""
    if desired.cluster is None or not _has_patches(directory, loaded):
        return {}
    from stockman.app.machine_configuration_patches import PatchFiles

    files = PatchFiles(directory, loaded, problems, _opener(keyring))
    found = files.patches(desired)
    return {
        node.name: tuple(_as_text(one) for one in found.of(node, desired.cluster))
        for node in desired.nodes
    }


def _has_patches(directory: Path, loaded: Loaded) -> bool:
    roots = ("templates", "template")
    places = [f"{root}/{layer}/talos" for root in roots for layer in ("config", "overrides")]
    return bool(loaded.kept) or any((directory / one).is_dir() for one in places)


def _opener(keyring: Keyring) -> Callable[[bytes, str], bytes] | None:
    if not keyring.identities:
        return None
    return lambda content, name: revealed(content, name, keyring)


def _as_text(patch: Patch) -> Patch:
    """A patch as tools of others take it."""
    if patch.node is None:
        return patch
    from stockman.talos.go_yaml import dump

    content = untyped(patch.node)
    text = dump(content) if isinstance(content, dict) else json.dumps(content)
    return replace(patch, text=text, node=None)


def _extend_own_list(rendered: Rendered, disk: Mapping[str, bytes]) -> bool:
    """A list of apps that the user keeps gets the namespaces that are rendered."""
    content = disk.get(own_kustomization.PATH)
    if content is None or rendered.tree.get(own_kustomization.PATH) is not None:
        return False
    entries = sorted({f"./{placed.app.namespace}" for placed in rendered.apps})
    text = own_kustomization.with_entries(content.decode(), entries)
    file = RenderedFile(path=own_kustomization.PATH, owner=OWN_LIST, text=text)
    rendered.tree.replaced(file)
    return True


def write(directory: Path, done: Rendering, doors: Doors) -> None:
    """Carry out what rendering would do: everything is on disk before the first file changes."""
    ours = owned_after(done.actions, read_owned(directory))
    after = lock_file.lock_text(
        {path: one for path, one in ours.items() if one.component != OWN_LIST}
    ).encode()
    written = {
        one.path: one.after or b"" for one in done.actions if one.act in (Act.CREATE, Act.UPDATE)
    }
    removed = [one.path for one in done.actions if one.act is Act.REMOVE]
    removed += to_forget(directory, written)
    rights = {file.path: file.rights for file in done.rendered.tree if file.rights is not None}
    tag = doors.entropy.random_bytes(4).hex()
    if not written and not removed and _lock(directory) == after:
        _seal(directory, done, doors)
        return
    try:
        _settle(directory, tag)
        # The next lock is the first to be put in place: from then on it tells what was begun.
        write_files(
            directory, {NEXT_LOCK: after, **to_keep(done.actions), **written}, removed, tag, rights
        )
        move_file(directory, NEXT_LOCK, lock_file.PATH)
    except OutOfTree as error:
        raise Conflict(out_of_tree(error)) from None
    except OSError as error:
        raise StockmanError(unwritable(error)) from None
    _seal(directory, done, doors)


def _settle(directory: Path, tag: str) -> None:
    """Take what an interrupted run put in place into the lock, before another one is begun."""
    if _file(directory / NEXT_LOCK) is not None:
        merged = lock_file.lock_text(read_owned(directory)).encode()
        write_files(directory, {lock_file.PATH: merged}, (NEXT_LOCK,), tag)


def _seal(directory: Path, done: Rendering, doors: Doors) -> None:
    plain = {file.path: file.text for file in done.rendered.tree if isinstance(file.text, Secret)}
    contents = {
        one.path: (one.after, plain[one.path].reveal())
        for one in done.actions
        if one.after is not None and one.path in plain and not one.act.needs_a_decision
    }
    seal_files(contents, _vault(directory, find_keyring(directory, doors.environment), doors))


def _vault(directory: Path, keyring: Keyring, doors: Doors) -> Vault:
    @cache
    def store() -> SecretStore:
        from stockman.app.secret_store import SecretStore

        return SecretStore(directory, keyring, doors.environment, doors.clock, doors.entropy)

    return Vault(directory=directory, keyring=keyring, store=store)


def read_owned(directory: Path) -> dict[str, Owned]:
    """The files that are ours, also where an earlier run was interrupted between two of them."""
    lock = _lock(directory)
    owned = lock_file.read_lock(lock.decode(errors="replace")) if lock is not None else {}
    begun = _file(directory / NEXT_LOCK)
    if begun is None:
        return owned
    # Files in place already have the digest of the next lock; the others that of the last one.
    following = lock_file.read_lock(begun.decode(errors="replace"))
    disk = read_files(directory, following)
    for path, one in following.items():
        if path in disk and digest(disk[path]) == one.digest:
            owned[path] = one
    return owned


def _read(directory: Path, tree: FileTree, owned: Mapping[str, Owned]) -> dict[str, bytes]:
    return read_files(
        directory, sorted({*(file.path for file in tree), *owned, own_kustomization.PATH})
    )


def _wanted(tree: FileTree, sealed: Sealed, disk: Mapping[str, bytes]) -> tuple[Wanted, ...]:
    found = []
    for file in tree:
        if isinstance(file.text, str) and UNKNOWN in file.text:
            content = disk.get(file.path)
        elif isinstance(file.text, str):
            content = file.text.encode(errors="surrogateescape")
        else:
            content = sealed.contents.get(file.path)
        if content is not None:
            found.append(Wanted(path=file.path, component=file.owner, content=content))
    return tuple(found)


def _lock(directory: Path) -> bytes | None:
    return _file(directory / lock_file.PATH)


def _file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
