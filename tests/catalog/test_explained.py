"""Components in words."""

from __future__ import annotations

import pytest

from stockman.app.explanation import component_pages, explain, explain_component
from stockman.catalog.explanation import overview_lines, page_lines
from stockman.catalog.registry import names
from stockman.config.reference.explain import Explanation
from stockman.model.errors import WrongUsage


@pytest.mark.parametrize("name", names())
def test_a_page_tells_what_a_component_is_and_how_to_know_that_it_works(name: str) -> None:
    lines = list(page_lines(explain_component(name), width=100))

    assert lines[0] == f"COMPONENT:  {name}"
    for heading in ("ABOUT:", "ON:", "PHASE:", "NAMESPACE:", "NEEDS:", "READY WHEN:"):
        assert [line for line in lines if line.startswith(heading)]
    assert max(map(len, lines)) <= 100


def test_a_page_tells_access_settings_secrets_alerts_and_troubles() -> None:
    text = "\n".join(page_lines(explain_component("proxmox-csi"), width=100))

    assert "user stockman-csi@pve, token csi, role StockmanCSI on /vms and /storage:" in text
    assert "  classes.encrypted <true or false>" in text
    assert "  encryption-passphrase" in text
    assert "  ProxmoxVolumesSlow <warning>" in text
    assert "Cause: nodes have no region or zone." in text


def test_a_component_may_be_named_by_its_chart() -> None:
    assert explain_component("talos-cloud-controller-manager").name == "talos-ccm"


def test_an_unknown_component_is_answered_with_the_nearest() -> None:
    with pytest.raises(WrongUsage) as caught:
        explain_component("celium")

    assert caught.value.problem.code == "explain.component"
    assert "component cilium" in caught.value.problem.fix


def test_settings_are_keys_that_can_be_explained() -> None:
    repository = explain("components.proxmox-csi.settings.classes")

    assert isinstance(repository, Explanation)
    assert "encrypted" in [key.name for key in repository.fields]


def test_the_overview_has_every_component() -> None:
    lines = list(overview_lines(component_pages()))

    assert [line for line in lines if not line.startswith(" ")] == list(names())


@pytest.mark.parametrize("name", names())
def test_every_setting_says_what_it_means(name: str) -> None:
    for key in explain_component(name).settings:
        assert key.docs, key.path
