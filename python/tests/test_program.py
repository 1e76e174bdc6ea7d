"""The command `freeaugment` is the program: its exit codes, its output, its Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import freeaugment

COMMAND = Path(sys.executable).parent / "freeaugment"
SMALL = (
    "--drawings-train 128 --drawings-validation 64 --network WRN-10-1 --batch 16 --layers 2 --proof-epochs 0 "
    "--magnitude-start 1 --type-start 1 --depth-start 1 --transformations Rotate,Brightness,Invert"
).split()


def run(*words, cwd=None):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, cwd=cwd)


def test_exit_codes(tmp_path):
    assert run("--help").returncode == 0
    assert "freeaugment" in run("--version").stdout
    wrong = run("serch")
    assert wrong.returncode == 2 and "search" in wrong.stderr
    assert run("search", "--network", "WRN-1", cwd=tmp_path).returncode == 3
    missing = run("show", "nowhere.json", cwd=tmp_path)
    assert missing.returncode == 4 and "nowhere.json" in missing.stderr
    module = subprocess.run([sys.executable, "-m", "freeaugment", "serch"], capture_output=True)
    assert module.returncode == 2


def test_a_search_gives_a_policy(tmp_path):
    ended = run("search", *SMALL, "--epochs", "1", "--out", "run", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "freeaugment" in (tmp_path / "run" / "run.json").read_text() if (tmp_path / "run" / "run.json").exists() else True
    policy = freeaugment.Policy.load(tmp_path / "run")
    assert policy.name == "3 transformations, up to 2 layers"
    assert run("search", *SMALL, "--out", "run", cwd=tmp_path).returncode == 5


def test_ctrl_c_saves_and_resume_goes_on(tmp_path):
    words = [COMMAND, "search", *SMALL, "--epochs", "500", "--out", "run"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    metrics = tmp_path / "run" / "metrics.jsonl"
    for _ in range(600):
        if metrics.exists() and metrics.stat().st_size > 0:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "saved after step" in said
    assert freeaugment.Policy.load(tmp_path / "run").name.startswith("3 transformations")
