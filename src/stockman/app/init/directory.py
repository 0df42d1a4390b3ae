"""Create the files of a new directory: configuration, keys and tokens.

Existing files are never changed, except for lines added to `.gitignore`; a second run completes an
interrupted one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from ipaddress import IPv4Network
from pathlib import Path
from typing import Literal

from stockman.adapters import files
from stockman.adapters.files import read_key_file
from stockman.app.init import problems as trouble
from stockman.app.schemas import schema_text
from stockman.app.secrets import generation
from stockman.app.secrets.bundle import bundle_path, other_bundle
from stockman.app.secrets.bundle_creation import BundleCreation, BundleMaker, contract_of
from stockman.app.secrets.keyring import AGE_KEY, Keyring, KeySource
from stockman.app.secrets.lock import LOCK, read_lock
from stockman.app.secrets.problems import bundle_elsewhere
from stockman.app.secrets.store import SecretStore
from stockman.app.workspace.secret_names import GITIGNORE, SOPS_CONFIG, missing_lines
from stockman.config.language import Configuration, Dialect
from stockman.config.load import load
from stockman.config.presets import (
    SCHEMA_DIRECTORY,
    SCHEMAS,
    Answers,
    add_schema_hints,
    render_preset,
)
from stockman.config.rules import check_rules
from stockman.crypto.age.identities import AgeIdentity, parse_identities
from stockman.model.errors import Conflict, StockmanError
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import GitFileState, GitProbe, NoAnswer
from stockman.ports.system import Clock, Entropy
from stockman.rendering.sops_rules import sops_config_text
from stockman.talos.secrets.bundle import bundle_text, new_bundle

SecretFileState = Literal["written", "kept", "refused"]
SecretFileResult = tuple[str, SecretFileState]
"""A file and what happened to it."""

ENCRYPTED_DIRECTORIES = ("talos", ".stockman")
"""Directories of the encrypted files."""


class FirstSecrets:
    """Creates missing files; nothing existing is changed and nothing is written unencrypted."""

    def __init__(
        self, directory: Path, dialect: Dialect, making: BundleCreation, problems: Problems
    ) -> None:
        self._directory = directory
        self._dialect = dialect
        self._making = making
        self._problems = problems

    def plan(self, texts: dict[str, str]) -> Iterator[SecretFileResult]:
        """Return what would happen to each file."""
        for name in self._names(texts):
            yield name, "kept" if self._exists(name) else "written"

    def files(self, texts: dict[str, str]) -> Iterator[SecretFileResult]:
        """Yield each file as it is created; without a usable identity, none is."""
        names = self._names(texts)
        identity = self._identity()
        if identity is None:
            for name in names:
                yield name, "kept" if self._exists(name) else "refused"
            return
        yield SOPS_CONFIG, self._rules(identity)
        for name in names[1:-1]:
            before = self._lock_bytes()
            yield name, self._bundle(name, identity, texts)
            after = self._lock_bytes()
            yield LOCK, "refused" if after is None else "kept" if after == before else "written"

    def _names(self, texts: dict[str, str]) -> tuple[str, ...]:
        name = bundle_path(self._dialect)
        if self._exists(name) or self._estate(texts).nodes:
            return SOPS_CONFIG, name, LOCK
        return (SOPS_CONFIG,)

    def _exists(self, name: str) -> bool:
        return files.path_exists(self._directory / name)

    def _lock_bytes(self) -> bytes | None:
        path = self._directory / LOCK
        return path.read_bytes() if path.is_file() else None

    def _rules(self, identity: AgeIdentity) -> SecretFileState:
        if self._exists(SOPS_CONFIG):
            return "kept"
        path = self._directory / SOPS_CONFIG
        content = sops_config_text(self._dialect, identity.recipient).encode()
        tag = self._making.entropy.random_bytes(_TAG_BYTES).hex()
        created = files.create_file(path, content, private=False, tag=tag)
        return "written" if created else "kept"

    def _bundle(self, name: str, identity: AgeIdentity, texts: dict[str, str]) -> SecretFileState:
        clock, entropy = self._making.clock, self._making.entropy
        keyring = Keyring([KeySource(name=AGE_KEY, identities=(identity,))])
        store = SecretStore(self._directory, keyring, {}, clock, entropy)
        try:
            if self._exists(name):
                self._seal(store, name)
                return "kept"
            if identity.recipient not in store.recipe(name).recipients:
                self._problems.add(trouble.other_recipients(name))
                return "refused"
            elsewhere = other_bundle(self._directory, self._dialect)
            if elsewhere is not None:
                raise bundle_elsewhere(elsewhere, name)
            contract = contract_of(self._estate(texts))
            bundle = self._making.make_bundle(contract, clock.now(), entropy.random_bytes)
            store.create(name, bundle_text(bundle).reveal().encode())
        except StockmanError as error:
            self._problems.add(trouble.no_bundle(name, error.problem))
            return "kept" if self._exists(name) else "refused"
        return "written"

    def _seal(self, store: SecretStore, name: str) -> None:
        """Complete an interrupted run: add the bundle to the lock file."""
        if name not in read_lock(self._directory).seals:
            store.accept(name)

    def _identity(self) -> AgeIdentity | None:
        """Return the first identity of age.key. None: there is none, and a problem says so."""
        try:
            text = read_key_file(self._directory / AGE_KEY).text
            return parse_identities(text.reveal(), AGE_KEY)[0]
        except OSError as error:
            reason = error.strerror or type(error).__name__
        except StockmanError as error:
            reason = f"{error.problem.where}: {error.problem.why}"
        self._problems.add(trouble.no_identity(AGE_KEY, reason))
        return None

    def _estate(self, texts: dict[str, str]) -> Configuration:
        """Return the configuration of the existing or planned files."""
        contents = {name: text.encode() for name, text in texts.items()}
        for name in texts:
            if (self._directory / name).is_file():
                contents[name] = (self._directory / name).read_bytes()
        return load(contents).configuration


StartedFileState = Literal["written", "extended", "kept", "refused"]

_SAMPLES: dict[Dialect, tuple[str, ...]] = {
    "classic": ("cluster.yaml", "nodes.yaml"),
    "toml": ("cluster.toml",),
}
_TAG_BYTES = 4


@record
class DraftFiles:
    """Files generated for an existing system instead of those of a preset."""

    texts: dict[str, str]
    """Configuration files in the classic dialect."""
    extra_files: dict[str, str]
    """Files that they refer to."""


@record
class InitOptions:
    """Options of the user."""

    directory: Path
    preset: str
    """Empty: no preset, the files are given."""
    dialect: Dialect | None = None
    """None: that of the existing files, or classic."""
    network: IPv4Network | None = None
    """None: that of the preset."""
    answers: Answers = Answers()
    draft: DraftFiles | None = None
    """None: the files of the preset. Otherwise they already contain network and answers."""


@record
class InitContext:
    """System resources needed to start a directory."""

    clock: Clock
    entropy: Entropy
    repo: GitProbe
    make_bundle: BundleMaker = new_bundle
    """Takes about a second, because it generates an RSA key."""
    keys: Mapping[str, Secret] = field(default_factory=dict)
    """Contents of known secret files by name; the others are generated."""


@record
class StartedFile:
    """One file and what happened to it."""

    path: str
    """Relative to the directory."""
    state: StartedFileState
    """`extended`: lines were appended. `refused`: not created, see the problems."""
    secret: bool = False


@record
class InitResult:
    """What starting the directory did or would do."""

    preset: str
    dialect: Dialect
    files: tuple[StartedFile, ...]
    problems: Problems
    """Warnings, or errors in the user's answers, in which case nothing was done."""
    texts: dict[str, str]
    """Configuration files that were or would be written."""

    @property
    def has_invalid_options(self) -> bool:
        """Whether the answers are invalid, so that nothing was done."""
        return bool(self.problems.errors)

    @property
    def complete(self) -> bool:
        """Whether all required files exist."""
        return not self.has_invalid_options and all(file.state != "refused" for file in self.files)


