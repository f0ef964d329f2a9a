"""Loads a module into the running kernel of a test's computer, on which there may be no insmod. Usage: computer_module.py PATH
below the kernel's own folder."""
import ctypes
import glob
import os
import sys

FINIT_MODULE = 313  # the call's number on x86-64, which is what this kernel runs on

path = glob.glob(f"/usr/lib/uml/modules/*/kernel/{sys.argv[1]}")[0]
library = ctypes.CDLL(None, use_errno=True)
if library.syscall(FINIT_MODULE, os.open(path, os.O_RDONLY), b"", 0) != 0:
    sys.exit(f"{path}: {os.strerror(ctypes.get_errno())}")
