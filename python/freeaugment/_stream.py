"""Batches of a DataLoader, pass after pass, such that where it stands can be said in two numbers and gone back to.

Every pass is seeded by the search's seed and its own number: order, crops and flips are the same whenever a search is done, and
whatever else draws random numbers meanwhile sees none of it.
"""

from __future__ import annotations

import contextlib
import random
import sys
from typing import Any, Iterator

import torch


class Stream:
    """A loader that begins anew when it ends."""

    def __init__(self, loader: Any, seed: int, salt: int) -> None:
        self.loader = loader
        self._seed, self._salt = seed, salt
        self.passes, self.taken = 0, 0
        self._batches: Iterator[Any] | None = None
        self._states: tuple[Any, ...] | None = None

    def next(self) -> Any:
        """The next batch, of the next pass where one has ended."""
        if self.taken == len(self.loader):
            self.passes, self.taken, self._batches = self.passes + 1, 0, None
        with self._own_randomness():
            if self._batches is None:
                self._begin()
            batch = next(self._batches, None)
        if batch is None:
            raise ValueError(f"a loader ended after {self.taken} batches, but its length is {len(self.loader)}")
        self.taken += 1
        return batch

    def go_to(self, passes: int, taken: int) -> None:
        """Stands where so many passes were over and so many batches of the next were taken."""
        self.passes, self.taken, self._batches = passes, 0, None
        for _ in range(taken):
            self.next()

    def _begin(self) -> None:
        key = (self._seed * 1_000_003 + self._salt * 7_919 + self.passes) % 2**63
        torch.manual_seed(key)
        random.seed(key)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(key % 2**32)
        samplers = [getattr(self.loader, name, None) for name in ("sampler", "batch_sampler")]
        for holder in [self.loader, *samplers]:
            generator = getattr(holder, "generator", None)
            if isinstance(generator, torch.Generator):
                generator.manual_seed(key)
        self._batches = iter(self.loader)

    @contextlib.contextmanager
    def _own_randomness(self) -> Iterator[None]:
        outside = _states()
        if self._states is not None and self._batches is not None:
            _set_states(self._states)
        try:
            yield
        finally:
            self._states = _states()
            _set_states(outside)


def _states() -> tuple[Any, ...]:
    numpy = sys.modules.get("numpy")
    return torch.get_rng_state(), random.getstate(), numpy.random.get_state() if numpy else None


def _set_states(states: tuple[Any, ...]) -> None:
    torch.set_rng_state(states[0])
    random.setstate(states[1])
    if states[2] is not None:
        sys.modules["numpy"].random.set_state(states[2])