def invalid_option(options: InitOptions) -> str:
    """Return what is wrong with the options, in one line. Empty: nothing."""
    try:
        texts = render_preset(options.preset, network=options.network, answers=options.answers)
    except StockmanError as error:
        return trouble.in_one_line(error.problem)
    return next((trouble.in_one_line(problem) for problem in _check_texts(texts).errors), "")


def init_directory(
    options: InitOptions, context: InitContext, *, dry_run: bool = False
) -> InitResult:
    """Create what a directory lacks; with `dry_run`, only report it."""
    dialect = options.dialect or _dialect_of(options.directory)
    _check_dialect(options.directory, dialect)
    texts = _texts(options, dialect)
    wrong = _check_texts(texts)
    if wrong.errors:
        return InitResult(
            preset=options.preset, dialect=dialect, files=(), problems=wrong, texts=texts
        )
    starting = _Init(options.directory, dialect, context, dry_run=dry_run)
    beside = options.draft.extra_files if options.draft is not None else {}
    try:
        files = tuple(starting.files(texts, beside))
        written = {file.path for file in files if file.state == "written"}
        _check_together(options.directory, texts, written, starting.problems)
    except OSError as error:
        raise StockmanError(_unwritable_directory(options.directory, error)) from None
    return InitResult(
        preset=options.preset,
        dialect=dialect,
        files=files,
        problems=starting.problems,
        texts={name: text for name, text in texts.items() if name in written},
    )


