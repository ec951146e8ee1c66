"""Joules of blocks of code, of any program."""
import viridian


def work(n):
    return sum(i * i for i in range(n))


with viridian.measure("all") as everything:
    for size in (1, 2, 4):
        with viridian.measure(f"{size} million") as m:
            work(size * 1_000_000)
        print(f"{m.label}: {m}")
print(f"{everything.label}: {everything}")
