#!/usr/bin/env python3
"""What comes in over each kind of wire and is no decent request: slow, endless, oversized, cut off, all at once. The same for
the Unix socket, TCP and TLS. Usage: wires_test.py ROTA"""
import json
import os
import select
import socket
import ssl
import sys
import unittest

from network import NetworkCase
from service import PATIENCE, ServiceCase

MIB = 1 << 20


class Wires:
    """The tests; each class below has them for one kind of wire."""

    def setUp(self):
        super().setUp()
        self.head = self.shown()

    def request(self, method, path, *lines, body=b""):
        text = "".join(line + "\r\n" for line in (f"{method} {path} HTTP/1.1", "Host: rota", *self.head, *lines))
        return text.encode() + b"\r\n" + body

    def answer(self, wire, text=None):
        """The next answer: its status and its body."""
        text = b"" if text is None else text
        while b"\r\n\r\n" not in text:
            piece = wire.recv(65536)
            self.assertTrue(piece, text)
            text += piece
        header, _, body = text.partition(b"\r\n\r\n")
        lines = dict(line.lower().split(b": ", 1) for line in header.split(b"\r\n")[1:])
        length = int(lines.get(b"content-length", b"0"))
        while len(body) < length:
            body += wire.recv(65536)
        return int(header.split()[1]), body[:length], body[length:]

    def closed(self, wire):
        """Whether the service has ended the connection, or does so within a moment."""
        try:
            return bool(select.select([wire], [], [], 0.2)[0]) and not wire.recv(65536)
        except (ConnectionError, ssl.SSLError):
            return True

    def well(self):
        with self.wire() as wire:
            wire.sendall(self.request("GET", "/healthz"))
            self.assertEqual(self.answer(wire)[0], 200)

    def test_several_requests_at_once_are_answered_in_order(self):
        with self.wire() as wire:
            wire.sendall(self.request("GET", "/v1/policy") + self.request("GET", "/nowhere") + self.request("GET", "/healthz"))
            rest = None
            for wanted, said in ((200, b"easy"), (404, b"nothing at"), (200, b"ok")):
                status, body, rest = self.answer(wire, rest)
                self.assertEqual(status, wanted)
                self.assertIn(said, body)

    def test_a_head_has_no_body_and_does_not_stream(self):
        with self.wire() as wire:
            for path, kind in (("/v1/policy", b"application/json"), ("/v1/events", b"text/event-stream")):
                wire.sendall(self.request("HEAD", path))
                text = b""
                while b"\r\n\r\n" not in text:
                    text += wire.recv(65536)
                self.assertIn(b" 200 ", text)
                self.assertIn(kind, text)
                self.assertTrue(text.endswith(b"\r\n\r\n"), text)
            wire.sendall(self.request("GET", "/metrics"))
            status, body, _ = self.answer(wire)
            self.assertEqual((status, b"\nrota_followers 0\n" in body), (200, True), "nobody follows who has only asked for the header")
            wire.sendall(self.request("GET", "/healthz"))
            self.assertEqual(self.answer(wire)[:2], (200, b"ok\n"))

    def test_events_come_as_they_happen(self):
        with self.wire() as wire:
            wire.sendall(self.request("GET", "/v1/events"))
            text = wire.recv(65536)
            while b": from" not in text:
                text += wire.recv(65536)
            self.service.submit("true")
            while b"event: finished" not in text:
                piece = wire.recv(65536)
                self.assertTrue(piece, text)
                text += piece
        self.well()

    def test_a_client_that_sends_no_more_is_answered(self):
        if getattr(self, "tls", False):
            self.skipTest("TLS is closed on both sides at once")
        with self.wire() as wire:
            wire.sendall(self.request("GET", "/healthz"))
            wire.shutdown(socket.SHUT_WR)
            self.assertEqual(self.answer(wire)[:2], (200, b"ok\n"))
            self.assertEqual(wire.recv(10), b"")

    def test_a_large_header_is_refused(self):
        for lines in (["X: " + "y" * 100_000], [f"X-{n}: y" for n in range(10_000)]):
            with self.wire() as wire:
                wire.sendall(self.request("GET", "/healthz", *lines))
                self.assertEqual(self.answer(wire)[0], 431)
        self.well()

    def test_large_bodies_say_their_length_beforehand(self):
        job = {"script": "#!/bin/sh\n#" + "x" * (3 * MIB), "folder": self.folder, "environment": ["PATH=/bin"]}
        body = json.dumps(job).encode()
        with self.wire() as wire:
            wire.sendall(self.request("POST", "/v1/jobs", f"Content-Length: {len(body)}", body=body))
            self.assertEqual(self.answer(wire)[0], 201)
        for lines, sent in (([f"Content-Length: {17 * MIB}"], b"x" * (17 * MIB)),
                            (["Transfer-Encoding: chunked"], b"100000\r\n" + b"x" * MIB + b"\r\n1\r\nx\r\n0\r\n\r\n"),
                            (["Transfer-Encoding: chunked"], b"ffffffffffff\r\n" + b"x" * (2 * MIB))):
            with self.wire() as wire:
                try:
                    wire.sendall(self.request("POST", "/v1/jobs", *lines, body=sent))
                except (ConnectionError, ssl.SSLError):
                    pass  # it hears no more of it; what it said is there all the same
                self.assertEqual(self.answer(wire)[0], 413, lines)
        self.well()

    def test_a_body_is_asked_for(self):
        with self.wire() as wire:
            wire.sendall(self.request("POST", "/v1/jobs", "Content-Length: 4", "Expect: 100-continue"))
            text = wire.recv(65536)
            self.assertTrue(text.startswith(b"HTTP/1.1 100 "), text)
            wire.sendall(b"null")
            self.assertEqual(self.answer(wire)[0], 400)
        with self.wire() as wire:
            wire.sendall(self.request("POST", "/v1/jobs", f"Content-Length: {64 * MIB}", "Expect: 100-continue"))
            self.assertEqual(self.answer(wire)[0], 413)

    def test_bombs_of_chunks_go_off_nowhere(self):
        for sent in (b"zz\r\n", b"-1\r\n", b"1;" + b"x" * (4 * MIB), b"1\r\nxyz\r\n0\r\n\r\n", b"0\r\n" + b"X: y\r\n" * 500_000):
            with self.wire() as wire:
                try:
                    wire.sendall(self.request("POST", "/v1/jobs", "Transfer-Encoding: chunked", body=sent))
                except (ConnectionError, ssl.SSLError):
                    pass
                self.assertIn(self.answer(wire)[0], (400, 413, 431), sent[:20])
        self.well()

    def test_what_makes_no_sense_is_told_so(self):
        for text in (b"nonsense\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\nHost: r\r\n\r\n",
                     self.request("POST", "/v1/jobs", "Content-Length: 4", "Content-Length: 5"),
                     self.request("POST", "/v1/jobs", "Content-Length: x"), self.request("GET", "/v1/jobs%zz"),
                     self.request("GET", "/\x00"), self.request("GET", "/healthz", "Host: other"),
                     self.request("POST", "/v1/jobs", "Transfer-Encoding: xchunked", "Content-Length: 4")):
            with self.wire() as wire:
                wire.sendall(text)
                self.assertEqual(self.answer(wire)[0], 400, text[:60])

    def test_what_is_cut_off_holds_nothing(self):
        for text in (b"", b"GET", self.request("GET", "/")[:-2], self.request("POST", "/v1/jobs", "Content-Length: 9") + b"[",
                     self.request("POST", "/v1/jobs", f"Content-Length: {2 * MIB}") + b"["):
            for _ in range(20):
                with self.wire() as wire:
                    wire.sendall(text)
        self.well()

    def test_only_so_many_large_bodies_are_taken_at_a_time(self):
        wires = []
        for _ in range(2):
            wire = self.wire()
            wires.append(wire)
            wire.sendall(self.request("POST", "/v1/jobs", f"Content-Length: {2 * MIB}", "Expect: 100-continue"))
            self.assertIn(b" 100 ", wire.recv(1000))
        with self.wire() as wire:
            wire.sendall(self.request("POST", "/v1/jobs", f"Content-Length: {2 * MIB}"))
            status, body, _ = self.answer(wire)
            self.assertEqual(status, 503)
            self.assertIn(b"large requests", body)
        for wire in wires:
            wire.sendall(b" " * (2 * MIB))
            self.assertEqual(self.answer(wire)[0], 400)
            wire.close()

    def test_a_client_without_a_token_sends_no_body(self):
        if not self.head:
            self.skipTest("at the Unix socket the kernel says who asks")
        known, self.head = self.head, []
        for lines in ([f"Content-Length: {2 * MIB}"], ["Content-Length: 1"], ["Transfer-Encoding: chunked"]):
            for method in ("GET", "HEAD"):
                with self.wire() as wire:
                    wire.sendall(self.request(method, "/", *lines, "Expect: 100-continue"))
                    text = b""
                    while b"\r\n\r\n" not in text:
                        text += wire.recv(65536)
                    self.assertTrue(text.startswith(b"HTTP/1.1 400 "), text)
        with self.wire() as wire:
            wire.sendall(self.request("GET", "/", "Content-Length: 0"))
            self.assertEqual(self.answer(wire)[0], 200)
        self.head = known
        with self.wire() as wire:  # none of them holds what large requests need
            wire.sendall(self.request("POST", "/v1/jobs", f"Content-Length: {2 * MIB}", body=b" " * (2 * MIB)))
            self.assertEqual(self.answer(wire)[0], 400)

    def test_one_peer_has_so_many_connections_and_no_more(self):
        if self.unbounded():
            self.skipTest("an operator at the Unix socket is not bounded")
        wires = [self.wire() for _ in range(256)]
        for wire in wires:
            wire.sendall(self.request("GET", "/healthz"))
            self.assertEqual(self.answer(wire)[0], 200)
        with self.wire() as wire:
            wire.sendall(self.request("GET", "/healthz"))
            self.assertEqual(self.answer(wire)[0], 503)
            self.service.wait_for(lambda: self.closed(wire), "the end of a connection too many")
        for wire in wires:
            wire.close()
        self.service.wait_for(lambda: not self.refused(), "room for another connection")

    def test_silent_clients_keep_no_other_out(self):
        if self.unbounded():
            self.skipTest("at the Unix socket the kernel says who asks")
        silent = [socket.create_connection(("127.0.0.1", self.port), PATIENCE) for _ in range(300)]
        self.well()
        self.service.wait_for(lambda: self.closed(silent[0]), "the end of the oldest")
        for stream in silent:
            stream.close()

    def refused(self):
        try:
            self.well()
        except (ConnectionError, ssl.SSLError, AssertionError):
            return True
        return False


