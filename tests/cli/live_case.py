"""A test case whose rota speaks to a fake service on a socket in the test's folder."""
import os
import signal

from fake_service import FakeService
from rota_case import RotaCase


class LiveCase(RotaCase):
    def setUp(self):
        super().setUp()
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a client may be gone before it has its answer
        self.socket = str(self.folder / "s")
        self.service = FakeService(self.socket)
        self.addCleanup(self.service.close)
        self.env = os.environ | {"ROTA_SOCKET": self.socket, "TZ": "UTC"}

    def answers(self, verb, path, *answers):
        self.service.answers[(verb, path)] = list(answers)

    def live(self, *arguments, **more):
        return self.rota(*arguments, **({"env": self.env} | more))

    def prints(self, *arguments, out="", err="", code=0, **more):
        """Exactly this on standard output and standard error."""
        done = self.live(*arguments, code=code, **more)
        self.assertEqual((done.stdout, done.stderr), (out, err))

    def says_no(self, *arguments, said, code=1, **more):
        """Exactly this sentence, and nothing else."""
        self.assertEqual(self.refused(*arguments, code=code, **({"env": self.env} | more)), f"rota: {said}\n")

    def last(self):
        """The last request, as a dictionary."""
        return self.service.requests[-1]

    def sent(self, *arguments, **more):
        """What the command sent as its last body, without what depends on where it runs."""
        self.live(*arguments, **more)
        return {name: value for name, value in self.last()["body"].items()
                if name not in ("environment", "folder", "umask", "name")}
