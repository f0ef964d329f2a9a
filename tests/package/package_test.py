#!/usr/bin/env python3
"""What `./dev package` has made, tried as its users would: the Debian package under a real systemd on a computer of its own, from
installation over an upgrade under a job that runs to its purge; the tarball in a root that holds the C library and bash.

Usage: package_test.py PACKAGES   the folder that holds both"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "live"))
import computer  # noqa: E402
import systemd_test  # noqa: E402
from systemd_test import command, wait_for  # noqa: E402

systemd_test.PATIENCE = 600  # of one command: dpkg, lintian
LATER = "0.2.1~test"
UNITS = ("rota.socket", "rota.service")


def the_one(pattern):
    found = glob.glob(os.path.join(PACKAGES, pattern))
    if len(found) != 1:
        sys.exit(f"package_test.py: {PACKAGES} has {len(found)} files {pattern}, and one is wanted: `./dev package` makes it.")
    return found[0]


def field(package, name):
    return command("dpkg-deb", "--field", package, name).strip()


def dpkg(*words):
    """Without triggers: what other packages make of a new manual page is not tried here."""
    return command("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--no-triggers", *words)


def active(unit):
    return command("systemctl", "is-active", unit, code=None).strip()


def row(job):
    return json.loads(command("rota", "job", "--json", job))


def gate(job):
    """A job that runs until /tmp/go-JOB is there, and then writes /tmp/went-JOB."""
    script = f"until test -e /tmp/go-{job}; do sleep 0.1; done; echo went > /tmp/went-{job}"
    number = command("rota", "submit", "--chdir", "/tmp", "--", "sh", "-c", script).split()[-1]
    wait_for(lambda: row(number)["state"] == "RUNNING", f"the start of job {job}")
    return number


def opens(job):
    with open(f"/tmp/go-{job}", "w"):
        pass
    wait_for(lambda: os.path.exists(f"/tmp/went-{job}"), f"what job {job} writes")


class InstalledPackage(unittest.TestCase):
    """Inside the computer, whose system has the package's dependencies and no Rota."""

    def installs(self, which):
        dpkg("--install", os.path.join(HOST, which))
        for unit in UNITS:
            self.assertEqual(active(unit), "active", command("journalctl", "--no-pager", "-n", "30", code=None))
            command("systemctl", "is-enabled", unit)
        command("rota", "doctor")

    def test_installed_upgraded_removed_and_purged(self):
        self.installs("first.deb")
        command("id", "rota")
        self.a_token_that_only_reads_stands_for_rota()
        self.a_job_goes_on_under_an_upgrade()
        self.a_job_goes_on_when_the_package_is_removed()
        self.purged_it_keeps_the_state_unless_that_is_asked_for()

    def a_token_that_only_reads_stands_for_rota(self):
        command("rota", "token", "create", "--user", "rota", "--read-only", "--comment", "panel")
        self.assertIn("rota", command("rota", "token", "list"))

    def a_job_goes_on_under_an_upgrade(self):
        job = gate("upgrade")
        with open("/etc/rota/rota.toml", "a") as file:
            file.write("max_array = 77\n")  # in the last table, [service]; the administrator's own
        before = command("systemctl", "show", "--value", "--property", "MainPID", "rota.service")
        self.installs("later.deb")
        self.assertNotEqual(command("systemctl", "show", "--value", "--property", "MainPID", "rota.service"), before)
        self.assertEqual(row(job)["state"], "RUNNING")
        opens("upgrade")
        wait_for(lambda: row(job)["state"] == "COMPLETED", "its end")
        with open("/etc/rota/rota.toml") as file:
            self.assertTrue(file.read().endswith("max_array = 77\n"))

    def a_job_goes_on_when_the_package_is_removed(self):
        job = gate("removal")
        dpkg("--remove", "rota")
        for unit in (*UNITS, "rota-jobs.service"):
            self.assertNotEqual(active(unit), "active")
        self.assertFalse(os.path.exists("/usr/bin/rota"))
        opens("removal")
        self.assertTrue(os.path.exists("/etc/rota/rota.toml"))
        self.installs("later.deb")
        wait_for(lambda: row(job)["state"] == "COMPLETED", "its end to be found")

    def purged_it_keeps_the_state_unless_that_is_asked_for(self):
        said = dpkg("--purge", "rota")
        self.assertIn("/var/lib/rota", said)
        self.assertTrue(os.path.exists("/var/lib/rota/rota.db"))
        self.assertFalse(os.path.exists("/etc/rota"))
        self.installs("later.deb")
        self.assertEqual(len(json.loads(command("rota", "history", "--json"))["jobs"]), 2, "what was kept is there again")
        command("debconf-set-selections", input="rota rota/remove-state boolean true\n")
        dpkg("--purge", "rota")
        for path in ("/var/lib/rota", "/etc/rota", "/usr/bin/rota", "/usr/share/doc/rota", "/lib/systemd/system/rota.service",
                     "/etc/systemd/system/multi-user.target.wants/rota.service"):
            self.assertFalse(os.path.lexists(path), path)
        command("id", "rota", code=1)


