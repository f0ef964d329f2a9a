"""JPEG files for tests and benchmarks, by libturbojpeg where it is installed."""
import contextlib
import ctypes


class TurboJpeg:
    """Images as JPEG files and back, by the library that the backend opens."""

    def __init__(self):
        self.library = ctypes.CDLL("libturbojpeg.so.0")
        for name in ("tjInitCompress", "tjInitDecompress"):
            getattr(self.library, name).restype = ctypes.c_void_p

    @contextlib.contextmanager
    def handle(self, start):
        """One for each file: it keeps tables of the one before."""
        made = ctypes.c_void_p(getattr(self.library, start)())
        yield made
        self.library.tjDestroy(made)

    def file_of(self, pixels, quality=85, flags=0):
        out, size = ctypes.c_void_p(), ctypes.c_ulong()
        height, width, _ = pixels.shape
        with self.handle("tjInitCompress") as writer:
            assert self.library.tjCompress2(writer, pixels.tobytes(), width, 0, height, 0, ctypes.byref(out), ctypes.byref(size), 2, quality,
                                            flags) == 0
        file = ctypes.string_at(out, size.value)
        self.library.tjFree(out)
        return file

    def pixels_of(self, file, shape):
        room = ctypes.create_string_buffer(shape[0] * shape[1] * 3)
        with self.handle("tjInitDecompress") as reader:
            assert self.library.tjDecompress2(reader, file, ctypes.c_ulong(len(file)), room, shape[1], 0, shape[0], 0, 0) == 0
        return room.raw
