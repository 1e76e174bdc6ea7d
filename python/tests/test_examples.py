"""The examples of the documentation run."""

import subprocess
import sys
from pathlib import Path

from conftest import need, picture

numpy = need("numpy")


EXAMPLES = Path(__file__).parent.parent / "examples"


def draw_classes(folder, first, count):
    """Folders of bright and of dark images."""
    pil = need("PIL.Image")
    for kind in ["bright", "dark"]:
        (folder / kind).mkdir(parents=True)
        for seed in range(first, first + count):
            image = picture(numpy, 70, 70, seed=seed) // (1 if kind == "bright" else 4)
            pil.fromarray(image).save(folder / kind / f"{seed}.png")


def test_a_folder_with_torchvision(tmp_path):
    need("torch")
    need("torchvision")
    draw_classes(tmp_path, 0, 8)
    words = [sys.executable, EXAMPLES / "torchvision_folder.py", tmp_path, "uniform-free:2", "1"]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert said.startswith("epoch 1: training loss")


def test_a_search_around_resnet18(tmp_path):
    need("torch")
    need("torchvision")
    example = EXAMPLES / "torch_search.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
    for number, split in enumerate(["train", "val"]):
        draw_classes(tmp_path / "images" / split, 100 * number, 20)
    words = [sys.executable, example, tmp_path / "images", "2"]
    said = subprocess.run(words, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert "epoch 2 of 2: training loss" in said.stderr and "how many are applied" in said.stdout
    import freeaugment

    cycle = freeaugment.Run(tmp_path / "runs" / "resnet18").epochs[-1]["cycle"]
    assert cycle["cycle"] == cycle["cycles"] and any(cycle["types"])


def test_lists_as_hugging_face_has_them():
    pil = need("PIL.Image")
    import freeaugment

    policy = freeaugment.Policy.baseline("trivial-wide")
    images = [pil.fromarray(picture(numpy, 20 + seed, 30)) for seed in range(3)]
    assert [image.size for image in policy.apply_batch(images)] == [(30, 20), (30, 21), (30, 22)]
