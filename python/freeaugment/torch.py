"""The search around your own model: any ``nn.Module``, its loss, its optimiser, its data."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Callable

import torch

from . import _native
from ._guest import Guest, accuracy as _accuracy
from ._policy import Policy
from ._run import Run


class Search:
    """Learns a policy for a model while the model is trained.

    ``train`` and ``validation`` are DataLoaders of (images, targets), images ``[n, channel, height, width]``, uint8 or floats in
    [0, 1]: what stands before the policy (crop, flip) is done there, what stands after it is ``normalize``, a function of a batch
    of tensors that can be differentiated. A third entry, the numbers of the images, makes draws depend on the image and not on its
    place in the epoch. ``loss`` is a function of outputs and targets that returns one number for each image (cross entropy where none
    is given); one that returns a single number will do unless the estimator is ``gain``. ``accuracy`` is likewise a function of outputs
    and targets, for what is shown.

    ``policy`` is where the search begins; None is the initial policy of the settings. Settings are those of ``freeaugment search``: a
    ``preset``, and ``epochs``, ``seed``, ``horizon``, ``hypergradient``, ``layers``, ``type_rate``… The learning rate of the optimizer
    is the first one; it falls as the settings say. A horizon needs ``torch.optim.SGD``.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        policy: Policy | None = None,
        *,
        train: Any,
        validation: Any,
        optimizer: torch.optim.Optimizer,
        loss: Callable[..., torch.Tensor] | None = None,
        normalize: Callable[[torch.Tensor], torch.Tensor] | None = None,
        accuracy: Callable[..., float] | None = None,
        preset: str = "quick",
        **settings: Any,
    ) -> None:
        _check(model, policy, train, validation, optimizer)
        first = optimizer.param_groups[0]
        around = _Around(
            type(model).__name__,
            train.batch_size or 2,
            first["lr"],
            first.get("momentum", 0.0),
            first.get("weight_decay", 0.0),
        )
        text = None if policy is None else policy.to_json()
        self._settings = _native.SearchSettings(preset, json.dumps(settings), text, around)
        if self._settings.horizon > 1:
            _check_sgd(optimizer, self._settings.horizon)
        loss = loss or (lambda outputs, targets: torch.nn.functional.cross_entropy(outputs, targets, reduction="none"))
        self._guest = Guest(model, optimizer, loss, accuracy or _accuracy, normalize, train, validation, self._settings)
        self._data = (type(train.dataset).__name__, len(train.dataset), len(validation.dataset))

    def run(self, folder: str | os.PathLike[str] | None = None, *, quiet: bool = False) -> Run:
        """Takes all steps that are left and returns the run, whose ``policy`` is what was learned.

        A folder that holds a run of the same search is gone on with, on the CPU to the same bits; without one, the first free name among
        ``runs/search-1``, ``runs/search-2``… is taken. An interruption (KeyboardInterrupt) finishes its step and saves.
        """
        folder = Path(_native.free_run("runs") if folder is None else folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        guest = self._guest
        guest.is_stopped, guest.quiet = False, quiet
        steps = len(guest.train_stream.loader)
        with _Interruption(guest) as interruption:
            finished = self._settings.run(guest, folder, self._data, steps, sys.argv)
        if interruption.happened or not finished:
            raise KeyboardInterrupt(f"the search was interrupted; {folder} is saved")
        return Run(folder)


class _Around:
    """What model, loader and optimizer decide."""

    def __init__(self, network: str, batch: int, learning_rate: float, momentum: float, weight_decay: float) -> None:
        self.network, self.batch = network, batch
        self.learning_rate, self.momentum, self.weight_decay = learning_rate, momentum, weight_decay


class _Interruption:
    """Ctrl-C asks the search to stop after its step; a second one ends it at once."""

    def __init__(self, guest: Guest) -> None:
        self._guest, self.happened = guest, False

    def __enter__(self) -> _Interruption:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def _stop(self, *_: Any) -> None:
        if self.happened:
            raise KeyboardInterrupt
        self.happened = self._guest.is_stopped = True

    def __exit__(self, *_: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)


def _check(model: Any, policy: Any, train: Any, validation: Any, optimizer: Any) -> None:
    wanted = [
        ("model", model, torch.nn.Module),
        ("policy", policy, (Policy, type(None))),
        ("train", train, torch.utils.data.DataLoader),
        ("validation", validation, torch.utils.data.DataLoader),
        ("optimizer", optimizer, torch.optim.Optimizer),
    ]
    for name, value, kind in wanted:
        if not isinstance(value, kind):
            kinds = kind if isinstance(kind, tuple) else (kind,)
            allowed = " or ".join("None" if k is type(None) else k.__name__ for k in kinds)
            raise TypeError(f"{name} must be a {allowed}, but this is a {type(value).__name__}")
    if policy is not None and policy._native.kind != "learned":
        raise ValueError(f"{policy.name} is a baseline, which has nothing to learn: begin with uniform-free:LAYERS, or with None")
    for name, loader in (("train", train), ("validation", validation)):
        try:
            empty = len(loader) == 0
        except TypeError:
            raise TypeError(f"{name} must be a loader of known length, but its dataset has none") from None
        if empty:
            raise ValueError(f"{name} has no batch: it has {len(loader.dataset)} images and batches of {loader.batch_size}")
    own = {id(p) for p in model.parameters() if p.requires_grad}
    if not any(id(p) in own for group in optimizer.param_groups for p in group["params"]):
        raise ValueError("the optimizer has none of the model's parameters")


def _check_sgd(optimizer: torch.optim.Optimizer, horizon: int) -> None:
    """The way back through many steps knows the rule of SGD and no other."""
    if type(optimizer) is not torch.optim.SGD:
        raise ValueError(
            f"a horizon of {horizon} steps needs torch.optim.SGD, but the optimizer is {type(optimizer).__name__}: "
            'say horizon=1, or preset="one-step"'
        )
    for group in optimizer.param_groups:
        for name in ("dampening", "maximize"):
            if group[name]:
                raise ValueError(f"a horizon of {horizon} steps needs SGD without {name}, but it is {group[name]}")