class Deb(computer.ComputerCase):
    script = os.path.abspath(__file__)

    def test_it_is_installed_upgraded_under_a_job_removed_and_purged(self):
        if lack := computer.lacks():
            self.skipTest(f"a computer of its own with systemd: {lack}")
        package = the_one("rota_*_*.deb")
        shutil.copy(package, os.path.join(self.folder, "first.deb"))
        opened = os.path.join(self.folder, "later")
        command("dpkg-deb", "--raw-extract", package, opened)
        with open(os.path.join(opened, "DEBIAN", "control")) as file:
            control = re.sub(r"(?m)^Version: .*", f"Version: {LATER}", file.read())
        with open(os.path.join(opened, "DEBIAN", "control"), "w") as file:
            file.write(control)
        command("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", opened, os.path.join(self.folder, "later.deb"))
        self.passes("InstalledPackage")

    def test_it_needs_the_c_library_and_what_installation_needs(self):
        needed = {re.split(r"[ |(]", each.strip())[0] for each in field(the_one("rota_*_*.deb"), "Depends").split(",")}
        self.assertEqual(needed, {"adduser", "debconf", "libc6"})

    def test_its_symbols_are_apart(self):
        symbols = command("dpkg-deb", "--contents", the_one("rota-dbgsym_*.ddeb"))
        self.assertRegex(symbols, r"usr/lib/debug/\S+\.debug")

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        command("lintian", "--fail-on", "error", the_one("rota_*_*.deb"))


