"""One connection: requests are read one after another, and answered in their order."""

from __future__ import annotations

from collections.abc import Awaitable
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from stockman_lab.http import refusals
from stockman_lab.http.line import Line
from stockman_lab.http.messages import Cut, Hang, Outcome, Request, Response, Stream
from stockman_lab.http.reading import Reader
from stockman_lab.http.streaming import Pump
from stockman_lab.http.writing import Manner, encoding_of, rendered

if TYPE_CHECKING:
    import ssl

    from stockman_lab.http.messages import Handler
    from stockman_lab.http.multipart import Spool
    from stockman_lab.http.rules import Cancellable, ServerRules, Timers

_LARGEST_QUEUE = 64 * 1024
"""How much a client may send ahead while it waits for an answer."""


class Phase(Enum):
    """What a connection is doing."""

    HEAD = auto()
    """Waits for a request, or for the rest of its head."""
    BODY = auto()
    """Reads a body."""
    BUSY = auto()
    """An answer is being made."""
    HUNG = auto()
    """An answer will never come."""
    OVER = auto()
    """Whatever comes is neither read nor answered."""


class Hosting(Protocol):
    """A server as its connections see it."""

    house: ServerRules
    handler: Handler
    timers: Timers

    @property
    def context(self) -> ssl.SSLContext | None:
        """How it speaks TLS. None: not at all."""
        ...

    def arrived(self, connection: Connection) -> None:
        """A client came."""
        ...

    def gone(self, connection: Connection) -> None:
        """A client left."""
        ...

    def wait_for(self, connection: Connection, answer: Awaitable[Outcome]) -> None:
        """Let a connection know what becomes of a request."""
        ...

    def streams(self, connection: Connection, pump: Pump) -> None:
        """Let a connection send a body piece by piece."""
        ...

    def date(self) -> str:
        """The time of the lab, as headers spell it."""
        ...


