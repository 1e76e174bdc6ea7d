"""A policy for resnet18 on a folder of images: python torch_search.py FOLDER [EPOCHS]

FOLDER holds `train` and `val`, and each of them a folder of images for each class.
"""

import sys

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18
from torchvision.transforms import v2

from freeaugment.torch import Search

if __name__ == "__main__":
    folder, epochs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    # What comes before the policy; images stay bytes.
    crop = v2.Compose([v2.RandomResizedCrop(64), v2.RandomHorizontalFlip(), v2.PILToTensor()])
    whole = v2.Compose([v2.Resize(73), v2.CenterCrop(64), v2.PILToTensor()])
    train = ImageFolder(f"{folder}/train", crop)
    validation = ImageFolder(f"{folder}/val", whole)
    torch.manual_seed(0)
    model = resnet18(num_classes=len(train.classes))
    search = Search(
        model,
        train=DataLoader(train, 32, shuffle=True, drop_last=True, num_workers=2),
        validation=DataLoader(validation, 32, shuffle=True, num_workers=2),
        optimizer=torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=5e-4),
        normalize=v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        epochs=epochs,
    )
    run = search.run("runs/resnet18")  # Ctrl-C saves; the same command goes on
    print(run.policy.describe())
