"""The program's Wide-ResNet in torch, with its names, so that weights can be copied over."""

from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.bn1, self.bn2 = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        same = inputs == outputs and stride == 1
        self.shortcut = None if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, h):
        a = functional.relu(self.bn1(h))
        z = self.conv2(functional.relu(self.bn2(self.conv1(a))))
        return z + (h if self.shortcut is None else self.shortcut(a))


class WideResNet(nn.Module):
    def __init__(self, depth, width, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        inputs = 16
        for group in range(3):
            blocks, outputs = nn.Module(), (16 * width) << group
            for block in range((depth - 4) // 6):
                blocks.add_module(f"block{block}", Block(inputs, outputs, 2 if group and not block else 1))
                inputs = outputs
            self.add_module(f"group{group}", blocks)
        self.bn, self.fc = nn.BatchNorm2d(inputs), nn.Linear(inputs, classes)

    def forward(self, images):
        h = self.stem(images)
        for group in (self.group0, self.group1, self.group2):
            for block in group.children():
                h = block(h)
        return self.fc(functional.relu(self.bn(h)).mean((2, 3)))
