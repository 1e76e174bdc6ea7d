"""Searches, comparisons and their runs from Python: the program, started for you, and its results as plain data.

The program is a process of its own, so that its threads and its memory are too, and so that an interruption can be answered as on a
command line: it finishes its step and saves.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Iterable

from ._policy import Policy


class ProgramError(RuntimeError):
    """The program ended with an error; ``code`` is its exit code, as the documentation lists them."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Run:
    """The folder of a search, a comparison or a find.

    ``result`` is what ``freeaugment show --json`` says: of a search what was learned, of a comparison its table, of a find its verdict.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        if not (self.folder / "run.json").exists():
            raise ValueError(f"{self.folder} is not the folder of a run: it has no run.json")

    @property
    def policy(self) -> Policy:
        """The policy of the last finished epoch; of a find, the one it hands out."""
        return Policy.load(self.folder)

    @property
    def result(self) -> dict[str, Any]:
        """The result, as plain data."""
        return _program(["show", str(self.folder)], quiet=True)[-1]

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """One entry for each epoch of a search; none of other runs."""
        file = self.folder / "metrics.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def to_pandas(self) -> Any:
        """The epochs as a table of pandas."""
        import pandas

        return pandas.json_normalize(self.epochs)

    def resume(self, **flags: Any) -> Run:
        """Goes on after an interruption, bit for bit."""
        _program(["resume", str(self.folder), *_flags(flags)])
        return self

    def __repr__(self) -> str:
        return f"<freeaugment.Run {self.folder}>"


def search(data: str | os.PathLike[str] | None = None, **settings: Any) -> Run:
    """Learns a policy: ``freeaugment search``. Settings are those of the program, with ``_`` for ``-``; without data, on the built-in
    drawings. An interruption (KeyboardInterrupt) is saved; ``Run(folder).resume()`` goes on.
    """
    return Run(_program(["search", *_data(data), *_flags(settings)])[-1]["run"])


def find(data: str | os.PathLike[str] | None = None, **settings: Any) -> Run:
    """Finds a policy and proves that it helps, within ``budget`` (``"1h"`` where none is given): ``freeaugment find``."""
    return Run(_program(["find", *_data(data), *_flags(settings)])[-1]["run"])


def compare(
    policies: Iterable[str | os.PathLike[str]],
    data: str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str],
    **settings: Any,
) -> Run:
    """Trains classifiers under each of these policies (names, files, runs): ``freeaugment compare``."""
    names = [os.fspath(policy) for policy in policies]
    _program(["compare", "--policies", ",".join(names), *_data(data), *_flags({"out": out, **settings})])
    return Run(out)


def _data(data: Any) -> list[str]:
    return [] if data is None else ["--data", os.fspath(data)]


def _flags(settings: dict[str, Any]) -> list[str]:
    words = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool) and name in ("quiet", "dry_run"):
            words += [flag] if value else []
        elif isinstance(value, bool):
            words += [flag, str(value).lower()]
        elif isinstance(value, (list, tuple)):
            words += [flag, ",".join(map(str, value))]
        else:
            words += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words


def _program(words: list[str], quiet: bool = False) -> list[dict[str, Any]]:
    """Runs the program to its end and returns the objects that it prints."""
    # On a terminal the bar goes where it belongs; elsewhere, as in a notebook, lines are handed on.
    on_terminal = not quiet and sys.stderr is not None and sys.stderr.isatty()
    process = subprocess.Popen(
        [sys.executable, "-m", "freeaugment", *words, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if on_terminal else subprocess.PIPE,
        text=True,
        # Ctrl-C on a terminal would reach it twice, and a second one ends it at once.
        process_group=0,
    )
    said: list[str] = []

    def listen() -> None:
        for line in process.stderr:
            said.append(line.rstrip())
            if not quiet:
                print(line, end="", file=sys.stderr, flush=True)

    listener = None if on_terminal else threading.Thread(target=listen, daemon=True)
    if listener:
        listener.start()
    interrupted, text = False, []
    while True:
        try:
            text += process.stdout
            process.wait()
            break
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)
    if listener:
        listener.join()
    if interrupted or process.returncode == 130:
        raise KeyboardInterrupt(f"freeaugment {words[0]} was interrupted")
    if process.returncode != 0:
        message = next((line for line in reversed(said) if line), "its message is above")
        raise ProgramError(message.removeprefix("error: "), process.returncode)
    return [json.loads(line) for line in text if line.strip()]
