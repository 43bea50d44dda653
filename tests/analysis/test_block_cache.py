"""The cache holds what was used last and never more than its bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from analysis.block_cache import BlockCache


def test_least_recently_used_goes_first() -> None:
    cache = BlockCache(100)
    for key in "abcd":
        cache.put(key, key.upper(), 25)
    assert cache.get("a") == "A"
    cache.put("e", "E", 25)
    assert cache.get("b") is None
    assert [cache.get(key) for key in "acde"] == ["A", "C", "D", "E"]
    assert cache.n_bytes == 100


def test_value_larger_than_the_cache_is_not_kept() -> None:
    cache = BlockCache(10)
    cache.put("small", 1, 5)
    cache.put("large", 2, 11)
    assert cache.get("large") is None
    assert cache.get("small") == 1


def test_same_key_counts_once() -> None:
    cache = BlockCache(100)
    for _ in range(5):
        cache.put("a", 1, 30)
    assert cache.n_bytes == 30
    cache.clear()
    assert cache.n_bytes == 0
    assert cache.get("a") is None


def test_bound_holds_under_many_threads() -> None:
    cache = BlockCache(1000)

    def work(seed: int) -> None:
        for i in range(300):
            cache.put((seed * i) % 97, i, 37)
            cache.get((seed + i) % 97)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(1, 5)))
    assert 0 < cache.n_bytes <= 1000
    assert cache.n_bytes % 37 == 0
