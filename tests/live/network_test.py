#!/usr/bin/env python3
"""Over the network: which client is let in, as which user, and which is not; certificates. Usage: network_test.py ROTA"""
import os
import socket
import ssl
import subprocess
import sys
import unittest

from network import NetworkCase, certificate
from service import PATIENCE, ServiceCase, named_users

OTHER = (*named_users(), None)[0]
several_users = unittest.skipIf(os.geteuid() != 0 or not OTHER, "only root can act as several users, where there are some")


class Tokens(NetworkCase):
    def test_no_request_is_let_in_without_a_token_that_counts(self):
        token = self.token()
        for path in ("/v1/jobs", "/v1/status", "/metrics", "/healthz", "/v1/openapi.json", "/nowhere"):
            for shown in (None, "rota_" + "0" * 64, token[:-1], token + "0"):
                status, answer, headers = self.ask("GET", path, shown)
                self.assertEqual((status, answer["status"], headers["WWW-Authenticate"]), (401, 401, "Bearer"), path)
        self.assertEqual(self.ask("POST", "/v1/jobs", None, {"command": ["true"]})[0], 401)
        self.assertEqual(self.ask("GET", "/healthz", token)[:2], (200, "ok\n"))
        for other in (f"bearer {token}", f"BEARER  {token}"):
            self.assertEqual(self.ask("GET", "/healthz", headers={"Authorization": other})[0], 200, other)
        for other in (token, f"Basic {token}", "Bearer", "Bearer "):
            self.assertEqual(self.ask("GET", "/healthz", headers={"Authorization": other})[0], 401, other)

    def test_a_token_that_is_revoked_or_over_counts_no_longer(self):
        token, other = self.token(), self.token("--expires", "1s")
        self.service.wait_for(lambda: self.ask("GET", "/healthz", other)[0] == 401, "the end of a token")
        (line,) = [line for line in self.rota_says("token", "list").stdout.splitlines() if "over" not in line][1:]
        self.assertEqual(self.ask("GET", "/healthz", token)[0], 200)
        self.rota_says("token", "revoke", line.split()[0])
        self.assertEqual(self.ask("GET", "/healthz", token)[0], 401)
        self.assertIn("there is no token", self.rota_says("token", "revoke", line.split()[0], code=1).stderr)
        self.service.stop()
        self.started(self.service.start())
        self.assertEqual(self.ask("GET", "/healthz", token)[0], 401)

    def test_tokens_outlive_the_service_and_are_not_kept(self):
        token = self.token("--comment", "mine")
        path = os.path.join(self.service.state, "tokens")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path) as file:
            text = file.read()
        self.assertIn("mine", text)
        self.assertNotIn(token.removeprefix("rota_"), text)
        self.service.kill()
        self.started(self.service.start())
        self.assertEqual(self.ask("GET", "/healthz", token)[0], 200)

    def test_a_token_for_reading_changes_nothing(self):
        token = self.token("--read-only")
        for path in ("/v1/jobs", "/metrics", "/v1/nodes"):
            self.assertEqual(self.ask("GET", path, token)[0], 200, path)
        for method, path in (("POST", "/v1/jobs"), ("POST", "/v1/jobs/cancel"), ("PUT", "/v1/policy")):
            status, answer, _ = self.ask(method, path, token, {})
            self.assertEqual((status, answer["detail"]), (403, "this token is for reading only."), path)
        self.assertTrue(self.ask("GET", "/v1/status", token)[1]["read_only"])
        self.assertNotIn("read_only", self.ask("GET", "/v1/status", self.token())[1])

    def test_an_operators_token_is_an_operators_only_if_it_says_so(self):
        plain, whole = self.token(), self.token("--operator")
        self.assertEqual(self.ask("PUT", "/v1/policy", plain, {"policy": "fcfs"})[0], 403)
        self.assertNotIn("state_folder", self.ask("GET", "/v1/status", plain)[1])
        self.assertEqual(self.ask("PUT", "/v1/policy", whole, {"policy": "fcfs"})[0], 200)

    def test_no_run_attaches_over_the_network(self):
        token = self.token()
        job = {"command": ["true"], "folder": self.folder, "attach": {"socket": "rota-nobody-there"}}
        for body in (job, [{"command": ["true"], "folder": self.folder}, job], {**job, "dry_run": True}):
            status, answer, _ = self.ask("POST", "/v1/jobs", token, body)
            self.assertEqual(status, 400, answer)
            self.assertIn("`attach` is for who waits on the computer of the service", answer["detail"])
        done = self.rota_says("run", "--", "true", code=1, ROTA_TOKEN=token, **self.over())
        self.assertIn("is asked over the network; use `rota submit --wait`.", done.stderr)
        self.assertEqual(self.service.ask("GET", "/v1/jobs?ended=yes")[1]["jobs"], [])

    def test_a_token_makes_no_tokens(self):
        token = self.token("--operator")
        for method, path in (("GET", "/v1/tokens"), ("POST", "/v1/tokens"), ("DELETE", "/v1/tokens/1")):
            status, answer, _ = self.ask(method, path, token, {})
            self.assertEqual(status, 403, path)
            self.assertIn("on the computer of the service", answer["detail"])

    @several_users
    def test_a_job_submitted_by_token_is_the_tokens_users(self):
        token = self.token("--user", OTHER.pw_name)
        folder = os.path.join(self.folder, "others")
        os.mkdir(folder)
        os.chown(folder, OTHER.pw_uid, OTHER.pw_gid)
        done = self.rota_says("submit", "--wait", "-D", folder, "-o", "out", "--", "sh", "-c", "id -u; id -G; env",
                              ROTA_TOKEN=token, USER="root", **self.over())
        self.assertEqual(done.stdout.strip().split()[-1], "1")
        with open(os.path.join(folder, "out")) as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], str(OTHER.pw_uid))
        self.assertNotIn("0", lines[1].split())
        self.assertFalse([line for line in lines if line.startswith(("ROTA_TOKEN", "ROTA_URL", "ROTA_CA"))], lines)
        row = self.service.job("1")
        self.assertEqual((row["user"], row["uid"]), (OTHER.pw_name, OTHER.pw_uid))
        roots = self.service.submit("sleep 1000", environment=["PATH=/bin", "SECRET=1"])
        self.assertEqual(self.ask("GET", f"/v1/jobs/{roots}/environment", token)[0], 403)
        status, answer, _ = self.ask("POST", "/v1/jobs/cancel", token, {"ids": roots})
        self.assertEqual((status, answer["jobs"][0]["done"]), (207, False))

    @several_users
    def test_a_user_makes_no_token_for_another_user(self):
        program = os.path.join(self.folder, "rota")
        with open(self.rota, "rb") as source, open(program, "wb") as copy:
            copy.write(source.read())
        os.chmod(program, 0o755)

        def create(*arguments):
            return subprocess.run([program, "token", "create", "--socket", self.service.socket, *arguments], text=True,
                                  capture_output=True, user=OTHER.pw_uid, group=OTHER.pw_gid, extra_groups=[], cwd="/")
        own = create()
        self.assertEqual(own.returncode, 0, own.stderr)
        self.assertEqual(self.ask("GET", "/v1/jobs", own.stdout.strip())[0], 200)
        for arguments, said in ((["--user", "root"], "only root may make a token for another user"),
                                (["--operator"], "is no operator"), (["--user", "no such user"], "there is no user")):
            done = create(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
            self.assertIn(said, done.stderr)
        listed = subprocess.run([program, "token", "list", "--socket", self.service.socket], user=OTHER.pw_uid, text=True,
                                group=OTHER.pw_gid, extra_groups=[], cwd="/", capture_output=True)
        self.token()
        self.assertEqual({line.split()[1] for line in listed.stdout.splitlines()[1:]}, {OTHER.pw_name})


class Certificates(NetworkCase):
    def test_the_commands_look_at_the_certificate(self):
        variables = {**self.over(), "ROTA_TOKEN": self.token()}
        self.assertIn("four", self.rota_says("status", **variables).stdout)
        self.assertIn("is asked, with a token", self.rota_says("doctor", code=None, **variables).stdout)
        self.assertIn("a certificate that is not trusted here (self-signed certificate)",
                      self.rota_says("status", code=1, **variables | {"ROTA_CA_FILE": ""}).stderr)
        self.assertIn("cannot be used", self.rota_says("status", code=1, **variables | {"ROTA_CA_FILE": self.key}).stderr)
        another = variables | {"ROTA_URL": f"https://127.0.0.2:{self.port}"}
        self.assertIn("No service answers", self.rota_says("status", code=1, **another).stderr)

    def test_a_certificate_of_another_host_is_not_trusted(self):
        token = self.token()
        self.certificate, self.key = certificate(self.folder, "one", "DNS:elsewhere.example")
        for host in ("127.0.0.1", "localhost"):
            done = self.rota_says("status", code=1, ROTA_URL=f"https://{host}:{self.port}", ROTA_TOKEN=token,
                                  ROTA_CA_FILE=self.certificate)
            self.assertRegex(done.stderr, "not trusted here [(](IP address|[Hh]ostname) mismatch[)]")

    def test_new_certificates_are_taken_while_it_runs(self):
        token = self.token()

        def shown():
            with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as stream:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                with context.wrap_socket(stream) as wire:
                    return wire.getpeercert(True)
        first = shown()
        with open(self.certificate, "w") as file:
            file.write("half of one")
        self.assertEqual(shown(), first)
        certificate(self.folder, "one")
        self.assertNotEqual(shown(), first)
        self.assertEqual(self.ask("GET", "/healthz", token)[0], 200)

    def test_old_tls_is_refused(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as stream:
            with self.assertRaisesRegex(ssl.SSLError, "alert"):
                context.wrap_socket(stream)

    def test_what_is_no_tls_is_let_go(self):
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as stream:
            stream.sendall(b"GET /healthz HTTP/1.1\r\nHost: r\r\n\r\n")
            self.assertNotIn(b"200", stream.recv(1000))
        self.assertEqual(self.ask("GET", "/healthz", self.token())[0], 200)


class Plain(NetworkCase):
    tls = False

    def test_without_tls_it_is_for_this_computer_and_with_a_token(self):
        self.assertEqual(self.ask("GET", "/v1/jobs")[0], 401)
        token = self.token()
        with open(os.path.join(self.folder, "token"), "w") as file:
            file.write(token + "\n")
        self.assertIn("four", self.rota_says("status", "--url", self.url, "--token-file", "token").stdout)
        self.assertIn("ROTA_TOKEN", self.rota_says("status", "--url", self.url, code=1).stderr)
        self.assertIn("write https://", self.rota_says("status", "--url", "http://box:80", code=1, ROTA_TOKEN=token).stderr)
        self.assertIn("this token is not known",
                      self.rota_says("status", "--url", self.url, code=1, ROTA_TOKEN="other").stderr)


class Refusals(ServiceCase):
    configuration = NetworkCase.machine

    def refused(self, settings):
        self.service.stop()
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write(self.configuration + "[service]\n" + settings)
        with self.assertRaises(AssertionError) as failure:
            self.service.start()
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write(self.configuration)
        self.service.start()
        return str(failure.exception)

    def test_an_open_port_is_refused(self):
        for listen in ("0.0.0.0:0", "[::]:0"):
            self.assertIn("could read tokens and scripts", self.refused(f'listen = "{listen}"\n'))

    def test_a_port_that_is_taken_is_refused_before_anything_is_done(self):
        service = self.service
        first = service.submit("until [ -e go ]; do sleep 0.02; done", processors=4)
        waits = service.submit("echo ran > ran", processors=4)
        service.wait_for(lambda: service.job(first)["state"] == "RUNNING", "the first job to run")
        service.stop()
        with open(os.path.join(self.folder, "go"), "w"):
            pass
        taken = socket.create_server(("127.0.0.1", 0))
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write(f'{self.configuration}[service]\nlisten = "127.0.0.1:{taken.getsockname()[1]}"\n')
        with self.assertRaises(AssertionError) as failure:
            service.start()
        self.assertIn("cannot listen at 127.0.0.1:", str(failure.exception))
        taken.close()
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")), "a job was started that nobody could ask for")
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write(self.configuration)
        service.start()
        for job in (first, waits):
            self.assertEqual(service.ends(job)["state"], "COMPLETED")

    def test_what_makes_no_sense_is_refused(self):
        paths = certificate(self.folder, "one")
        files = 'tls_certificate = "{}"\ntls_key = "{}"\n'
        listen = 'listen = "127.0.0.1:0"\n'
        self.assertIn("takes HOST:PORT", self.refused('listen = "8443"\n'))
        self.assertIn("does not say where", self.refused(files.format(*paths)))
        self.assertIn("go together", self.refused(listen + f'tls_key = "{paths[1]}"\n'))
        self.assertIn("absolute paths", self.refused(listen + files.format("one.pem", "one.key")))
        self.assertIn("cannot be used", self.refused(listen + files.format(paths[1], paths[1])))
        self.assertIn("belongs to it", self.refused(listen + files.format(paths[0], certificate(self.folder, "two")[1])))
        os.chmod(paths[1], 0o644)
        self.assertIn("open to everybody", self.refused(listen + files.format(*paths)))


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    unittest.main()
