"""A port of this computer that leads to a service's Unix socket, as `ssh -L` would: for clients that speak TCP alone."""
import selectors
import socket
import threading


class Relay:
    """Serves until it is closed. cut() ends what is open and refuses what comes, mend() lets it pass again."""

    def __init__(self, path):
        self.path = path
        self.passing = True
        self.pairs = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://localhost:{self.port}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            try:
                with self.lock:
                    if not self.passing:
                        raise ConnectionRefusedError
                    far.connect(self.path)
                    self.pairs.add((near, far))
            except OSError:
                near.close()
                far.close()
                continue
            threading.Thread(target=self.carry, args=(near, far), daemon=True).start()

    def carry(self, near, far):
        with selectors.DefaultSelector() as ready:
            ready.register(near, selectors.EVENT_READ, far)
            ready.register(far, selectors.EVENT_READ, near)
            try:
                while True:
                    for key, _ in ready.select():
                        piece = key.fileobj.recv(65536)
                        if not piece:
                            return
                        key.data.sendall(piece)
            except (OSError, ValueError):
                return
            finally:
                self.end(near, far)

    def end(self, near, far):
        with self.lock:
            self.pairs.discard((near, far))
        for end in (near, far):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def cut(self):
        with self.lock:
            self.passing = False
            pairs = list(self.pairs)
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def mend(self):
        self.passing = True

    def close(self):
        self.listener.close()
        self.cut()
