"""What is shown of edits."""

from __future__ import annotations

import pytest

from stockman.model.record import to_plain_value
from stockman.talos.migration.draft import mask_edit
from stockman.talos.migration.migrate import MigrationOptions, migrate_configuration
from tests.talos.machine.clusters import bundle
from tests.talos.migration.configurations import OWN_KEY, rich

SECRETS = ("grazing", "hay", OWN_KEY, "http://127.66.0.9:3128", "kind: Namespace")


@pytest.mark.parametrize("target", ["1.12", "1.14"])
def test_no_secret_of_a_configuration_is_shown(target: str) -> None:
    after = migrate_configuration(rich(), target, MigrationOptions(new_defaults=True))

    shown = repr([to_plain_value(mask_edit(edit)) for edit in after.edits])

    own = bundle()
    confidential = [
        *SECRETS,
        own.cluster.secret.reveal(),
        own.secrets.bootstraptoken.reveal(),
        own.certs.k8s.key.reveal().splitlines()[1],
        own.certs.k8sserviceaccount.reveal().splitlines()[1],
    ]
    assert [secret for secret in confidential if secret in shown] == []
    assert "***" in shown


def test_what_is_no_secret_is_shown() -> None:
    shown = repr(
        [to_plain_value(mask_edit(edit)) for edit in migrate_configuration(rich(), "1.14").edits]
    )

    for text in ("cp-9", "127.66.0.29/24", "vm.nr_hugepages", "https://127.66.0.6/a.yaml"):
        assert text in shown
