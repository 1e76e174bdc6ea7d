class FreeAugment(torch.nn.Module):
    """The policy for a batch of tensors in [0, 1], on their device. Put it after crop and flip, before normalisation."""

    def forward(self, images):
        if not self.training:
            return images
        uniform = lambda *shape: torch.rand(shape, dtype=torch.float64).numpy()
        return apply(images, [sample(uniform) for _ in images])
