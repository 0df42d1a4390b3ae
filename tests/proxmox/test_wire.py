"""Requests as they are written to a wire."""

from stockman.model.secret import Secret
from stockman.proxmox.transport import Request


def test_values_become_texts_and_what_is_not_given_is_left_out() -> None:
    request = Request(
        method="POST",
        segments=("x",),
        parameters={
            "yes": True,
            "no": False,
            "number": 7,
            "share": 0.5,
            "many": ("a", "b"),
            "none": None,
            "empty": "",
            "secret": Secret("s3cret"),
        },
    )

    assert request.pairs == [
        ("yes", "1"),
        ("no", "0"),
        ("number", "7"),
        ("share", "0.5"),
        ("many", "a"),
        ("many", "b"),
        ("empty", ""),
        ("secret", "s3cret"),
    ]
    assert request.secrets == ("s3cret",)
    assert "s3cret" not in repr(request)
    assert request.shown == "POST /x"
