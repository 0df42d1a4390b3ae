"""Names of files that the factory makes."""

import pytest
from stockman_lab.factory.names import Asset, AssetKind, asset
from stockman_lab.factory.refusals import FactoryRefusal


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (
            "cmdline-nocloud-amd64-secureboot",
            Asset(
                kind=AssetKind.COMMAND_LINE,
                platform="nocloud",
                architecture="amd64",
                secure_boot=True,
            ),
        ),
        ("metal-amd64.iso", Asset(kind=AssetKind.ISO, architecture="amd64")),
        (
            "nocloud-amd64.raw.xz",
            Asset(
                kind=AssetKind.DISK,
                platform="nocloud",
                architecture="amd64",
                form="raw",
                compression="xz",
            ),
        ),
        ("metal-amd64.qcow2", Asset(kind=AssetKind.DISK, architecture="amd64", form="qcow2")),
        (
            "digital-ocean-amd64.raw.gz",
            Asset(
                kind=AssetKind.DISK,
                platform="digital-ocean",
                architecture="amd64",
                form="raw",
                compression="gz",
            ),
        ),
    ],
)
def test_a_name_says_what_a_file_is(name: str, wanted: Asset) -> None:
    assert asset(name) == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nocloud-amd64", 'invalid profile path: "nocloud-amd64"'),
        ("nocloud-amd64.xz", 'invalid profile path: "nocloud-amd64"'),
        ("nocloud-sparc.iso", 'invalid architecture: "sparc"'),
        ("nocloud.iso", 'invalid platform-arch: "nocloud"'),
    ],
)
def test_other_names_are_refused_in_the_words_of_the_factory(name: str, text: str) -> None:
    with pytest.raises(FactoryRefusal) as caught:
        asset(name)

    assert (caught.value.status, caught.value.text) == (
        400,
        f"error parsing profile from path: {text}",
    )
