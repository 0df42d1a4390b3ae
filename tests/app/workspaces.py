"""A directory with a cluster, an age key and an encrypted bundle, for tests."""

from pathlib import Path

from stockman.app.client_config.files import ClientFileContext
from stockman.app.secrets.bundle import bundle_path
from stockman.app.workspace.secret_names import missing_lines
from stockman.talos.secrets.bundle import bundle_text
from tests.adapters.repositories import git, repository
from tests.app.secret_workspace import SeededDice, keyring, store_in
from tests.app.start_doors import StandingClock
from tests.config.written import CLUSTER, NODES
from tests.crypto.keys_at_hand import OWNER
from tests.talos.made import bundle

BUNDLE = bundle_path("classic")


def workspace(directory: Path, *, cluster: str = CLUSTER, nodes: str = NODES) -> Path:
    """The files of a cluster that nobody has committed yet."""
    store = store_in(directory)
    store.create(BUNDLE, bundle_text(bundle()).reveal().encode())
    (directory / "cluster.yaml").write_text(cluster)
    (directory / "nodes.yaml").write_text(nodes)
    (directory / ".gitignore").write_bytes(missing_lines(b""))
    key = directory / "age.key"
    key.write_text(f"{OWNER.text.reveal()}\n")
    key.chmod(0o600)
    return directory


def committed_workspace(directory: Path) -> Path:
    """The same in a repository with one commit."""
    repository(directory)
    workspace(directory)
    git(directory, "add", "--all")
    git(directory, "commit", "--message=first")
    return directory


def doors(**environment: str) -> ClientFileContext:
    """A clock that stands at noon, known dice, and the key of the workspace."""
    return ClientFileContext(
        clock=StandingClock(), entropy=SeededDice(), keyring=keyring(), environment=environment
    )
