"""Whether a change of configuration needs a reboot, and what a machine answers to it."""

from __future__ import annotations

import pytest
from stockman_lab.talos.config import changes
from stockman_lab.talos.config.changes import difference, printed

from lab.tests.talos.config.configurations import nodes

OLD = b"""\
version: v1alpha1
debug: false
persist: true
machine:
    type: worker
    token: a
    certSANs: []
    sysctls:
        a: b
    features:
        diskQuotaSupport: true
        hostDNS:
            enabled: true
cluster:
    clusterName: meadow
"""


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        (b"debug: false", b"debug: true", []),
        (b"meadow", b"pasture", []),
        (b"a: b", b"a: c", []),
        (b"enabled: true", b"enabled: false", []),
        (b"token: a", b"token: b", ["machine.token"]),
        (b"type: worker", b"type: controlplane", ["machine.type"]),
        (b"persist: true", b"persist: false", ["persist"]),
        (
            b"    features:",
            b"    files: [{path: /var/x, content: y, permissions: 420}]\n    features:",
            ["machine.files"],
        ),
        (b"QuotaSupport: true", b"QuotaSupport: false", ["machine.features.diskQuotaSupport"]),
    ],
)
def test_what_cannot_be_applied_while_a_machine_runs(
    before: bytes, after: bytes, paths: list[str]
) -> None:
    new = OLD.replace(before, after)

    assert new != OLD
    assert changes.needs_reboot(OLD, new, "1.13") == paths
    assert changes.needs_reboot(OLD, new, "1.14") == []


def test_features_that_come_or_go_as_a_whole_need_a_reboot() -> None:
    start = OLD.index(b"    features:")
    new = OLD[:start] + OLD[OLD.index(b"cluster:") :]

    assert changes.needs_reboot(OLD, new, "1.12") == ["machine.features"]


def test_other_documents_are_not_compared() -> None:
    new = OLD + b"---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: shed\n"

    assert changes.needs_reboot(OLD, new, "1.12") == []
    assert changes.live_refusal(OLD, new, "1.12") == ""


def test_the_refusal_shows_only_what_stands_in_the_way() -> None:
    new = OLD.replace(b"token: a", b"token: b").replace(b"meadow", b"pasture")

    assert changes.live_refusal(OLD, new, "1.13") == (
        "this config change can't be applied in immediate mode: machine.token"
    )


def test_a_dry_run_shows_all_that_would_change() -> None:
    new = OLD.replace(b"meadow", b"pasture")
    dry_run = changes.dry_run(changes.LIVE, OLD, new, "1.13")

    assert dry_run.startswith(
        "Dry run summary:\nApplied configuration without a reboot (skipped in dry-run).\n"
        "Config diff:\n\n--- a\n+++ b\n@@ -"
    )
    assert "-    clusterName: meadow\n+    clusterName: pasture\n" in dry_run


def test_a_dry_run_of_the_same_says_so() -> None:
    assert changes.dry_run(changes.STAGED, OLD, OLD, "1.12") == (
        "Dry run summary:\nStaged configuration to be applied after the next reboot "
        "(skipped in dry-run).\nConfig diff:\n\nNo changes."
    )


@pytest.mark.parametrize(
    ("seconds", "span"),
    [(60, "1m0s"), (90, "1m30s"), (5, "5s"), (3725.5, "1h2m5.5s"), (0.25, "250ms"), (0, "0s")],
)
def test_a_try_says_how_long_it_lasts(seconds: float, span: str) -> None:
    assert changes.tried(seconds) == (
        "Applied configuration without a reboot\nThe config is applied in 'try' mode and will be "
        f"automatically reverted back in {span}"
    )


@pytest.mark.parametrize(
    ("minor", "heads"), [("1.12", "@@ -1 +1,2 @@"), ("1.13", "@@ -1,1 +1,2 @@")]
)
def test_lengths_of_one_line_are_told_since_1_13(minor: str, heads: str) -> None:
    assert difference("a\n", "a\nb\n", minor) == f"--- a\n+++ b\n{heads}\n a\n+b\n"


def test_what_our_generator_writes_is_printed_in_talos_form() -> None:
    text = next(iter(nodes("single", "1.14").values()))
    shown = printed(text, "1.14")

    assert shown.startswith("version: v1alpha1\ndebug: false\npersist: true\nmachine:\n    type: ")
    assert shown.count("\n---\n") == text.decode().count("\n---\n")
    assert printed(b"machine: [", "1.14") == "machine: ["
