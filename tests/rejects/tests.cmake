# Bad input and the exact message: cases as in tests/golden, run by its runner.
viridian_golden_tests(rejects "${folder}")
