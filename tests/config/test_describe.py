import sys
from types import ModuleType

import pytest

from stockman.config.language import NodeSection, TalosSection, VmSection
from stockman.config.reference.key_types import class_doc, field_docs, record_keys
from stockman.model.hardware import Nic
from tests.config.language import CLASSES


def test_a_field_is_described_by_the_text_below_it() -> None:
    assert field_docs(Nic)["firewall"] == "Whether the Proxmox firewall filters this card."


def test_fields_of_the_class_it_builds_on_are_described_too() -> None:
    assert field_docs(VmSection)["numa"] == "Whether the guest sees the NUMA topology of the host."
    assert field_docs(VmSection)["disk_gb"] == "Size of the system disk."


def test_a_description_of_several_lines_becomes_one_paragraph() -> None:
    assert "\n" not in field_docs(TalosSection)["contract"]
    assert "not changed by upgrades" in field_docs(TalosSection)["contract"]


def test_a_class_is_described_by_its_docstring() -> None:
    assert class_doc(NodeSection) == "A Talos machine."


def test_a_class_without_source_has_no_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "made_up", ModuleType("made_up"))
    loose = type("Loose", (), {"__module__": "made_up"})

    assert field_docs(loose) == {}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_key_and_every_block_of_the_language_is_described(cls: type) -> None:
    undescribed = [member.name for member in record_keys(cls) if not member.docs.endswith(".")]

    assert undescribed == []
    assert class_doc(cls).endswith(".")
