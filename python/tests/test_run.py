"""Searches and comparisons from Python."""

import json
import signal
import subprocess
import sys
import time

import pytest
from conftest import need

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


def test_epochs_as_a_table(tmp_path):
    pandas = need("pandas")
    table = freeaugment.search(out=tmp_path / "search", epochs=2, quiet=True, **SMALL).to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == 2
    assert {"epoch", "gradients.depth"} <= set(table.columns)


def test_a_find(tmp_path):
    # Far too little to find anything: what is asked is whether it ends with a policy and a verdict.
    plan = dict(
        epochs=1, horizon=4, cycles=2, warm_up_epochs=1, proof_seeds=2, seconds=[1, 1, 1], budget=3,
        rungs=[dict(candidates=5, seeds=1), dict(candidates=2, seeds=2)],
        measured=dict(step_seconds=1, cycle_step_seconds=1, by_heart=None),
    )
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    kept = ["drawings_train", "drawings_validation", "network", "batch", "layers", "transformations"]
    small = {name: SMALL[name] for name in kept} | dict(size=16, quiet=True)
    run = freeaugment.find(plan=tmp_path / "plan.json", out=tmp_path / "find", **small)
    verdict = run.result
    assert verdict["reason"] in ("learned", "default", "overruled") and verdict["proof"]
    assert run.policy == freeaugment.Policy.load(tmp_path / "find" / "policy.json")


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
    # Where the tests run in the background of a shell, SIGINT is ignored, and children inherit that.
    listen = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=listen
    )
    metrics = tmp_path / "run" / "metrics.jsonl"
    for _ in range(2400):
        if metrics.exists() and metrics.stat().st_size > 0:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in said and "saved after step" in said
    assert freeaugment.Run(tmp_path / "run").policy
