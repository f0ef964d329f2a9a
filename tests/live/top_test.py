#!/usr/bin/env python3
"""`rota top` on a terminal, with a real service and real jobs. Usage: top_test.py ROTA"""
import datetime
import os
import signal
import subprocess
import sys
import unittest

from screen import Screen
from service import ServiceCase

DOWN, UP = "\x1b[B", "\x1b[A"


class Top(ServiceCase):
    configuration = 'name = "small"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 4\n'

    def top(self, **size):
        screen = Screen([self.rota, "top", "--socket", self.service.socket], **size)
        self.addCleanup(screen.close)
        screen.wait_for("q quit")
        return screen

    def full(self):
        """Both nodes taken by two jobs, and one that is first in the queue."""
        command = "echo $$ > child-$ROTA_JOB_ID; exec sleep 1000"
        running = [self.service.submit(command, name=f"long-{i}", processors=4, nodes=1, limit=3600) for i in range(2)]
        head = self.service.submit("sleep 1", name="head", processors=8, limit=600)
        self.service.wait_for(lambda: all(self.service.job(job)["state"] == "RUNNING" for job in running), "both to run")
        return running, head

    def line_of(self, screen, job):
        return next((line for line in screen.text().splitlines() if line.lstrip().startswith(f"{job} ")), "")

    def left_as_it_was(self, screen):
        self.assertFalse(screen.alternate, "the screen of before is not back")
        self.assertTrue(screen.cursor, "the cursor is hidden")
        self.assertEqual(screen.modes(), screen.before[:4])

    def test_what_runs_and_waits_with_reasons_and_starts(self):
        running, head = self.full()
        behind = self.service.submit("true", name="behind", processors=8, limit=600)
        held = self.service.submit("true", name="back", held=True)
        screen = self.top(columns=170)
        self.assertTrue(screen.alternate)
        lines = screen.text().splitlines()
        self.assertIn("small  [####################] 8 of 8 processors busy  policy easy  load ", lines[0])
        self.assertEqual(lines[1], "2 running, 2 waiting, 1 held; nodes: 2 allocated")
        self.assertEqual(lines[3].split(), ["JOBID", "NAME", "USER", "ST", "CPUS", "TIME", "LIMIT", "STARTS", "OR", "ENDS",
                                            "NODELIST(REASON)"])
        self.assertRegex(self.line_of(screen, running[0]), r"long-0 +\w+ +R +4 +\d+:\d\d +1:00:00 by \S+( \d\d:\d\d)? +n\d$")
        self.assertRegex(self.line_of(screen, head), r"head .* PD +8 +10:00 \S+( \d\d:\d\d)? +\(Resources\) It needs 8 processors, it is")
        self.assertRegex(self.line_of(screen, behind), rf"PD +8 +10:00 by \S+( \d\d:\d\d)? +\(Priority\) It needs 8 .*job {head} is first")
        self.assertIn("(JobHeldUser)", self.line_of(screen, held))
        new = self.service.submit("true", name="newcomer", processors=8, limit=60)
        screen.wait_for("newcomer")
        self.service.act("cancel", new)
        screen.wait_for("newcomer", gone=True)
        screen.type("q")
        self.assertEqual(screen.ended(), 0)
        self.left_as_it_was(screen)

    def test_a_narrow_screen_has_reasons_starts_and_the_whole_help(self):
        running, head = self.full()
        behind = self.service.submit("true", name="behind", processors=8, limit=600)
        begin = int(self.service.ask("GET", "/v1/status")[1]["now"]) + 10 * 86400
        later = self.service.submit("true", name="later", begin=begin)
        screen = self.top(columns=80)
        self.assertEqual(screen.text().splitlines()[3].split(), ["JOBID", "NAME", "ST", "CPUS", "TIME", "STARTS", "OR", "ENDS",
                                                                 "NODELIST(REASON)"])
        self.assertRegex(self.line_of(screen, running[0]), r"long-0 +R +4 +\d+:\d\d by \S+( \d\d:\d\d)? +n\d$")
        self.assertRegex(self.line_of(screen, head), r"head +PD +8 +\d\S+( \d\d:\d\d)? +\(Resources\) It")
        self.assertRegex(self.line_of(screen, behind), r"behind +PD +8 +by \S+( \d\d:\d\d)? +\(Priority\) It")
        at = datetime.datetime.fromtimestamp(begin).strftime("%m-%d %H:%M")
        self.assertRegex(self.line_of(screen, later), rf"later +PD +1 +{at} +\(BeginTime\) Its")
        screen.type("?")
        screen.wait_for("Keys")
        text = " ".join(screen.text().split())
        for words in ("or each in its own", "Escape shows all again", "its whole limit and no other job comes before it.", "Enter tells them."):
            self.assertIn(words, text)

    def test_enter_explains_and_escape_goes_back(self):
        _, head = self.full()
        screen = self.top()
        screen.type(DOWN + "j" + "\r")
        screen.wait_for(f"Job {head} is PENDING (Resources)")
        screen.wait_for("It is promised a start at")
        self.assertIn("It asks for 8 processors", screen.text())
        screen.type("\x1b")
        screen.wait_for("JOBID")
        screen.type("?")
        screen.wait_for("Escape shows all again")
        screen.type("q")
        screen.wait_for("JOBID")
        self.assertIsNone(screen.process.poll())

    def test_cancel_asks_and_ends_the_process(self):
        running, _ = self.full()
        child = int(self.service.written(f"child-{running[0]}"))
        screen = self.top()
        screen.type("c")
        screen.wait_for(f"Cancel job {running[0]} (long-0) of ")
        screen.type("n")
        screen.wait_for("Cancel job", gone=True)
        self.assertEqual(self.service.job(running[0])["state"], "RUNNING")
        screen.type("cy")
        screen.wait_for(f"job {running[0]} is being cancelled")
        self.assertEqual(self.service.ends(running[0])["state"], "CANCELLED")
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        screen.wait_for("long-0", gone=True)

    def test_hold_and_release_and_what_is_refused(self):
        running, head = self.full()
        screen = self.top()
        screen.type("h")
        screen.wait_for(f"job {running[0]} ")
        status, answer = self.service.act("hold", running[0])
        self.assertEqual(status, 207)
        screen.wait_for(answer["jobs"][0]["detail"])
        screen.type(DOWN + DOWN + "h")
        screen.wait_for(f"job {head} is held")
        screen.wait_for("(JobHeldUser)")
        screen.type("r")
        screen.wait_for("(Resources)")
        self.assertEqual(self.service.job(head)["reason"], "Resources")

    def test_processors_out_of_service_are_not_busy_and_a_filter_says_what_it_leaves_out(self):
        job = self.service.submit("sleep 1000", processors=1, limit=600)
        self.service.runs(job)
        free = next(node["name"] for node in self.service.ask("GET", "/v1/nodes")[1]["nodes"] if not node["jobs"])
        self.assertEqual(self.service.ask("POST", "/v1/nodes/drain", {"nodes": free, "reason": "x"})[0], 200)
        screen = self.top(columns=120)
        self.assertIn("1 of 8 processors busy, 4 out of service  policy", screen.text().splitlines()[0])
        screen.type("/nosuch")
        screen.wait_for("No job meets the filter; without it there is 1.")
        screen.type("\x1b")
        screen.wait_for(f"{job} ")
        status = self.service.ask("GET", "/v1/status")[1]
        self.assertEqual([status[name] for name in ("busy", "free", "out_of_service", "asleep")], [1, 3, 4, 0])
        self.service.act("cancel", job)

    def test_the_filter_finds_what_is_far_behind(self):
        self.full()
        self.service.submit("true", name="many", array="1-2000", limit=60)
        self.service.submit("true", name="needle", limit=60)
        screen = self.top()
        self.assertIn("4_[1-2000]", screen.text())
        screen.type("a")
        screen.type("\x1b[F")
        screen.wait_for("(1,502 more than listed; / finds them)")
        screen.type("/needle\r")
        screen.wait_for('filter "needle"')
        screen.wait_for("many", gone=True)
        self.assertIn("needle", self.line_of(screen, 2004))
        screen.type("\x1b")
        screen.wait_for("long-0")

    def test_it_follows_the_size_of_the_terminal(self):
        self.full()
        screen = self.top()
        screen.resize(60, 10)
        screen.wait_for("Enter explain")
        self.assertEqual(screen.text().splitlines()[9][:13], "Enter explain")
        screen.resize(20, 3)  # no room for a single row
        screen.wait_for("small ")
        screen.resize(170, 30)
        screen.wait_for("it is first in the queue, and 0 are free now.")

    def test_names_drive_nothing(self):
        name = "\x1b[2J\x07 \u65e5\u672c\u8a9e \u00e9\u0301"
        status, _ = self.service.ask("POST", "/v1/jobs", {"command": ["true"], "folder": self.folder, "name": name,
                                                          "held": True})
        self.service.submit("true", name="w" * 200, held=True)
        screen = self.top()  # fails at any sequence or control character that it does not know
        self.assertIn("q quit", screen.text())
        if status == 201:
            self.assertIn("\u65e5", screen.text())

    def test_a_break_is_told_and_mended(self):
        self.full()
        screen = self.top()
        self.service.stop()
        screen.wait_for("disconnected, retrying: ")
        self.service.start()
        screen.wait_for("disconnected", gone=True)

    def test_the_terminal_is_given_back_whatever_ends_it(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT, signal.SIGSEGV):
            with self.subTest(number=number):
                screen = self.top()
                self.assertNotEqual(screen.modes(), screen.before[:4])
                screen.process.send_signal(number)
                code = screen.ended()
                self.assertEqual(code, -number if number in (signal.SIGABRT, signal.SIGSEGV) else 0)
                self.left_as_it_was(screen)
        screen = self.top()
        screen.type("\x03")  # Ctrl-C
        self.assertEqual(screen.ended(), 0)
        self.left_as_it_was(screen)

    def test_job_control_stops_it_and_lets_it_go_on(self):
        self.full()
        screen = self.top()
        screen.process.send_signal(signal.SIGTSTP)
        os.waitid(os.P_PID, screen.process.pid, os.WSTOPPED | os.WNOWAIT)
        while screen.alternate:
            screen.read(0.5)
        self.left_as_it_was(screen)
        screen.process.send_signal(signal.SIGCONT)
        while not screen.alternate:
            screen.read(0.5)
        screen.wait_for("long-0")
        screen.type("q")
        self.assertEqual(screen.ended(), 0)

    def test_without_a_terminal_it_says_what_to_do(self):
        done = subprocess.run([self.rota, "top", "--socket", self.service.socket], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "rota: `rota top` draws on a terminal, and there is none; `rota queue -i 5` prints "
                                      "the queue every 5 s.\n")
        screen = Screen([self.rota, "top", "--socket", self.service.socket], columns=200, environment={"TERM": "dumb"})
        self.addCleanup(screen.close)
        self.assertEqual(screen.ended(), 1)
        screen = Screen([self.rota, "top", "--socket", os.path.join(self.folder, "none")], columns=200)
        self.addCleanup(screen.close)
        self.assertEqual(screen.ended(), 1)
        self.assertIn("No service answers at", screen.text())
        self.left_as_it_was(screen)


