"""Ways to store the vectors of chunks: an array that NumPy maps into memory, sqlite-vec, usearch and LanceDB, on the same
vectors and queries.

    python benchmarks/vector_stores.py --chunks 100000 --dimensions 384 [--store numpy16 usearch] [--json stores.json]

The vectors have length 1 and lie around a thousand centres of different sizes; queries are vectors with noise. Shown are
seconds to build, megabytes on disk, seconds to the first answer of a new process (files in the cache of the operating system),
milliseconds of later answers, for the 100 nearest, memory of the querying process, and recall of the ten nearest against exact
search in 32 bits. Each store runs in a separate process. The packages of the other stores are not dependencies of the project.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

QUERIES = 50
NEAREST = 100
BATCH = 10_000  # vectors that are added at a time
BLOCK = 1_024  # rows that are converted to 32 bits at a time: BLAS multiplies that many in one thread

Ask = Callable[[Any], Any]


def made(folder: Path, chunks: int, dimensions: int) -> None:
    """Write ``vectors.npy``, ``queries.npy`` and the nearest rows of each query, best first."""
    random = np.random.default_rng(1)
    centres = random.standard_normal((1_000, dimensions), np.float32)
    sizes = 1 / np.arange(1, 1_001)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (chunks, dimensions))
    for start in range(0, chunks, BATCH):
        number = min(BATCH, chunks - start)
        vectors[start : start + number] = unit(
            centres[random.choice(1_000, number, p=sizes / sizes.sum())]
            + random.standard_normal((number, dimensions), np.float32)
        )
    chosen = np.sort(random.choice(chunks, QUERIES, replace=False))
    queries = unit(vectors[chosen] + 0.5 * random.standard_normal((QUERIES, dimensions), np.float32) / dimensions**0.5)
    scores = np.concatenate([vectors[start : start + BLOCK] @ queries.T for start in range(0, chunks, BLOCK)])
    np.save(folder / "queries.npy", queries)
    np.save(folder / "nearest.npy", np.argsort(-scores, axis=0, kind="stable")[:10].T)


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def batches(folder: Path) -> Any:
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    return ((start, np.array(vectors[start : start + BATCH])) for start in range(0, len(vectors), BATCH))


def best(scores: Any) -> Any:
    top = np.argpartition(-scores, NEAREST)[:NEAREST]
    return top[np.argsort(-scores[top], kind="stable")]


# ------------------------------------------------------------ the stores: build a file or folder; open it


def numpy_build(folder: Path, kind: str) -> None:
    with (folder / "store").open("wb") as file:
        for _, rows in batches(folder):
            file.write(rows.astype(kind).tobytes())


def numpy_open(folder: Path, kind: str) -> Ask:
    dimensions = np.load(folder / "queries.npy", mmap_mode="r").shape[1]
    stored = np.memmap(folder / "store", kind, "r").reshape(-1, dimensions)
    if kind == "float32":
        return lambda query: best(stored @ query)
    return lambda query: best(
        np.concatenate([stored[at : at + BLOCK].astype("float32") @ query for at in range(0, len(stored), BLOCK)])
    )


def bytes_build(folder: Path) -> None:
    """One byte a number, scaled so that the largest of a vector is 127, and the scale factor in 32 bits."""
    with (folder / "store").open("wb") as file:
        for _, rows in batches(folder):
            factors = np.abs(rows).max(axis=1, keepdims=True) / 127
            numbers = np.rint(rows / factors).astype(np.int8)
            file.write(np.hstack([factors.astype("<f4").view(np.int8), numbers]).tobytes())


def bytes_open(folder: Path) -> Ask:
    dimensions = np.load(folder / "queries.npy", mmap_mode="r").shape[1]
    kind = np.dtype([("factor", "<f4"), ("numbers", "i1", dimensions)])
    stored = np.memmap(folder / "store", kind, "r")

    def scores(query: Any, rows: Any) -> Any:
        return (rows["numbers"].astype(np.float32) @ query) * rows["factor"]

    return lambda query: best(
        np.concatenate([scores(query, stored[at : at + BLOCK]) for at in range(0, len(stored), BLOCK)])
    )


def sqlite_vec_database(folder: Path) -> Any:
    """Open the database with APSW: many builds of Python cannot load extensions into their own SQLite."""
    import apsw
    import sqlite_vec

    database = apsw.Connection(str(folder / "store"))
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    return database


def sqlite_vec_build(folder: Path) -> None:
    database = sqlite_vec_database(folder)
    dimensions = np.load(folder / "queries.npy", mmap_mode="r").shape[1]
    database.execute(f"CREATE VIRTUAL TABLE chunks USING vec0(vector float[{dimensions}])")
    for start, rows in batches(folder):
        with database:
            database.executemany(
                "INSERT INTO chunks (rowid, vector) VALUES (?, ?)",
                ((start + number, row.tobytes()) for number, row in enumerate(rows)),
            )


def sqlite_vec_open(folder: Path) -> Ask:
    database = sqlite_vec_database(folder)
    ask = "SELECT rowid FROM chunks WHERE vector MATCH ? ORDER BY distance LIMIT ?"
    return lambda query: [row for (row,) in database.execute(ask, (query.tobytes(), NEAREST))]


def usearch_build(folder: Path) -> None:
    from usearch.index import Index

    index = Index(ndim=np.load(folder / "queries.npy", mmap_mode="r").shape[1], metric="cos", dtype="f16")
    for start, rows in batches(folder):
        index.add(np.arange(start, start + len(rows)), rows)
    index.save(folder / "store")


def usearch_open(folder: Path) -> Ask:
    from usearch.index import Index

    index = Index.restore(folder / "store", view=True)
    return lambda query: index.search(query, NEAREST).keys


def lancedb_build(folder: Path) -> None:
    import lancedb
    import pyarrow as pa
    from lancedb.index import IvfPq

    dimensions = np.load(folder / "queries.npy", mmap_mode="r").shape[1]
    schema = pa.schema([("row", pa.int64()), ("vector", pa.list_(pa.float32(), dimensions))])
    table = lancedb.connect(str(folder / "store")).create_table("chunks", schema=schema)
    for start, rows in batches(folder):
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), dimensions)
        table.add(pa.table([pa.array(range(start, start + len(rows))), vectors], schema=schema))
    table.create_index("vector", config=IvfPq(distance_type="cosine"))


def lancedb_open(folder: Path) -> Ask:
    import lancedb

    table = lancedb.connect(str(folder / "store")).open_table("chunks")
    return lambda query: (
        table.search(query)
        .distance_type("cosine")
        .nprobes(20)
        .refine_factor(5)
        .limit(NEAREST)
        .to_arrow()["row"]
        .to_pylist()
    )


STORES: dict[str, tuple[Callable[[Path], None], Callable[[Path], Ask]]] = {
    "numpy32": (lambda folder: numpy_build(folder, "float32"), lambda folder: numpy_open(folder, "float32")),
    "numpy16": (lambda folder: numpy_build(folder, "float16"), lambda folder: numpy_open(folder, "float16")),
    "numpy8": (bytes_build, bytes_open),
    "sqlite-vec": (sqlite_vec_build, sqlite_vec_open),
    "usearch": (usearch_build, usearch_open),
    "lancedb": (lancedb_build, lancedb_open),
}


# ------------------------------------------------------------ measuring


def build(name: str, folder: Path) -> dict[str, float]:
    began = time.perf_counter()
    STORES[name][0](folder)
    took = time.perf_counter() - began
    store = folder / "store"
    files = [store] if store.is_file() else [file for file in store.rglob("*") if file.is_file()]
    return {"build s": round(took, 1), "disk MB": round(sum(file.stat().st_size for file in files) / 1e6)}


def ask(name: str, folder: Path) -> dict[str, float]:
    queries, nearest = np.load(folder / "queries.npy"), np.load(folder / "nearest.npy")
    began = time.perf_counter()
    search = STORES[name][1](folder)
    search(queries[0])
    first, took, found = time.perf_counter() - began, [], 0
    for query, wanted in zip(queries, nearest, strict=True):
        began = time.perf_counter()
        rows = [*map(int, search(query))][:10]
        took.append(1_000 * (time.perf_counter() - began))
        found += len({*rows} & {*wanted.tolist()})
    return {
        "first s": round(first, 2),
        "p50 ms": round(float(np.median(took)), 1),
        "memory MB": peak_memory(),
        "recall@10": round(found / nearest.size, 3),
    }


def peak_memory() -> int:
    """Peak memory of this process in megabytes; getrusage would include the process before ``exec``."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return round(int(line.split()[1]) / 1_024)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--store", nargs="+", choices=STORES, default=[*STORES])
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--step", nargs=3, help=argparse.SUPPRESS
    )  # build or ask, the store and the folder: in this process
    chosen = parser.parse_args(arguments)
    if chosen.step:
        step, name, folder = chosen.step
        print(json.dumps((build if step == "build" else ask)(name, Path(folder))))
        return
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as made_in:
        folder = Path(made_in)
        made(folder, chosen.chunks, chosen.dimensions)
        for name in chosen.store:
            figures[name] = {}
            for step in ("build", "ask"):
                command = [sys.executable, __file__, "--step", step, name, str(folder)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                figures[name] |= json.loads(done.stdout)
            print(name, json.dumps(figures[name]), flush=True)
            subprocess.run(["rm", "-rf", str(folder / "store")], check=True)
    if chosen.json:
        chosen.json.write_text(json.dumps({**vars(chosen), "json": "", "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
