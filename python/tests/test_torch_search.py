"""The search around a model of torch: against the Rust search, against differences, interrupted, and refused."""

import json
import subprocess
import sys

import pytest
from conftest import need, picture

import freeaugment

numpy = need("numpy")
torch = need("torch")
pil = need("PIL.Image")
safetensors = need("safetensors.torch")

from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from freeaugment.torch import Search  # noqa: E402

CLASSES, EACH = 3, 8
BATCH = CLASSES * EACH
EARLY = dict(magnitude_start=0, type_start=0, depth_start=0)
SMALL = dict(layers=2, transformations=["Rotate", "Brightness", "ShearX", "Invert", "Contrast"])


def images(split):
    """Images that look a little like their class, uint8 [n, height, width, channel], with labels."""
    kinds = [(label, seed) for label in range(CLASSES) for seed in range(EACH)]
    pictures = [picture(numpy, 16, 16, seed=100 * split + 10 * label + seed) // (1 + label) for label, seed in kinds]
    return numpy.stack(pictures), numpy.array([label for label, _ in kinds])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The images as the program reads them."""
    top = tmp_path_factory.mktemp("images")
    for split, name in enumerate(["train", "val"]):
        for number, (image, label) in enumerate(zip(*images(split))):
            place = top / name / f"class{label}"
            place.mkdir(parents=True, exist_ok=True)
            pil.fromarray(image).save(place / f"{number:03}.png")
    return top


def loader(split, batch=BATCH, **more):
    pictures, labels = images(split)
    tensors = torch.from_numpy(pictures).permute(0, 3, 1, 2), torch.from_numpy(labels), torch.arange(len(labels))
    return DataLoader(TensorDataset(*tensors), batch, **more)


def normalize(x):
    """By mean and deviation of the training images, as the program does."""
    values = images(0)[0].reshape(-1, 3) / 255
    mean, deviation = (torch.tensor(v, dtype=torch.float32).reshape(3, 1, 1) for v in (values.mean(0), values.std(0)))
    return (x - mean) / deviation


def small_model():
    torch.manual_seed(1)
    layers = [torch.nn.Conv2d(3, 6, 3, 2), torch.nn.BatchNorm2d(6), torch.nn.ReLU(), torch.nn.Dropout(0.2)]
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(24, CLASSES))


def small_search(batch=8, **settings):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)
    loaders = dict(train=loader(0, batch, shuffle=True), validation=loader(1, batch, shuffle=True))
    settings = {**EARLY, **SMALL, "epochs": 3, **settings}
    return Search(model, optimizer=optimizer, normalize=normalize, **loaders, **settings)


def state(run):
    return safetensors.load_file(run.folder / "checkpoint.safetensors")


GROUPS = ["depth", "types", "magnitudes"]


@pytest.mark.parametrize(
    "settings, found",
    [
        (dict(preset="one-step", epochs=1), "adam.{}.first"),
        (dict(preset="one-step", epochs=1, estimator="gain"), "adam.{}.first"),
        (dict(preset="quick", epochs=4, horizon=4), "slopes.{}.sums"),
        (dict(preset="quick", epochs=4, horizon=4, horizon_mib=0, draws=0), "slopes.{}.sums"),
    ],
)
def test_its_gradients_are_those_of_the_rust_search(folder, tmp_path, settings, found):
    settings = {**EARLY, **SMALL, "seed": 5, "evaluate_every": 1, **settings}
    alike = dict(
        data=folder, network="WRN-10-1", batch=BATCH, crop="none", flip=0.0, cutout=0, images=0, test_share=0.0, quiet=True
    )
    rates = dict(learning_rate=0.0, cycle_rate=0.0)
    # A search whose learning rate is 0 ends with the weights that it began with.
    still = freeaugment.search(**{**alike, **settings, **rates, "epochs": 1}, out=tmp_path / "still")
    theirs = freeaugment.search(**alike, **settings, out=tmp_path / "rust")

    from wide_resnet import WideResNet

    model = WideResNet(10, 1, CLASSES)
    weights = safetensors.load_file(still.folder / "classifier.safetensors")
    with torch.no_grad():
        # Not the running statistics, which have seen a step.
        [parameter.copy_(weights[name]) for name, parameter in model.named_parameters()]
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
    loaders = dict(train=loader(0), validation=loader(1))
    ours = Search(model, optimizer=optimizer, normalize=normalize, **loaders, **settings).run(tmp_path / "torch", quiet=True)

    for group in GROUPS:
        a, b = (state(run)[found.format(group)] for run in (ours, theirs))
        largest = b.abs().max()
        assert largest > 0 and len(a) == len(b), group
        assert (a - b).abs().max() < 1e-3 * largest, (group, (a - b).abs().max() / largest)
    for a, b in zip(ours.epochs, theirs.epochs):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-3)
        assert a["evaluation_loss"] == pytest.approx(b["evaluation_loss"], rel=1e-3)


def test_a_cycle_is_the_derivative_of_the_training_it_is(tmp_path):
    """On a smooth model in double precision: the validation loss after three steps, differentiated by moving a pixel of the first."""
    from freeaugment._guest import Guest

    class Settings:
        seed, horizon, horizon_mib, cycle_batches, validation_momentum = 0, 3, 1, 0, 0.0
        differs, needs_parts = False, True

    def after_three_steps(nudge=0.0, nesterov=True):
        torch.manual_seed(3)
        model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, 5), torch.nn.Softplus(), torch.nn.Linear(5, 3)).double()
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.8, nesterov=nesterov, weight_decay=0.01)
        loss = lambda a, b: torch.nn.functional.cross_entropy(a, b, reduction="none")
        guest = Guest(model, optimizer, loss, lambda *_: 0.0, torch.Tensor.double, loader(0, 8), loader(1, 8), Settings)
        guest.begin_cycle(0, 3)
        inputs = []
        for step in range(3):
            batch = guest.next_batch()
            images = torch.from_numpy(batch.array).double()
            if step == 0:
                images[2, 1, 5, 7] += nudge
            inputs.append(images)
            guest.train(step, 0.1 - 0.02 * step, batch, images, False)
        return guest, inputs, guest.judge(3)[0]

    for nesterov in (True, False):
        guest, inputs, _ = after_three_steps(0.0, nesterov)
        for step in (2, 1, 0):
            q, parts, norm = guest.back(step, 0.1 - 0.02 * step, guest.batch_again(step), inputs[step])
        ahead, behind = (after_three_steps(nudge, nesterov)[2] for nudge in (1e-4, -1e-4))
        slope = (ahead - behind) / 2e-4
        assert abs(slope) > 1e-7 and len(parts) == 8 and norm > 0
        # q crosses to the policy in single precision.
        assert q.reshape(inputs[0].shape)[2, 1, 5, 7] == pytest.approx(slope, rel=1e-4)


def test_the_difference_points_where_the_exact_gradient_does(tmp_path):
    """On a smooth network; with ReLU it does not, which is why it is not the default."""
    found = []
    for hypergradient in ("exact", "difference"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, 8), torch.nn.Softplus(), torch.nn.Linear(8, 3))
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        loaders = dict(train=loader(0), validation=loader(1))
        settings = {**EARLY, **SMALL, "preset": "one-step", "epochs": 1, "hypergradient": hypergradient}
        run = Search(model, optimizer=optimizer, **loaders, **settings).run(tmp_path / hypergradient, quiet=True)
        found.append(torch.cat([state(run)[f"adam.{group}.first"] for group in GROUPS]))
    exact, difference = found
    # Rounding of two gradients in single precision, over 2 % of a step: some hundredths of a percent.
    assert torch.cosine_similarity(exact, difference, 0) > 0.999
    assert difference.norm().item() == pytest.approx(exact.norm().item(), rel=0.02)


@pytest.mark.parametrize("settings", [dict(preset="one-step", validation_momentum=0.5), dict(preset="quick", horizon=4)])
def test_an_interrupted_search_goes_on_to_the_same_bits(tmp_path, settings):
    whole = small_search(**settings).run(tmp_path / "whole", quiet=True)
    for stop_after in (1, 4):
        search, place = small_search(**settings), tmp_path / f"stopped-{stop_after}"
        count, train = 0, search._guest.train

        def counted(*arguments):
            nonlocal count
            count += 1
            search._guest.is_stopped = count == stop_after
            return train(*arguments)

        search._guest.train = counted
        with pytest.raises(KeyboardInterrupt):
            search.run(place, quiet=True)
        again = small_search(**settings).run(place, quiet=True)
        assert again.policy == whole.policy
        for name, values in state(whole).items():
            if name != "torch":
                assert torch.equal(values, state(again)[name]), name
        losses = [[(epoch["loss"], epoch["evaluation_loss"]) for epoch in run.epochs] for run in (whole, again)]
        assert losses[0] == losses[1]
    # What is finished stays as it is.
    assert small_search(**settings).run(tmp_path / "whole", quiet=True).policy == whole.policy


def test_the_program_shows_its_run_and_knows_that_it_cannot_go_on_with_it(tmp_path):
    start = freeaugment.Policy.baseline("uniform-free:3")
    model = small_model()
    loaders = dict(train=loader(0, 8, shuffle=True), validation=loader(1, 8))
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    run = Search(model, start, optimizer=optimizer, preset="one-step", epochs=2, **EARLY, **loaders).run(tmp_path / "run", quiet=True)
    assert run.policy.name == start.name and run.policy != start
    shown = run.result
    assert shown["provenance"]["network"] == "Sequential" and shown["provenance"]["image_size"] == "16x16"
    program = [sys.executable, "-m", "freeaugment", "show", run.folder]
    said = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    assert "how many are applied" in said and "TensorDataset" in said
    with pytest.raises(freeaugment.ProgramError, match="freeaugment.torch.Search"):
        run.resume()


def bars(count, seed, inverted):
    """Level or upright bars on noise, [n, 3, 12, 12]; bright, or with everything inverted."""
    generator = numpy.random.default_rng(seed)
    pictures, labels = generator.integers(30, 90, (count, 3, 12, 12)), numpy.arange(count) % 2
    for image, label, at in zip(pictures, labels, generator.integers(1, 10, count)):
        image[(slice(None), slice(at, at + 2)) if label else (slice(None), slice(None), slice(at, at + 2))] += 110
    pictures = pictures.astype(numpy.uint8)
    return TensorDataset(torch.from_numpy(255 - pictures if inverted else pictures), torch.from_numpy(labels))


def test_what_is_planted_is_found(tmp_path):
    """Validation images are inverted, training images are not: a policy that inverts is worth learning, and nothing else is."""
    torch.manual_seed(0)
    first = [torch.nn.Conv2d(3, 16, 5, 2), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.ReLU()]
    model = torch.nn.Sequential(*first, torch.nn.AdaptiveMaxPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 2))
    search = Search(
        model,
        train=DataLoader(bars(256, 0, False), 32, shuffle=True),
        validation=DataLoader(bars(128, 1, True), 64, shuffle=True),
        optimizer=torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=5e-4),
        normalize=lambda x: (x - 0.5) / 0.25,
        layers=1,
        transformations=["Invert", "ShearX", "Brightness", "AutoContrast", "Posterize"],
        **dict(epochs=14, horizon=20, draws=2, evaluate_every=0, type_start=2, depth_start=2, magnitude_start=2),
    )
    run = search.run(tmp_path / "run", quiet=True)
    shares = {entry["name"]: entry["share"] for entry in run.result["transformations"]}
    assert max(shares, key=shares.get) == "Invert" and shares["Invert"] > 0.3, shares
    # Slopes in standard errors, and negative where more is better: four are no chance.
    assert run.epochs[-1]["cycle"]["types"][0] < -4


def test_layers_that_stay_as_they_are_and_losses_of_one_number(tmp_path):
    model = small_model()
    model[0].requires_grad_(False)
    model[1].eval()
    before = model[0].weight.clone(), model[1].running_mean.clone()
    optimizer = torch.optim.AdamW(model[6].parameters(), 0.01)
    loaders = dict(train=loader(0, 8, shuffle=True), validation=loader(1, 8))
    settings = dict(preset="one-step", epochs=1, loss=torch.nn.CrossEntropyLoss(label_smoothing=0.1), **EARLY, **SMALL)
    run = Search(model, optimizer=optimizer, **loaders, **settings).run(tmp_path / "run", quiet=True)
    assert torch.equal(model[0].weight, before[0]) and torch.equal(model[1].running_mean, before[1])
    assert run.epochs[0]["gradients"]["magnitudes"] > 0


class Mixed(torch.nn.Module):
    """A model that computes in bfloat16 what autocast allows."""

    def __init__(self, model):
        super().__init__()
        self.model, self.seen = model, set()

    def forward(self, images):
        with torch.autocast("cpu", torch.bfloat16):
            outputs = self.model(images)
        self.seen.add(outputs.dtype)
        return outputs.float()


@pytest.mark.parametrize("settings", [dict(preset="one-step"), dict(preset="quick", horizon=4)])
def test_a_model_may_compute_in_mixed_precision(tmp_path, settings):
    gradients = {}
    for name in ["whole", "mixed"]:
        model = small_model() if name == "whole" else Mixed(small_model())
        optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
        loaders = dict(train=loader(0, 8, shuffle=True), validation=loader(1, 8))
        given = {**EARLY, **SMALL, "epochs": 1, **settings}
        run = Search(model, optimizer=optimizer, **loaders, **given).run(tmp_path / name, quiet=True)
        gradients[name] = run.epochs[0]["gradients"]
    assert model.seen == {torch.bfloat16} and all(p.dtype == torch.float32 for p in model.parameters())
    for group in GROUPS:
        assert gradients["mixed"][group] == pytest.approx(gradients["whole"][group], rel=0.5), group


def test_refusals(tmp_path):
    model, loaders = small_model(), dict(train=loader(0, 8), validation=loader(1, 8))
    sgd = torch.optim.SGD(model.parameters(), 0.1)

    def refused(kind, match, place="run", **changes):
        arguments = {"model": model, "optimizer": sgd, "preset": "one-step", "epochs": 1, **EARLY, **loaders, **changes}
        with pytest.raises(kind, match=match):
            Search(**arguments).run(tmp_path / place, quiet=True)

    refused(TypeError, "train must be a DataLoader, but this is a list", train=[])
    refused(TypeError, "model must be a Module", model=len)
    refused(ValueError, "needs torch.optim.SGD, but the optimizer is Adam", optimizer=torch.optim.Adam(model.parameters()), horizon=5)
    refused(ValueError, "`batch` is decided by your model, your loaders", batch=3)
    refused(ValueError, "no such setting .did you mean `epochs`", epoch=3)
    refused(ValueError, "`layers` is decided by the policy", policy=freeaugment.Policy.baseline("uniform-free"), layers=2)
    refused(ValueError, "trivial-wide is a baseline", policy=freeaugment.Policy.baseline("trivial-wide"))
    refused(ValueError, "none of the model's parameters", optimizer=torch.optim.SGD(small_model().parameters(), 0.1))
    refused(ValueError, 'reduction="none"', estimator="gain", loss=torch.nn.CrossEntropyLoss())
    floats = DataLoader(TensorDataset(torch.randn(8, 3, 16, 16), torch.zeros(8).long()), 4)
    refused(ValueError, "must be in .0, 1., but go from", place="floats", train=floats)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["task"] == "search"
    refused(ValueError, "`seed` is 0 in this run, but 1 was asked for", seed=1)
