"""Cases that break the promise on purpose: a test of the watchdog."""

import os
import signal
import time


def check(number: int) -> str:
    """The first four cases hang, crash, raise and take too much memory; all others are good."""
    if number == 0:
        time.sleep(3600)
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 2:
        raise AttributeError("no such thing")
    if number == 3:
        bytearray(300 << 20)
    return "good"
