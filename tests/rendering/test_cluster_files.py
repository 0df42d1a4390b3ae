"""What all namespaces share."""

from __future__ import annotations

from stockman.model.secret import Secret
from tests.catalog.estates import rendered

SHARED = "kubernetes/components/sops/cluster-secrets.sops.yaml"


def test_without_a_public_domain_names_end_in_one_that_is_nobodys() -> None:
    files = rendered()

    file = files.tree.get(SHARED)

    assert file is not None
    assert isinstance(file.text, Secret)
    assert f"SECRET_DOMAIN: {files.selection[0].context.cluster.name}.home.arpa\n" in (
        file.text.reveal()
    )
