#!/usr/bin/env python3
"""The page of a real service in a real browser, with real jobs. Usage: page_test.py ROTA"""
import datetime
import json
import os
import shlex
import subprocess
import sys
import unittest

import browser
from gate import Gate
from relay import Relay
from service import ServiceCase, UnixConnection

ANN = 54321  # a user of no name
PICTURES = os.environ.get("ROTA_PAGE_PICTURES")  # a folder to leave them in, to be looked at
HOSTILE = "</td><img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
MACHINE = """name = "small"
[[nodes]]
names = "n[1-2]"
processors = 4
memory = "1G"
"""
ROWS = "[...document.querySelectorAll('#queue tbody tr')]"


def row(job):
    return f"document.querySelector('#queue tbody tr[data-job=\"{job}\"]')"


class OthersRelay:
    """A relay that is another user's process: the service takes every client that asks through it for that user."""

    def __init__(self, path):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")) as file:
            code = file.read()
        code += "\nimport sys\nrelay = Relay(sys.argv[1])\nprint(relay.url, flush=True)\nsys.stdin.read()\n"
        self.process = subprocess.Popen(["/usr/bin/python3", "-c", code, path], user=ANN, group=ANN, extra_groups=[],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def close(self):
        self.process.communicate()


class PageCase(ServiceCase):
    configuration = MACHINE

    def setUp(self):
        super().setUp()
        self.addCleanup(self.clean)
        self.relay = self.relay_of(self.service.socket)
        self.browser = browser.Browser()

    def relay_of(self, path):
        return Relay(path)

    def clean(self):
        for its in ("browser", "relay"):
            if hasattr(self, its):
                getattr(self, its).close()

    def open(self, width=1280):
        self.browser.size(width, 900)
        self.browser.open(self.relay.url)
        self.browser.wait_for("document.getElementById('link').dataset.state === 'live' && "
                              "Number(document.documentElement.dataset.looks) > 0", "the page to be live")

    def keep(self, name):
        if PICTURES:
            self.browser.picture(os.path.join(PICTURES, f"{name}.png"))

    def shows(self, job, text):
        self.browser.wait_for(f"{row(job)} && {row(job)}.innerText.includes({json.dumps(text)})", f"{text} of job {job}")

    def stand_on(self, job):
        """By the keyboard, from wherever it is."""
        for key in ["j"] * 20 + ["k"] * 20:
            if self.browser.value("document.activeElement.dataset.job") == job:
                return
            self.browser.press(key)
        raise AssertionError(f"j never comes to job {job}")

    def child_of(self, job):
        """The process of a running job that wrote its number to the file `child`."""
        path = os.path.join(self.folder, f"child-{job}")
        self.service.wait_for(lambda: os.path.exists(path) and self.service.read(f"child-{job}"), "its process")
        return int(self.service.read(f"child-{job}"))

    def full(self):
        """Both nodes taken by two jobs, and one that is first in the queue."""
        sleep = "echo $$ > child-$ROTA_JOB_ID; exec sleep 1000"
        running = [self.service.submit(sleep, name=f"long-{i}", processors=4, nodes=1, limit=3600) for i in range(2)]
        head = self.service.submit("sleep 1", name="head", processors=8, limit=600)
        return running, head


class Reserved(PageCase):
    def configured(self):
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        start = end - datetime.timedelta(minutes=50)
        return MACHINE + "".join(f'[[reservations]]\nstart = "{a.isoformat(timespec="seconds")}"\n'
                                 f'end = "{b.isoformat(timespec="seconds")}"\nnodes = "{node}"\n'
                                 for a, b, node in ((start, end, "n1"), (start - datetime.timedelta(hours=1), end, "n2")))

    def test_what_is_reserved_stands_with_the_nodes_and_in_the_picture(self):
        self.open()
        cards = "[...document.querySelectorAll('#nodes .node')].map((node) => node.innerText)"
        self.browser.wait_for(f"{cards}.length === 2", "the nodes")
        later, now = self.browser.value(cards)
        self.assertRegex(later, "(?s)idle.*reserved from .* to ")
        self.assertRegex(now, "(?s)reserved.*reserved until ")
        # The picture is drawn after the cards.
        self.browser.wait_for("/Reserved from .* to .*: n2. Reserved from .* to .*: n1./"
                              ".test(document.querySelector('#chart .status').textContent)", "what is reserved in the picture")


class Accelerators(PageCase):
    configuration = 'name = "lab"\n[[nodes]]\nnames = "g1"\nprocessors = 4\naccelerators = 2\n'

    def test_which_ones_a_job_holds_stands_with_the_job_and_with_the_node(self):
        job = self.service.runs(self.service.submit("sleep 1000", accelerators=1, limit=600))
        self.open()
        self.shows(job, "g1 (accelerators g1: 0)")
        self.browser.wait_for(f"document.querySelector('#nodes .node').innerText.includes('1 of 2 accelerators ({job}: 0)')", "the node")


class Page(PageCase):
    def test_what_runs_and_waits_is_told_with_reasons_and_starts(self):
        running, head = self.full()
        behind = self.service.submit("sleep 1", name="behind", processors=8, limit=600)
        held = self.service.submit("true", name="held-back", held=True)
        self.open()
        self.shows(running[0], "runs")
        self.shows(head, "Resources: It needs 8 processors, it is first in the queue, and 0 are free now.")
        self.shows(behind, f"Priority: It needs 8 processors, and others go first: job {head} is first in the queue.")
        self.shows(held, "JobHeldUser")
        # the head has a promise; the one behind it starts when both have taken their whole limits
        plan = self.service.ask("GET", "/v1/plan")[1]
        promised, latest = plan["waiting"][0]["expected_start"], plan["waiting"][1]["starts_by"]
        self.assertAlmostEqual(latest - promised, 600, delta=1)
        for job, seconds, word in ((head, promised, ""), (behind, latest, "by ")):
            told = self.browser.value(f"'{word}' + rota.text.moment({seconds})")
            self.shows(job, told)
        self.assertEqual(self.browser.value("document.querySelector('#figures').innerText.split('\\n')[0]"),
                         "8 of 8 processors busy")
        self.assertEqual(self.browser.value("document.querySelectorAll('#nodes .node[data-state=allocated]').length"), 2)
        # two that run, two that are planned: one box each at least
        self.browser.wait_for("Number(document.querySelector('canvas').dataset.boxes) >= 4", "the picture")
        self.assertEqual(self.browser.value(f"{ROWS}.map((row) => row.dataset.job).join()"),
                         ",".join([*running, head, behind, held]))
        self.keep("1280")

    def test_processors_out_of_service_are_apart_and_a_filter_says_what_it_leaves_out(self):
        job = self.service.runs(self.service.submit("sleep 1000", processors=1, limit=600))
        idle = next(node["name"] for node in self.service.ask("GET", "/v1/nodes")[1]["nodes"] if not node["jobs"])
        self.assertEqual(self.service.ask("POST", "/v1/nodes/drain", {"nodes": idle, "reason": "x"})[0], 200)
        self.open()
        self.shows(job, "runs")
        self.assertEqual(self.browser.value("document.querySelector('#figures').innerText.split('\\n').slice(0, 2)"),
                         ["1 of 8 processors busy", "4 processors out of service"])
        self.browser.value("const f = document.getElementById('filter'); f.value = 'nosuch'; f.dispatchEvent(new Event('input'))")
        self.browser.wait_for("document.querySelector('#queue .empty').innerText === "
                              "'No job meets the filter; without it there is 1.'", "what the filter leaves out")

    def test_what_happens_is_seen_without_a_reload(self):
        gate = os.path.join(self.folder, "gate")
        os.mkfifo(gate)
        job = self.service.submit(f"read line < {shlex.quote(gate)}", name="until-told", limit=600)
        self.open()
        self.shows(job, "runs")
        self.browser.value("window.kept = true")
        with open(gate, "w") as file:
            file.write("go\n")
        self.browser.wait_for(f"!{row(job)}", "the row to go")
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        later = self.service.submit("sleep 1000", name="later", limit=600)
        self.shows(later, "runs")
        self.assertTrue(self.browser.value("window.kept"))
        self.assertEqual(self.browser.complaints, [])

    def test_a_job_is_explained_by_keyboard(self):
        running, head = self.full()
        job = self.service.submit("sleep 1", name="explained", processors=4, nodes=1, limit=60)
        self.open()
        self.shows(job, "waits")
        self.stand_on(job)
        self.assertNotEqual(self.browser.value("getComputedStyle(document.activeElement).outlineStyle"), "none")
        self.browser.press("Enter")
        self.browser.wait_for("document.getElementById('job').open && document.querySelector('#job .why h3')", "the explanation")
        told = self.browser.value("document.getElementById('job').innerText")
        for words in ("Job 4: explained", "Priority", "Ahead of it", f"job {head} of ", "It asks for 4 processors",
                      "If every job takes its whole limit", self.folder):
            self.assertIn(words, told)
        self.keep("1280-job")
        self.browser.press("Escape")
        self.browser.wait_for("!document.getElementById('job').open", "the dialog to close")
        self.assertEqual(self.browser.value("document.activeElement.dataset.job"), job)
        self.browser.press("?")
        self.browser.wait_for("document.getElementById('help').open", "the keys")
        self.browser.press("Escape")
        self.assertEqual(running, ["1", "2"])

    def test_cancel_asks_and_ends_the_process(self):
        running, _ = self.full()
        child = self.child_of(running[1])
        self.open()
        self.shows(running[1], "runs")
        self.stand_on(running[1])
        self.browser.press("c")
        self.browser.wait_for("document.getElementById('question').open", "the question")
        self.assertIn(f"Cancel job {running[1]} (long-1)", self.browser.value("document.getElementById('question').innerText"))
        self.browser.press("Enter")  # the answer that changes nothing stands first
        self.browser.wait_for("!document.getElementById('question').open", "the question to close")
        self.assertEqual(self.service.job(running[1])["state"], "RUNNING")
        self.stand_on(running[1])
        self.browser.press("c")
        self.browser.wait_for("document.getElementById('question').open", "the question again")
        self.browser.value("document.querySelector('#question [value=yes]').focus()")
        self.browser.press("Enter")
        self.assertEqual(self.service.ends(running[1])["state"], "CANCELLED")
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        self.browser.wait_for(f"!{row(running[1])}", "the row to go")

    def test_hold_and_release_by_keys(self):
        _, head = self.full()
        self.open()
        self.shows(head, "Resources")
        self.stand_on(head)
        self.browser.press("h")
        self.shows(head, "JobHeldUser")
        self.assertEqual(self.service.job(head)["reason"], "JobHeldUser")
        self.assertEqual(self.browser.value("document.activeElement.dataset.job"), head)
        self.browser.press("r")
        self.shows(head, "Resources")

    def test_a_refusal_is_told_in_the_services_words(self):
        running, head = self.full()
        self.open()
        self.shows(head, "Resources")
        # what the page believes may be old: the question stands open while the job ends
        self.stand_on(running[0])
        self.browser.press("c")
        self.browser.wait_for("document.getElementById('question').open", "the question")
        self.service.act("cancel", running[0])
        self.service.ends(running[0])
        self.browser.value("document.querySelector('#question [value=yes]').focus()")
        self.browser.press("Enter")
        self.browser.wait_for(f"document.getElementById('told').innerText === 'job {running[0]} has ended already.'",
                              "the sentence of the service")
        self.stand_on(running[1])
        self.browser.press("h")  # a job that runs cannot be held: said at once
        self.browser.wait_for("document.getElementById('told').innerText.includes('that cannot be done to it')", "a sentence")

    def test_the_stream_breaks_and_goes_on_where_it_was(self):
        running, head = self.full()
        self.open()
        self.shows(head, "Resources")
        self.relay.cut()
        self.browser.wait_for("document.getElementById('link').innerText.includes('disconnected, retrying')", "the break")
        self.keep("1280-lost")
        self.service.act("cancel", running[0])
        self.service.ends(running[0])
        self.assertTrue(self.browser.value(f"Boolean({row(running[0])})"))
        self.relay.mend()
        self.browser.wait_for("document.getElementById('link').dataset.state === 'live'", "the stream to come back")
        self.browser.wait_for(f"!{row(running[0])}", "what has happened meanwhile")

    def test_a_restart_of_the_service_is_lived_through(self):
        running, _ = self.full()
        self.open()
        self.shows(running[0], "runs")
        self.service.stop()
        self.browser.wait_for("document.getElementById('link').dataset.state === 'lost'", "the break")
        self.service.start()
        self.browser.wait_for("document.getElementById('link').dataset.state === 'live'", "the stream to come back")
        new = self.service.submit("true", name="after-it", held=True)
        self.shows(new, "JobHeldUser")

    def test_names_are_text_and_nothing_foreign_runs(self):
        self.full()
        job = self.service.submit("true", name=HOSTILE, processors=8, limit=60, comment=HOSTILE)
        self.open()
        self.shows(job, HOSTILE)
        self.stand_on(job)
        self.browser.press("Enter")
        self.browser.wait_for("document.getElementById('job').open && document.querySelector('#job .why h3')", "the dialog")
        self.assertIn(HOSTILE, self.browser.value("document.querySelector('#job h2').textContent"))
        self.assertEqual(self.browser.value("document.querySelectorAll('main img, #job img, main script').length"), 0)
        self.assertEqual(self.browser.complaints, [])
        # and if something came in all the same, the policy of the page would not let it run or load
        stopped = self.browser.value("""new Promise((done) => {
            const stopped = [];
            document.addEventListener('securitypolicyviolation', (event) => {
              stopped.push(event.effectiveDirective);
              if (stopped.length === 4) done(stopped.sort().join());
            });
            const script = document.createElement('script');
            script.textContent = "document.title = 'taken'";
            document.body.append(script);
            const inside = document.createElement('div');
            inside.innerHTML = `<b onclick="document.title = 'taken'">x</b><img src="v1/status">`;
            document.body.append(inside);
            inside.firstChild.click();
            fetch('http://127.0.0.1:9/').catch(() => 0);
          })""")
        self.assertEqual(stopped, "connect-src,img-src,script-src-attr,script-src-elem")
        self.assertNotEqual(self.browser.value("document.title"), "taken")
        connection = UnixConnection(self.service.socket)
        connection.request("GET", "/")
        policy = connection.getresponse().getheader("Content-Security-Policy")
        connection.close()
        for words in ("default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "frame-ancestors 'none'"):
            self.assertIn(words, policy)
        self.assertNotIn("unsafe", policy)

    def test_it_is_readable_at_400_pixels(self):
        self.full()
        self.service.submit("true", name="w" * 200, processors=8, limit=60)
        self.service.submit("true", name="a name of several words " * 5, processors=1, limit=7200)
        for dark in (False, True):
            self.browser.dark(dark)
            self.open(400)
            self.shows("4", "waits")
            self.browser.wait_for("document.querySelector('canvas').dataset.boxes", "the picture")
            self.assertEqual(self.browser.value("document.documentElement.scrollWidth"), 400)
            self.keep(f"400-{'dark' if dark else 'light'}")
            self.stand_on("4")
            self.browser.press("Enter")
            self.browser.wait_for("document.querySelector('#job .why h3')", "the dialog")
            self.assertEqual(self.browser.value("document.documentElement.scrollWidth"), 400)
            self.assertTrue(self.browser.value("document.getElementById('job').scrollWidth <= "
                                               "document.getElementById('job').clientWidth"))
            self.keep(f"400-job-{'dark' if dark else 'light'}")
        self.assertEqual(self.browser.complaints, [])

    def test_ten_thousand_wait_and_the_page_stays_small(self):
        self.full()
        self.service.submit("true", name="many", array="1-9999", limit=60)
        self.service.submit("true", name="needle", limit=60)
        self.open()
        self.assertEqual(self.browser.value(f"{ROWS}.length"), 5)
        self.browser.press("a")
        self.browser.wait_for(f"{ROWS}.length === 202", "each task in its own row")
        self.assertIn("and 9,801 waiting", self.browser.value("document.querySelector('#queue .more').innerText"))
        self.keep("1280-many")
        self.browser.press("/")
        self.browser.type("needle")
        self.browser.wait_for(f"{ROWS}.length === 1", "the filter")
        self.assertIn("needle", self.browser.value(f"{ROWS}[0].innerText"))
        self.browser.press("Escape")
        self.browser.wait_for(f"{ROWS}.length === 202", "all again")
        self.browser.value("document.querySelector('#queue .more button').click()")
        self.browser.wait_for(f"{ROWS}.length === 402", "more of them")
        self.assertEqual(self.browser.complaints, [])

    def test_what_waits_of_an_array_is_one_row(self):
        running, head = self.full()
        array = self.service.submit("sleep 1", name="sweep", processors=8, limit=60, array="1-40%3")
        self.open()
        whole = f"{array}_*"
        self.shows(whole, f"{array}_[1-40%3]")
        self.assertEqual(self.browser.value(f"{ROWS}.length"), 4)
        self.stand_on(whole)
        self.browser.press("Enter")
        self.browser.wait_for("document.querySelector('#job .why h3')", "the explanation")
        told = self.browser.value("document.getElementById('job').innerText")
        self.assertIn(f"Job {array}_[1-40%3]: sweep", told)
        self.assertIn(f"This is told of {array}_1, the first of 40 tasks.", told)
        self.keep("1280-array-job")
        self.browser.press("h")
        self.browser.wait_for("document.querySelector('#job .reason').innerText.startsWith('JobHeldUser')", "all to be held")
        self.assertEqual(self.service.job(f"{array}_40")["reason"], "JobHeldUser")
        self.browser.press("Escape")
        self.keep("1280-array")
        self.browser.press("a")
        self.browser.wait_for(f"{ROWS}.length === 43", "each task in its own row")
        self.assertEqual(running + [head], ["1", "2", "3"])

    def test_what_ran_is_still_drawn_after_a_great_array_was_cancelled(self):
        job = self.service.submit("true", name="ran")
        self.service.ends(job)
        array = self.service.submit("true", array="1-600", held=True)
        self.service.act("cancel", array)
        self.service.wait_for(lambda: not self.service.live(), "all to be gone")
        self.open()
        self.browser.wait_for("Number(document.querySelector('canvas').dataset.boxes) >= 1", "the job that ran")

    def test_what_is_others_cannot_be_asked_for(self):
        self.full()
        self.open()
        rights = self.browser.value("""[{operator: false, uid: 5}, {operator: false, uid: 7}, {operator: true, uid: 5},
             {operator: true, uid: 7, read_only: true}]
            .map((me) => { const may = rota.job.rights({state: 'PENDING', uid: 7, user: 'ann', reason: 'Priority'}, me);
                           return `${may.cancel} ${may.hold} ${may.release} ${may.note}`; })""")
        self.assertEqual(rights, ["false false false It is ann's job: only its user or an operator may change it.",
                                  "true true false ", "true true false ",
                                  "false false false Your token is for reading only: it changes nothing."])


class WithToken(PageCase):
    def relay_of(self, path):
        return Gate(path, "sesame")

    def test_the_page_asks_for_a_token_and_sends_it(self):
        job = self.service.submit("sleep 1000", name="guarded", limit=600)
        self.browser.size(1280, 900)
        self.browser.open(self.relay.url)
        self.browser.wait_for("document.getElementById('token').open", "the question for a token")
        # a user that has given none has done nothing wrong: no refusal, neither in the dialog nor behind it
        self.assertEqual(self.browser.value("document.querySelector('#token .note').innerText"), "")
        self.assertTrue(self.browser.value("document.getElementById('told').hidden"))
        self.assertEqual(self.relay.asked, ["/"])
        for token, taken in (("wrong", False), ("sesame", True)):
            self.browser.value("document.querySelector('#token input').focus()")
            self.browser.type(token)
            self.browser.press("Enter")
            if not taken:
                self.browser.wait_for("document.getElementById('token').open && document.querySelector('#token .note')"
                                      ".innerText === 'The service does not know this token, or not any more.'", "another")
        self.shows(job, "runs")
        self.browser.wait_for("document.getElementById('link').dataset.state === 'live'", "the stream")
        self.assertIn("/v1/events", self.relay.asked)
        self.stand_on(job)
        self.browser.press("c")
        self.browser.wait_for("document.getElementById('question').open", "the question")
        self.browser.value("document.querySelector('#question [value=yes]').focus()")
        self.browser.press("Enter")
        self.assertEqual(self.service.ends(job)["state"], "CANCELLED")
        self.browser.reload()  # it is kept for as long as the tab is open
        self.browser.wait_for("document.getElementById('link') && document.getElementById('link').dataset.state === 'live'",
                              "the page to be live again")
        self.assertFalse(self.browser.value("document.getElementById('token').open"))


class OthersJobs(PageCase):
    """Root's service, asked by a user who may not change root's jobs."""

    def relay_of(self, path):
        return OthersRelay(path)

    def test_buttons_are_off_and_the_service_would_refuse_too(self):
        job = self.service.submit("sleep 1000", name="roots", limit=600)
        self.open()
        self.shows(job, "runs")
        self.assertIn(f"You are {ANN}.", self.browser.value("document.getElementById('who').innerText"))
        self.stand_on(job)
        self.browser.press("c")
        sentence = "It is root's job: only its user or an operator may change it."
        self.browser.wait_for(f"document.getElementById('told').innerText === \"{sentence}\"", "the sentence")
        self.browser.press("Enter")
        self.browser.wait_for("document.querySelector('#job .known dd')", "the dialog")
        self.assertEqual(self.browser.value("[...document.querySelectorAll('#job [data-act]')].map((b) => b.disabled)"),
                         [True, True, True])
        self.assertNotIn("sleep 1000", self.browser.value("document.getElementById('job').innerText"))
        # a request that the page does not hold back is refused by the service itself
        self.browser.value("rota.job.rights = null; document.getElementById('job').close()")
        told = self.browser.value(f"rota.service.post('v1/jobs/cancel', {{ids: '{job}'}}).then((a) => a.jobs[0].detail)")
        self.assertIn("only its user or an operator", told)
        self.assertEqual(self.service.job(job)["state"], "RUNNING")


if __name__ == "__main__":
    if browser.program() is None:
        print("skipped: chromium is not installed (Debian package chromium), so the page cannot be looked at")
        sys.exit(77)
    if os.geteuid() != 0:
        del OthersJobs  # only root can act as several users
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
