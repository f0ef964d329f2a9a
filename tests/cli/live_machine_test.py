#!/usr/bin/env python3
"""What the commands print and send that list the machine, and that take nodes out of use or reserve them.

Usage: live_machine_test.py ROTA
"""
from fake_service import NOON, problem
from live_case import LiveCase
from rota_case import main

GIB = 1 << 30


class Machine(LiveCase):
    def test_nodes(self):
        self.answers("GET", "/v1/nodes", (200, {"nodes": [
            {"name": "n1", "state": "mixed", "processors": 8, "allocated": 4, "memory": 16 * GIB, "jobs": ["12", "13"],
             "memory_allocated": 4 * GIB, "partitions": ["batch", "long"], "accelerators": 2, "power": "on",
             "reserved": {"id": 0, "start": 4102488000, "end": 4102491600}},
            {"name": "n2", "state": "drained", "processors": 8, "allocated": 0, "partitions": ["batch"], "jobs": [],
             "reason": "new memory"}]}))
        self.prints("nodes", out=(
            "NODE  STATE    ALLOC  CPUS  MEM_ALLOC  MEMORY  ACCELERATORS  PARTITIONS  POWER  RESERVED                  JOBS   REASON\n"
            "n1    mixed        4     8         4G     16G  0/2           batch,long  on     from 2100-01-01T12:00:00  12,13  -\n"
            "n2    drained      0     8          -       -  -             batch       -      -                                new memory\n"))
        self.prints("nodes", "n2", "--noheader", out="n2  drained  0  8  -  -  -  batch  -  -    new memory\n")
        self.assertEqual(len(self.live("nodes", "-p", "batch", "-t", "mixed").stdout.splitlines()), 2)
        self.prints("nodes", "-t", "down", "--noheader", err="rota: no node meets the filter; without it there are 2.\n")
        self.answers("GET", "/v1/partitions", (200, {"partitions": [{"name": "batch"}]}))
        self.prints("nodes", "-p", "btach", "--noheader", code=1,
                    err='rota: there is no partition "btach"; `rota partitions` lists them.\n')
        self.says_no("nodes", "--hours", "3", code=2, said="--hours requires --forecast. See `rota nodes --help`.")
        self.says_no("nodes", "n3", said='there is no node "n3"; did you mean n1?')
        self.says_no("nodes", "n[1-3]", said='there is no node "n3"; did you mean n1?')
        self.says_no("nodes", "drian", "n1", said='there is no node "drian"; did you mean `rota nodes drain`?')
        self.says_no("nodes", "frobnicate", "n1", said='there is no node "frobnicate"; `rota nodes` lists all.')

    def test_nodes_are_taken_out_of_use_and_back(self):
        for action, more in (("drain", ["--reason", "new memory"]), ("resume", []), ("down", []), ("power-down", []),
                             ("power-up", [])):
            self.answers("POST", f"/v1/nodes/{action}", (200, {"nodes": []}))
            self.prints("nodes", action, "n[1-2]", "n7", *more)
            self.assertEqual(self.last()["body"], {"nodes": "n[1-2],n7", **({"reason": more[1]} if more else {})})
        self.says_no("nodes", "drain", "n1", code=2, said="`rota nodes drain` lacks --reason: rota nodes drain "
                     "[OPTION]... NODES... See `rota nodes drain --help`.")

    def test_partitions(self):
        self.answers("GET", "/v1/partitions", (200, {"partitions": [
            {"name": "batch", "default": True, "processors": 16, "nodes": "n[1-2]", "max_time": 86400,
             "default_time": 3600, "waiting": 1, "running": 2}, {"name": "long", "processors": 8, "nodes": "n1"}]}))
        self.prints("partitions", out=(
            "PARTITION  CPUS   TIMELIMIT  DEFAULTTIME  WAITING  RUNNING  NODELIST\n"
            "batch*       16  1-00:00:00      1:00:00        1        2  n[1-2]\n"
            "long          8           -            -        -        -  n1\n"))

    def test_reservations(self):
        self.answers("GET", "/v1/reservations", (200, {"reservations": [
            {"id": 3, "active": True, "start": NOON, "end": NOON + 5400, "processors": 16, "nodes": "n[1-2]", "name": "course",
             "by": "ada", "users": "alice,bob"},
            {"id": 2, "active": False, "start": NOON + 86400, "end": NOON + 3 * 86400, "processors": 1200, "nodes": ""}]}))
        self.prints("reservations", out=(
            "ID  STATE     START                END                    DURATION   CPUS  NODELIST  NAME    BY   USERS\n"
            " 3  ACTIVE    2026-11-30T00:00:00  2026-11-30T01:30:00     1:30:00     16  n[1-2]    course  ada  alice,bob\n"
            " 2  INACTIVE  2026-12-01T00:00:00  2026-12-03T00:00:00  2-00:00:00  1,200  -         -       -    -\n"))
        self.answers("GET", "/v1/reservations", (200, {"reservations": []}))
        self.prints("reservations", "--noheader", out="")

    def test_reservations_are_made_and_ended(self):
        made = {"id": 3, "active": False, "start": NOON, "end": NOON + 5400, "processors": 16, "nodes": "n[1-2]", "by": "ada",
                "running_into": 0, "jobs": []}
        self.answers("POST", "/v1/reservations", (201, made))
        at = "from 2026-11-30T00:00:00 to 2026-11-30T01:30:00.\n"
        self.prints("reserve", "--start", f"@{NOON}", "--duration", "90m", "--nodes", "n[1-2]",
                    out=f"Made reservation 3: n[1-2] {at}")
        self.assertEqual(self.last()["body"], {"start": NOON, "duration": 5400, "nodes": "n[1-2]"})
        self.assertTrue(self.last()["headers"]["Idempotency-Key"], "else one whose answer is lost could not be sent again")
        self.answers("POST", "/v1/reservations",
                     (201, made | {"nodes": "", "name": "x", "running_into": 102, "jobs": ["7", "8_1"]}))
        self.prints("reserve", "--end", f"@{NOON + 5400}", "--processors", "16", "--name", "x", out=(
            f"Made reservation 3 (x): 16 processors {at}"
            "102 jobs that run now may last into it by their limits, and are not stopped: 7, 8_1 and others.\n"))
        self.assertEqual(self.last()["body"], {"end": NOON + 5400, "processors": 16, "name": "x"})
        self.prints("reserve", "--end", f"@{NOON + 5400}", "--nodes", "n1", "--name", "x", "--users", "alice,bob",
                    out=f"Made reservation 3 (x): 16 processors {at}"
                        "102 jobs that run now may last into it by their limits, and are not stopped: 7, 8_1 and others.\n")
        self.assertEqual(self.last()["body"]["users"], "alice,bob")
        self.says_no("reserve", "--duration", "long", "--nodes", "n1", said="--duration takes a time such as 90m or 2d, not "
                     '"long".')
        self.says_no("reserve", "--nodes", "n1", said="say when it is over: --end or --duration is missing. See `rota reserve "
                     "--help`.")
        self.says_no("reserve", "--duration", "1h", said="say what is reserved: --nodes or --processors is missing. See "
                     "`rota reserve --help`.")
        self.answers("DELETE", "/v1/reservations/x", (200, {}))
        self.answers("DELETE", "/v1/reservations/3", (404, problem(404, "there is no reservation \"3\".")))
        self.prints("unreserve", "x")
        self.says_no("unreserve", "x", "3", said='there is no reservation "3".')

    def test_licences(self):
        rows = {"licences": [{"name": "matlab", "count": 4, "used": 1, "elsewhere": 2},
                             {"name": "fluent", "count": 1200, "used": 0, "elsewhere": 1300}]}
        shown = ("LICENCE  COUNT  JOBS  ELSEWHERE  FREE\n"
                 "matlab       4     1          2     1\n"
                 "fluent   1,200     0      1,300     0\n")
        self.answers("GET", "/v1/licences", (200, rows))
        self.prints("licences", out=shown)
        self.answers("GET", "/v1/licences", (200, rows | {"failures": 2, "failure": "ended with 1: no route"}))
        self.prints("licences", out=shown, err="rota: the licence command's last answer was none, and the count before "
                    "stands: ended with 1: no route.\n")


if __name__ == "__main__":
    main()
