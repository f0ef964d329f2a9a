"""A throw-away etcd for tests: one or more members on loopback, whose data are in memory where that can be."""
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds after which what was waited for counts as never coming


def free_ports(count):
    """So many ports that were free a moment ago; a member that finds one taken ends, and the cluster is begun anew."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Etcd:
    """`with Etcd(3) as etcd:`; etcd.endpoints is a list of HOST:PORT. With tls=[ROTA, SITE...] members and clients show
    certificates that `rota sites init` makes: etcd.file("ca.crt"), "SITE.crt", "SITE.key", and each has its own rights."""

    def __init__(self, members=1, tls=None):
        self.count, self.tls = members, tls
        self.folder = tempfile.mkdtemp(prefix="rota-etcd-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.members = [None] * members

    def __enter__(self):
        for _ in range(5):
            ports = free_ports(2 * self.count)
            self.clients, self.peers = ports[: self.count], ports[self.count:]
            self.endpoints = [f"127.0.0.1:{port}" for port in self.clients]
            if self.tls:
                script = subprocess.run([self.tls[0], "sites", "init", *self.tls[1:], *(word for endpoint in self.endpoints
                                                                                        for word in ("--member", endpoint))],
                                        check=True, capture_output=True, text=True).stdout
                with open(self.script, "w") as file:
                    file.write(script)
                self.run_script("certificates")
            for member in range(self.count):
                self.start(member)
            if self.healthy():
                if self.tls:
                    self.run_script("rights")
                return self
            self.end()
            shutil.rmtree(self.folder)
            os.mkdir(self.folder)
        raise AssertionError("etcd did not start")

    def __exit__(self, *_):
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def script(self):
        return os.path.join(self.folder, "federation.sh")

    def run_script(self, verb):
        for _ in range(2):  # begun again it does what is left
            subprocess.run(["sh", "federation.sh", verb], cwd=self.folder, check=True, capture_output=True)

    def file(self, name):
        return os.path.join(self.folder, "federation", name) if self.tls else os.path.join(self.folder, name)

    def url(self, port):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{port}"

    def start(self, member):
        """Begins, or begins again with what it has kept."""
        name, peer, client = f"m{member}", self.peers[member], self.clients[member]
        cluster = ",".join(f"m{i}={self.url(port)}" for i, port in enumerate(self.peers))
        shown = ["--cert-file", self.file("127.0.0.1.crt"), "--key-file", self.file("127.0.0.1.key"), "--client-cert-auth",
                 "--trusted-ca-file", self.file("ca.crt")]
        among_members = [word.replace("--", "--peer-", 1).replace("127.0.0.1.", "127.0.0.1-peer.").replace("ca.crt", "peer-ca.crt")
                         for word in shown]
        flags = [*shown, *among_members] if self.tls else []
        log = open(self.file(name + ".log"), "a")
        self.members[member] = subprocess.Popen(
            ["etcd", "--name", name, "--data-dir", os.path.join(self.folder, name), "--initial-cluster", cluster,
             "--listen-peer-urls", self.url(peer), "--initial-advertise-peer-urls", self.url(peer),
             "--listen-client-urls", self.url(client), "--advertise-client-urls", self.url(client), "--logger", "zap", "--log-level", "warn",
             "--pre-vote", "--snapshot-count", "5000", *flags],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        log.close()

    def kill(self, member, number=signal.SIGKILL):
        self.members[member].send_signal(number)
        if number == signal.SIGKILL:
            self.members[member].wait()

    def end(self):
        for process in self.members:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def healthy(self):
        """Until each member takes writes; false where one has ended."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and all(process.poll() is None for process in self.members):
            if self.ctl("endpoint", "health").returncode == 0:
                return True
            time.sleep(0.05)
        return False

    def ctl(self, *words, user="root"):
        """What etcdctl does and says."""
        shown = ["--cacert", self.file("ca.crt"), "--cert", self.file(user + ".crt"), "--key", self.file(user + ".key")]
        return subprocess.run(["etcdctl", "--endpoints", ",".join(map(self.url, self.clients)), *(shown if self.tls else []), *words],
                              env={**os.environ, "ETCDCTL_API": "3"}, capture_output=True, text=True, errors="surrogateescape")

    def save(self, path):
        done = self.ctl("snapshot", "save", path)
        assert done.returncode == 0, done.stderr

    def restore(self, path):
        """A lone member begins anew with what was saved."""
        self.end()
        folder = os.path.join(self.folder, "m0")
        shutil.rmtree(folder)
        peer = self.url(self.peers[0])
        done = self.ctl("snapshot", "restore", path, "--name", "m0", "--data-dir", folder, "--initial-cluster", f"m0={peer}",
                        "--initial-advertise-peer-urls", peer)
        assert done.returncode == 0, done.stderr
        self.start(0)
        assert self.healthy()

    def records(self, prefix="/rota/"):
        """What stands under a prefix, as a dictionary of texts."""
        lines = self.ctl("get", "--prefix", prefix).stdout.split("\n")
        found, key = {}, None
        for line in lines:
            if line.startswith(prefix):
                key = line
                found[key] = ""
            elif key is not None:
                found[key] += line
        return found


if __name__ == "__main__":  # etcd.py COMMAND...: with ROTA_TEST_ETCD naming an etcd that is there for it alone
    import sys
    if shutil.which("etcd") is None:
        print("skipped: etcd is not installed")
        sys.exit(77)
    with Etcd() as etcd:
        sys.exit(subprocess.run(sys.argv[1:], env={**os.environ, "ROTA_TEST_ETCD": etcd.endpoints[0]}).returncode)
