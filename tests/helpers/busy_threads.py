"""Threads that get in each other's way as often as possible."""

import sys
import threading

__all__ = ["run_at_once"]


def run_at_once(*works):
    """Run functions in threads that are switched all the time; an error of one is raised here."""
    switch, errors = sys.getswitchinterval(), []

    def checked(work):
        try:
            work()
        except Exception as error:
            errors.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=checked, args=[work]) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    for error in errors:
        raise error
