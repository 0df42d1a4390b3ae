"""Encrypted files and key files are as they should be, or named."""

from pathlib import Path

import pytest

from tests.adapters.repositories import git
from tests.app.secret_workspace import SECRET, store_in
from tests.app.secrets_check.checking import checked, codes, unread
from tests.app.workspaces import BUNDLE, committed_workspace
from tests.crypto.keys_at_hand import OTHER, OWNER


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return committed_workspace(tmp_path / "meadow")


def test_a_file_that_is_not_encrypted_is_named(place: Path) -> None:
    (place / "kubernetes").mkdir()
    (place / "kubernetes" / "new.sops.yaml").write_text("kind: Secret\n")

    report = checked(place)

    assert codes(report) == ["sops.not-encrypted"]
    assert report.findings[0].file == "kubernetes/new.sops.yaml"


def test_templates_of_encrypted_files_are_left_alone(place: Path) -> None:
    (place / "secret.sops.yaml.j2").write_text("password: '#{ password }#'\n")

    assert checked(place).findings == ()


def test_a_value_in_the_clear_inside_of_an_encrypted_file_is_named(place: Path) -> None:
    text = (place / BUNDLE).read_text().splitlines()
    number = next(index for index, line in enumerate(text) if "bootstraptoken" in line)
    text[number] = f"{text[number].partition(':')[0]}: a word"
    (place / BUNDLE).write_text("\n".join(text) + "\n")

    report = checked(place)

    assert codes(report) == ["leak.clear-value"]
    assert report.findings[0].problem.what.startswith("secrets.bootstraptoken")
    assert report.findings[0].line == number + 1
    why = "it could not be opened: an encrypted value was changed, moved or damaged"
    assert unread(report) == [f"the values of {BUNDLE}: {why}"]


def test_what_is_staged_is_judged_too(place: Path) -> None:
    good = (place / BUNDLE).read_bytes()
    (place / BUNDLE).write_text("secrets: {}\n")
    git(place, "add", BUNDLE)
    (place / BUNDLE).write_bytes(good)

    report = checked(place)

    assert codes(report) == ["sops.not-encrypted"]
    assert report.findings[0].problem.what.endswith("(as staged)")


def test_values_that_only_the_rule_wants_encrypted_are_named(place: Path) -> None:
    store_in(place).create(SECRET, b"kind: Secret\nstringData:\n  token: a word\nextra: b\n")
    rules = (place / ".sops.yaml").read_text()
    (place / ".sops.yaml").write_text(
        rules.replace("^(data|stringData)$", "^(data|stringData|extra)$")
    )

    report = checked(place)

    assert codes(report) == ["leak.clear-value"]
    assert report.findings[0].problem.what.startswith("extra ")


def test_other_recipients_than_those_of_the_rule_are_named(place: Path) -> None:
    rules = (place / ".sops.yaml").read_text()
    (place / ".sops.yaml").write_text(rules.replace(OWNER.recipient, OTHER.recipient))

    report = checked(place)

    assert codes(report) == ["leak.recipients"]
    assert report.findings[0].problem.why == (
        f"{OTHER.recipient} cannot open it; {OWNER.recipient} can, and the rule does not name them"
    )


def test_a_file_that_no_rule_is_for_is_named(place: Path) -> None:
    (place / "elsewhere.sops.yaml").write_bytes((place / BUNDLE).read_bytes())

    assert codes(checked(place)) == ["sops.no-rule"]


def test_without_rules_recipients_are_not_compared(place: Path) -> None:
    (place / ".sops.yaml").unlink()

    report = checked(place)

    assert report.findings == ()
    assert unread(report) == ["recipients: there is no .sops.yaml"]


def test_files_for_other_kinds_of_keys_are_not_judged(place: Path) -> None:
    (place / "talos" / "kms.sops.yaml").write_text(
        "a: ENC[AES256_GCM,data:x]\nsops:\n  kms:\n    - arn: x\n"
    )

    report = checked(place)

    assert report.findings == ()
    assert "talos/kms.sops.yaml: keys of kind 'kms' are not supported" in unread(report)


def test_key_files_that_git_keeps_or_would_take_are_named(place: Path) -> None:
    (place / ".gitignore").write_text("")
    (place / "kubeconfig").write_text("apiVersion: v1\n")
    (place / "kubeconfig").chmod(0o600)
    git(place, "add", "kubeconfig")

    report = checked(place)

    assert [(finding.problem.code, finding.problem.what) for finding in report.findings][:2] == [
        ("leak.key-file", "git keeps kubeconfig, which holds a key"),
        ("leak.key-file", "git does not ignore age.key, which holds a key"),
    ]


def test_fix_lets_git_ignore_key_files_and_closes_them(place: Path) -> None:
    (place / ".gitignore").write_text("*.log")
    (place / "age.key").chmod(0o644)
    (place / "below").mkdir()
    (place / "below" / "talosconfig").write_text("context: ''\n")

    before = codes(checked(place))
    report = checked(place, fix=True)

    assert before == ["leak.key-file", "leak.key-file", "leak.key-mode", "leak.value"]
    assert report.findings == ()
    assert report.fixed == (
        "age.key is ignored by git",
        "below/talosconfig is ignored by git",
        "age.key has mode 0600, and had 0644",
    )
    assert (place / ".gitignore").read_text().startswith("*.log\n")
    assert checked(place, fix=True).fixed == ()
