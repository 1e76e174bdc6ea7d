"""What `freeaugment export` writes draws from the same distribution and does the same to images."""

import importlib.util
import json
import math
import subprocess
import sys
from collections import Counter

import pytest
from conftest import GEOMETRIC, need, picture

import freeaugment

numpy = need("numpy")

FRAMEWORKS = ["torchvision", "albumentations", "kornia"]
MAGNITUDES = {
    **GEOMETRIC,
    "Solarize": (0.6, 0.83),
    "Posterize": (2.0, 5.4, 8.0),
    "Contrast": (0.4, 1.7),
    "Color": (0.0, 0.6),
    "Brightness": (-0.4, 0.25),
    "Sharpness": (0.0, 1.0, 2.0),
    "AutoContrast": (None,),
    "Invert": (None,),
    "Equalize": (None,),
}

def exact(policy):
    policy["types"]["assignment"] = "exact"


def softmax_and_fixed(policy):
    policy["types"] = {"kind": "softmax", "assignment": "column-maximum"}
    policy["depth"] = {"kind": "fixed", "depth": 2}


def gaussian_and_applied(policy):
    policy["depth"], policy["magnitudes"] = {"kind": "application"}, {"kind": "gaussian"}
    for at, entry in enumerate(policy["transformations"]):
        entry["application_logits"] = [0.1 * at - 0.4] * policy["layers"]
        if "range" in entry:
            del entry["lower_logits"], entry["upper_logits"]
            entry["centre"], entry["spread"] = [0.3 + 0.03 * at] * policy["layers"], [0.2] * policy["layers"]


def uneven(variant=lambda policy: None, layers=3):
    """A policy with preferences, in all of its parts."""
    policy = json.loads(freeaugment.Policy.baseline(f"uniform-free:{layers}").to_json())
    policy["depth"]["logits"] = [0.3 * depth for depth in range(layers + 1)]
    for at, entry in enumerate(policy["transformations"]):
        entry["type_logits"] = [0.15 * ((at * 5 + layer * 3) % 11) for layer in range(layers)]
        if "range" in entry:
            entry["lower_logits"] = [-2.0 + 0.1 * at] * layers
            entry["upper_logits"] = [0.5 + 0.1 * at] * layers
    variant(policy)
    return freeaugment.Policy.from_json(json.dumps(policy))


