"""resnet18 on a folder of images, with a policy: python torchvision_folder.py FOLDER [POLICY EPOCHS]

FOLDER holds a folder of images for each class; POLICY is a policy file, a run, or the name of a baseline.
"""

import os
import sys

import torch
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18
from torchvision.transforms import v2

import freeaugment

if __name__ == "__main__":
    folder, name, epochs = sys.argv[1], *(sys.argv[2:] or ["trivial-wide", "2"])
    policy = freeaugment.Policy.load(name) if os.path.exists(name) else freeaugment.Policy.baseline(name)
    train = v2.Compose([
        v2.RandomResizedCrop(64),
        v2.RandomHorizontalFlip(),
        freeaugment.torchvision.FreeAugment(policy),
        v2.ToImage(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ])
    torch.manual_seed(0)
    data = ImageFolder(folder, train)
    loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    model = resnet18(num_classes=len(data.classes))
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True)
    for epoch in range(int(epochs)):
        total = 0.0
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        print(f"epoch {epoch + 1}: training loss {total / len(data):.3f}")
