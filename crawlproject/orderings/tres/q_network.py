"""The network of TRES that says what a link is worth, and how it learns: two hidden layers, mean squared error, Adam."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from random import Random

import numpy as np
import numpy.typing as npt

HIDDEN = (30, 15)  # units of the hidden layers
SLOPE = 0.1  # of a leaky rectifier below 0
RATE = 0.001  # the learning rate of Adam, and its other constants
DECAY, DECAY_SQUARED, TINY = 0.9, 0.999, 1e-7
CLIP = 1.0  # the largest component of a gradient

Rows = npt.NDArray[np.float32]


class QNetwork:
    """A number for each row of inputs. Weights begin uniform within Glorot's bounds, biases at 0.

    ``parameters`` are weights and bias of one layer after the other.
    """

    def __init__(self, random: Random, inputs: int) -> None:
        sizes = (inputs, *HIDDEN, 1)
        self.parameters: list[Rows] = []
        for above, below in pairwise(sizes):
            bound = sqrt(6 / (above + below))
            drawn = [random.uniform(-bound, bound) for _ in range(above * below)]
            self.parameters += [np.array(drawn, np.float32).reshape(above, below), np.zeros(below, np.float32)]

    def __call__(self, inputs: Rows) -> Rows:
        """The values of the rows: shape (rows,)."""
        values: Rows = self._layers(inputs)[-1][:, 0]
        return values

    def become(self, other: QNetwork) -> None:
        """Take over the parameters of ``other``."""
        self.parameters = [parameter.copy() for parameter in other.parameters]

    def gradients(self, inputs: Rows, wanted: Rows) -> list[Rows]:
        """Of the mean squared error over the rows, one for each of ``parameters``."""
        layers = self._layers(inputs)
        error = (layers[-1] - wanted[:, None]) * (2 / len(wanted))
        found: list[Rows] = []
        for depth in range(len(layers) - 2, -1, -1):
            found = [layers[depth].T @ error, error.sum(axis=0), *found]
            if depth:  # what is above 0 behind the rectifier was above 0 before it
                error = error @ self.parameters[2 * depth].T
                error[layers[depth] <= 0] *= SLOPE
        return found

    def _layers(self, inputs: Rows) -> list[Rows]:
        """What comes out of each layer, the inputs first."""
        layers = [inputs]
        for weights, bias in zip(self.parameters[::2], self.parameters[1::2], strict=True):
            summed = layers[-1] @ weights
            summed += bias
            layers.append(np.maximum(summed, SLOPE * summed))
        layers[-1] = summed  # the last layer is linear
        return layers


class Adam:
    """Kingma and Ba 2015, for parameters of these shapes."""

    def __init__(self, parameters: Sequence[Rows]) -> None:
        self._means = [np.zeros_like(parameter) for parameter in parameters]
        self._squares = [np.zeros_like(parameter) for parameter in parameters]
        self._steps = 0

    def step(self, parameters: Sequence[Rows], gradients: Sequence[Rows]) -> None:
        """Move the parameters, in place; no component of a gradient counts as more than ``CLIP``."""
        self._steps += 1
        rate = RATE * sqrt(1 - DECAY_SQUARED**self._steps) / (1 - DECAY**self._steps)
        for parameter, gradient, mean, square in zip(parameters, gradients, self._means, self._squares, strict=True):
            clipped = gradient.clip(-CLIP, CLIP)
            mean += (1 - DECAY) * (clipped - mean)
            square += (1 - DECAY_SQUARED) * (clipped**2 - square)
            parameter -= rate * mean / (np.sqrt(square) + TINY)
