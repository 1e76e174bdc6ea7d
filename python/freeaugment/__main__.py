"""``python -m freeaugment`` is the command ``freeaugment``."""

from ._program import main

main()
