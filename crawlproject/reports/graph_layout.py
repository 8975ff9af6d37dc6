"""Force-directed layout of a graph.

Edges are springs, nodes repel each other, and a weaker spring pulls each node to the centre of its group, so that the pages
of a site stay together (Fruchterman and Reingold 1991; the forces are those of ForceAtlas2, Jacomy et al. 2014). The
repulsion between all pairs is computed on a grid by fast Fourier transform, as in particle simulations (Hockney and
Eastwood 1981), so a round costs O(nodes + edges + cells log cells). The layout is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Indexes = npt.NDArray[np.int64]

GRID = 128  # most cells on a side
GRAVITY = 0.04  # pulls all nodes to the centre, so that unconnected components stay close
SHAPING = 3.5  # found by trial: the drawing gets the requested aspect within a tenth
COHESION = 0.35  # pulls a node to the centre of its group


def layout(
    parents: Sequence[int],
    edges: Indexes,
    groups: Sequence[int],
    *,
    sizes: Sequence[float] | None = None,
    rounds: int = 160,
    aspect: float = 1.0,
) -> Points:
    """Return the positions of ``n`` nodes, shape (n, 2), centred at (0, 0), with a mean distance of about 1 to the nearest node.

    ``aspect`` is the approximate width of the drawing over its height: gravity is weaker along the longer side, so that
    nothing is stretched.

    ``parents`` holds the index of each node's parent in a forest, -1 for roots. ``edges`` has shape (m, 2). Nodes with the
    same number in ``groups`` stay together. ``sizes`` are radii in the same unit; circles with these radii do not overlap.
    """
    n = len(parents)
    if n == 0:
        return np.zeros((0, 2))
    tree = np.asarray(parents, dtype=np.int64)
    at = radial_tree(tree)
    links = np.concatenate([_tree_edges(tree), np.asarray(edges, dtype=np.int64).reshape(-1, 2)])
    degree = np.bincount(links.ravel(), minlength=n).astype(np.float64)
    # An edge between hubs is weak evidence; a tree edge shows how the page was found.
    strength = 1.0 / np.sqrt(np.maximum(degree[links[:, 0]], 1) * np.maximum(degree[links[:, 1]], 1))
    strength[: np.count_nonzero(tree >= 0)] += 0.5
    mass = 1.0 + np.minimum(degree, 50.0) ** 0.5
    members = np.unique(np.asarray(groups), return_inverse=True)[1]
    spread = np.sqrt(n)
    shape = np.array([aspect, 1.0 / aspect]) ** 0.5
    at *= shape * spread / max(1e-9, np.abs(at).max())
    for step in range(rounds):
        force = mass[:, None] * _repulsion(at, mass)
        pull = (at[links[:, 1]] - at[links[:, 0]]) * strength[:, None]
        _add_at(force, links[:, 0], pull)
        _add_at(force, links[:, 1], -pull)
        force += COHESION * (_centres(at, members) - at)
        force -= GRAVITY * mass[:, None] * at / shape**SHAPING
        most = spread * 0.12 * (1 - step / rounds) ** 1.5  # cooling: the largest step of a node
        length = np.sqrt((force**2).sum(axis=1))
        at += force * (np.minimum(0.5 * length, most) / np.maximum(length, 1e-12))[:, None]
    at -= at.mean(axis=0)
    return _apart(at, sizes)


def radial_tree(parents: Indexes) -> Points:
    """Place a forest on rings: each node lies in the sector of its parent, with a width proportional to its descendants."""
    n = len(parents)
    order, depth = _by_depth(parents)
    weight = np.ones(n)
    for node in order[::-1]:
        if parents[node] >= 0:
            weight[parents[node]] += weight[node]
    roots = parents < 0
    begins = np.zeros(n)
    used = np.zeros(n)
    width = np.zeros(n)
    total, passed = weight[roots].sum(), 0.0
    for node in order:
        parent = parents[node]
        if parent < 0:
            width[node] = 2 * np.pi * weight[node] / total
            begins[node] = passed
            passed += width[node]
        else:
            width[node] = width[parent] * weight[node] / max(1.0, weight[parent] - 1)
            begins[node] = begins[parent] + used[parent]
            used[parent] += width[node]
    angle = begins + width / 2
    radius = depth + (0.6 if roots.sum() > 1 else 0.0)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _by_depth(parents: Indexes) -> tuple[list[int], Points]:
    """Return the nodes in breadth-first order (parents first), and their depths."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            children[parent].append(node)
    depth = np.zeros(len(parents))
    order = [node for node, parent in enumerate(parents.tolist()) if parent < 0]
    for node in order:  # grows during the loop
        for child in children[node]:
            depth[child] = depth[node] + 1
        order.extend(children[node])
    return order, depth


def _tree_edges(parents: Indexes) -> Indexes:
    children = np.flatnonzero(parents >= 0)
    return np.stack([parents[children], children], axis=1)


