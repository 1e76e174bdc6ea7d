#!/usr/bin/env python3
"""A plan on a Ray cluster whose nodes see the same folder.

    python examples/cluster/ray_cells.py PLAN [--program freeaugment] [--cpus 1] [--address auto]

A cell is a task that runs the program. What a cell needs is finished before it begins. Ctrl-C saves: every cell gets SIGTERM
and is waited for. Called again it goes on; finished cells end at once.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import uuid

import ray


@ray.remote(max_retries=3)
def work(program, plan, index, threads, stop, *needed):
    """One cell; `needed` are the cells before it, for which Ray waits. It saves and ends when there is a file `stop`."""
    if stop.exists():
        return index, 130, "not begun"
    # In a session of its own, so that Ctrl-C in the terminal does not reach it as well: a second signal ends it unsaved.
    process = subprocess.Popen([program, "cell", plan, str(index), "--threads", str(threads)],
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    asked = False
    while True:
        try:
            talk = process.communicate(timeout=0.5)[1].strip().splitlines()
            return index, process.returncode, talk[-1] if talk else ""
        except subprocess.TimeoutExpired:
            if stop.exists() and not asked:
                process.terminate()
                asked = True


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("plan", type=pathlib.Path)
    arguments.add_argument("--program", default="freeaugment")
    arguments.add_argument("--cpus", type=int, default=1)
    arguments.add_argument("--address")
    arguments = arguments.parse_args()
    plan = arguments.plan.resolve()
    cells = json.loads((plan / "plan.json").read_text())["cells"]
    stop = plan / f"stop-{uuid.uuid4().hex}"
    ray.init(address=arguments.address, log_to_driver=False)
    # A shell that starts this in the background ignores Ctrl-C, and Ray has a way of its own to end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    tasks, left, codes = {}, [], []
    try:
        for index, cell in enumerate(cells):
            needed = [tasks[name] for name in cell["needs"]]
            task = work.options(num_cpus=arguments.cpus, name=cell["name"])
            tasks[cell["name"]] = task.remote(arguments.program, str(plan), index, arguments.cpus, stop, *needed)
        left = list(tasks.values())
        while left:
            try:
                done, left = ray.wait(left)
            except KeyboardInterrupt:
                print("interrupted: cells are being saved", file=sys.stderr, flush=True)
                stop.touch()
                continue
            index, code, talk = ray.get(done[0])
            codes.append(code)
            print(f"cell {index} of {len(cells)}: exit code {code}: {talk}", flush=True)
    finally:
        stop.unlink(missing_ok=True)
    return max(codes, default=0)


if __name__ == "__main__":
    sys.exit(main())
