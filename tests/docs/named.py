"""What a page shows by a test or a file of the repository, held against what there is: `Suite.Name` of GoogleTest, names of
ctest whose first word is a folder of tests/, and paths below our folders (with a suffix below viridian/, because packages
have a folder of that name too)."""
import functools
import pathlib
import re

FOLDERS = "benchmarks|deploy|docs|examples|fuzz|tests|tools"
PATH = re.compile(rf"(?:({FOLDERS})/[\w./*?-]+|viridian/[\w./*?-]+\.\w+)")
GOOGLE_TEST = re.compile(r"([A-Z]\w+)\.([A-Z]\w+|\*)")


@functools.cache
def suites(root):
    """By suite of GoogleTest the names of its tests."""
    found = {}
    for path in root.glob("tests/**/*.cpp"):
        for suite, name in re.findall(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", path.read_text()):
            found.setdefault(suite, set()).add(name)
    return found


@functools.cache
def ctest_names(root):
    """Patterns of the names that the build files give: what a variable stands for may be anything."""
    texts = [path.read_text() for path in root.glob("tests/**/*.cmake")]
    names = [name for text in texts for name in re.findall(r"add_test\(NAME\s+([^\s)]+)", text)]
    return [re.compile(".+".join(map(re.escape, re.split(r"\$\{\w+\}", name)))) for name in names]


def there_is_test(root, suite, name):
    return suite in suites(root) and (name == "*" or name in suites(root)[suite])


def there_is_path(root, path):
    return any(root.glob(path)) if re.search(r"[*?]", path) else (root / path).exists()


def wrong_names(root, spans):
    rooms = {path.name for path in pathlib.Path(root, "tests").iterdir() if path.is_dir()}
    for span in spans:
        if test := GOOGLE_TEST.fullmatch(span):
            if not there_is_test(root, *test.groups()):
                yield f"`{span}`: no such test"
        elif (test := re.fullmatch(r"([a-z_]+)\.[\w.-]+", span)) and test[1] in rooms:
            if not any(name.fullmatch(span) for name in ctest_names(root)):
                yield f"`{span}`: ctest has no such test"
        elif PATH.fullmatch(span) and "..." not in span and not there_is_path(root, span):
            yield f"`{span}`: no such file"