class _Init:
    """One run of init. `.gitignore` comes first, so that secrets are never unprotected."""

    def __init__(
        self, directory: Path, dialect: Dialect, context: InitContext, *, dry_run: bool
    ) -> None:
        self._directory = directory
        self._dialect = dialect
        self._names = generation.SECRET_NAMES[dialect]
        self._context = context
        self._dry_run = dry_run
        self._asks_git = directory.is_dir() or not dry_run
        self.problems = Problems()

    def files(self, texts: dict[str, str], beside: dict[str, str]) -> Iterator[StartedFile]:
        """Yield every file in the order of creation."""
        if not self._dry_run:
            self._directory.mkdir(parents=True, exist_ok=True)
            for folder in (".", SCHEMA_DIRECTORY, *ENCRYPTED_DIRECTORIES):
                files.remove_drafts(self._directory / folder)
        yield self._gitignore()
        for name, text in (texts | beside).items():
            yield self._file(name, partial(str, text))
            if self._standing(name) == "ignored":
                self.problems.add(trouble.git_ignores_file(name))
        for name in texts:
            yield self._file(SCHEMAS[name], partial(_schema, name))
        yield self._secret(self._names.age_key, generation.generate_age_key(self._dialect))
        yield from self._deploy_key()
        yield self._secret(self._names.token, generation.generate_token)
        yield from self._encrypt_files(texts)

    def _encrypt_files(self, texts: dict[str, str]) -> Iterator[StartedFile]:
        context = self._context
        making = BundleCreation(
            clock=context.clock, entropy=context.entropy, make_bundle=context.make_bundle
        )
        first = FirstSecrets(self._directory, self._dialect, making, self.problems)
        for name, state in first.plan(texts) if self._dry_run else first.files(texts):
            yield StartedFile(path=name, state=state)
            if self._standing(name) == "ignored":
                self.problems.add(trouble.git_ignores_file(name))

    def _gitignore(self) -> StartedFile:
        path = self._directory / GITIGNORE
        if path.is_symlink():
            raise Conflict(trouble.gitignore_is_link(path))
        if not path.exists():
            return self._file(GITIGNORE, missing_lines(b"").decode)
        added = missing_lines(path.read_bytes())
        if added and not self._dry_run:
            files.append_bytes(path, added)
        return StartedFile(path=GITIGNORE, state="extended" if added else "kept")

    def _file(self, name: str, content: Callable[[], str]) -> StartedFile:
        path = self._directory / name
        if not self._dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
        return self._create_file(name, content, private=False)

    def _secret(self, name: str, make: generation.Maker) -> StartedFile:
        standing = self._standing(name)
        if standing == "tracked":
            self.problems.add(trouble.git_tracks_file(name))
            if not files.path_exists(self._directory / name):
                return StartedFile(path=name, state="refused", secret=True)
        elif standing == "untracked" and not self._dry_run:
            self.problems.add(trouble.missing_from_gitignore(name))
        clock, entropy = self._context.clock, self._context.entropy

        def content() -> str:
            known = self._context.keys.get(name)
            return (known if known is not None else make(clock, entropy)).reveal()

        return self._create_file(name, content, private=True)

    def _deploy_key(self) -> Iterator[StartedFile]:
        private, public = self._names.deploy_key, self._names.public_key
        lonely = not files.path_exists(self._directory / private)
        if lonely and files.path_exists(self._directory / public):
            self.problems.add(trouble.incomplete_key(private, public))
            yield StartedFile(path=private, state="refused", secret=True)
            yield self._create_file(public, str, private=True)
        else:
            created = self._secret(private, generation.generate_deploy_key)
            yield created
            yield self._public_key(created, public)

    def _public_key(self, private: StartedFile, public: str) -> StartedFile:
        if files.path_exists(self._directory / public):
            return self._create_file(public, str, private=True)
        path = self._directory / private.path
        if private.state == "refused" or (private.state == "kept" and not path.is_file()):
            return StartedFile(path=public, state="refused", secret=True)
        if self._dry_run:
            return StartedFile(path=public, state="written", secret=True)
        text = generation.deploy_key_public(Secret(path.read_text(errors="replace")))
        if text is None:
            self.problems.add(trouble.unknown_key(private.path, public))
            return StartedFile(path=public, state="refused", secret=True)
        return self._create_file(public, lambda: text, private=True)

    def _create_file(self, name: str, content: Callable[[], str], *, private: bool) -> StartedFile:
        path = self._directory / name
        is_new = not files.path_exists(path)
        if is_new and not self._dry_run:
            tag = self._context.entropy.random_bytes(_TAG_BYTES).hex()
            is_new = files.create_file(path, content().encode(), private=private, tag=tag)
        if not is_new and not path.is_file():
            self.problems.add(trouble.not_a_file(name, path))
        return StartedFile(path=name, state="written" if is_new else "kept", secret=private)

    def _standing(self, name: str) -> GitFileState:
        if not self._asks_git:
            return "outside"
        try:
            standing = self._context.repo.file_state(name)
        except NoAnswer:
            standing = "outside"
        self._asks_git = standing != "outside"
        return standing