def _repulsion(at: Points, mass: Points) -> Points:
    """Return the field at each node: the sum of ``mass / distance`` over all other nodes, computed on a grid."""
    cells = int(min(GRID, max(16, 2 * np.sqrt(len(at)))))
    low, high = at.min(axis=0), at.max(axis=0)
    side = max(float((high - low).max()), 1e-9) * 1.01 / (cells - 1)
    place = (at - low) / side
    corner = np.minimum(place.astype(np.int64), cells - 2)
    share = place - corner
    density = np.zeros((cells, cells))
    corners = [(dx, dy) for dx in (0, 1) for dy in (0, 1)]
    weights = {
        (dx, dy): (share[:, 0] if dx else 1 - share[:, 0]) * (share[:, 1] if dy else 1 - share[:, 1])
        for dx, dy in corners
    }
    for dx, dy in corners:
        np.add.at(density, (corner[:, 0] + dx, corner[:, 1] + dy), mass * weights[dx, dy])
    field = _fields(density, side)
    found = np.zeros_like(at)
    for dx, dy in corners:
        found += weights[dx, dy][:, None] * field[corner[:, 0] + dx, corner[:, 1] + dy]
    return found


def _fields(density: Points, side: float) -> Points:
    """Return the density convolved with ``r / |r|^2``, shape (cells, cells, 2); the grid is doubled to avoid wrap-around."""
    cells = len(density)
    steps = np.fft.fftfreq(2 * cells, 1 / (2 * cells)) * side
    x, y = np.meshgrid(steps, steps, indexing="ij")
    square = x**2 + y**2 + (0.5 * side) ** 2  # softened: ``_apart`` separates close nodes
    seen = np.fft.rfft2(density, (2 * cells, 2 * cells))
    folded = [np.fft.irfft2(seen * np.fft.rfft2(kernel / square), (2 * cells, 2 * cells)) for kernel in (x, y)]
    return np.stack([part[:cells, :cells] for part in folded], axis=2)


def _centres(at: Points, members: Indexes) -> Points:
    """Return the centre of each node's group."""
    count = np.bincount(members)[:, None]
    sums = np.stack([np.bincount(members, at[:, axis]) for axis in (0, 1)], axis=1)
    return (sums / count)[members]


def _add_at(force: Points, nodes: Indexes, pull: Points) -> None:
    for axis in (0, 1):
        force[:, axis] += np.bincount(nodes, pull[:, axis], minlength=len(force))


def _apart(at: Points, sizes: Sequence[float] | None, rounds: int = 30) -> Points:
    """Scale to a mean nearest-neighbour distance of 1, then push overlapping nodes apart."""
    if len(at) < 2:
        return at
    at = at / max(float(np.mean(nearest(at))), 1e-9)
    radius = np.full(len(at), 0.25) if sizes is None else np.asarray(sizes, dtype=np.float64)
    # Nodes at the same position have no direction to move in: give each a tiny distinct offset.
    turn = np.arange(len(at)) * 2.399963  # the golden angle
    at = at + 1e-6 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    for _ in range(rounds):
        pairs = pairs_within(at, 2 * float(radius.max()))
        if not len(pairs):
            break
        gap = at[pairs[:, 1]] - at[pairs[:, 0]]
        distance = np.sqrt((gap**2).sum(axis=1))
        overlap = radius[pairs[:, 0]] + radius[pairs[:, 1]] - distance
        close = overlap > 1e-6
        if not close.any():
            break
        push = gap[close] * (0.5 * overlap[close] / np.maximum(distance[close], 1e-9))[:, None]
        _add_at(at, pairs[close, 0], -push)
        _add_at(at, pairs[close, 1], push)
    return at


def nearest(at: Points) -> npt.NDArray[np.float64]:
    """Return the distance of each of two or more points to its nearest neighbour."""
    order = np.argsort(at[:, 0], kind="stable")
    best = np.full(len(at), np.inf)
    for places in (order, order[::-1]):  # neighbours to the right, then to the left
        for one, other in _sweep(at, places, best):
            best[one] = np.minimum(best[one], np.sqrt(((at[other] - at[one]) ** 2).sum(axis=1)))
    return best


def pairs_within(at: Points, reach: float) -> Indexes:
    """Return the pairs of points at most ``reach`` apart, sorted, shape (pairs, 2), the smaller number first."""
    found = [np.zeros((0, 2), np.int64)]
    for one, other in _sweep(at, np.argsort(at[:, 0], kind="stable"), np.full(len(at), reach)):
        close = ((at[other] - at[one]) ** 2).sum(axis=1) <= reach**2
        found.append(np.sort(np.stack([one[close], other[close]], axis=1), axis=1))
    pairs = np.concatenate(found)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _sweep(at: Points, places: Indexes, reach: npt.NDArray[np.float64]) -> Iterator[tuple[Indexes, Indexes]]:
    """Pair each point with the points behind it in ``places`` (sorted by x) whose distance in x is within its ``reach``.

    The first step pairs all points with the next one, the second step with the one after that, and so on; ``reach`` may
    shrink between steps.
    """
    waiting = np.arange(len(places) - 1)
    for step in range(1, len(places)):
        waiting = waiting[waiting + step < len(places)]
        one, other = places[waiting], places[waiting + step]
        inside = np.abs(at[other, 0] - at[one, 0]) <= reach[one]
        if not inside.any():
            return
        waiting = waiting[inside]
        yield one[inside], other[inside]
