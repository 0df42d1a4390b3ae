"""Checks of secrets."""

import pytest

from stockman.app.workspace.secret_names import missing_lines
from stockman.assessment.doctor.check import CheckStatus
from stockman.assessment.doctor.secrets import SECRET_FILES, files, variables
from stockman.ports.environment import FileStatus, GitFileState, WorkTree
from tests.app.doctor.fakes import (
    CLASSIC,
    CLUSTER,
    PLANTED,
    PRIVATE,
    FakeMachine,
    FakeRepo,
    found,
    scene,
)

TREE = WorkTree(branch="main", has_commits=True, remotes=())
PROXMOX = """\
proxmox:
  endpoint: https://127.66.0.4:8006
  token_secret: {0}
"""


def machine(**facts: FileStatus) -> FakeMachine:
    return FakeMachine({**CLASSIC, "age.key": PRIVATE, **facts})


def test_every_secret_file_is_one_that_init_lets_git_ignore() -> None:
    ignored = missing_lines(b"").decode().splitlines()

    for name in SECRET_FILES:
        assert f"/{name}" in ignored or f"/{name.rpartition('/')[0]}/" in ignored


def test_a_private_and_ignored_file_is_well() -> None:
    (finding,) = found(files, scene(machine=machine()))

    assert (finding.subject, finding.status) == ("age.key", CheckStatus.OK)
    assert finding.summary == "readable by its owner only, ignored by git"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o601])
def test_a_file_that_others_can_open_fails(mode: int) -> None:
    facts = FileStatus(mode=mode, is_file=True, readable=True)

    (finding,) = found(files, scene(machine=FakeMachine({**CLASSIC, "age.key": facts})))

    assert finding.status is CheckStatus.FAIL
    assert f"{mode:04o}" in finding.summary
    assert finding.fix == "run `chmod 600 age.key`"


@pytest.mark.parametrize(
    ("facts", "seen"),
    [
        (FileStatus(mode=0o600, is_file=True, readable=False), "it is not readable"),
        (FileStatus(mode=0o700, is_file=False, readable=True), "it is not a file"),
    ],
)
def test_a_file_that_cannot_be_used_fails(facts: FileStatus, seen: str) -> None:
    (finding,) = found(files, scene(machine=FakeMachine({**CLASSIC, "age.key": facts})))

    assert (finding.status, finding.summary) == (CheckStatus.FAIL, seen)


@pytest.mark.parametrize(
    ("standing", "status"),
    [("tracked", CheckStatus.FAIL), ("untracked", CheckStatus.WARN), ("ignored", CheckStatus.OK)],
)
def test_git_should_ignore_it(standing: GitFileState, status: CheckStatus) -> None:
    repo = FakeRepo(TREE, standings={"age.key": standing})

    (finding,) = found(files, scene(machine=machine(), repo=repo))

    assert finding.status is status


def test_outside_of_a_repository_nobody_gets_it_by_git() -> None:
    (finding,) = found(files, scene(machine=machine(), repo=FakeRepo()))

    assert finding.status is CheckStatus.OK


def test_where_git_is_silent_its_exposure_is_unknown() -> None:
    (finding,) = found(files, scene(machine=machine(), repo=FakeRepo(silent="git says: no")))

    assert finding.status is CheckStatus.UNKNOWN


def test_a_missing_age_key_is_a_warning_only_where_there_are_nodes() -> None:
    with_nodes = found(files, scene())
    without = found(files, scene(nodes="nodes: []\n"))

    assert [node.status for node in with_nodes] == [CheckStatus.WARN]
    assert [result.status for result in without] == [CheckStatus.SKIP]


def test_variables_move_files_elsewhere() -> None:
    moved = FakeMachine(
        {**CLASSIC, "/keys/age.key": PRIVATE, "/one": PRIVATE},
        variables={"SOPS_AGE_KEY_FILE": "/keys/age.key", "KUBECONFIG": "/one:/two"},
    )

    findings = found(files, scene(machine=moved))

    assert [finding.subject for finding in findings] == ["/keys/age.key", "/one"]


def test_a_file_that_the_configuration_names_is_one_too() -> None:
    cluster = CLUSTER + PROXMOX.format("file:secrets/pve.txt")

    missing = found(files, scene(cluster, machine=machine()))
    open_ = FileStatus(mode=0o644, is_file=True, readable=True)
    there = found(files, scene(cluster, machine=machine(**{"secrets/pve.txt": open_})))

    assert [(result.subject, result.status) for result in missing[1:]] == [
        ("secrets/pve.txt", CheckStatus.WARN)
    ]
    assert [(result.subject, result.status) for result in there[1:]] == [
        ("secrets/pve.txt", CheckStatus.FAIL)
    ]


@pytest.mark.parametrize(("value", "status"), [("x", CheckStatus.OK), ("", CheckStatus.WARN)])
def test_a_variable_should_be_set(value: str, status: CheckStatus) -> None:
    seen = scene(
        CLUSTER + PROXMOX.format("${PVE_TOKEN}"),
        machine=FakeMachine(variables={"PVE_TOKEN": value}),
    )

    (finding,) = found(variables, seen)

    assert (finding.subject, finding.status) == ("$PVE_TOKEN", status)


def test_a_secret_in_the_clear_is_never_shown() -> None:
    seen = scene(CLUSTER + PROXMOX.format(PLANTED))

    assert PLANTED not in repr([*found(files, seen), *found(variables, seen)])
