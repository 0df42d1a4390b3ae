"""Schematics and the ids that the Image Factory gives to them.

The ids of `PUBLISHED` stand in its tests and in guides; those of `COMPUTED` are its code's own.
"""

Document = dict[str, object]


def _extensions(*names: str) -> Document:
    return {
        "customization": {
            "systemExtensions": {"officialExtensions": [f"siderolabs/{name}" for name in names]}
        }
    }


def _arguments(*texts: str) -> Document:
    return {"customization": {"extraKernelArgs": list(texts)}}


EMPTY_ID = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

PUBLISHED: dict[str, tuple[Document, str]] = {
    "nothing": ({"customization": {}}, EMPTY_ID),
    "the guest agent": (
        _extensions("qemu-guest-agent"),
        "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
    ),
    "two extensions": (
        _extensions("iscsi-tools", "util-linux-tools"),
        "613e1592b2da41ae5e265e8789429f22e121aab91cb4deb6bc3c0b6262961245",
    ),
    "two kernel arguments": (
        _arguments("noapic", "nolapic"),
        "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c",
    ),
    "a META value": (
        {"customization": {"meta": [{"key": 10, "value": "foo"}]}},
        "d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f",
    ),
    "an overlay": (
        {
            "overlay": {"image": "siderolabs/sbc-raspberrypi", "name": "rpi_generic"},
            "customization": {},
        },
        "ee21ef4a5ef808a9b7484cc0dda0f25075021691c8c09a276591eedb638ea1f9",
    ),
    "certificates of other vendors": (
        {"customization": {"secureboot": {"includeWellKnownCertificates": True}}},
        "fa8e05f142a851d3ee568eb0a8e5841eaf6b0ebc8df9a63df16ac5ed2c04f3e6",
    ),
    "large sectors": (
        {"customization": {"diskImage": {"sectorSize": 4096}}},
        "92833e9ddd9bb9e11b2464fa5525429f01866306d52ebd882ee08d7918f6d1ea",
    ),
    "three extensions": (
        _extensions("iscsi-tools", "qemu-guest-agent", "util-linux-tools"),
        "88d1f7a5c4f1d3aba7df787c448c1d3d008ed29cfb34af53fa0df4336a56040b",
    ),
    "a screen size": (
        _arguments("vga=791"),
        "eea1f9534c46d95c4715a2f13d17eacb927c13a42ef087c79b22c3bd0c49d073",
    ),
}

