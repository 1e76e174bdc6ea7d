"""The command ``freeaugment``."""

import signal
import sys


def main() -> None:
    """Runs the program with the arguments of this process and ends it with the program's exit code."""
    from ._native import run

    # Python would keep Ctrl-C to itself until the program returns; the program has an answer of its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run(["freeaugment", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
