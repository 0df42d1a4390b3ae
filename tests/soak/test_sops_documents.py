"""Five hundred documents between us and the real `sops`, and their tampering."""

from pathlib import Path

import pytest

from stockman.crypto.sops.files import encrypt
from stockman.model.errors import StockmanError
from tests.crypto.generated import Dice, made
from tests.crypto.keys_at_hand import OWNER, QUANTUM, fresh
from tests.real.sops_judge import SopsJudge, judge_both_ways, ours_opens
from tests.real.tampering import tampered
from tools.provide import Provider

DOCUMENTS = 500
TAMPERED = 100


@pytest.fixture
def judge(tmp_path: Path) -> SopsJudge:
    return SopsJudge(Provider().path("sops"), tmp_path)


def test_five_hundred_documents_are_read_both_ways(judge: SopsJudge) -> None:
    for number in range(DOCUMENTS):
        recipient = QUANTUM.recipient if number % 10 == 0 else OWNER.recipient
        judge_both_ways(made(f"soak-{number}", (recipient,)), judge)


def test_tampering_gets_the_same_verdict(judge: SopsJudge) -> None:
    for number in range(TAMPERED):
        one = made(f"soak-tampered-{number}", (OWNER.recipient,), comments=False)
        try:
            content = encrypt(one.plain, one.name, one.recipe, fresh()).decode()
        except StockmanError:
            continue
        for name, changed in tampered(content, Dice(f"soak-tampering-{number}")):
            theirs = judge.decrypted(changed.encode(), one.name)
            ours = ours_opens(changed.encode(), one.name)
            assert (ours is None) == (theirs is None), f"{number} {name}"