class Unix(Wires, ServiceCase):
    configuration = NetworkCase.machine

    def shown(self):
        return []

    def wire(self):
        wire = socket.socket(socket.AF_UNIX)
        wire.settimeout(PATIENCE)
        wire.connect(self.service.socket)
        return wire

    def unbounded(self):
        return True


class Tcp(Wires, NetworkCase):
    tls = False

    def shown(self):
        return [f"Authorization: Bearer {self.token('--operator')}"]

    def unbounded(self):
        return False


class Tls(Tcp):
    tls = True

    def bare(self):
        """One that never agrees on anything."""
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def test_a_slow_client_is_let_go_and_holds_up_no_other(self):
        """By TLS and at the Unix socket at once: it takes as long as the limits are."""
        slow = [(self.bare(), b"", b"")]
        for kind in (self.wire, lambda: Unix.wire(self)):
            for text, more in ((b"", b""), (self.request("GET", "/healthz")[:-2], b"X"),
                               (self.request("POST", "/v1/jobs", "Content-Length: 1000000"), b"x"),
                               (self.request("POST", "/v1/jobs", f"Content-Length: {2 * MIB}"), b"x"),
                               (self.request("POST", "/v1/jobs", "Transfer-Encoding: chunked"), b"1\r\nx\r\n")):
                slow.append((kind(), text, more))
        for wire, text, _ in slow:
            wire.sendall(text)
        while slow:
            self.well()
            left = []
            for wire, text, more in slow:
                try:
                    if not self.closed(wire):
                        wire.sendall(more)  # a byte now and then
                        left.append((wire, text, more))
                        continue
                except (ConnectionError, ssl.SSLError):
                    pass
                wire.close()
            slow = left


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
