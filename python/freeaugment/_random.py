"""Where randomness comes from when no key is given: the generators that the process has, never one of our own.

torch seeds its generator in every worker of a DataLoader and anew in every epoch, persistent workers or not; so draws
differ between workers and epochs and repeat in a run that is seeded.
"""

import random
import sys
import threading

_own = threading.local()


def bits() -> int:
    """64 random bits: from torch's default generator if torch is there, else from numpy's, else from ``random``."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Tensor"):
        try:
            number = _own.number
        except AttributeError:
            # On the CPU whatever the default device is, and one that may be changed outside of inference mode too.
            with torch.inference_mode(False):
                number = _own.number = torch.empty((), dtype=torch.int64, device="cpu")
        return number.random_(-(2**63), None).item() & (2**64 - 1)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        return int(numpy.random.randint(0, 2**64, dtype=numpy.uint64))
    return random.getrandbits(64)
