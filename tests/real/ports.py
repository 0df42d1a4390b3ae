"""Ports for servers of other programs, which cannot be told to take any that is free."""

from __future__ import annotations

import socket

_ADDRESS = "127.0.0.1"


def free_port() -> int:
    """A port that the kernel gives to nobody for a minute, except to a server that asks for it.

    It is that of a connection which this side closed first: whoever lets the kernel choose, as
    clients do, is not given such a port, and servers take it all the same.
    """
    with socket.create_server((_ADDRESS, 0)) as listener:
        port: int = listener.getsockname()[1]
        with socket.create_connection((_ADDRESS, port)) as connection:
            accepted, _ = listener.accept()
            accepted.close()
            connection.recv(1)
    return port
