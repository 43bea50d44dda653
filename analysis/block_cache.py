"""A cache of arrays that never holds more than a number of bytes; the least recently used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

DEFAULT_BYTES = 100_000_000


class BlockCache:
    """Keeps values by key up to `max_bytes` in total; safe to share between threads."""

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self.max_bytes = max_bytes
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """Bytes held at this moment."""
        return self._bytes

    def get(self, key: Hashable) -> Any:
        """The value of a key, or None; it becomes the most recently used."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Hashable, value: Any, n_bytes: int) -> None:
        """Keep a value of `n_bytes`; one that is larger than the whole cache is not kept."""
        if n_bytes > self.max_bytes:
            return
        with self._lock:
            if key in self._held:
                self._bytes -= self._held.pop(key)[1]
            self._held[key] = (value, n_bytes)
            self._bytes += n_bytes
            while self._bytes > self.max_bytes:
                _, (_, freed) = self._held.popitem(last=False)
                self._bytes -= freed

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._held.clear()
            self._bytes = 0
