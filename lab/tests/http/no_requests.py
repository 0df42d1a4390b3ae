"""Bytes that are no request to a server written in Go, by what is odd about them."""

HOST = b"Host: lab\r\n"
_LENGTHS = b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n"
NO_REQUESTS = {
    "no version": b"GET /\r\n\r\n",
    "not even text": b"\x00\x01\x02\r\n\r\n",
    "no host": b"GET /version HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "a version to come": b"GET / HTTP/3.0\r\nHost: lab\r\n\r\n",
    "a version of old": b"GET / HTTP/0.9\r\nHost: lab\r\n\r\n",
    "a version that is none": b"GET / HTTP/x\r\nHost: lab\r\n\r\n",
    "a header without a colon": b"GET /version HTTP/1.1\r\n" + HOST + b"no colon here\r\n\r\n",
    "a header with a blank": b"GET /version HTTP/1.1\r\n" + HOST + b"Bad Header: y\r\n\r\n",
    "a header with a zero": b"GET /version HTTP/1.1\r\n" + HOST + b"A: b\x00c\r\n\r\n",
    "a length that is no number": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n",
    "a length below zero": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\n" + HOST + _LENGTHS,
    "an unknown encoding": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\n",
    "a head without an end": b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"x" * (1100 << 10),
    "a long path": b"GET /" + b"x" * (1100 << 10) + b" HTTP/1.1\r\n",
    "a method that is no word": b"G@T / HTTP/1.1\r\n" + HOST + b"\r\n",
    "half an escape": b"GET /%zz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a zero in the path": b"GET /a\x00b HTTP/1.1\r\n" + HOST + b"\r\n",
}
