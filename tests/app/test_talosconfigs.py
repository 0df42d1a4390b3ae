"""The talosconfig of a workspace."""

from datetime import timedelta
from pathlib import Path

import pytest

from stockman.app.client_config.files import ClientFile, ClientFileContext
from stockman.app.client_config.talosconfig import (
    FILES,
    TalosconfigOptions,
    new_talosconfig,
    write_talosconfig,
)
from stockman.crypto.certificates import is_issued_by, read_certificate_facts
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.credentials.roles import TalosRole
from stockman.talos.credentials.talosconfig import Talosconfig, read_talosconfig
from tests.adapters.repositories import repository
from tests.app.start_doors import NOON
from tests.app.workspaces import doors, workspace
from tests.config.written import CLUSTER, NODES
from tests.talos.made import bundle

PLACE = "talos/clusterconfig/talosconfig"
WORKER = NODES.removeprefix("nodes:\n").replace("cp-1", "work-1").replace("true", "false")
WORKER = WORKER.replace("0.21", "0.31").replace("1021", "1031").replace("00:21", "00:31")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return workspace(tmp_path / "meadow", nodes=NODES + WORKER)


def config(path: Path) -> Talosconfig:
    talosconfig = read_talosconfig("talosconfig", Secret(path.read_text()), Problems())
    assert talosconfig is not None
    return talosconfig


def write(
    talosconfig_options: TalosconfigOptions, context: ClientFileContext | None = None
) -> ClientFile:
    return write_talosconfig(talosconfig_options, context or doors())


def test_the_file_is_written_for_the_administrator(directory: Path) -> None:
    done = write(TalosconfigOptions(directory=directory))

    assert done == ClientFile(
        file=PLACE,
        state="written",
        context="meadow",
        roles=("os:admin",),
        ends=NOON + timedelta(days=365),
        days_left=365,
    )
    context = config(directory / PLACE).contexts["meadow"]
    assert context.endpoints == ("127.66.0.21",)
    assert context.nodes == ("127.66.0.21", "127.66.0.31")
    assert is_issued_by(context.crt, bundle().certs.os.crt)
    assert (directory / PLACE).stat().st_mode & 0o777 == 0o600


def test_the_second_run_changes_nothing_but_a_mode_that_lets_others_in(directory: Path) -> None:
    write(TalosconfigOptions(directory=directory))
    before = (directory / PLACE).read_bytes()
    (directory / PLACE).chmod(0o644)

    done = write(TalosconfigOptions(directory=directory))

    assert (done.state, done.mode_restricted) == ("unchanged", True)
    assert (directory / PLACE).read_bytes() == before
    assert (directory / PLACE).stat().st_mode & 0o777 == 0o600


def test_renewing_changes_the_certificate(directory: Path) -> None:
    write(TalosconfigOptions(directory=directory))
    before = config(directory / PLACE)

    done = write(TalosconfigOptions(directory=directory, renew=True))

    assert done.state == "renewed"
    assert config(directory / PLACE).contexts["meadow"].crt != before.contexts["meadow"].crt


@pytest.mark.parametrize("role", TalosRole)
def test_every_role_can_be_had(directory: Path, role: TalosRole) -> None:
    talosconfig_options = TalosconfigOptions(
        directory=directory, roles=(role,), lifetime=timedelta(hours=8)
    )

    done = write(talosconfig_options)

    assert done.roles == (role.value,)
    certificate_facts = read_certificate_facts(config(directory / PLACE).contexts["meadow"].crt)
    assert certificate_facts.organizations == (role.value,)
    assert certificate_facts.period.end == NOON + timedelta(hours=8)


@pytest.mark.parametrize("role", [TalosRole.IMAGE_VERIFIER, TalosRole.META_WRITER])
def test_roles_that_an_older_contract_does_not_know_are_refused(
    tmp_path: Path, role: TalosRole
) -> None:
    cluster = CLUSTER.replace("talos_version: 1.13.9", "talos_version: 1.12.1")
    place = workspace(tmp_path / "meadow", cluster=cluster)

    with pytest.raises(Refused, match=r"talos\.unknown-role"):
        write(TalosconfigOptions(directory=place, roles=(role,)))

    assert not (place / PLACE).exists()


@pytest.mark.parametrize(("targets", "count"), [("all", 2), ("controllers", 1), ("none", 0)])
def test_nodes_are_those_that_commands_may_act_on(
    directory: Path, targets: str, count: int
) -> None:
    write(TalosconfigOptions(directory=directory, targets=targets))  # type: ignore[arg-type]  # one of them

    assert len(config(directory / PLACE).contexts["meadow"].nodes) == count


def test_the_variable_moves_the_file_inside_of_the_workspace_only(directory: Path) -> None:
    inside = write(
        TalosconfigOptions(directory=directory), doors(TALOSCONFIG=str(directory / "mine"))
    )
    outside = write(
        TalosconfigOptions(directory=directory), doors(TALOSCONFIG=str(directory.parent / "x"))
    )
    theirs = write(
        TalosconfigOptions(directory=directory), doors(TALOSCONFIG=".stockman/lab.talosconfig")
    )

    assert (inside.file, outside.file, theirs.file) == ("mine", PLACE, PLACE)
    assert not (directory.parent / "x").exists()
    assert not (directory / ".stockman" / "lab.talosconfig").exists()


def test_merging_goes_into_another_file_and_makes_it_if_need_be(directory: Path) -> None:
    path = directory.parent / "home" / "config"

    first = write(TalosconfigOptions(directory=directory, merge=path))
    again = write(TalosconfigOptions(directory=directory, merge=path))

    assert (first.state, again.state, first.file) == ("written", "unchanged", str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    assert not (directory / PLACE).exists()


def test_a_file_that_git_would_keep_is_not_written(directory: Path) -> None:
    repository(directory)
    (directory / ".gitignore").write_text("")

    with pytest.raises(Refused, match=r"client\.exposed"):
        write(TalosconfigOptions(directory=directory))

    assert not (directory / PLACE).exists()


def test_a_file_that_cannot_be_read_is_left_alone(directory: Path) -> None:
    (directory / PLACE).parent.mkdir(parents=True)
    (directory / PLACE).write_text("contexts: 5\n")

    with pytest.raises(Refused, match=r"talosconfig\.unreadable"):
        write(TalosconfigOptions(directory=directory))
    (directory / PLACE).write_bytes(b"\xff\xfe")
    with pytest.raises(StockmanError, match=r"client\.unreadable"):
        write(TalosconfigOptions(directory=directory))

    assert (directory / PLACE).read_bytes() == b"\xff\xfe"


def test_a_certificate_never_outlives_its_authority(directory: Path) -> None:
    done = write(TalosconfigOptions(directory=directory, lifetime=timedelta(days=36_500)))

    assert done.ends == read_certificate_facts(bundle().certs.os.crt).period.end


def test_printing_writes_nothing(directory: Path) -> None:
    text = new_talosconfig(TalosconfigOptions(directory=directory), doors())

    assert "meadow" in text.reveal()
    assert not (directory / "talos" / "clusterconfig").exists()


def test_the_other_dialect_has_the_file_elsewhere() -> None:
    assert FILES == {"classic": PLACE, "toml": "talos/talosconfig"}