class Accelerators(ServiceCase):
    top = Top.top
    configuration = '''name = "lab"
[[nodes]]
names = "g[1-2]"
processors = 4
accelerators = 2
'''

    def says(self, *arguments):
        return subprocess.run([self.rota, *arguments], capture_output=True, text=True, check=True,
                              env={"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket}).stdout

    def test_which_ones_a_job_holds_is_shown_wherever_jobs_and_nodes_are(self):
        command = "echo $CUDA_VISIBLE_DEVICES > seen-$ROTA_JOB_ID; exec sleep 1000"
        wide = self.service.runs(self.service.submit(command, processors=2, nodes=2, accelerators=1, limit=600))
        one = self.service.runs(self.service.submit(command, processors=1, nodes=1, accelerators=1, limit=600))
        held = {job: self.service.job(job)["accelerators_held"] for job in (wide, one)}
        for job, by_node in held.items():
            self.assertEqual(",".join(str(n) for numbers in by_node.values() for n in numbers), self.service.written(f"seen-{job}").strip())
        nodes = {node["name"]: node for node in self.service.ask("GET", "/v1/nodes")[1]["nodes"]}
        for name, node in nodes.items():
            self.assertEqual(node["accelerators_held"], {job: numbers[name] for job, numbers in held.items() if name in numbers})
        wides = "; ".join(f"{node}: {numbers[0]}" for node, numbers in held[wide].items())
        self.assertIn(f"accelerators held  {wides}\n", self.says("job", wide))
        self.assertIn(f" g[1-2] (accelerators {wides})\n", self.says("queue", "-l"))
        self.assertIn(f"2/2 ({wide}: 0; {one}: 1)", self.says("nodes"))
        screen = self.top(columns=170)
        screen.wait_for(f"g[1-2] (accelerators {wides})")
        self.service.act("cancel", f"{wide},{one}")
        self.service.all_end()
        self.assertNotIn("accelerators_held", self.service.job(one))


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
