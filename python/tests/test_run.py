"""Searches and comparisons from Python."""

import signal
import subprocess
import sys
import time

import pytest

import freeaugment

SMALL = dict(
    drawings_train=128, drawings_validation=64, network="WRN-10-1", batch=16, layers=2, proof_epochs=0, magnitude_start=1,
    type_start=1, depth_start=1, transformations=["Rotate", "Brightness", "Invert"],
)


def test_a_search_and_a_comparison(tmp_path):
    run = freeaugment.search(out=tmp_path / "search", epochs=2, quiet=True, **SMALL)
    assert len(run.epochs) == 2 and run.policy.name.startswith("3 transformations")
    assert run.result and repr(run) == repr(freeaugment.Run(tmp_path / "search"))
    assert freeaugment.Run(tmp_path / "search").resume().policy == run.policy
    small = {name: SMALL[name] for name in ["drawings_train", "drawings_validation", "network", "batch"]}
    table = freeaugment.compare(["standard", tmp_path / "search"], out=tmp_path / "table", epochs=1, seeds=1, **small)
    assert table.result and table.epochs == []


def test_refusals(tmp_path, capfd):
    with pytest.raises(freeaugment.ProgramError, match="WRN-1") as found:
        freeaugment.search(network="WRN-1", out=tmp_path / "run")
    assert found.value.code == 3
    with pytest.raises(freeaugment.ProgramError) as found:
        freeaugment.search(data=tmp_path / "nowhere")
    assert found.value.code == 4
    with pytest.raises(ValueError, match="run.json"):
        freeaugment.Run(tmp_path)


def test_an_interruption_saves(tmp_path):
    program = f"import freeaugment; freeaugment.search(out='run', epochs=500, **{SMALL!r})"
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    metrics = tmp_path / "run" / "metrics.jsonl"
    for _ in range(600):
        if metrics.exists() and metrics.stat().st_size > 0:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and "saved after step" in said
    assert freeaugment.Run(tmp_path / "run").policy
