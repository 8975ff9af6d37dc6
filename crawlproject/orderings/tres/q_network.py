"""The network of TRES that estimates the value of a link: two hidden layers, mean squared error, Adam."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from random import Random

import numpy as np
import numpy.typing as npt

HIDDEN = (30, 15)  # units of the hidden layers
SLOPE = 0.1  # of the leaky rectifier below 0
RATE = 0.001  # the learning rate of Adam; its other constants follow
DECAY, DECAY_SQUARED, TINY = 0.9, 0.999, 1e-7
CLIP = 1.0  # the largest component of a gradient

Rows = npt.NDArray[np.float32]


class QNetwork:
    """Maps each row of inputs to a number. Weights begin uniform within Glorot's bounds, biases at 0.

    ``parameters`` holds the weights and the bias of each layer in turn.
    """

    def __init__(self, random: Random, inputs: int) -> None:
        sizes = (inputs, *HIDDEN, 1)
        self.parameters: list[Rows] = []
        for above, below in pairwise(sizes):
            bound = sqrt(6 / (above + below))
            drawn = [random.uniform(-bound, bound) for _ in range(above * below)]
            self.parameters += [np.array(drawn, np.float32).reshape(above, below), np.zeros(below, np.float32)]

    def __call__(self, inputs: Rows) -> Rows:
        """The value of each row: shape (rows,)."""
        values: Rows = self._layers(inputs)[-1][:, 0]
        return values

    def become(self, other: QNetwork) -> None:
        """Take over the parameters of ``other``."""
        self.parameters = [parameter.copy() for parameter in other.parameters]

    def gradients(self, inputs: Rows, wanted: Rows) -> list[Rows]:
        """The gradients of the mean squared error over the rows, one for each of ``parameters``."""
        layers = self._layers(inputs)
        error = (layers[-1] - wanted[:, None]) * (2 / len(wanted))
        found: list[Rows] = []
        for depth in range(len(layers) - 2, -1, -1):
            found = [layers[depth].T @ error, error.sum(axis=0), *found]
            if depth:  # the output of the rectifier has the sign of its input
                error = error @ self.parameters[2 * depth].T
                error[layers[depth] <= 0] *= SLOPE
        return found

    def _layers(self, inputs: Rows) -> list[Rows]:
        """The inputs, then the output of each layer."""
        layers = [inputs]
        for weights, bias in zip(self.parameters[::2], self.parameters[1::2], strict=True):
            summed = layers[-1] @ weights
            summed += bias
            layers.append(np.maximum(summed, SLOPE * summed))
        layers[-1] = summed  # the last layer is linear
        return layers


class Adam:
    """The optimiser of Kingma and Ba 2015, for parameters of these shapes."""

    def __init__(self, parameters: Sequence[Rows]) -> None:
        self._means = [np.zeros_like(parameter) for parameter in parameters]
        self._squares = [np.zeros_like(parameter) for parameter in parameters]
        self._steps = 0

    def step(self, parameters: Sequence[Rows], gradients: Sequence[Rows]) -> None:
        """Update the parameters in place; components of gradients are clipped to ``CLIP``."""
        self._steps += 1
        rate = RATE * sqrt(1 - DECAY_SQUARED**self._steps) / (1 - DECAY**self._steps)
        for parameter, gradient, mean, square in zip(parameters, gradients, self._means, self._squares, strict=True):
            clipped = gradient.clip(-CLIP, CLIP)
            mean += (1 - DECAY) * (clipped - mean)
            square += (1 - DECAY_SQUARED) * (clipped**2 - square)
            parameter -= rate * mean / (np.sqrt(square) + TINY)
