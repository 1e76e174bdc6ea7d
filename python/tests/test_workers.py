"""DataLoaders with real workers, however they are started."""

import subprocess
import sys

import pytest
from conftest import need

import freeaugment

torch = need("torch")


class Numbered(torch.utils.data.Dataset):
    """Sixteen times the same image; so whatever differs was drawn."""

    def __init__(self, policy):
        self.policy = policy
        self.image = torch.arange(3 * 12 * 12, dtype=torch.uint8).reshape(3, 12, 12)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return self.policy(self.image)


def epochs(start, persistent, seed, used_before=False):
    torch.manual_seed(seed)
    policy = freeaugment.Policy.baseline("uniform-free:7")
    data = Numbered(policy)
    if used_before:
        # Threads that the parent had are missing in a forked worker; nothing may wait for them.
        policy.apply_batch(torch.stack([data.image] * 8), seed=0, threads=2)
    loader = torch.utils.data.DataLoader(
        data, batch_size=4, num_workers=2, multiprocessing_context=start, persistent_workers=persistent
    )
    return [torch.cat(list(loader)) for _ in range(2)]


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_workers_and_epochs_differ_and_seeds_repeat(start, persistent):
    first, second = epochs(start, persistent, 5)
    # Two workers: one has batches 0 and 2, the other 1 and 3.
    assert len(torch.unique(first, dim=0)) > 12, "workers draw on their own"
    assert (first != second).any(), "epochs differ"
    if start == "fork":
        again = epochs(start, persistent, 5, used_before=True)
        assert torch.equal(again[0], first) and torch.equal(again[1], second), "a seeded run repeats"
        assert not torch.equal(epochs(start, persistent, 6)[0], first)


def test_a_batch_in_a_forked_worker_after_a_batch_in_its_parent():
    program = """
import os, numpy, freeaugment
policy = freeaugment.Policy.baseline("uniform-free")
images = numpy.zeros((8, 32, 32, 3), numpy.uint8)
policy.apply_batch(images, seed=1, threads=2)
child = os.fork()
if child == 0:
    policy.apply_batch(images, seed=1, threads=2)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
