"""Which options of a bond go with which mode, in `machine.network.interfaces`."""

from __future__ import annotations

from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report

_AGGREGATION = "802.3ad"
_BALANCED = ("balance-tlb", "balance-alb")
_MODES = ("balance-rr", "active-backup", "balance-xor", "broadcast", _AGGREGATION, *_BALANCED)
_WORDS = {
    "mode": _MODES,
    "xmitHashPolicy": ("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"),
    "lacpRate": ("slow", "fast"),
    "arpValidate": (
        "none",
        "active",
        "backup",
        "all",
        "filter",
        "filter-active",
        "filter-backup",
    ),
    "arpAllTargets": ("any", "all"),
    "primaryReselect": ("always", "better", "failure"),
    "failOverMac": ("none", "active", "follow"),
    "adSelect": ("stable", "bandwidth", "count"),
}
_ONLY_IN = {
    "lacpRate": (_AGGREGATION,),
    "adActorSysPrio": (_AGGREGATION,),
    "adUserPortKey": (_AGGREGATION,),
    "primary": ("active-backup", *_BALANCED),
    "arpValidate": ("balance-rr", "active-backup", "balance-xor", "broadcast"),
    "arpInterval": ("balance-rr", "active-backup", "balance-xor", "broadcast"),
    "packetsPerSlave": ("balance-rr",),
    "tlbDynamicLb": _BALANCED,
}
"""Options that only some modes have."""


def check_bond(report: Report, bond: Part) -> None:
    """Words, delays, and options that the mode does not have."""
    for key, words in _WORDS.items():
        if bond[key].text and bond[key].text not in words:
            report.error(
                "machine.word",
                bond[key],
                f"{bond[key].name} is {bond[key].text!r}",
                why=f"it is one of {', '.join(words)}",
                fix="write one of these",
            )
    for key in ("arpIPTarget", "adActorSystem"):
        if not bond[key].is_empty:
            _complain(report, bond[key], "Talos does not support it", "remove it")
    _check_delays(report, bond)
    mode = bond["mode"].text or "balance-rr"
    mode = mode if mode in _MODES else "balance-rr"
    for key, modes in _ONLY_IN.items():
        if mode not in modes and _is_used(bond[key]):
            why = f"the mode is {mode}, and only {', '.join(modes)} have it"
            _complain(report, bond[key], why, "remove it, or change the mode")


def _is_used(option: Part) -> bool:
    if option.path.endswith(".packetsPerSlave"):
        return option.number > 1
    return option.text not in ("", "0")


def _check_delays(report: Report, bond: Part) -> None:
    every = bond["miimon"].number
    for key in ("updelay", "downdelay"):
        delay = bond[key]
        if not every and delay.number:
            _complain(report, delay, "miimon is 0, and nothing is watched", "set miimon")
        elif every and delay.number % every:
            why = f"{delay.number} is no multiple of miimon, {every}"
            _complain(report, delay, why, f"write a multiple of {every}")


def _complain(report: Report, part: Part, why: str, fix: str) -> None:
    report.error("machine.bond", part, f"{part.name} cannot be used here", why=why, fix=fix)
