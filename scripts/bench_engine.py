"""The classifier part of a search step: this project's CPU engine beside PyTorch, in one run.

    cargo bench -p freeaugment-nn --bench step --no-run      # prints where the executable is
    python scripts/bench_engine.py --engine target/release/deps/step-<hash> [--case WRN-40-2:32:32 ...] [--steps 5]

Needs PyTorch and torchvision. Every measurement is a process of its own (so that peak memory means something); engine
and peer take turns, and the table shows the median of all rounds. `train` is forward and backward; `classifier` is the
training step, the validation gradient at the updated weights and the exact q (PyTorch: double backward). The peer is
the faster of contiguous and channels-last, chosen separately for both columns. Run it alone on the machine.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

CASES = ["WRN-40-2:32:32", "WRN-40-2:128:32", "WRN-16-1:128:32", "ResNet-18:8:224"]


def wide_resnet(depth, width, classes):
    """Parameters and forward pass of a Wide-ResNet as functions of a dictionary."""
    import torch
    import torch.nn.functional as F

    generator, params = torch.Generator().manual_seed(0), {}

    def conv(name, outputs, inputs, kernel):
        fan = outputs * kernel * kernel
        params[name] = torch.randn(outputs, inputs, kernel, kernel, generator=generator) * (2 / fan) ** 0.5

    def norm(name, channels):
        params[name + ".weight"], params[name + ".bias"] = torch.ones(channels), torch.zeros(channels)

    conv("stem", 16, 3, 3)
    blocks, inputs = [], 16
    for group in range(3):
        outputs = 16 * width << group
        for block in range((depth - 4) // 6):
            name, stride = f"{group}.{block}", 2 if group and not block else 1
            norm(name + ".bn1", inputs), conv(name + ".conv1", outputs, inputs, 3)
            norm(name + ".bn2", outputs), conv(name + ".conv2", outputs, outputs, 3)
            if inputs != outputs or stride != 1:
                conv(name + ".shortcut", outputs, inputs, 1)
            blocks.append((name, stride, inputs != outputs or stride != 1))
            inputs = outputs
    norm("bn", inputs)
    params["fc.weight"], params["fc.bias"] = torch.randn(classes, inputs, generator=generator) * 0.1, torch.zeros(classes)

    def forward(p, x):
        def activate(name, h):
            return F.relu(F.batch_norm(h, None, None, p[name + ".weight"], p[name + ".bias"], training=True))

        h = F.conv2d(x, p["stem"], padding=1)
        for name, stride, project in blocks:
            a = activate(name + ".bn1", h)
            z = F.conv2d(a, p[name + ".conv1"], stride=stride, padding=1)
            z = F.conv2d(activate(name + ".bn2", z), p[name + ".conv2"], padding=1)
            h = z + (F.conv2d(a, p[name + ".shortcut"], stride=stride) if project else h)
        return F.linear(activate("bn", h).mean((2, 3)), p["fc.weight"], p["fc.bias"])

    return params, forward


def resnet18(classes):
    import torch
    import torchvision

    model = torchvision.models.resnet18(weights=None, num_classes=classes)
    params = {name: value.detach().clone() for name, value in model.named_parameters()}
    return params, lambda p, x: torch.func.functional_call(model, p, (x,))


def run_peer(args):
    """One process of PyTorch: prints a line of JSON."""
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    name, batch, size = args.peer.split(":")
    batch, size = int(batch), int(size)
    if name.startswith("WRN"):
        params, forward = wide_resnet(*map(int, name.split("-")[1:]), 10)
    else:
        params, forward = resnet18(10)
    form = torch.channels_last if args.channels_last else torch.contiguous_format
    place = lambda t: t.to(memory_format=form) if t.dim() == 4 else t
    params = {k: place(v) for k, v in params.items()}
    x, xv = place(torch.randn(batch, 3, size, size)), place(torch.randn(batch, 3, size, size))
    y = torch.arange(batch) % 10
    times = dict(train=[], classifier=[])
    for step in range(args.steps + 1):
        leaf = {k: v.requires_grad_(True) for k, v in params.items()}
        if args.what == "train":
            start = time.perf_counter()
            torch.autograd.grad(F.cross_entropy(forward(leaf, x), y), list(leaf.values()))
            times["train"].append(time.perf_counter() - start)
        else:
            start = time.perf_counter()
            images = x.detach().requires_grad_(True)
            g = torch.autograd.grad(F.cross_entropy(forward(leaf, images), y), list(leaf.values()), create_graph=True)
            moved = {k: (v.detach() - 0.01 * d.detach()).requires_grad_(True) for (k, v), d in zip(leaf.items(), g)}
            v = torch.autograd.grad(F.cross_entropy(forward(moved, xv), y), list(moved.values()))
            torch.autograd.grad(sum((a * b).sum() for a, b in zip(g, v)), images)
            del g
            times["classifier"].append(time.perf_counter() - start)
        params = {k: v.detach() for k, v in params.items()}
    status = open("/proc/self/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
    print(json.dumps({k: 1e3 * statistics.median(v[1:]) for k, v in times.items() if v} | {"peak_mib": peak}))


def call(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", help="the executable of the bench `step`")
    parser.add_argument("--case", nargs="*", default=CASES, help="<network>:<batch>:<size>")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer")
    parser.add_argument("--what", choices=("train", "classifier"), default="train")
    parser.add_argument("--channels-last", action="store_true")
    args = parser.parse_args()
    if args.peer:
        return run_peer(args)
    print("| case | engine train | PyTorch train | ratio | engine classifier | PyTorch classifier | ratio | engine peak | PyTorch peak |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case in args.case:
        name, batch, size = case.split(":")
        own, peer = [], {}
        for _ in range(args.rounds):
            own.append(call([args.engine, "--net", name, "--batch", batch, "--size", size, "--steps", str(args.steps)]))
            for what in ("train", "classifier"):
                for layout in ([], ["--channels-last"]):
                    command = [sys.executable, __file__, "--peer", case, "--what", what, "--steps", str(args.steps), "--threads", str(args.threads)]
                    peer.setdefault((what, len(layout)), []).append(call(command + layout))
        median = lambda runs, key: statistics.median(run[key] for run in runs)
        ours = {what: median(own, what) for what in ("train", "classifier")}
        best = {what: min((peer[what, 0], peer[what, 1]), key=lambda runs: median(runs, what)) for what in ours}
        theirs = {what: median(best[what], what) for what in ours}
        cells = [f"{name}, batch {batch}, {size}×{size}"]
        for what in ours:
            cells += [f"{ours[what]:.0f} ms", f"{theirs[what]:.0f} ms", f"**{ours[what] / theirs[what]:.2f}**"]
        cells += [f"{median(own, 'peak_mib'):.0f} MiB", f"{median(best['classifier'], 'peak_mib'):.0f} MiB"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
