"""What the firmware says the machine is."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.smbios import cloned_smbios, new_smbios, parse_smbios

from lab.tests.pve.throws import Counting

FIRST = "00000000-0000-0000-0000-000000000001"


def test_a_new_machine_gets_a_uuid() -> None:
    assert new_smbios(Counting()) == f"uuid={FIRST}"


def test_a_clone_keeps_its_fields_in_order_of_their_names_and_gets_another_uuid() -> None:
    text = "uuid=11111111-2222-3333-4444-555555555555,sku=c2t1,serial=aD1ub2Rl,base64=1"

    assert cloned_smbios(text, Counting()) == f"base64=1,serial=aD1ub2Rl,sku=c2t1,uuid={FIRST}"
    assert cloned_smbios("", Counting()) == f"uuid={FIRST}"


@pytest.mark.parametrize("text", ["serial=a b", "serial=a=b=c=", "uuid=123", "colour=red"])
def test_values_that_are_no_base64_or_uuid_are_refused(text: str) -> None:
    with pytest.raises(FormatError):
        parse_smbios(text)