class Connection(Line):
    """Reads requests, hands them to the handler, and does what it decides."""

    __slots__ = (
        "_alarm",
        "_body",
        "_body_size",
        "_phase",
        "_pump",
        "_queue",
        "_reader",
        "_remaining",
        "_request",
        "_server",
        "_spool",
    )

    def __init__(self, server: Hosting) -> None:
        super().__init__(server.context, server.timers, server.house.silence)
        self._server = server
        self._phase = Phase.HEAD
        self._reader = Reader()
        self._remaining = server.house.requests
        self._request: Request | None = None
        self._body: list[bytes] = []
        self._body_size = 0
        self._queue = b""
        self._spool: Spool | None = None
        self._pump: Pump | None = None
        self._alarm: Cancellable | None = None

    def settle(self, outcome: Outcome) -> None:
        """Do what a handler decided after a while, and go on."""
        try:
            self._carry_out(outcome)
            self._advance()
        except Exception:
            self.abort()
            raise

    # --- what the line tells ----------------------------------------------------------------------

    def arrived(self) -> None:
        self._server.arrived(self)

    def ended(self) -> None:
        if self._pump is not None:
            self.abort()  # nobody is there who would read on

    def pause_writing(self) -> None:
        if self._pump is not None:
            self._pump.hold()
            patience = self._server.house.patience
            if patience is not None and self._alarm is None:
                self._alarm = self._server.timers.call_later(patience, self._give_up)

    def resume_writing(self) -> None:
        self._be_patient()
        if self._pump is not None:
            self._pump.go_on()

    def _be_patient(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _give_up(self) -> None:
        """Break off with a client that does not read."""
        self._phase = Phase.OVER
        self.abort()

    def gone(self) -> None:
        self._be_patient()
        if self._pump is not None:
            self._pump.stop()
        self._forget_upload()
        self._server.gone(self)

    def is_at_work(self) -> bool:
        return self._phase is Phase.BUSY or (self._phase is Phase.HUNG and not self.has_ended)

    def heard(self, data: bytes) -> None:
        phase = self._phase
        if phase in (Phase.HEAD, Phase.BODY):
            self._reader.feed(data)
            self._advance()
        elif phase is not Phase.OVER:
            self._queue += data
            if len(self._queue) > _LARGEST_QUEUE:
                self.pause()

    # --- reading ----------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Read and answer for as long as something is there to be read."""
        moves = True
        while moves:
            if self._phase is Phase.HEAD:
                moves = self._read_head()
            elif self._phase is Phase.BODY:
                moves = self._read_body()
            else:
                return
        if self.has_ended:
            self.end()

    def _read_head(self) -> bool:
        read = self._reader.head(self.peer, secure=self.is_secure)
        if type(read) is Request:
            self._remaining -= 1
            self._request = read
            if self._server.house.asks_for_certificates:
                read.certificate = self.peer_certificate
            self._judge(read)
        elif type(read) is Response:
            self._request = None
            self._answer(read)
        else:
            return False
        return True

    def _judge(self, request: Request) -> None:
        """Refuse a request by its head, or go on to its body."""
        house = self._server.house
        by_head = refusals.by_head(request, house)
        if by_head is not None:
            self._answer(by_head)
        elif self._server.context is not None and not request.secure:
            self._answer(refusals.insecure(request, house))
        elif int(request.headers.get("content-length", "0")) == 0:
            self._phase = Phase.BODY
        elif (admission := house.admit(request)) is not None:
            self._carry_out(admission)
        else:
            self._expect_body(request)

    def _expect_body(self, request: Request) -> None:
        house = self._server.house
        by_body = refusals.by_body(request, house)
        if by_body is not None:
            self._answer(by_body)
            return
        self._phase = Phase.BODY
        if house.says_continue and request.headers.get("expect", "").lower() == "100-continue":
            self.say(b"HTTP/1.1 100 Continue\r\n\r\n")
        if house.is_upload(request):
            kind, boundary = refusals.content_type(request.headers.get("content-type", ""))
            if kind == "multipart/form-data" and boundary:
                from stockman_lab.http.multipart import Spool

                self._remaining = 0
                self._spool = Spool(boundary, house.spool)
            else:
                self._phase = Phase.OVER

    def _read_body(self) -> bool:
        read = self._reader.body()
        request = self._request
        if read is None or request is None:
            return False
        if type(read) is Response:
            self._answer(read)
        elif type(read) is bytes:
            if self._spool is not None:
                self._read_upload(request, self._spool, read)
            elif read:
                self._take_piece(read)
            else:
                if self._body:
                    request.body = b"".join(self._body)
                    self._body.clear()
                    self._body_size = 0
                self._carry_out(self._server.handler(request))
        return True

    def _take_piece(self, piece: bytes) -> None:
        """Keep a piece of a body; one in chunks may turn out too large."""
        self._body.append(piece)
        self._body_size += len(piece)
        if self._body_size > self._server.house.body_bytes:
            oversized = self._server.house.oversized
            refusal = refusals.refusal(413, "Request Entity Too Large")
            self._answer(refusal if oversized is None else oversized())

    def _read_upload(self, request: Request, spool: Spool, data: bytes) -> None:
        if flaw := spool.take(data):
            self._answer(refusals.refusal(500, flaw))
            return
        if spool.is_complete:
            request.upload = spool.finished()
            self._carry_out(self._server.handler(request))

    # --- answering --------------------------------------------------------------------------------

    def _carry_out(self, outcome: Outcome | Awaitable[Outcome]) -> None:
        if type(outcome) is Response:
            self._answer(outcome)
        elif isinstance(outcome, Hang):
            self._phase = Phase.HUNG
        elif isinstance(outcome, Cut):
            self._phase = Phase.OVER
            self.cut(self._bytes_of(outcome.response, keeps_alive=True)[: outcome.after])
        elif isinstance(outcome, Stream):
            self._stream(outcome)
        elif isinstance(outcome, Awaitable):
            self._phase = Phase.BUSY
            self._server.wait_for(self, outcome)
        else:
            raise TypeError(f"{type(outcome).__name__} is no outcome of a request")

    def _stream(self, outcome: Stream) -> None:
        """Send the head now, and the body as it comes."""
        self._phase = Phase.BUSY
        response = outcome.response
        response.headers = {**response.headers, "Transfer-Encoding": "chunked"}
        self.say(self._bytes_of(response, keeps_alive=self._stays(response)))
        self._pump = Pump(outcome, self.say)
        self._server.streams(self, self._pump)

    def streamed(self, stream: Stream) -> None:
        """A body has been sent to its end."""
        self._pump = None
        if stream.is_cut:
            self._phase = Phase.OVER
            self.abort()
            return
        self._go_on(keeps_alive=self._stays(stream.response))
        self._advance()

    def _stays(self, response: Response) -> bool:
        return (
            (response.status < 400 or self._server.house.stays_after_errors)
            and self._remaining > 0
            and not response.close
            and self._request is not None
            and _wants_more(self._request)
        )

    def _answer(self, response: Response) -> None:
        keeps_alive = self._stays(response)
        self.touch()
        self.say(self._bytes_of(response, keeps_alive=keeps_alive))
        self._go_on(keeps_alive=keeps_alive)

    def _go_on(self, *, keeps_alive: bool) -> None:
        if self._spool is not None:
            self._forget_upload()
        if keeps_alive:
            self._phase = Phase.HEAD
            self._reader.next_request(self._queue)
            if self._queue:
                self._queue = b""
                self.resume()
        else:
            self._phase = Phase.OVER
            self.end(is_read=self._reader.is_drained and not self._queue)

    def _bytes_of(self, response: Response, *, keeps_alive: bool) -> bytes:
        server, request = self._server, self._request
        house = server.house
        if request is None:
            return (house.render or rendered)(
                response, Manner("1.0", False, "", server.date(), house.server)
            )
        encoding = ""
        if house.compress_above is not None and len(response.body) > house.compress_above:
            encoding = encoding_of(request.headers.get("accept-encoding", ""))
        return (house.render or rendered)(
            response,
            Manner(
                request.version,
                keeps_alive,
                encoding,
                server.date(),
                house.server,
                request.method == "HEAD",
            ),
        )

    def _forget_upload(self) -> None:
        # A handler that is still at work may read the file even though the client has left.
        if self._spool is not None and self._phase is not Phase.BUSY:
            self._spool.remove()
            self._spool = None


def _wants_more(request: Request) -> bool:
    connection = request.headers.get("connection", "")
    return "close" not in connection.lower() if connection else request.version != "1.0"