class Parts(unittest.TestCase):
    """Each beside the program, as both lie once they are installed."""

    PARTS = {"rota-etcd": ("librota-etcd.so", "libgrpc++"), "rota-accel": ("librota-accel-images.so", "libc6"),
             "rota-accel-openblas": ("librota-accel-openblas.so", "libopenblas"),
             "rota-accel-opencl": ("librota-accel-opencl.so", "ocl-icd-libopencl1")}

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="rota-root-")
        self.addCleanup(shutil.rmtree, self.root, True)
        command("dpkg-deb", "--extract", the_one("rota_*_*.deb"), self.root)

    def test_each_has_its_library_and_needs_the_program_of_its_version(self):
        for part, (library, needed) in self.PARTS.items():
            package = the_one(f"{part}_*_*.deb")
            depends = field(package, "Depends")
            self.assertIn(f"rota (= {field(the_one('rota_*_*.deb'), 'Version')})", depends)
            self.assertIn(needed, depends)
            self.assertEqual(field(package, "Maintainer"), field(the_one("rota_*_*.deb"), "Maintainer"))
            self.assertIn(f"/usr/lib/rota/{library}", command("dpkg-deb", "--contents", package))

    def test_a_site_finds_its_client_of_etcd(self):
        file = os.path.join(self.root, "rota.toml")
        with open(file, "w") as out:
            out.write('processors = 1\n[federation]\nname = "berlin"\nendpoints = ["127.0.0.1:1"]\n')
        serve = [os.path.join(self.root, "usr/bin/rota"), "serve", "--state", os.path.join(self.root, "state"), "--socket",
                 os.path.join(self.root, "socket"), "--config", file]
        alone = subprocess.run(serve, capture_output=True, text=True)
        self.assertIn("the client of etcd cannot be opened", alone.stderr)
        command("dpkg-deb", "--extract", the_one("rota-etcd_*_*.deb"), self.root)
        beside = subprocess.run(serve, capture_output=True, text=True)
        self.assertIn("etcd at 127.0.0.1:1 cannot be asked", beside.stderr)

    def test_a_container_finds_its_backends(self):
        for part in ("rota-accel", "rota-accel-openblas"):
            command("dpkg-deb", "--extract", the_one(f"{part}_*_*.deb"), self.root)
        rota = os.path.join(self.root, "usr/bin/rota")
        place = os.path.join(self.root, "accel.socket")
        container = subprocess.Popen([rota, "accel", "serve", "--backend", "openblas", "--backend", "images", "--weight", "1",
                                      "--socket", place], stderr=subprocess.PIPE, text=True)
        try:
            self.assertTrue(any("listens" in line for line in container.stderr))
            command(rota, "accel", "run", "lu", "--n", "64", "--seeded", "1", env={**os.environ, "ROTA_ACCEL": place})
        finally:
            container.terminate()
            container.wait()
            container.stderr.close()


class Tarball(unittest.TestCase):
    """In a root of its own, which has no process and no mount that outlives the test."""

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make another root")
        self.root = tempfile.mkdtemp(prefix="rota-root-")
        self.addCleanup(shutil.rmtree, self.root, True)
        with tempfile.TemporaryDirectory(prefix="rota-packages-") as folder:
            try:
                command("apt-get", "download", "libc6", "bash", "libtinfo6", cwd=folder)
            except (AssertionError, FileNotFoundError) as error:
                self.skipTest(f"the C library and bash cannot be fetched: {error}")
            for package in glob.glob(os.path.join(folder, "*.deb")):
                command("dpkg-deb", "--extract", package, self.root)
        for made in ("proc", "dev", "tmp", "etc", "usr/local"):
            os.makedirs(os.path.join(self.root, made), exist_ok=True)
        command("tar", "-C", os.path.join(self.root, "usr", "local"), "--strip-components=1", "-xf", the_one("rota-*.tar.gz"))

    def inside(self, script):
        mounts = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" /bin/bash -euc "$1"'
        return command("unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", mounts, self.root, script,
                       env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp"})

    def test_it_runs_where_there_is_the_c_library_alone(self):
        self.assertRegex(self.inside("rota --version"), r"^rota \d+\.\d+\.\d+\n$")
        self.assertIn("easy", self.inside("rota simulate /usr/local/share/doc/rota/examples/day.swf"))

    def test_its_service_runs_a_job(self):
        said = self.inside("""cd /tmp; export ROTA_SOCKET=/tmp/socket
            rota serve --state state --socket socket 2> log & service=$!
            until [[ -S socket ]]; do kill -0 $service; done
            rota submit --wait --output out -- /bin/bash -c 'echo hello'
            echo "it wrote: $(<out)"
            kill $service; wait $service
            echo "it said: $(<log)" """)
        self.assertIn("it wrote: hello\n", said)
        self.assertIn("libhwloc.so.15 cannot be used", said)


if __name__ == "__main__":
    PACKAGES = os.path.abspath(sys.argv.pop(1))
    if computer.INSIDE in sys.argv:
        sys.argv.remove(computer.INSIDE)
        HOST = os.path.dirname(PACKAGES)  # inside, the first word is where outcomes go
        computer.run_tests(sys.modules[__name__], sys.argv[1:], PACKAGES)
        sys.exit(0)
    unittest.main(verbosity=2, defaultTest=["Deb", "Parts", "Tarball"])
