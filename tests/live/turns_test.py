#!/usr/bin/env python3
"""A client that asks much at a time keeps no other waiting: turns, over however many connections they come.

Usage: turns_test.py ROTA"""
import json
import os
import select
import signal
import sys
import time
import unittest

from network import NetworkCase
from service import PATIENCE, ServiceCase, named_users

JOBS = 9000
OFTEN = 10  # that this test has no turn for as long as all of Ann's requests take happens now and then
LONG = "/v1/plan?limit=1000"  # takes some milliseconds, or a tenth of a second in a build that looks at itself


@unittest.skipUnless(os.geteuid() == 0 and len(named_users()) == 2, "it takes root to make tokens for others, and others")
class Turns(NetworkCase):
    """Ann and Ben ask from one address, Ann very much."""
    tls = False

    def setUp(self):
        super().setUp()
        self.ann, self.ben = (self.token("--user", user.pw_name) for user in named_users())
        self.blocking = self.service.submit("sleep 10000", processors=4)
        many = {"command": ["true"], "folder": "/", "limit": 60, "array": f"1-{JOBS}"}
        self.assertEqual(self.ask("POST", "/v1/jobs", self.ann, many)[0], 201)
        began = time.monotonic()
        for _ in range(3):
            self.assertEqual(self.ask("GET", LONG, self.ann)[0], 200)
        self.many = max(40, min(200, int(6 / (time.monotonic() - began))))  # two seconds of them, over a connection each

    def send(self, wire, token, method, path, body=b""):
        wire.sendall(f"{method} {path} HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
                     .encode() + body)
        return wire

    def connected(self, token, count):
        """Connections that have been answered once."""
        wires = [self.send(self.wire(), token, "HEAD", "/v1/policy") for _ in range(count)]
        for wire in wires:
            self.addCleanup(wire.close)
            self.assertEqual(self.begin_of_answer(wire), 200)
        return wires

    def begin_of_answer(self, wire):
        """The status of an answer, and no byte behind its header; nothing: there is none."""
        text = b""
        while not text.endswith(b"\r\n\r\n"):
            piece = wire.recv(1)
            if not piece:
                return None
            text += piece
        return int(text.split()[1])

    def pages(self, wires):
        for wire in wires:
            self.send(wire, self.ann, "GET", LONG)

    def answered(self, wires):
        """How many of them have an answer."""
        return len(select.select(wires, [], [], 0)[0])

    def bens_turn(self, wires):
        """Asks as Ben; how many of Ann's were answered before."""
        self.assertEqual(self.ask("GET", "/v1/policy", self.ben)[0], 200)
        return self.answered(wires)

    def assert_bens_turn_comes(self, asked):
        """Before half of what Ann has asked is answered; asked() gives her connections."""
        seen = []
        while not seen or seen[-1] >= self.many // 2:
            self.assertLess(len(seen), OFTEN, seen)
            wires = asked()
            seen.append(self.bens_turn(wires))
            for wire in wires:
                wire.close()

    def test_all_of_one_address_do_not_share_one_turn(self):
        def asked():
            wires = self.connected(self.ann, self.many)
            self.pages(wires)
            return wires
        self.assert_bens_turn_comes(asked)

    def test_a_request_behind_many_connections_need_not_wait_for_each_of_them(self):
        def asked():
            wires = [self.send(self.wire(), self.ann, "GET", LONG) for _ in range(self.many)]
            for wire in wires:
                self.addCleanup(wire.close)
            return wires
        self.assert_bens_turn_comes(asked)

    def test_what_waits_for_a_commit_keeps_its_turn(self):
        def asked():
            wires = self.connected(self.ann, self.many)
            self.pages(wires[:5])
            self.send(wires[5], self.ann, "POST", "/v1/jobs", b'{"command": ["true"], "folder": "/", "held": true}')
            self.pages(wires[6:])
            self.assertEqual(self.begin_of_answer(wires[5]), 201)
            return wires
        self.assert_bens_turn_comes(asked)

    def test_many_changes_of_very_many_go_by_turns(self):
        wires = self.connected(self.ann, 60)
        for wire in wires:
            self.send(wire, self.ann, "POST", "/v1/jobs/hold", b'{"ids": "all"}')
        bens = 0
        while self.answered(wires) < len(wires):
            self.assertEqual(self.ask("GET", "/v1/policy", self.ben)[0], 200)
            bens += 1
        self.assertGreater(bens, 5)

    def test_large_bodies_count_until_they_are_carried_out(self):
        body = json.dumps({"script": "#!/bin/sh\n#" + "x" * (9 << 17), "folder": "/", "held": True}).encode()
        for _ in range(OFTEN):
            if self.counted(body):
                return
        self.fail("a third large one is taken while two wait to be carried out")

    def counted(self, body):
        """Whether a third large one was refused while two were to be carried out."""
        large, wires = self.connected(self.ann, 3), self.connected(self.ann, max(90, self.many))
        self.pages(wires)  # before which the large ones have no turn
        for wire in large[:2]:
            self.send(wire, self.ann, "POST", "/v1/jobs", body)
        while self.bens_turn(wires) < 60:  # in which they are read
            pass
        large[2].sendall(f"POST /v1/jobs HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer {self.ann}\r\nContent-Length: {len(body)}\r\n\r\n"
                         .encode())
        if large[2] not in select.select(large, [], [], PATIENCE)[0]:  # the others are carried out already
            for wire in large + wires:
                wire.close()
            return False
        self.assertEqual(self.begin_of_answer(large[2]), 503)
        self.assertEqual(self.ask("POST", "/v1/jobs", self.ben, json.loads(body))[0], 201, "the room of others")
        self.assertEqual([self.begin_of_answer(wire) for wire in large[:2]], [201, 201])
        self.assertEqual(self.ask("POST", "/v1/jobs", self.ann, json.loads(body))[0], 201)
        return True

    def test_what_waits_for_its_turn_is_told_that_the_service_stops(self):
        for _ in range(OFTEN):
            statuses = self.told_at_the_stop()
            self.start_service()
            if 503 in statuses:
                break
        self.assertEqual(statuses, {200, 503})

    def told_at_the_stop(self):
        wires = self.connected(self.ann, self.many)
        self.pages(wires)
        self.bens_turn(wires)
        os.kill(self.service.process.pid, signal.SIGTERM)
        self.assertEqual(self.service.process.wait(PATIENCE), 0)
        self.service.process.stderr.close()
        return {self.begin_of_answer(wire) for wire in wires}


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
