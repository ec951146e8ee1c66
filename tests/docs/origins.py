"""The origins from which parts of documents are written: `written(ROOT, VIRIDIAN, origin, old)` gives the part as it should be.

    output of viridian ARGUMENTS   the command's output
    help of every command          what `viridian help` prints of each command and subcommand
    rows of FOLDER                 a table, of whose rows each stands in a source of the folder, as the end of a comment:
                                   `// | first cell | second cell |`, on as many lines as it needs
    text of FILE                   the file
    errors of FOLDER               a table of the error codes, from error.hpp and error.cpp there
    metrics of FOLDER              a table of the metrics, from metrics.cpp there
    names of FOLDER                what the Python package there exports, with signatures and first words of documentation"""
import ast
import functools
import inspect
import re
import subprocess

LANGUAGES = {".cpp": "cpp", ".c": "c", ".py": "python", ".txt": "cmake", ".yml": "yaml"}


@functools.cache
def help_of(viridian, *words):
    done = subprocess.run([viridian, *words, "--help"], capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else None


def subcommands(text):
    text = text or ""
    listed = text if "Usage: viridian COMMAND" in text else text.partition("Subcommands:")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z][a-z-]*)\s", listed, re.M)


def fenced(text, language=""):
    return f"```{language}\n{text}```\n"


def output(_root, viridian, argument, _old):
    done = subprocess.run([viridian, *argument.split()[1:]], capture_output=True, text=True, timeout=60, check=True)
    return fenced(done.stdout)


def help_of_all(_root, viridian, _argument, _old):
    def section(*words):
        text = help_of(viridian, *words)
        below = [section(*words, word) for word in subcommands(text)] if words else []
        return f"\n{'#' * (1 + len(words))} {' '.join(words)}\n\n" + fenced(text) + "".join(below)

    return "".join(section(word) for word in subcommands(help_of(viridian)))


def rows(root, _viridian, argument, old):
    """The table's head, and the row in each source's comment."""
    found = []
    for source in sorted((root / argument).glob("*.cpp")):
        comments = re.findall(r"^// (\|.*\n(?:// .*\n)*)", source.read_text(), re.M)
        found += [re.sub(r"\n(// )?", " ", comment).strip() + "\n" for comment in comments]
    return head(old) + "".join(found)


def head(old):
    return "".join(old.splitlines(keepends=True)[:2])


def text(root, _viridian, argument, _old):
    file = root / argument
    return fenced(file.read_text(), LANGUAGES.get(file.suffix, ""))


def errors(root, _viridian, argument, old):
    kinds = (root / argument / "error.cpp").read_text().partition("ErrorKind kind_of")[2].partition("name_of")[0]
    exit_codes, waiting = {}, []
    for code, kind in re.findall(r"case ErrorCode::(\w+):|return ErrorKind::(\w+);", kinds):
        if code:
            waiting.append(code)
        else:
            exit_codes |= {one: {"user": 1, "machine": 2, "bug": 3}[kind] for one in waiting}
            waiting = []
    listed = (root / argument / "error.hpp").read_text().partition("enum class ErrorCode {")[2].partition("};")[0]
    return head(old) + "".join(f"| `{code}` | {exit_codes[code]} | {meaning} |\n"
                               for code, meaning in re.findall(r"(\w+),\s*// (.*)", listed))


def metrics(root, _viridian, argument, old):
    source = (root / argument / "metrics.cpp").read_text()
    families = re.findall(r'(family|gauge|Interval \w+)\(\s*"(viridian_\w+)",\s*(?:"(\w+)",\s*)?((?:"[^"]*"\s*)+)\)', source)
    rows = []
    for made_by, name, unit, what in families:
        about = "".join(re.findall(r'"([^"]*)"', what))
        kind = "gauge" if made_by == "gauge" else "counter"
        for end in ("", "_low", "_high") if unit else ("",):
            full = f"{name}{end}_{unit}_total" if unit else name
            rows.append(f"| `{full}` | {kind} | {about}{f', {end[1:]} end of its interval' if end else ''} |\n")
    return head(old) + "".join(rows)


def signature(function, name, skip=0):
    """How a function is called, as its source says it; without `self`."""
    arguments = function.args
    arguments.args = arguments.args[skip:]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns and skip == 0 else ""
    return f"{name}({ast.unparse(arguments)}){returns}".replace(": Any", "")


def documentation(node):
    return inspect.cleandoc(ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")


def is_property(function):
    return any(isinstance(one, ast.Name) and one.id == "property" for one in function.decorator_list)


def members(node):
    functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    listed = [f"- `{one.target.id}`: {ast.unparse(one.annotation)}" for one in fields]
    for one in functions:
        if not one.name.startswith("_"):
            call = one.name if is_property(one) else signature(one, one.name, 1)
            said = documentation(one)
            listed.append(f"- `{call}`" + (f": {said}" if said else ""))
    return "".join(line + "\n" for line in listed)


def names(root, _viridian, argument, _old):
    trees = [ast.parse(file.read_text()) for file in sorted((root / argument).glob("*.py"))]
    found = {node.name: node for tree in trees for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    exported = next(ast.literal_eval(node.value) for tree in trees for node in tree.body
                    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    parts = []
    for name in sorted(exported, key=str.lower):
        node, listed = found[name], ""
        if isinstance(node, ast.FunctionDef):
            call = signature(node, name)
        else:
            begin = next((one for one in node.body if getattr(one, "name", "") == "__init__"), None)
            bases = ", ".join(ast.unparse(one) for one in node.bases)
            call, listed = (signature(begin, name, 1) if begin else name + (f"({bases})" if bases else "")), members(node)
        parts.append(f"## {name}\n\n```python\n{call}\n```\n\n{documentation(node)}\n" + (f"\n{listed}" if listed else ""))
    return "\n" + "\n".join(parts)


ORIGINS = {"names of": names, "output of": output, "help of": help_of_all, "rows of": rows, "text of": text, "errors of": errors, "metrics of": metrics}


def written_again(root, viridian, page):
    """The text of a page with all its parts written again."""
    def part(match):
        return match[1] + ORIGINS[match[2]](root, viridian, match[3], match[4]) + match[5]

    return re.sub(rf"(<!-- written: ({'|'.join(ORIGINS)}) (.*?) -->\n)(.*?)(<!-- end -->)", part, page, flags=re.S)
