"""Tasks for an accelerator container of Rota, over librota-accel.so. Needs nothing beside Python; NumPy arrays are sent
and come back without a copy where NumPy is installed.

    import numpy, rota_accel
    with rota_accel.Client("node7:7400", token="...") as client:
        factors, pivots = client.lu(numpy.random.rand(500, 500))
        tasks = [client.submit("noop", payload=b"abc") for _ in range(10)]
        print([bytes(task.result()) for task in tasks])

Tasks of a container that is lost are run again on the one that follows it at the address, or that the node is bound to
then; each ends once. A payload
must not change until its task has ended. All of it may be used from several threads. docs/accelerators.md lists the
operations.
"""
import ctypes
import json
import os
import struct
import threading
import time
import weakref

OUTCOMES = ("done", "bad-task", "numeric", "cancelled", "time-limit", "unsupported", "no-memory", "device-lost", "leaving")
_ABI = 1
_PARAMETERS = 6


class Failed(RuntimeError):
    """A task ended without a result. `outcome` is one of OUTCOMES."""

    def __init__(self, outcome, why):
        super().__init__(f"{outcome}: {why}")
        self.outcome = outcome


class _Options(ctypes.Structure):
    _fields_ = [("address", ctypes.c_char_p), ("token", ctypes.c_char_p), ("patience_ms", ctypes.c_int64),
                ("give_up_ms", ctypes.c_int64)]


class _Order(ctypes.Structure):
    _fields_ = [("operation", ctypes.c_char_p), ("parameters", ctypes.c_int64 * _PARAMETERS), ("payload", ctypes.c_void_p),
                ("payload_bytes", ctypes.c_uint64), ("result", ctypes.c_void_p), ("result_room", ctypes.c_uint64),
                ("limit_ms", ctypes.c_uint32), ("tag", ctypes.c_void_p)]


class _End(ctypes.Structure):
    _fields_ = [("task", ctypes.c_uint64), ("tag", ctypes.c_void_p), ("outcome", ctypes.c_int), ("runs", ctypes.c_uint32),
                ("result", ctypes.c_void_p), ("result_bytes", ctypes.c_uint64), ("why", ctypes.c_char * 256)]


def _library():
    """ROTA_ACCEL_LIBRARY, or librota-accel.so beside this file, in a folder of the system, or above it."""
    name, here = "librota-accel.so", os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, name), os.path.join(here, "..", name)]
    named = os.environ.get("ROTA_ACCEL_LIBRARY")
    library = ctypes.CDLL(named or next((path for path in beside if os.path.exists(path)), name))
    if library.rota_accel_client_abi() != _ABI:
        raise ImportError("librota-accel.so is of another version than rota_accel.py; take both from one build")
    client = ctypes.c_void_p
    for function, result, arguments in (
            ("open", client, (ctypes.POINTER(_Options), ctypes.c_char_p, ctypes.c_size_t)), ("close", None, (client,)),
            ("submit", ctypes.c_uint64, (client, ctypes.POINTER(_Order))),
            ("ask_state", ctypes.c_uint64, (client, ctypes.c_void_p)), ("cancel", None, (client, ctypes.c_uint64)),
            ("event", ctypes.c_int, (client,)), ("next", ctypes.c_int, (client, ctypes.POINTER(_End), ctypes.c_int)),
            ("free", None, (ctypes.c_void_p,))):
        declared = getattr(library, "rota_accel_" + function)
        declared.restype, declared.argtypes = result, arguments
    return library


_LIBRARY = _library()


