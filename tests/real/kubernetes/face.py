"""Discovery of the lab before a real server, on a port of loopback, for kubectl to look at."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from stockman_lab.kube.discovery.discovery import Discovery, Reply

from tests.real.rendered.api_server import ApiServer


@contextmanager
def served(discovery: Discovery, behind: ApiServer) -> Iterator[str]:
    """The address while it is served; what is not discovery is asked of the server behind."""

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            asked = urlsplit(self.path)
            query = parse_qs(asked.query, keep_blank_values=True)
            accept = self.headers.get("Accept", "")
            reply = discovery.reply(asked.path, query, accept)
            if reply is None or self.command != "GET":
                reply = self.forwarded(accept)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_one  # noqa: N815

        def forwarded(self, accept: str) -> Reply:
            length = int(self.headers.get("Content-Length", "0"))
            body = self.rfile.read(length) if length else None
            kind = self.headers.get("Content-Type", "application/json")
            told = behind.sent(self.command, self.path, body, accept, kind)
            return Reply(told.status, told.headers["Content-Type"], told.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
