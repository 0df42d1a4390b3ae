"""Creation rules of `.sops.yaml`."""

import pytest

from stockman.crypto.sops.selectors import Selector, read_sops_config
from stockman.model.errors import NotFound, Refused, StockmanError
from stockman.model.origin import Position
from tests.crypto.keys_at_hand import OTHER, OWNER

TEXT = f"""\
---
creation_rules:
  - path_regex: talos/.*\\.sops\\.ya?ml
    mac_only_encrypted: true
    age: {OWNER.recipient}
  - path_regex: (bootstrap|kubernetes)/.*\\.sops\\.ya?ml
    encrypted_regex: ^(data|stringData)$
    mac_only_encrypted: true
    age:
      - {OWNER.recipient}
      - {OTHER.recipient}
  - age: "{OWNER.recipient}, {OTHER.recipient},"
stores:
  yaml:
    indent: 2
"""


def refusal(text: str) -> Refused:
    with pytest.raises(Refused) as caught:
        read_sops_config(text.encode()).rule_for("a.sops.yaml")
    return caught.value


def test_the_first_rule_that_matches_counts() -> None:
    config = read_sops_config(TEXT.encode())

    talos = config.rule_for("talos/talsecret.sops.yaml").recipe
    secret = config.rule_for("kubernetes/apps/a/secret.sops.yml").recipe
    recipe = config.rule_for("age.key").recipe

    assert talos.selector == Selector()
    assert secret.selector == Selector(name="encrypted_regex", pattern="^(data|stringData)$")
    assert secret.recipients == recipe.recipients == (OWNER.recipient, OTHER.recipient)
    assert [one.only_encrypted for one in (talos, secret, recipe)] == [True, True, False]
    assert {one.indent for one in (talos, secret, recipe)} == {2}


def test_expressions_match_anywhere_in_the_path() -> None:
    config = read_sops_config(TEXT.encode())

    assert config.rule_for("old/talos/x.sops.yaml").at == Position(".sops.yaml", 3, 5)


def test_a_path_without_a_rule_is_not_found() -> None:
    config = read_sops_config(TEXT.rsplit("  - age", 1)[0].encode())

    with pytest.raises(NotFound, match=r"sops\.no-rule"):
        config.rule_for("age.key")


def test_a_file_without_rules_has_none() -> None:
    assert read_sops_config(b"").rules == ()
    assert read_sops_config(b"stores: {}\n").indent == 4


def test_one_group_of_age_keys_is_a_list_of_recipients() -> None:
    text = f"creation_rules: [{{key_groups: [{{age: [{OWNER.recipient}]}}]}}]\n"

    assert read_sops_config(text.encode()).rules[0].recipe.recipients == (OWNER.recipient,)


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("{kms: 'arn:aws:kms:x'}", "sops.kms"),
        ("{gcp_kms: x}", "sops.kms"),
        ("{azure_keyvault: [x]}", "sops.kms"),
        ("{hc_vault_transit_uri: x}", "sops.kms"),
        ("{pgp: FBC7B9E2A4F9289AC0C1D4843D16CEE4A27381B4}", "sops.pgp"),
        ("{key_groups: [{pgp: [x]}]}", "sops.pgp"),
        ("{key_groups: [{age: []}, {age: []}]}", "sops.key-group"),
        ("{key_groups: [{merge: [{age: [x]}]}]}", "sops.key-group"),
        ("{age: age1nothing}", "age.recipient"),
        ("{age: [1]}", "sops.rules"),
        ("{path_regex: '('}", "sops.regex"),
        ("{encrypted_regex: '(?!a)'}", "sops.regex"),
        ("{encrypted_regex: a, encrypted_suffix: b}", "sops.selectors"),
        ("{path_regex: [a]}", "sops.rules"),
        ("{mac_only_encrypted: 'yes'}", "sops.rules"),
        ("x", "sops.rules"),
    ],
)
def test_rules_that_cannot_be_followed_are_refused(rule: str, code: str) -> None:
    assert refusal(f"creation_rules: [{rule}]\n").problem.code == code


def test_rules_have_to_be_a_list() -> None:
    assert refusal("creation_rules: {}\n").problem.code == "sops.rules"
    assert refusal("stores: {yaml: {indent: wide}}\n").problem.code == "sops.rules"


def test_a_rule_with_other_keys_for_other_paths_is_no_obstacle() -> None:
    text = "creation_rules:\n  - {path_regex: ^ansible/, pgp: FBC7B9E2A4F9289AC0C1}\n"
    config = read_sops_config((text + TEXT.partition("creation_rules:\n")[2]).encode())

    assert config.rule_for("talos/x.sops.yaml").recipe.recipients == (OWNER.recipient,)
    with pytest.raises(Refused, match=r"sops\.pgp"):
        config.rule_for("ansible/x.sops.yaml")


ANCHORS = f"""
keys:
  - &owner {OWNER.recipient}
  - &other {OTHER.recipient}
defaults: &defaults
  mac_only_encrypted: true
  age: [*owner]
creation_rules:
  - path_regex: talos/
    <<: *defaults
  - path_regex: both/
    <<: [*defaults]
    age: [*owner, *other]
  - key_groups: [{{age: [*other]}}]
"""


def test_anchors_and_merged_keys_are_those_of_yaml() -> None:
    rules = read_sops_config(ANCHORS.encode()).rules

    assert [rule.recipe.recipients for rule in rules] == [
        (OWNER.recipient,),
        (OWNER.recipient, OTHER.recipient),
        (OTHER.recipient,),
    ]
    assert [rule.recipe.only_encrypted for rule in rules] == [True, True, False]


def test_aliases_that_multiply_are_refused() -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]

    with pytest.raises(StockmanError) as caught:
        read_sops_config("\n".join(["a0: &a0 x", *levels]).encode())

    assert "too long" in caught.value.problem.why