def _bytes_at(payload):
    """Address and size of the bytes, and what keeps them there."""
    if payload is None:
        return None, 0, None
    if hasattr(payload, "__array_interface__"):
        if not (payload.flags.c_contiguous or payload.flags.f_contiguous):
            raise ValueError("an array with gaps cannot be sent; numpy.ascontiguousarray makes one without")
        return payload.__array_interface__["data"][0], payload.nbytes, payload
    if isinstance(payload, bytes):
        return ctypes.cast(ctypes.c_char_p(payload), ctypes.c_void_p).value, len(payload), payload
    view = memoryview(payload).cast("B")
    if view.readonly:
        return _bytes_at(bytes(view))
    held = (ctypes.c_char * len(view)).from_buffer(view)
    return ctypes.addressof(held), len(view), held


class Task:
    """One that was submitted: its end, once it has come."""

    def __init__(self, client, number, keeps):
        self._client, self.number, self._keeps = client, number, keeps
        self.outcome, self.why, self.runs, self._result = None, "", 0, None

    def done(self):
        self._client._collect(0)
        return self.outcome is not None

    def cancel(self):
        self._client._cancel(self.number)

    def result(self, timeout=None):
        """The result as a memoryview, whose memory is the library's own. Raises Failed, or TimeoutError after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.outcome is None:
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"task {self.number} has not ended within {timeout} s")
            self._client._collect(100 if end is None else min(100, max(1, int((end - time.monotonic()) * 1000))), self)
        if self.outcome != "done":
            raise Failed(self.outcome, self.why)
        return self._result

    def _end(self, end):
        self.why, self.runs, self._keeps = end.why.decode(errors="replace"), end.runs, None
        if end.result:
            memory = (ctypes.c_ubyte * end.result_bytes).from_address(end.result)
            weakref.finalize(memory, _LIBRARY.rota_accel_free, end.result).atexit = False
            self._result = memoryview(memory).cast("B")
        self.outcome = OUTCOMES[end.outcome]


class Client:
    """A connection to the container at `address`: HOST:PORT, the path of a socket, or NODE@/PATH for that which the
    service at this socket has for the node (late:NODE@/PATH: all of its rack, each for the tasks that it will have done
    first). Without one: ROTA_ACCEL."""

    def __init__(self, address=None, token=None, patience=10.0, give_up=60.0):
        address = address or os.environ.get("ROTA_ACCEL")
        if not address:
            raise ValueError("which container? Give an address, or set ROTA_ACCEL")
        why = ctypes.create_string_buffer(256)
        options = _Options(os.fsencode(address), token.encode() if token else None, int(patience * 1000), int(give_up * 1000))
        self._handle = _LIBRARY.rota_accel_open(ctypes.byref(options), why, len(why))
        if not self._handle:
            raise ValueError(f"{address}: {why.value.decode()}")
        self._tasks, self._pump, self._lock = {}, threading.Lock(), threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Tasks that have not ended are cancelled and never end."""
        with self._pump, self._lock:
            handle, self._handle = self._handle, None
            if handle:
                _LIBRARY.rota_accel_close(handle)
            for task in self._tasks.values():
                task.outcome, task.why, task._keeps = "cancelled", "the client was closed", None
            self._tasks.clear()

    def fileno(self):
        """Readable while ends wait, for select(); Task.done() collects them."""
        return _LIBRARY.rota_accel_event(self._open())

    def submit(self, operation, *parameters, payload=None, limit=None):
        """A Task, at once. `parameters`: up to six whole numbers. `limit`: seconds that it may compute."""
        address, size, keeps = _bytes_at(payload)
        order = _Order(operation.encode(), (ctypes.c_int64 * _PARAMETERS)(*parameters), address, size, None, 0,
                       int(limit * 1000) if limit else 0, None)
        return self._submitted(keeps, lambda handle: _LIBRARY.rota_accel_submit(handle, ctypes.byref(order)))

    def state(self, timeout=None):
        """What the container says of itself, as a dict."""
        task = self._submitted(None, lambda handle: _LIBRARY.rota_accel_ask_state(handle, None))
        return json.loads(bytes(task.result(timeout)))

    # Factorizations of a square matrix of NumPy's: (factors, what belongs to them), as LAPACK leaves them.

    def lu(self, matrix, timeout=None):
        return self._factors("lu", matrix, "int32", timeout)

    def qr(self, matrix, timeout=None):
        return self._factors("qr", matrix, "float64", timeout)

    def cholesky(self, matrix, timeout=None):
        import numpy
        return numpy.tril(self._factors("cholesky", matrix, "float64", timeout)[0])

    def gemm(self, a, b, timeout=None):
        import numpy
        pair = numpy.concatenate([numpy.ravel(matrix, order="F") for matrix in (a, b)]).astype("float64", copy=False)
        got = self.submit("gemm", len(a), payload=pair).result(timeout)
        return numpy.frombuffer(got, "float64").reshape(numpy.shape(a), order="F")

    # Of the backend `images`.

    def features(self, images, operation="features", timeout=None):
        """An array of a row for each of `images`, JPEG files as a list of bytes, or an array of bytes of shape (images,
        height, width, 3): 45 of colour and 59 of patterns, or with "colour" or "lbp" only these."""
        import numpy
        if isinstance(images, (list, tuple)) and all(isinstance(one, (bytes, bytearray, memoryview)) for one in images):
            files = struct.pack(f"<{len(images)}I", *map(len, images)) + b"".join(images)
            got = self.submit(operation, 0, 0, len(images), payload=files).result(timeout)
            return numpy.frombuffer(got, "float32").reshape(len(images), -1)
        sent = numpy.ascontiguousarray(images, "uint8")
        if sent.ndim != 4 or sent.shape[3] != 3:
            raise ValueError(f"images are of shape (images, height, width, 3), not {sent.shape}")
        got = self.submit(operation, sent.shape[2], sent.shape[1], sent.shape[0], payload=sent).result(timeout)
        return numpy.frombuffer(got, "float32").reshape(len(sent), -1)

    def kmeans(self, points, k, seed=1, rounds=100, timeout=None):
        """Centres, and the number of the centre of each row of `points`."""
        import numpy
        sent = numpy.ascontiguousarray(points, "float32")
        if sent.ndim != 2:
            raise ValueError(f"points are the rows of an array, not {sent.shape}")
        got = self.submit("kmeans", *sent.shape, k, seed, rounds, payload=sent).result(timeout)
        centres = k * sent.shape[1]
        return numpy.frombuffer(got[:4 * centres], "float32").reshape(k, -1), numpy.frombuffer(got[4 * centres:], "int32")

    def _factors(self, operation, matrix, beside, timeout):
        import numpy
        sent = numpy.asfortranarray(matrix, "float64")
        if sent.ndim != 2 or sent.shape[0] != sent.shape[1]:
            raise ValueError(f"the matrix is not square: {sent.shape}")
        got = self.submit(operation, len(sent), payload=sent).result(timeout)
        return (numpy.frombuffer(got[:sent.nbytes], "float64").reshape(sent.shape, order="F"),
                numpy.frombuffer(got[sent.nbytes:], beside))

    def _open(self):
        if not self._handle:
            raise ValueError("this client is closed")
        return self._handle

    def _submitted(self, keeps, submit):
        with self._lock:  # so that no end is collected before its task is known
            number = submit(self._open())
            if not number:
                raise ValueError("the name of an operation has 1 to 31 characters")
            task = self._tasks[number] = Task(self, number, keeps)
            return task

    def _cancel(self, number):
        with self._lock:
            _LIBRARY.rota_accel_cancel(self._open(), number)

    def _collect(self, timeout_ms, task=None):
        """Ends that have come, after waiting for one so long. `task`: nothing is to be waited for once it has ended."""
        with self._pump:
            end = _End()
            while (task is None or task.outcome is None) and _LIBRARY.rota_accel_next(self._open(), ctypes.byref(end), timeout_ms):
                timeout_ms = 0
                with self._lock:
                    ended = self._tasks.pop(end.task)
                ended._end(end)
