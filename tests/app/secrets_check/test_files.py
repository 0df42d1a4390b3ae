"""Encrypted files and key files are as they should be, or named."""

from pathlib import Path

import pytest

from tests.adapters.repositories import git
from tests.app.secret_workspace import SECRET, store_in
from tests.app.secrets_check.checking import checked, codes, unread
from tests.app.workspaces import BUNDLE, committed_workspace
from tests.crypto.keys_at_hand import OTHER, OWNER


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return committed_workspace(tmp_path / "meadow")


def test_a_file_that_is_not_encrypted_is_named(directory: Path) -> None:
    (directory / "kubernetes").mkdir()
    (directory / "kubernetes" / "new.sops.yaml").write_text("kind: Secret\n")

    report = checked(directory)

    assert codes(report) == ["sops.not-encrypted"]
    assert report.findings[0].file == "kubernetes/new.sops.yaml"


def test_templates_of_encrypted_files_are_left_alone(directory: Path) -> None:
    (directory / "secret.sops.yaml.j2").write_text("password: '#{ password }#'\n")

    assert checked(directory).findings == ()


def test_a_value_in_the_clear_inside_of_an_encrypted_file_is_named(directory: Path) -> None:
    text = (directory / BUNDLE).read_text().splitlines()
    number = next(index for index, line in enumerate(text) if "bootstraptoken" in line)
    text[number] = f"{text[number].partition(':')[0]}: a word"
    (directory / BUNDLE).write_text("\n".join(text) + "\n")

    report = checked(directory)

    assert codes(report) == ["leak.clear-value"]
    assert report.findings[0].problem.what.startswith("secrets.bootstraptoken")
    assert report.findings[0].line == number + 1
    why = "it could not be opened: an encrypted value was changed, moved or damaged"
    assert unread(report) == [f"the values of {BUNDLE}: {why}"]


def test_what_is_staged_is_judged_too(directory: Path) -> None:
    good = (directory / BUNDLE).read_bytes()
    (directory / BUNDLE).write_text("secrets: {}\n")
    git(directory, "add", BUNDLE)
    (directory / BUNDLE).write_bytes(good)

    report = checked(directory)

    assert codes(report) == ["sops.not-encrypted"]
    assert report.findings[0].problem.what.endswith("(as staged)")


def test_values_that_only_the_rule_wants_encrypted_are_named(directory: Path) -> None:
    store_in(directory).create(SECRET, b"kind: Secret\nstringData:\n  token: a word\nextra: b\n")
    rules = (directory / ".sops.yaml").read_text()
    (directory / ".sops.yaml").write_text(
        rules.replace("^(data|stringData)$", "^(data|stringData|extra)$")
    )

    report = checked(directory)

    assert codes(report) == ["leak.clear-value"]
    assert report.findings[0].problem.what.startswith("extra ")


def test_other_recipients_than_those_of_the_rule_are_named(directory: Path) -> None:
    rules = (directory / ".sops.yaml").read_text()
    (directory / ".sops.yaml").write_text(rules.replace(OWNER.recipient, OTHER.recipient))

    report = checked(directory)

    assert codes(report) == ["leak.recipients"]
    assert report.findings[0].problem.why == (
        f"{OTHER.recipient} cannot open it; {OWNER.recipient} can, and the rule does not name them"
    )


def test_a_file_that_no_rule_is_for_is_named(directory: Path) -> None:
    (directory / "elsewhere.sops.yaml").write_bytes((directory / BUNDLE).read_bytes())

    assert codes(checked(directory)) == ["sops.no-rule"]


def test_without_rules_recipients_are_not_compared(directory: Path) -> None:
    (directory / ".sops.yaml").unlink()

    report = checked(directory)

    assert report.findings == ()
    assert unread(report) == ["recipients: there is no .sops.yaml"]


def test_files_for_other_kinds_of_keys_are_not_judged(directory: Path) -> None:
    (directory / "talos" / "kms.sops.yaml").write_text(
        "a: ENC[AES256_GCM,data:x]\nsops:\n  kms:\n    - arn: x\n"
    )

    report = checked(directory)

    assert report.findings == ()
    assert "talos/kms.sops.yaml: keys of kind 'kms' are not supported" in unread(report)


def test_key_files_that_git_keeps_or_would_take_are_named(directory: Path) -> None:
    (directory / ".gitignore").write_text("")
    (directory / "kubeconfig").write_text("apiVersion: v1\n")
    (directory / "kubeconfig").chmod(0o600)
    git(directory, "add", "kubeconfig")

    report = checked(directory)

    assert [(finding.problem.code, finding.problem.what) for finding in report.findings][:2] == [
        ("leak.key-file", "git keeps kubeconfig, which holds a key"),
        ("leak.key-file", "git does not ignore age.key, which holds a key"),
    ]


def test_fix_lets_git_ignore_key_files_and_closes_them(directory: Path) -> None:
    (directory / ".gitignore").write_text("*.log")
    (directory / "age.key").chmod(0o644)
    (directory / "below").mkdir()
    (directory / "below" / "talosconfig").write_text("context: ''\n")

    before = codes(checked(directory))
    report = checked(directory, fix=True)

    assert before == ["leak.key-file", "leak.key-file", "leak.key-mode", "leak.value"]
    assert report.findings == ()
    assert report.fixed == (
        "age.key is ignored by git",
        "below/talosconfig is ignored by git",
        "age.key has mode 0600, and had 0644",
    )
    assert (directory / ".gitignore").read_text().startswith("*.log\n")
    assert checked(directory, fix=True).fixed == ()
