"""Where randomness comes from when no key is given: the generators that the process has, never one of our own.

torch seeds its generator in every worker of a DataLoader and anew in every epoch, persistent workers or not; so draws
differ between workers and epochs and repeat in a run that is seeded.
"""

import random
import sys


def bits() -> int:
    """64 random bits: from torch's default generator if torch is there, else from numpy's, else from ``random``."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Tensor"):
        return torch.empty((), dtype=torch.int64).random_(-(2**63), None).item() & (2**64 - 1)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        return int(numpy.random.randint(0, 2**64, dtype=numpy.uint64))
    return random.getrandbits(64)