COMPUTED: dict[str, tuple[Document, str]] = {
    "two consoles and a GPU": (
        {
            "customization": {
                "extraKernelArgs": [
                    "console=tty1",
                    "console=ttyS0,115200",
                    "-selinux",
                    "nvidia.NVreg_OpenRmEnableUnsupportedGpus=1",
                ],
                "systemExtensions": {
                    "officialExtensions": [
                        "siderolabs/nvidia-container-toolkit-production",
                        "siderolabs/nvidia-open-gpu-kernel-modules-production",
                    ]
                },
            }
        },
        "1860bf655911a8b92cf9a7304dddb595c82812c5a057e14e8f03d0ba436f00ec",
    ),
    "arguments that read as numbers": (
        _arguments("10", "0x1f", "1e5", "010", ".5", "1_000"),
        "1b102eb12eaa5f46aff9bec4135f8fe4511314d735e97200b904ac9bdb55d11f",
    ),
    "arguments that read as words": (
        _arguments("true", "no", "Off", "null", "~", ""),
        "a7723dbf1bd74350ba30f8f4c4066eca28a76ade8b96caaeee95a545a54e4fa6",
    ),
    "arguments that read as times": (
        _arguments("2020-01-02", "12:30", "2020-01-02T10:11:12Z"),
        "809b45dab2bb2a296e52d07a58c3b1414f23181a5ea7f404e001310742f76e79",
    ),
    "arguments with quotes and colons": (
        _arguments(
            *("a: b", "it's", 'say "so"', "#none", "a #b", "a:b", ":", "- a"),
            *("[x]", "{x}", "*a", "&a", "!a", "%a", "@a"),
        ),
        "eaf48dfdb0fa46e214aa1d3e5c0bce0811ffaea1ba2fe64d227dde211e66cc14",
    ),
    "arguments with blanks": (
        _arguments(" a", "a ", "\ta", "a\tb"),
        "5346c2cf0e7d332b0e402210ba7005e3793ba254809748b3c8062e5110230356",
    ),
    "arguments with other letters": (
        _arguments("é", "日本", "\U0001f600", "\u00a0", "\u0007"),
        "6d893ebec920d6b0d6958eb774d2d3dd3d1f79eab09574e86cce255a3160ead8",
    ),
    "META values of several lines": (
        {
            "customization": {
                "meta": [
                    {"key": 10, "value": "a: 1\nb:\n  - c\n"},
                    {"key": 12, "value": " indented\nlines"},
                    {"key": 255, "value": "kept\n\n"},
                ]
            }
        },
        "d506208caa52d1b177c199397c378bb515fc8e026326f79143f30b69a8a46ed1",
    ),
    "a machine configuration": (
        {
            "customization": {
                "embeddedMachineConfiguration": (
                    "version: v1alpha1\nmachine:\n    type: worker\n\nend \nx"
                )
            }
        },
        "41380d81c10dd1033971fd40dd4f4a40a9acdac522891003230ffe0287b55e9c",
    ),
    "an overlay with options": (
        {
            "overlay": {
                "image": "siderolabs/sbc-raspberrypi",
                "name": "rpi_generic",
                "options": {
                    "configTxtAppend": "gpio=1\ndtparam=audio=on",
                    "b10": 1,
                    "b9": 2,
                    "B": [1, [2, {"x": None}], {}],
                    "a": {"z": 1.5, "y": 1e6, "x": 1e-7, "w": True},
                },
            },
            "customization": {},
        },
        "4871b84c1d0e902c9ad4e8ca375279e94392337a72382fa9fd0828381428a28e",
    ),
    "an overlay without a name": (
        {"overlay": {"image": "siderolabs/sbc-rockchip"}, "customization": None},
        "5368e60cc4bce4f94fc7c47c9080595eaf2eadbbb6e2ed8ac6728c151b1954ce",
    ),
    "a bootloader": (
        {"customization": {"bootloader": "SD-boot"}},
        "9ed5fecdacb36b5c5427b87d409f1065cfb2df69b0f71c58b868d9d466d8dab3",
    ),
    "a bootloader that is none": ({"customization": {"bootloader": "none"}}, EMPTY_ID),
    "keys enrolled by force": (
        {
            "customization": {
                "secureboot": {"enrollKeys": "force", "includeWellKnownCertificates": True}
            }
        },
        "51e6baa0e88e8c3517231638007ba433f3fdde58a21c303221928f4cd7796036",
    ),
    "keys never enrolled": (
        {"customization": {"secureboot": {"enrollKeys": "off"}}},
        "27e859ebfe0bd0bb6c9a53595770359cbafaa9fc7ef0059c046435c91e0db8c4",
    ),
    "everything": (
        {
            "overlay": {"image": "i", "name": "n"},
            "customization": {
                "diskImage": {"sectorSize": 4096},
                "secureboot": {"includeWellKnownCertificates": True},
                "bootloader": "dual-boot",
                "systemExtensions": {"officialExtensions": ["siderolabs/iscsi-tools"]},
                "meta": [{"key": 10, "value": "{}"}],
                "extraKernelArgs": ["net.ifnames=0"],
                "embeddedMachineConfiguration": "a",
            },
        },
        "93866a6ac09c2f4cafb35f0d52581204222b986021cfa87a65a82c68b7a1722e",
    ),
    "empty members": (
        {
            "customization": {
                "extraKernelArgs": [],
                "meta": None,
                "systemExtensions": {},
                "secureboot": {"includeWellKnownCertificates": False},
                "diskImage": {"sectorSize": 0},
            }
        },
        EMPTY_ID,
    ),
}

REFUSED: dict[str, Document] = {
    "an unknown key": {"customisation": {}},
    "an unknown key inside": {"customization": {"extraKernelArguments": []}},
    "an unknown key of an overlay": {"overlay": {"images": "x"}, "customization": {}},
    "a text for a mapping": {"customization": "x"},
    "a list for a mapping": {"customization": {"secureboot": ["x"]}},
    "a mapping for a list": {"customization": {"meta": {"key": 10, "value": "x"}}},
    "a mapping in a list of texts": {"customization": {"extraKernelArgs": [{"a": "b"}]}},
    "a META key too large": {"customization": {"meta": [{"key": 256, "value": "x"}]}},
    "a META key below zero": {"customization": {"meta": [{"key": -1, "value": "x"}]}},
    "a META key that is a word": {"customization": {"meta": [{"key": "ten", "value": "x"}]}},
    "a bootloader nobody knows": {"customization": {"bootloader": "lilo"}},
    "a text for a flag": {
        "customization": {"secureboot": {"includeWellKnownCertificates": "perhaps"}}
    },
    "a sector size below zero": {"customization": {"diskImage": {"sectorSize": -512}}},
    "options that are a list": {
        "overlay": {"image": "i", "name": "n", "options": ["x"]},
        "customization": {},
    },
}
"""What the Image Factory refuses too."""
