"""Forms with a file in them, spelled out."""

BOUNDARY = "xyzzy-boundary"


def field(name: str, value: str) -> bytes:
    return (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    )


def file(content: bytes, name: str = "a.iso", label: str = "filename") -> bytes:
    head = (
        f"--{BOUNDARY}\r\n"
        f'Content-Disposition: form-data; name="{label}"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode() + content + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()
