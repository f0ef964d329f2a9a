"""A service that is asked over the network too: certificates, tokens, and sockets of every kind to it."""
import http.client
import json
import os
import re
import socket
import ssl
import subprocess

from service import PATIENCE, ServiceCase


def certificate(folder, name, hosts="DNS:localhost,IP:127.0.0.1"):
    """A certificate that signs itself; gives the paths of it and of its key."""
    paths = [os.path.join(folder, f"{name}.{what}") for what in ("pem", "key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", f"subjectAltName={hosts}", "-out", paths[0], "-keyout", paths[1]],
                   check=True, capture_output=True)
    os.chmod(paths[1], 0o600)
    return paths


class NetworkCase(ServiceCase):
    """A service at a free port of this computer, by TLS or, where `tls` says so, without."""
    tls = True
    machine = 'name = "four"\nprocessors = 4\n'

    def prepare(self):
        text = self.machine + '[service]\nlisten = "127.0.0.1:0"\n'
        if self.tls:
            self.certificate, self.key = certificate(self.folder, "one")
            text += f'tls_certificate = "{self.certificate}"\ntls_key = "{self.key}"\n'
        self.configuration = text

    def started(self, said):
        self.url = re.search("answers at (https?://[^ ]+)", said)[1]
        self.port = int(self.url.rpartition(":")[2])

    def token(self, *arguments):
        return self.rota_says("token", "create", *arguments).stdout.strip()

    def rota_says(self, *arguments, code=0, **variables):
        """What the command says, asked at the socket unless told otherwise; `code` None: any."""
        environment = {"PATH": os.environ["PATH"], "ROTA_SOCKET": self.service.socket, **variables}
        done = subprocess.run([self.rota, *arguments], capture_output=True, text=True, env=environment, cwd=self.folder,
                              timeout=PATIENCE)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def over(self):
        """The variables of a command that asks over the network."""
        return {"ROTA_URL": self.url, "ROTA_CA_FILE": getattr(self, "certificate", "")}

    def trust(self):
        context = ssl.create_default_context(cafile=self.certificate)
        return context

    def wire(self):
        """A socket to the service's port."""
        stream = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        return self.trust().wrap_socket(stream, server_hostname="127.0.0.1") if self.tls else stream

    def ask(self, method, path, token=None, body=None, headers=None):
        """The status, the JSON or text, and the header of an answer over the network."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.sock = self.wire()
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request(method, path, None if body is None else json.dumps(body), {**shown, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        is_json = "json" in (answer.getheader("Content-Type") or "")
        return answer.status, json.loads(text) if is_json else text.decode(), answer.headers
