"""A service whose system fails it, by a library that is loaded before the C library (broken_system.c)."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def broken_system(folder, **settings):
    """The environment for a service that is to meet what `settings` say; the library is made in the folder."""
    library = os.path.join(folder, "broken_system.so")
    if not os.path.exists(library):
        done = subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
                               os.path.join(HERE, "broken_system.c")], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return {**os.environ, "LD_PRELOAD": library, **settings}
