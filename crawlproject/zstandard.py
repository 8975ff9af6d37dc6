"""Zstandard: part of Python from 3.14 on, otherwise the package ``backports.zstd``."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["Packer", "zstd"]

_OPTIONS: dict[int, int] = {zstd.CompressionParameter.compression_level: 1, zstd.CompressionParameter.checksum_flag: 1}


class Packer:
    """Packs texts of a few kilobytes, each as a frame with a checksum. Reusing the compressor is faster than making new ones."""

    def __init__(self) -> None:
        self._compressor = zstd.ZstdCompressor(options=_OPTIONS)

    def __call__(self, data: bytes) -> bytes:
        return self._compressor.compress(data, zstd.ZstdCompressor.FLUSH_FRAME)