def export(policy, framework, folder):
    need(framework)
    policy.save(folder / "policy.json")
    words = ["export", folder / "policy.json", "--to", framework, "--out", folder / f"exported_{framework}.py"]
    subprocess.run([sys.executable, "-m", "freeaugment", *words], check=True, capture_output=True)
    spec = importlib.util.spec_from_file_location(f"exported_{framework}", folder / f"exported_{framework}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "import freeaugment" not in (folder / f"exported_{framework}.py").read_text(encoding="utf-8")
    return module


@pytest.mark.parametrize("variant", [lambda policy: None, exact, softmax_and_fixed, gaussian_and_applied])
def test_frequencies_and_magnitudes(tmp_path, variant):
    """All frameworks draw by the same lines, so one of them is asked."""
    torch = need("torch")
    policy = uneven(variant)
    module = export(policy, "torchvision", tmp_path)
    torch.manual_seed(0)
    count = 4000
    theirs = [module.sample(lambda *shape: torch.rand(shape, dtype=torch.float64).numpy()) for _ in range(count)]
    ours = [[(step.name, step.magnitude) for step in policy.sample(seed=seed)] for seed in range(count)]

    def alike(first, second):
        """Two counts of `count` draws differ by less than five standard errors of their difference."""
        for key in first.keys() | second.keys():
            a, b = first[key] / count, second[key] / count
            error = math.sqrt((a * (1 - a) + b * (1 - b)) / count) + 1 / count
            assert abs(a - b) < 5 * error, (key, a, b)

    alike(Counter(map(len, ours)), Counter(map(len, theirs)))
    for layer in range(3):
        at = lambda samples: Counter(steps[layer][0] for steps in samples if len(steps) > layer)
        alike(at(ours), at(theirs))
    for name, magnitudes in MAGNITUDES.items():
        if magnitudes == (None,):
            continue
        of = lambda samples: numpy.array([m for steps in samples for n, m in steps if n == name])
        first, second = of(ours), of(theirs)
        error = math.sqrt(first.var() / len(first) + second.var() / len(second))
        assert abs(first.mean() - second.mean()) < 5 * error, name
        # Beyond the mean: the largest distance of the two distributions, which five in 10,000 pairs of samples exceed.
        together = numpy.sort(numpy.concatenate([first, second]))
        shares = [numpy.searchsorted(numpy.sort(of), together, "right") / len(of) for of in (first, second)]
        critical = math.sqrt(-math.log(0.0005 / 2) / 2 * (1 / len(first) + 1 / len(second)))
        assert numpy.abs(shares[0] - shares[1]).max() < critical, name


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_operations_on_bytes(tmp_path, framework):
    torch = need("torch")
    policy = uneven()
    module = export(policy, framework, tmp_path)
    for seed, shape in enumerate([(21, 34, 3), (32, 32, 3), (24, 17, 1)]):
        image = picture(numpy, *shape, seed=seed)
        floats = image.astype(numpy.float32) / 255
        planar = torch.from_numpy(floats).permute(2, 0, 1)
        for name, magnitudes in MAGNITUDES.items():
            for magnitude in magnitudes:
                m = 0.0 if magnitude is None else magnitude
                wanted = policy.replay([freeaugment.Step(name, magnitude)], image if shape[2] == 3 else image[..., 0])
                if framework == "torchvision":
                    found = module.OPERATIONS[name](planar, m).permute(1, 2, 0).numpy()
                elif framework == "kornia":
                    found = module.OPERATIONS[name](planar[None], torch.tensor([m]))[0].permute(1, 2, 0).numpy()
                else:
                    found = module.OPERATIONS[name](floats, m)
                off = numpy.abs(numpy.round(found.reshape(shape) * 255) - wanted.reshape(shape).astype(float)).max()
                # A level: our own bytes are as far from our floats.
                assert off <= 1, (name, magnitude, shape, off)


def test_the_classes_are_transforms(tmp_path):
    torch = need("torch")
    policy = uneven()
    image = picture(numpy, 24, 30)

    module = export(policy, "torchvision", tmp_path)
    v2 = importlib.import_module("torchvision.transforms.v2")
    transform = v2.Compose([v2.ToImage(), module.FreeAugment()])
    torch.manual_seed(1)
    first = [transform(image) for _ in range(8)]
    torch.manual_seed(1)
    assert all(torch.equal(a, transform(image)) for a in first)
    assert first[0].dtype is torch.uint8 and first[0].shape == (3, 24, 30)
    assert any(not torch.equal(first[0], other) for other in first)
    pil = need("PIL.Image")
    assert module.FreeAugment()(pil.fromarray(image)).size == (30, 24)

    module = export(policy, "albumentations", tmp_path)
    compose = importlib.import_module("albumentations").Compose([module.FreeAugment(p=1.0)], seed=3)
    results = [compose(image=image)["image"] for _ in range(8)]
    assert results[0].dtype == numpy.uint8 and results[0].shape == image.shape
    assert any((results[0] != other).any() for other in results)
    grey = compose(image=image[..., 0].astype(numpy.float32) / 255)["image"]
    assert grey.dtype == numpy.float32 and grey.shape == (24, 30) and grey.min() >= 0 and grey.max() <= 1

    module = export(policy, "kornia", tmp_path)
    batch = torch.rand(6, 3, 24, 30)
    transform = module.FreeAugment()
    changed = transform(batch)
    assert changed.shape == batch.shape and not torch.equal(changed, batch)
    assert torch.equal(transform.eval()(batch), batch)


def test_refusals(tmp_path):
    freeaugment.Policy.baseline("trivial-wide").save(tmp_path / "policy.json")
    program = lambda *words: subprocess.run([sys.executable, "-m", "freeaugment", "export", *words], capture_output=True, text=True)
    ended = program(tmp_path / "policy.json", "--to", "torchvision")
    assert ended.returncode != 0 and "is a baseline" in ended.stderr
    ended = program(tmp_path / "policy.json", "--to", "paddle")
    assert ended.returncode == 2 and "[possible values: torchvision, albumentations, kornia]" in ended.stderr
