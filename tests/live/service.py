"""A service of Rota for tests: started in a folder of its own, spoken to as docs/api.md says, and gone at the end."""
import http.client
import json
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PATIENCE = 600  # seconds after which what was waited for counts as never coming


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("rota")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Service:
    """One state, and the process that serves it while there is one."""

    def __init__(self, rota, folder, configuration=None, arguments=()):
        self.rota, self.folder, self.arguments = rota, folder, list(arguments)
        self.socket = os.path.join(folder, "socket")
        self.state = os.path.join(folder, "state")
        if configuration is not None:
            path = os.path.join(folder, "rota.toml")
            with open(path, "w") as file:
                file.write(configuration)
            self.arguments += ["--config", path]
        self.process = None
        self.before, self.environment = [], None  # words before its command line; None: that of the test

    def start(self):
        """Until it says that it is ready; gives what it said until then."""
        self.process = subprocess.Popen(
            [*self.before, self.rota, "serve", "--state", self.state, "--socket", self.socket, *self.arguments],
            stderr=subprocess.PIPE, text=True, env=self.environment)
        said = ""
        for line in self.process.stderr:
            said += line
            if "ready:" in line:  # and not that something is in use already
                return said
        code = self.process.wait(PATIENCE)
        self.process.stderr.close()
        raise AssertionError(f"the service ended with {code} before it was ready: {said}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def stop(self):
        """As it should be stopped; gives what it said last."""
        self.process.send_signal(signal.SIGTERM)
        said = self.process.stderr.read()
        code = self.process.wait(PATIENCE)
        self.process.stderr.close()
        assert code == 0, f"the service ended with {code}: {said}"
        return said

    def ask(self, method, path, body=None, headers=None):
        """The status and the JSON of an answer."""
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers or {})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        is_json = "json" in (answer.getheader("Content-Type") or "")
        return answer.status, json.loads(text) if is_json else text.decode()

    def submit(self, command=None, **members):
        """The id of a new job that runs a shell command, or a list of words."""
        body = {"folder": self.folder, "environment": ["PATH=/usr/bin:/bin"], **members}
        if command is not None:
            body["command"] = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        status, answer = self.ask("POST", "/v1/jobs", body)
        assert status == 201, answer
        return answer["id"]

    def job(self, job):
        status, answer = self.ask("GET", f"/v1/jobs/{job}")
        assert status == 200, answer
        return answer

    def act(self, action, ids, **members):
        return self.ask("POST", f"/v1/jobs/{action}", {"ids": ids, **members})

    def live(self):
        return self.ask("GET", "/v1/jobs")[1]["jobs"]

    def wait_for(self, done, what):
        """Until done() is true; looks again whenever the service tells of something, or something may have changed."""
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}; live: {self.live()}")
            self.next_event()

    def near_limit(self, job, seconds=1):
        """Lowers the limit of a job that runs or is suspended to so many seconds more than it has run, and gives it.
        A test that begins with such a limit hopes that the job does before what it is to do."""
        while True:
            limit = self.job(job)["elapsed"] + seconds
            status, answer = self.act("update", job, limit=limit)
            if status == 200:
                return limit
            assert "has run for longer than that already" in str(answer), answer
            seconds *= 2

    def runs(self, job):
        """Until it is known to run: its processes may have begun before."""
        self.wait_for(lambda: self.job(job)["state"] == "RUNNING", f"job {job} to run")
        return job

    def now(self):
        return self.ask("GET", "/v1/status")[1]["now"]

    def let_pass(self, seconds):
        """Until its clock has gone on by so much."""
        until = self.now() + seconds
        self.wait_for(lambda: self.now() > until, "time to pass")

    def written(self, name):
        """What stands in a file, once a job has written something there."""
        self.wait_for(lambda: contents(os.path.join(self.folder, name)), f"the file {name}")
        return self.read(name)

    def next_event(self):
        """Until the service writes a fact, or a little while has gone by without one."""
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(self.socket)
            stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: rota\r\n\r\n")
            text = b""
            while text.count(b"\n\n") < 2 and b"data:" not in text:
                if not select.select([stream], [], [], 0.25)[0]:
                    return
                piece = stream.recv(65536)
                if not piece:
                    return
                text += piece

    def ends(self, job):
        """The row of a job once it has ended."""
        ended = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
        self.wait_for(lambda: self.job(job)["state"] in ended, f"the end of job {job}")
        return self.job(job)

    def all_end(self):
        self.wait_for(lambda: not self.live(), "the end of all jobs")

    def decides_the_same_again(self):
        """What `rota replay --check` says of the state so far, if it finds fault with it; else nothing."""
        done = subprocess.run([self.rota, "replay", "--check", os.path.join(self.state, "rota.db")],
                              capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stderr

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()


class ServiceCase(unittest.TestCase):
    """A test with a service, whose jobs and processes are gone when it ends."""
    rota = None
    configuration = None
    arguments = ()
    service = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rota-live-")
        self.addCleanup(self.leave_nothing)  # also where setUp fails on its way, for which there is no tearDown
        os.chmod(self.folder, 0o755)
        self.prepare()
        self.start_service()

    def prepare(self):
        """What the service needs in its folder."""

    def started(self, said):
        """What it said until it was ready."""

    def start_service(self):
        self.service = Service(self.rota, self.folder, self.configured(), self.arguments)
        self.started(self.service.start())

    def start_on_a_disk_of(self, size):
        """Anew, its state in memory: as root, where root may mount."""
        self.service.stop()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=711", "tmpfs", self.service.state],
                              capture_output=True, text=True)
        if done.returncode == 0:
            self.addCleanup(subprocess.run, ["umount", "-l", self.service.state], check=True)
        self.service.start()
        if done.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {done.stderr.strip()}")

    def configured(self):
        """The text of the cluster file; None: there is none."""
        return self.configuration

    def tearDown(self):
        service = self.service
        if service.process and service.process.poll() is None:
            service.act("cancel", "all")
            service.all_end()
            service.stop()

    def leave_nothing(self):
        """Leaves nothing behind, whatever went wrong: no process of the service or of its jobs, and no file."""
        process = self.service and self.service.process
        if process and process.poll() is None:
            self.service.kill()
        while left := processes(self.is_ours):
            end(left)
            time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)

    def is_ours(self, pid):
        """Whether a process belongs to a state in this test's folder: its service, its helpers, its jobs."""
        inside = self.folder.encode() + b"/"
        words = words_of(pid).split(b"\0")
        served = (b"serve" in words or b"supervise" in words) and any(word.startswith(inside) for word in words)
        return served or self.is_of_jobs(pid)

    def is_of_jobs(self, pid, job=None):
        """Whether it is a process of a job of this test, or of this one."""
        marks = contents(f"/proc/{pid}/environ")
        return b"ROTA_RUN=" + self.folder.encode() + b"/" in marks and (
            job is None or f"ROTA_JOB_ID={job}".encode() in marks.split(b"\0"))

    def stands(self, job=None):
        """Whether all processes of jobs, or of this one, are stopped, as the kernel sees them. A shell whose child was
        stopped before it became another program waits for it in the kernel: D."""
        states = [state_of(pid) for pid in processes(lambda pid: self.is_of_jobs(pid, job))]
        return any(state in ("T", "t") for state in states) and set(states) <= {"", "T", "t", "Z", "D"}


def wait_for(done, what):
    """Until done() is true, where no service tells of it."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)


def named_users():
    """Two users of this computer beside root, whatever they are called; fewer where there are fewer."""
    return [user for user in pwd.getpwall() if user.pw_uid not in (0, os.getuid())][:2]


def state_of(pid):
    """One letter; nothing: there is no such process."""
    text = contents(f"/proc/{pid}/stat")
    return text.rsplit(b")", 1)[1].split()[0].decode() if text else ""


def processes(wanted):
    return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if wanted(pid)]


def end(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def words_of(pid):
    return contents(f"/proc/{pid}/cmdline")
