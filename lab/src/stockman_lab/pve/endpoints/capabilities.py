"""`/nodes/NODE/capabilities`: what the emulator of a host can be asked for."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.releases import release_of

_PATH = "/nodes/{node}/capabilities"
_MODELS = {
    "default": ("kvm32", "kvm64", "max", "qemu32", "qemu64", "x86-64-v2", "x86-64-v2-AES",
                "x86-64-v3", "x86-64-v4", "host"),
    "GenuineIntel": ("486", "Broadwell", "Broadwell-IBRS", "Cascadelake-Server", "Conroe",
                     "Cooperlake", "Haswell", "Haswell-noTSX", "Icelake-Server", "IvyBridge",
                     "Nehalem", "Penryn", "SandyBridge", "SapphireRapids", "Skylake-Client",
                     "Skylake-Server", "Westmere", "core2duo", "coreduo", "pentium", "pentium2",
                     "pentium3"),
    "AuthenticAMD": ("EPYC", "EPYC-Genoa", "EPYC-IBPB", "EPYC-Milan", "EPYC-Rome", "Opteron_G1",
                     "Opteron_G2", "Opteron_G3", "Opteron_G4", "Opteron_G5", "athlon", "phenom"),
}  # fmt: skip
_OLDEST = (2, 4)
_MINORS = {2: 12, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2}


@endpoint("GET", f"{_PATH}/qemu/cpu")
def processors(call: Call) -> object:
    del call
    return [
        {"name": name, "vendor": vendor, "custom": 0}
        for vendor, names in _MODELS.items()
        for name in names
    ]


@endpoint("GET", f"{_PATH}/qemu/machines")
def machines(call: Call) -> object:
    """Kinds of machines, the newest first, back to the oldest that is supported."""
    newest = release_of(call.cluster.state.profile).qemu.split(".")[:2]
    last = (int(newest[0]), int(newest[1]))
    versions = [
        (major, minor)
        for major in range(_OLDEST[0], last[0] + 1)
        for minor in range(_MINORS.get(major, last[1]) + 1)
        if _OLDEST <= (major, minor) <= last
    ]
    return [
        {"id": f"pc-{kind}-{major}.{minor}", "type": kind, "version": f"{major}.{minor}"}
        for kind in ("i440fx", "q35")
        for major, minor in reversed(versions)
    ]
