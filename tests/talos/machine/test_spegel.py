"""Machines keep the layers of images that Spegel shares."""

from __future__ import annotations

import pytest

from tests.talos.machine.clusters import TALOS, desired, documents, section

KEPT = """\
[plugins."io.containerd.cri.v1.images"]
  discard_unpacked_layers = false
"""


@pytest.mark.parametrize("line", TALOS)
def test_layers_are_kept_where_nodes_share_images(line: str) -> None:
    config = documents(desired(line), "work-1")

    if line == "1.14":
        assert section(config, "CRICustomizationConfig spegel")["content"] == KEPT
    else:
        (file,) = section(config, "v1alpha1", "machine", "files")
        assert file["path"] == "/etc/cri/conf.d/20-customization.part"
        assert file["content"] == KEPT


@pytest.mark.parametrize("line", TALOS)
def test_a_cluster_without_sharing_keeps_the_setting_of_talos(line: str) -> None:
    off = "components:\n  spegel:\n    enabled: false\n"

    config = documents(desired(line, cluster=off), "work-1")

    assert "discard_unpacked_layers" not in repr(config)
