"""Where buckets are."""

from __future__ import annotations

import pytest

from stockman.model.errors import Refused
from stockman.s3.location import S3Location, validate_location

LOCAL = "http://127.0.0.1:9000"


@pytest.mark.parametrize(
    ("place", "url"),
    [
        (S3Location(bucket="flock"), "https://s3.us-east-1.amazonaws.com/flock/a"),
        (S3Location(bucket="flock", region="eu-central-1"), "https://s3.eu-central-1.amazonaws.com/flock/a"),
        (
            S3Location(bucket="flock", region="eu-central-1", path_style=False),
            "https://flock.s3.eu-central-1.amazonaws.com/a",
        ),
        (S3Location(bucket="flock", endpoint=f"{LOCAL}/"), f"{LOCAL}/flock/a"),
        (
            S3Location(bucket="flock", endpoint="https://s3.test:8443", path_style=False),
            "https://flock.s3.test:8443/a",
        ),
        (S3Location(bucket="flock", endpoint=LOCAL, prefix="/herd/"), f"{LOCAL}/flock/herd/a"),
    ],
)  # fmt: skip
def test_an_object_has_a_url(place: S3Location, url: str) -> None:
    assert validate_location(place).object_url(place.full_key("a")) == url


def test_a_key_is_encoded_in_a_url() -> None:
    assert (
        S3Location(bucket="flock", endpoint=LOCAL).object_url("a+b=c") == f"{LOCAL}/flock/a%2Bb%3Dc"
    )


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://10.42.0.5:9000",
        "http://s3.test",
        "ftp://127.0.0.1",
        "https://",
        "https://user:pw@s3.test",
        "https://s3.test?a=b",
        "https://s3.test:port",
        "s3.test",
    ],
)
def test_what_is_no_safe_endpoint_is_refused_and_shows_no_credentials(endpoint: str) -> None:
    with pytest.raises(Refused, match=r"objects\.address") as caught:
        validate_location(S3Location(bucket="flock", endpoint=endpoint))
    assert "user:pw" not in str(caught.value.problem)


def test_plain_http_is_fine_for_who_says_so() -> None:
    s3_location = S3Location(bucket="flock", endpoint="http://10.42.0.5:9000", plain_http=True)
    assert validate_location(s3_location).is_plain


@pytest.mark.parametrize("bucket", ["", "a", "UPPER", "a/b", "a..b", "a_b", "a" * 64])
def test_what_is_no_bucket_is_refused(bucket: str) -> None:
    with pytest.raises(Refused, match=r"objects\.address"):
        validate_location(S3Location(bucket=bucket, endpoint=LOCAL))


def test_a_prefix_is_a_folder_of_its_own() -> None:
    s3_location = S3Location(bucket="flock", endpoint=LOCAL, prefix="herd/one")
    assert s3_location.full_folder("") == "herd/one/"
    assert s3_location.full_folder("a") == "herd/one/a/"
    assert s3_location.own_key("herd/one/a") == "a"
    assert s3_location.own_key("herd/onemore") is None
    with pytest.raises(Refused, match=r"objects\.key"):
        validate_location(S3Location(bucket="flock", endpoint=LOCAL, prefix="../other"))
