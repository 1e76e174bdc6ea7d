"""The examples in docstrings run."""

import doctest

import freeaugment
from freeaugment import _policy


def test_examples():
    # What is raised is shown with the name by which users know it.
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    for module in [freeaugment, _policy]:
        result = doctest.testmod(module, optionflags=flags)
        assert result.attempted > 0 and result.failed == 0
