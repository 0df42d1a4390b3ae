"""Texts that are schematics or none, and what the code of the Image Factory makes of each."""

IDS = {
    "customization:\n  meta:\n  - {key: 0xa, value: foo}\n": (
        "d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f"
    ),
    "customization:\n  meta:\n  - {key: 1.0, value: foo}\n": (
        "264ceb0a22c73b4b160e8001bc0c1f16bd3d8c72bdbe643bb6f46a5168b6f13d"
    ),
    "customization:\n  meta:\n  - {key: 0o12, value: 5}\n": (
        "bfb6427fcd202d424877c2b4256bb63af249d4cee45d2c7d946c2968f05ad9e9"
    ),
    'customization:\n  secureboot: {includeWellKnownCertificates: "yes"}\n': (
        "fa8e05f142a851d3ee568eb0a8e5841eaf6b0ebc8df9a63df16ac5ed2c04f3e6"
    ),
    "customization: {}\n---\nfoo: 1\n": (
        "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
    ),
    "null\n": "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
    "customization:\n  extraKernelArgs: [&a x, *a]\n": (
        "c99302e8e0f47abe9994c9864ef196255a95802bfdc63e21676b1f2fd2c2d98b"
    ),
    "customization: {bootloader: Grub}\n": (
        "39d496b2cbdb6265d3b714514c5334bf010f1b4d31b23b9e38c80fb2f3ad7ecb"
    ),
    "customization: {bootloader: none}\n": (
        "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
    ),
    '{"customization":{"extraKernelArgs":["a",1,true,null]}}': (
        "1c259d6d0a6c57c1655f3bb4725741caf1c9fd02c820cddcdb83dc822850bb00"
    ),
    '{"customization":{"secureboot":{"enrollKeys":"x"}}}': (
        "664821b2203178bf4d5c2bd4f068b882b58a75b8965072b816e3063a33255c2f"
    ),
}
"""Ids by text."""

_MANY = "yaml: construct errors:\n  "
REFUSALS = {
    '{"customisation": {}}': f"{_MANY}line 1: field customisation not found in type "
    "schematic.Schematic",
    "customization: x\n": f"{_MANY}line 1: cannot construct !!str `x` into schematic.Customization",
    "customization: {meta: [{key: 256, value: x}]}\n": f"{_MANY}line 1: cannot construct !!int "
    "`256` into uint8",
    "customization: {meta: {key: 1}}\n": f"{_MANY}line 1: cannot construct !!map into "
    "[]schematic.MetaValue",
    "customization: {bootloader: lilo}\n": f"{_MANY}line 1: lilo does not belong to BootloaderKind "
    "values",
    "customization: {bootloader: [a]}\n": f"{_MANY}line 1: cannot construct !!seq into "
    "imageropts.BootloaderKind (TextUnmarshaler)",
    "customization:\n  secureboot: {includeWellKnownCertificates: perhaps}\n": f"{_MANY}line 2: "
    "cannot construct !!str `perhaps` into bool",
    "customization:\n  diskImage: {sectorSize: -5}\n": f"{_MANY}line 2: cannot construct !!int "
    "`-5` into uint",
    "overlay:\n  options: [a]\n": f"{_MANY}line 2: cannot construct !!seq into "
    "map[string]interface {}",
    "x: 1\ncustomization:\n  foo: 2\n  extraKernelArgs: {}\n": f"{_MANY}line 1: field x not found "
    "in type schematic.Schematic\n  line 3: field foo not found in type "
    "schematic.Customization\n  line 4: cannot construct !!map into []string",
    "customization: {}\ncustomization: {}\n": f'{_MANY}line 2: mapping key "customization" already '
    "defined at line 1",
    "hello\n": f"{_MANY}line 1: cannot construct !!str `hello` into schematic.Schematic",
    "- a\n": f"{_MANY}line 1: cannot construct !!seq into schematic.Schematic",
    "a: b: c\n": "yaml: line 1, column 5: mapping values are not allowed in this context",
    "\ta: 1\n": "yaml: while scanning for the next token at line 1: found character that cannot "
    "start any token",
    "[": "yaml: while parsing a flow node at line 1: did not find expected node content",
    "": "EOF",
}
"""Errors by text."""
