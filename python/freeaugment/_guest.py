"""What the search asks of a model of torch: training steps, and gradients with respect to augmented images.

The search itself (what is drawn, what a gradient says about the policy, how the policy moves, what is written down) is the Rust
program's; its methods are called from there (``python/src/guest.rs``).
"""

from __future__ import annotations

import io
import json
import math
import sys
from typing import Any, NamedTuple

import numpy
import torch
from torch.func import functional_call

from ._stream import Stream

TRAINING, VALIDATION = 1, 2


class Batch(NamedTuple):
    """A batch as the loader gave it: bytes stay bytes, because a cycle keeps all of its batches."""

    images: torch.Tensor
    targets: Any
    indices: list[int]
    epoch: int

    @property
    def array(self) -> numpy.ndarray:
        """What the policy sees: float32 in [0, 1], on the CPU."""
        return _array(self.images)


class Pass(NamedTuple):
    """A training pass that can be differentiated once more."""

    images: torch.Tensor
    shares: torch.Tensor
    weights: dict[str, torch.Tensor]
    gradient: tuple[torch.Tensor, ...]


class Guest:
    def __init__(self, model, optimizer, loss, accuracy, normalize, train, validation, settings) -> None:
        self.model, self.optimizer, self.settings = model, optimizer, settings
        self.loss, self.accuracy, self.normalize = loss, accuracy, normalize
        self.train_stream = Stream(train, settings.seed, TRAINING)
        self.validation_stream = Stream(validation, settings.seed, VALIDATION)
        groups = {id(p): at for at, group in enumerate(optimizer.param_groups) for p in group["params"]}
        named = {name: p for name, p in model.named_parameters() if p.requires_grad and id(p) in groups}
        self.names = list(named)
        self.parameters = list(named.values())
        # By number: restoring an optimizer makes groups of its own.
        self.group_numbers = [groups[id(p)] for p in self.parameters]
        # Where groups have rates of their own, they keep their proportions.
        first = optimizer.param_groups[0]["lr"]
        self.proportions = [group["lr"] / first if first else 1.0 for group in optimizer.param_groups]
        # Modules that someone has set to evaluation stay there, unless all of the model is.
        self._modes = [(module, module.training or not model.training) for module in model.modules()]
        self.is_stopped = False
        self.quiet = False
        self._size: tuple[int, ...] = ()
        self._kept: Pass | None = None
        self._direction: list[torch.Tensor] | None = None
        self.begin_cycle(0, 0)

    # Batches

    def next_batch(self) -> Batch:
        batch = self._batch(self.train_stream)
        if self._end:
            self._batches.append(batch)
        return batch

    def next_validation_batch(self) -> Batch:
        return self._batch(self.validation_stream)

    def image_size(self) -> str:
        return "x".join(map(str, self._size))

    def _batch(self, stream: Stream) -> Batch:
        images, targets, *more = _parts(stream.next())
        self._size = tuple(images.shape[-2:])
        # Without numbers of their own, images are counted within their pass.
        first = (stream.taken - 1) * (stream.loader.batch_size or len(images))
        indices = [int(index) for index in more[0]] if more else list(range(first, first + len(images)))
        return Batch(images, targets, indices, stream.passes)

    # Passes

    def input(self, batch: Batch, augmented: bytearray) -> torch.Tensor:
        images = torch.frombuffer(augmented, dtype=torch.float32)
        return images.reshape(batch.images.shape).to(self.device)

    @property
    def device(self) -> torch.device:
        return self.parameters[0].device

    def _outputs(self, key: int, images: torch.Tensor, weights: dict[str, Any], buffers: Any) -> torch.Tensor:
        """A pass whose random numbers (dropout) depend on the step alone, so that it can be done once more."""
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed((self.settings.seed * 1_000_003 + key) % 2**63)
            images = images if self.normalize is None else self.normalize(images)
            return functional_call(self.model, {**weights, **buffers}, (images,))

    def _train(self, training: bool) -> None:
        for module, trains in self._modes:
            module.training = training and trains

    def _losses(self, outputs: torch.Tensor, targets: Any) -> torch.Tensor:
        losses = self.loss(outputs, targets)
        if losses.dim() > 1:
            raise ValueError(f"a loss is one number, or one for each image, but this has the shape {tuple(losses.shape)}")
        if losses.dim() == 0 and self.settings.needs_parts:
            raise ValueError(
                "the estimator `gain` needs the loss of every image: give a loss that returns one number for each "
                '(reduction="none"), or say estimator="straight-through"'
            )
        return losses

    def _pass(
        self, key: int, batch: Batch, images: torch.Tensor, weights: list[torch.Tensor], keep: bool, running: bool = False
    ) -> tuple[Pass, float, float]:
        """Loss and gradient at these weights. The statistics that a module keeps change only where it is ``running``."""
        images = images.detach().requires_grad_(keep)
        named = {name: w.detach().clone().requires_grad_() for name, w in zip(self.names, weights)}
        buffers = {} if running else {name: buffer.clone() for name, buffer in self.model.named_buffers()}
        self._train(True)
        outputs = self._outputs(key, images, named, buffers)
        targets = _to(batch.targets, self.device)
        losses = self._losses(outputs, targets)
        # Every image's share of the loss; the derivative of ⟨gradient, direction⟩ to it is what the image adds.
        shares = torch.full_like(losses, 1 / max(losses.numel(), 1), requires_grad=keep)
        loss = (losses * shares).sum()
        gradient = torch.autograd.grad(loss, list(named.values()), create_graph=keep, allow_unused=True)
        gradient = tuple(torch.zeros_like(w) if g is None else g for g, w in zip(gradient, named.values()))
        return Pass(images, shares, named, gradient), loss.item(), self.accuracy(outputs.detach(), targets)

    @staticmethod
    def _derivatives(found: Pass, direction: list[torch.Tensor], to: list[torch.Tensor]) -> list[torch.Tensor]:
        """⟨gradient, direction⟩ differentiated to tensors of the pass."""
        inner = sum((g * d).sum() for g, d in zip(found.gradient, direction))
        found_ones = torch.autograd.grad(inner, to, allow_unused=True)
        return [torch.zeros_like(tensor) if g is None else g for g, tensor in zip(found_ones, to)]

    def _slope(self, found: Pass, direction: list[torch.Tensor], *more: torch.Tensor) -> tuple[Any, ...]:
        q, by_share, *rest = self._derivatives(found, direction, [found.images, found.shares, *more])
        parts = (by_share * found.shares.detach()).reshape(-1).tolist() if by_share.dim() else []
        return (_flat(q), parts, _norm(direction)), rest

    # Training

    def train(self, step: int, rate: float, batch: Batch, images: torch.Tensor, keep: bool) -> tuple[float, float, float]:
        if self._end:
            self._keep(step)
        keep_graph = keep and not self.settings.differs
        before = [p.detach().clone() for p in self.parameters] if keep and self.settings.differs else None
        found, loss, right = self._pass(step, batch, images, self.parameters, keep_graph, running=True)
        gradient = [g.detach() for g in found.gradient]
        self._kept = before if before is not None else found if keep else None
        self._descend(gradient, rate)
        return loss, right, _norm(gradient)

    def _descend(self, gradient: list[torch.Tensor], rate: float) -> None:
        for group, proportion in zip(self.optimizer.param_groups, self.proportions):
            group["lr"] = rate * proportion
        for p, g in zip(self.parameters, gradient):
            p.grad = g
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def validate(self, step: int, batch: Batch) -> tuple[float, float]:
        gradient, loss, right = self._validation_gradient(step, batch)
        momentum = self.settings.validation_momentum
        before = self._direction if momentum else None
        self._direction = gradient if before is None else [b.lerp(g, 1 - momentum) for b, g in zip(before, gradient)]
        return loss, right

    def _validation_gradient(self, step: int, batch: Batch) -> tuple[list[torch.Tensor], float, float]:
        images = torch.from_numpy(batch.array).to(self.device)
        found, loss, right = self._pass(step, batch, images, self.parameters, keep=False)
        return list(found.gradient), loss, right

    def slope(self, step: int, rate: float, batch: Batch, images: torch.Tensor) -> tuple[Any, ...]:
        rates = self._rates(rate)
        if self.settings.differs:
            return self._difference(step, batch, images, rates)
        direction = [-r * d for r, d in zip(rates, self._direction)]
        found, self._kept = self._kept, None
        return self._slope(found, direction)[0]

    def _difference(self, step: int, batch: Batch, images: torch.Tensor, rates: list[float]) -> tuple[Any, ...]:
        """The central difference of DARTS, at the weights before the step."""
        direction = [-r * d for r, d in zip(rates, self._direction)]
        radius = 0.01 / max(_norm(direction), sys.float_info.min)
        before, self._kept = self._kept, None
        ends = []
        for sign in (1, -1):
            moved = [b + sign * radius * d for b, d in zip(before, direction)]
            images = images.detach().requires_grad_()
            buffers = {name: buffer.clone() for name, buffer in self.model.named_buffers()}
            outputs = self._outputs(step, images, dict(zip(self.names, moved)), buffers)
            loss = self._losses(outputs, _to(batch.targets, self.device)).mean()
            ends.append(torch.autograd.grad(loss, images)[0])
        return _flat((ends[0] - ends[1]) / (2 * radius)), [], _norm(direction)

    def _rates(self, rate: float) -> list[float]:
        """The learning rate of each parameter."""
        return [rate * self.proportions[number] for number in self.group_numbers]

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The group of each parameter."""
        return [self.optimizer.param_groups[number] for number in self.group_numbers]

    # Cycles: the weights before every step, or before every so-manieth with all that a step changes

    def begin_cycle(self, start: int, end: int) -> None:
        self._start, self._end = start, end
        size = sum(p.numel() * p.element_size() for p in getattr(self, "parameters", []))
        length = max(end - start, 1)
        fits = length * size <= self.settings.horizon_mib << 20
        self._every = 1 if fits else math.ceil(math.sqrt(length))
        self._batches: list[Batch] = []
        self._trail: list[tuple[int, Any]] = []

    def _keep(self, step: int) -> None:
        if (step - self._start) % self._every == 0:
            weights = [p.detach().clone() for p in self.parameters]
            self._trail.append((step, weights if self._every == 1 else self._snapshot()))

    def _snapshot(self) -> Any:
        tensors = [t.detach().clone() for t in [*self.parameters, *self.model.buffers()]]
        memory = [{k: v.clone() if torch.is_tensor(v) else v for k, v in self.optimizer.state[p].items()} for p in self.parameters]
        return tensors, memory

    def _return_to(self, snapshot: Any) -> None:
        tensors, memory = snapshot
        with torch.no_grad():
            for tensor, value in zip([*self.parameters, *self.model.buffers()], tensors):
                tensor.copy_(value)
        for p, state in zip(self.parameters, memory):
            self.optimizer.state[p] = {k: v.clone() if torch.is_tensor(v) else v for k, v in state.items()}

    def judge(self, step: int) -> tuple[float, float]:
        stream = self.validation_stream
        count = self.settings.cycle_batches or len(stream.loader)
        total, losses, rights = None, 0.0, 0.0
        for _ in range(count):
            gradient, loss, right = self._validation_gradient(step, self._batch(stream))
            total = gradient if total is None else [t + g for t, g in zip(total, gradient)]
            losses, rights = losses + loss / count, rights + right / count
        if not self.quiet:
            # It takes longer than the way there, and nothing else is said meanwhile.
            print(f"back through {self._end - self._start} steps: validation loss {losses:.3f}", file=sys.stderr, flush=True)
        # How the validation loss depends on the weights and on the momentum between two steps.
        self._by_weights = [t / count for t in total]
        self._by_memory = [torch.zeros_like(t) for t in total]
        return losses, rights

    def batch_again(self, step: int) -> Batch:
        return self._batches[step - self._start]

    def missing(self, step: int) -> list[int]:
        """The steps to be taken again before the weights of this one are there."""
        first, kept = self._trail[-1]
        if isinstance(kept, list):
            return []
        self._trail[-1] = first, kept[0][: len(self.parameters)]
        if first < step:
            self._present, self._until = self._snapshot(), step
            self._return_to(kept)
        return list(range(first, step))

    def again(self, step: int, rate: float, batch: Batch, images: torch.Tensor) -> None:
        found, _, _ = self._pass(step, batch, images, self.parameters, keep=False)
        self._descend(list(found.gradient), rate)
        self._trail.append((step + 1, [p.detach().clone() for p in self.parameters]))
        if step + 1 == self._until:
            self._return_to(self._present)

    def back(self, step: int, rate: float, batch: Batch, images: torch.Tensor) -> tuple[Any, ...]:
        at, weights = self._trail.pop()
        assert at == step
        found, _, _ = self._pass(step, batch, images, weights, keep=True)
        direction = []
        for at, (r, group) in enumerate(zip(self._rates(rate), self.groups)):
            # The pullback of a step of SGD, with Nesterov's momentum or the plain one, or none.
            momentum, later = group["momentum"], self._by_weights[at]
            memory = self._by_memory[at] - r * (momentum if group["nesterov"] else 1.0) * later
            direction.append(memory - r * later if group["nesterov"] else memory)
            self._by_memory[at] = momentum * memory
        result, products = self._slope(found, direction, *found.weights.values())
        for at, (d, product, group) in enumerate(zip(direction, products, self.groups)):
            self._by_weights[at] = self._by_weights[at] + group["weight_decay"] * d + product
        self._at = step, weights, direction
        return result

    def parts(self, batch: Batch, images: torch.Tensor) -> list[float]:
        step, weights, direction = self._at
        found, _, _ = self._pass(step, batch, images, weights, keep=True)
        by_share = self._derivatives(found, direction, [found.shares])[0]
        return (by_share * found.shares.detach()).tolist()

    # What is written down

    def evaluate(self) -> tuple[float, float]:
        stream = Stream(self.validation_stream.loader, self.settings.seed, VALIDATION)
        self._train(False)
        total, right, count = 0.0, 0.0, 0
        with torch.no_grad():
            for _ in range(len(stream.loader)):
                batch = self._batch(stream)
                targets = _to(batch.targets, self.device)
                outputs = self._outputs(0, torch.from_numpy(batch.array).to(self.device), {}, {})
                size = len(batch.images)
                total += self._losses(outputs, targets).mean().item() * size
                right += self.accuracy(outputs, targets) * size
                count += size
        return total / count, right / count

    def moment(self) -> bytes:
        streams = [(s.passes, s.taken) for s in (self.train_stream, self.validation_stream)]
        state = dict(
            model=self.model.state_dict(), optimizer=self.optimizer.state_dict(), streams=streams, direction=self._direction
        )
        buffer = io.BytesIO()
        torch.save(state, buffer)
        return buffer.getvalue()

    def restore(self, state: bytes) -> None:
        state = torch.load(io.BytesIO(state), map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self._direction = state["direction"]
        for stream, place in zip((self.train_stream, self.validation_stream), state["streams"]):
            stream.go_to(*place)

    def told(self, line: str, epochs: int) -> None:
        if self.quiet:
            return
        epoch = json.loads(line)
        text = f"epoch {epoch['epoch']} of {epochs}: training loss {epoch['loss']:.3f}, accuracy {epoch['accuracy']:.1%}"
        if epoch["evaluation_loss"] is not None:
            text += f"; validation loss {epoch['evaluation_loss']:.3f}, accuracy {epoch['evaluation_accuracy']:.1%}"
        print(text, file=sys.stderr, flush=True)


def accuracy(outputs: torch.Tensor, targets: torch.Tensor) -> float:
    """The share of images whose largest output is at their label, or at the largest of their targets."""
    if outputs.dim() != 2 or not torch.is_tensor(targets) or len(targets) != len(outputs) or targets.dim() > 2:
        raise ValueError(
            f"outputs of shape {tuple(outputs.shape)} are not [image, class]: say accuracy=…, a function of outputs and targets"
        )
    labels = targets.argmax(1) if targets.dim() == 2 else targets
    return (outputs.argmax(1) == labels).float().mean().item()


def _parts(batch: Any) -> Any:
    if isinstance(batch, (list, tuple)) and len(batch) in (2, 3) and torch.is_tensor(batch[0]):
        return batch
    raise TypeError(
        f"a loader must give (images, targets) or (images, targets, indices), images a tensor, but this gives a {type(batch).__name__}"
    )


def _array(images: torch.Tensor) -> numpy.ndarray:
    if images.dim() != 4 or images.shape[1] not in (1, 3):
        raise ValueError(f"images must be [n, channel, height, width] with 1 or 3 channels, but are {tuple(images.shape)}")
    if images.dtype is torch.uint8:
        return (images.to("cpu").numpy().astype(numpy.float32) / numpy.float32(255)).clip(0, 1)
    if not images.is_floating_point():
        raise TypeError(f"images must be uint8, or floats in [0, 1], but are {images.dtype}")
    array = numpy.ascontiguousarray(images.detach().to("cpu", torch.float32).numpy())
    low, high = array.min(), array.max()
    if not (low >= 0 and high <= 1):
        raise ValueError(
            f"images must be in [0, 1], but go from {low:.3g} to {high:.3g}: leave the normalisation to normalize=…, after the policy"
        )
    return array


def _to(value: Any, device: torch.device) -> Any:
    return value.to(device) if torch.is_tensor(value) else value


def _flat(tensor: torch.Tensor) -> numpy.ndarray:
    return numpy.ascontiguousarray(tensor.detach().to("cpu", torch.float32).numpy()).reshape(-1)


def _norm(tensors: Any) -> float:
    return math.sqrt(sum(t.double().square().sum().item() for t in tensors))
