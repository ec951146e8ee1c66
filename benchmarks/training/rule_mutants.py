"""Mutants of the gradient rules: how many of them the check of gradients notices.

rule_mutants.py VIRIDIAN TESTS [--page FILE.md]     (TESTS: the program viridian_gradient_tests)

A mutant is one change of one node of a rule's gradient: a sign, a term, an axis, a constant, another operator. The test
Mutants.AreNoticed tries each on 40 random graphs of its rule, and compares the gradients with differences (docs/gradient.md,
"How to add a rule"). A mutant whose gradients are those of the original on every graph counts as equal and cannot be noticed;
one with other gradients that the check does not notice is a survivor. A change after which a gradient would
have another type than its value, which differentiation checks, is no mutant.
"""
import argparse
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("viridian")
    parser.add_argument("tests")
    parser.add_argument("--page")
    options = parser.parse_args()
    listed = subprocess.run([options.tests, "--gtest_list_tests", "--gtest_filter=All/Rules.*"], capture_output=True, text=True, check=True).stdout
    rules = len({line.rsplit("/", 1)[1].split()[0] for line in listed.splitlines() if line.startswith("  ")})
    done = subprocess.run([options.tests, "--gtest_filter=Mutants.AreNoticed"], capture_output=True, text=True)
    found = re.search(r"(\d+) of (\d+) mutants are noticed\. Survivors:\n(.*?)Equal to the original on every graph, (\d+):\n(.*?)"
                      r"Not tried, because gradients would have another type on every graph: (\d+)\n", done.stdout, re.S)
    if not found:
        sys.exit("the test said nothing about mutants: " + (done.stdout + done.stderr)[-400:])
    noticed, all_, survivors, equal, same = int(found[1]), int(found[2]), found[3].strip(), int(found[4]), found[5].strip()
    told = (f"{noticed} of {all_} mutants of {rules} rules are noticed, which is {100 * noticed / all_:.2f} %. "
            f"{found[6]} more changes give gradients another type on every graph, and are not tried")
    print(told)
    if options.page:
        import page
        page.write(options.page, "Mutants of the gradient rules", " ".join(__doc__.split("\n\n")[2].split()), told + ".",
                   f"Survivors, {all_ - noticed}:", *([f"```\n{survivors}\n```"] if survivors else []),
                   f"Equal to the original on every graph, {equal}:", f"```\n{same}\n```", page.settings(options.viridian, "g++"))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
