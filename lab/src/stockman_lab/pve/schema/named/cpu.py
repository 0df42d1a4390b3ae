"""Models and flags of processors that a virtual machine may name."""

from __future__ import annotations

_BUILT_IN = frozenset({"host", "x86-64-v2", "x86-64-v2-AES", "x86-64-v3", "x86-64-v4"})
_MODELS_NAMES = """
486 athlon Broadwell Broadwell-IBRS Broadwell-noTSX Broadwell-noTSX-IBRS Cascadelake-Server
Cascadelake-Server-noTSX Cascadelake-Server-v2 Cascadelake-Server-v4 Cascadelake-Server-v5
Conroe Cooperlake Cooperlake-v2 core2duo coreduo EPYC EPYC-Genoa EPYC-IBPB EPYC-Milan
EPYC-Milan-v2 EPYC-Rome EPYC-Rome-v2 EPYC-Rome-v3 EPYC-Rome-v4 EPYC-v3 EPYC-v4 GraniteRapids
Haswell Haswell-IBRS Haswell-noTSX Haswell-noTSX-IBRS Icelake-Client Icelake-Client-noTSX
Icelake-Server Icelake-Server-noTSX Icelake-Server-v3 Icelake-Server-v4 Icelake-Server-v5
Icelake-Server-v6 IvyBridge IvyBridge-IBRS KnightsMill kvm32 kvm64 max Nehalem Nehalem-IBRS
Opteron_G1 Opteron_G2 Opteron_G3 Opteron_G4 Opteron_G5 Penryn pentium pentium2 pentium3
phenom qemu32 qemu64 SandyBridge SandyBridge-IBRS SapphireRapids SapphireRapids-v2
Skylake-Client Skylake-Client-IBRS Skylake-Client-noTSX-IBRS Skylake-Client-v4
Skylake-Server Skylake-Server-IBRS Skylake-Server-noTSX-IBRS Skylake-Server-v4
Skylake-Server-v5 Westmere Westmere-IBRS
"""
_MODELS = frozenset(_MODELS_NAMES.split())
_LATER_NAMES = """
a64fx ClearwaterForest cortex-a35 cortex-a53 cortex-a55 cortex-a57 cortex-a710 cortex-a72
cortex-a76 EPYC-Genoa-v2 EPYC-Milan-v3 EPYC-Rome-v5 EPYC-Turin EPYC-v5 GraniteRapids-v2
GraniteRapids-v3 Icelake-Server-v7 neoverse-n1 neoverse-n2 neoverse-v1 SapphireRapids-v3
SapphireRapids-v4 SierraForest SierraForest-v2 SierraForest-v3
"""
_LATER = frozenset(_LATER_NAMES.split())
MODELS = {"8.4": _BUILT_IN | _MODELS, "9.1": _BUILT_IN | _MODELS | _LATER}
"""By profile."""

_FLAGS = (
    "pcid",
    "spec-ctrl",
    "ibpb",
    "ssbd",
    "virt-ssbd",
    "amd-ssbd",
    "amd-no-ssb",
    "pdpe1gb",
    "md-clear",
    "hv-tlbflush",
    "hv-evmcs",
    "aes",
)
FLAGS = {"8.4": _FLAGS, "9.1": tuple(sorted((*_FLAGS, "nested-virt")))}
"""Flags that one machine may set, by profile, in the order in which they are named."""
