"""Draws depend on the key, or on the generators of the process; what was drawn can be read and done again."""

import copy
import json
import pickle
import random
import subprocess
import sys
import threading

import pytest
from conftest import need, picture

import freeaugment

numpy = need("numpy")


def test_a_key_decides(policy):
    image = picture(numpy)
    assert (policy(image, seed=1, epoch=2, index=3) == policy(image, seed=1, epoch=2, index=3)).all()
    if policy.name == "none":
        return
    for part in ["seed", "epoch", "index"]:
        samples = [policy.sample(size=(21, 34), **{"seed": 1, part: number}) for number in [*range(20), 2**32 - 1]]
        assert len(set(map(tuple, samples))) > 10, part
    assert policy.sample(seed=2**64 - 1, size=(21, 34)) == policy.sample(seed=2**64 - 1, size=(21, 34))


def test_a_seeded_process_repeats(policy):
    torch = need("torch")
    image = picture(numpy)
    runs = []
    for _ in range(2):
        torch.manual_seed(11)
        runs.append([policy(image) for _ in range(6)])
    assert all((first == second).all() for first, second in zip(*runs))
    torch.manual_seed(12)
    if policy.name != "none":
        assert any((first != policy(image)).any() for first in runs[0])


def test_draws_do_not_depend_on_devices_and_modes():
    need("torch")
    program = """
import torch, freeaugment
policy = freeaugment.Policy.baseline("uniform-free")
def draw():
    torch.manual_seed(3)
    return policy.sample()
with torch.inference_mode():
    first = draw()
assert draw() == first
with torch.device("meta"):
    assert draw() == first
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "seeding", ["import random; random.seed({})", "import numpy; numpy.random.seed({})", "import torch; torch.manual_seed({})"]
)
def test_each_generator_is_used_where_it_is_the_best_there_is(seeding):
    need(seeding.split()[1].rstrip(";"))
    program = (
        "{}\nimport freeaugment\np = freeaugment.Policy.baseline('uniform-free')\nprint([p.sample() for _ in range(4)])"
    )
    run = lambda seed: subprocess.run(
        [sys.executable, "-c", program.format(seeding.format(seed))], check=True, capture_output=True
    ).stdout
    assert run(3) == run(3) != run(4)


def test_what_was_drawn_is_data_and_can_be_done_again(policy):
    image = picture(numpy)
    for seed in range(30):
        sample = policy.sample(seed=seed, size=image.shape[:2])
        assert all(isinstance(step, freeaugment.Step) for step in sample)
        again = json.loads(json.dumps(sample))
        expected = policy(image, seed=seed)
        assert (policy.replay(sample, image) == expected).all()
        assert (policy.replay(again, image) == expected).all()
        both = policy.replay(sample, numpy.stack([image, image]))
        assert (both == expected).all()


def test_the_size_is_asked_for_where_it_matters():
    policy = freeaugment.Policy.baseline("auto-cifar10")
    with pytest.raises(ValueError, match="size=\\(height, width\\)"):
        for seed in range(100):
            policy.sample(seed=seed)
    assert policy.sample(seed=0, size=(100, 100)) == policy.sample(seed=0, size=(100, 100))


def test_policies_are_copied_pickled_and_compared(policy, tmp_path):
    image = picture(numpy)
    policy.save(tmp_path / "policy.json")
    others = [
        copy.copy(policy),
        copy.deepcopy(policy),
        pickle.loads(pickle.dumps(policy)),
        freeaugment.Policy.from_json(policy.to_json()),
        freeaugment.Policy.load(tmp_path / "policy.json"),
        freeaugment.Policy.load(tmp_path),
    ]
    for other in others:
        assert other == policy and hash(other) == hash(policy) and repr(other) == repr(policy)
        assert (other(image, seed=9) == policy(image, seed=9)).all()
    assert policy != freeaugment.Policy.baseline("uniform") and policy != "policy"


def test_threads_share_a_policy(policy):
    image = picture(numpy, 64, 64)
    expected = [policy(image, seed=seed) for seed in range(40)]
    wrong = []

    def work():
        for seed in random.sample(range(40), 40):
            if (policy(image, seed=seed) != expected[seed]).any():
                wrong.append(seed)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
