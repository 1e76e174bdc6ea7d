"""The examples of the documentation run."""

import subprocess
import sys
from pathlib import Path

from conftest import need, picture

numpy = need("numpy")


def test_a_folder_with_torchvision(tmp_path):
    pil = need("PIL.Image")
    need("torch")
    need("torchvision")
    for kind in ["bright", "dark"]:
        (tmp_path / kind).mkdir()
        for seed in range(8):
            image = picture(numpy, 70, 70, seed=seed) // (1 if kind == "bright" else 4)
            pil.fromarray(image).save(tmp_path / kind / f"{seed}.png")
    example = Path(__file__).parent.parent / "examples" / "torchvision_folder.py"
    words = [sys.executable, example, tmp_path, "uniform-free:2", "1"]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert said.startswith("epoch 1: training loss")


def test_lists_as_hugging_face_has_them():
    pil = need("PIL.Image")
    import freeaugment

    policy = freeaugment.Policy.baseline("trivial-wide")
    images = [pil.fromarray(picture(numpy, 20 + seed, 30)) for seed in range(3)]
    assert [image.size for image in policy.apply_batch(images)] == [(30, 20), (30, 21), (30, 22)]
