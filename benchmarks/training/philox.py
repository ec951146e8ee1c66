"""The masks of viridian.DropoutMask in NumPy: Philox4x32-10, written from its paper, not from our code (docs/graph.md, "Masks
of dropout")."""
import numpy as np


def philox(counter, key):
    """Salmon et al., SC 2011: ten rounds; counter is four arrays and key two numbers, of 32 bits."""
    c = [word.astype(np.uint64) for word in counter]
    k = list(key)
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
        c = [(second >> high) ^ c[1] ^ np.uint64(k[0]), second & low, (first >> high) ^ c[3] ^ np.uint64(k[1]), first & low]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def mask(seed, stream, step, first_sample, ratio, shape):
    """True for the elements that stay."""
    samples = shape[0] if shape else 1
    elements = int(np.prod(shape[1:]))
    e, s = np.meshgrid(np.arange(elements), np.arange(samples))
    counter = [e // 4, (s + first_sample) % 2**32, np.full_like(e, step % 2**32), np.full_like(e, (seed >> 32) % 2**32)]
    words = np.stack(philox(counter, (seed % 2**32, stream % 2**32)))
    word = np.take_along_axis(words, (e % 4)[None], 0)[0] if e.size else e
    return (word.astype(np.float64) >= float(ratio) * 2.0**32).reshape(shape)