def _texts(options: InitOptions, dialect: Dialect) -> dict[str, str]:
    if options.draft is not None:
        return add_schema_hints(options.draft.texts, dialect)
    return render_preset(
        options.preset, network=options.network, dialect=dialect, answers=options.answers
    )


def _schema(name: str) -> str:
    return f"{schema_text(name)}\n"


def _dialect_of(directory: Path) -> Dialect:
    dialects = [dialect for dialect, names in _SAMPLES.items() if _has_any_file(directory, names)]
    return dialects[0] if dialects else "classic"


def _check_dialect(directory: Path, dialect: Dialect) -> None:
    for other_dialect, names in _SAMPLES.items():
        if other_dialect != dialect and _has_any_file(directory, names):
            raise Conflict(trouble.other_dialect(directory, other_dialect, dialect))


def _has_any_file(directory: Path, names: tuple[str, ...]) -> bool:
    return any(files.path_exists(directory / name) for name in names)


def _check_together(
    directory: Path, texts: dict[str, str], written: set[str], problems: Problems
) -> None:
    """Warn if existing files do not fit new ones."""
    kept = [name for name in texts if name not in written]
    if len(kept) == len(texts) or not all((directory / name).is_file() for name in kept):
        return
    contents = {name: text.encode() for name, text in texts.items()}
    contents |= {name: (directory / name).read_bytes() for name in kept}
    if kept and _problems(contents).errors:
        problems.add(trouble.not_together(kept, sorted(written & set(texts))))


def _check_texts(texts: dict[str, str]) -> Problems:
    return _problems({name: text.encode() for name, text in texts.items()})


def _problems(contents: dict[str, bytes]) -> Problems:
    loaded = load(contents)
    check_rules(loaded)
    return loaded.problems


def _unwritable_directory(directory: Path, error: OSError) -> Problem:
    return trouble.unwritable(str(error.filename or directory), error.strerror or str(error))
