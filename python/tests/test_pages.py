"""The programs of docs/python run as they stand, and print what stands below them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import need
from test_examples import draw_classes

# Without it Keras asks for TensorFlow.
os.environ.setdefault("KERAS_BACKEND", "torch")
PAGES = Path(__file__).parents[2] / "docs" / "python"
NEEDS = {
    "torchvision": ["torchvision"],
    "albumentations": ["albumentations"],
    "timm": ["timm"],
    "hugging-face": ["datasets"],
    "kornia": ["kornia", "torchvision"],
    "keras": ["keras", "torch"],
}


def test_every_page_is_run():
    # The page of the search shows a part of examples/torch_search.py, which has a test of its own.
    assert {page.stem for page in PAGES.glob("*.md")} == {*NEEDS, "search"}


@pytest.mark.parametrize("page", NEEDS)
def test_a_page(page, tmp_path):
    need("PIL.Image")
    for package in NEEDS[page]:
        need(package)
    program, printed = re.findall(r"```(?:python|text)\n(.*?)```", (PAGES / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)[:2]
    draw_classes(tmp_path / "photos" / "train", 0, 8)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    run = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == printed
