#include "tests/support/browser/visit.hpp"

#include <unistd.h>

#include <cstdlib>

#include "viridian/base/file.hpp"

#include "viridian/base/json.hpp"

namespace viridian::tests {
namespace {

// What the page itself runs before anything of its own.
constexpr const char* watch = R"(<script>
window.problems = [];
addEventListener('error', (e) => problems.push(String(e.message)));
addEventListener('unhandledrejection', (e) => problems.push(String(e.reason)));
for (const kind of ['error', 'warn']) console[kind] = (...words) => problems.push(words.join(' '));
</script>)";

std::string attribute(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
    return out;
}

// A string of a script inside an HTML page.
std::string literal(const std::string& text) {
    std::string out;
    for (const char c : Json(text).dump()) out += c == '<' ? "\\u003c" : std::string(1, c);
    return out;
}

std::string framed(const std::string& html, const Visit& visit) {
    std::string watched = html;
    const std::size_t head = watched.find("<head>");
    watched.insert(head == std::string::npos ? 0 : head + 6, watch);
    return fmt::format(
        "<!doctype html><meta charset=\"utf-8\"><style>html,body{{margin:0}}iframe{{border:0;display:block}}"
        "#answer{{display:none}}</style>"
        "<iframe id=\"page\" width=\"{}\" height=\"{}\" srcdoc=\"{}\"></iframe><pre "
        "id=\"answer\"></pre><script>"
        "const frame = document.getElementById('page');"
        "frame.addEventListener('load', () => setTimeout(() => {{"
        "  const seen = {{ answer: null }}, page = frame.contentWindow;"
        "  try {{ seen.answer = page.Function({})(); }} catch (e) {{ page.problems.push('script: ' + e); }}"
        "  seen.problems = page.problems;"
        "  document.getElementById('answer').textContent ="
        "    '<<<' + encodeURIComponent(JSON.stringify(seen)) + '>>>';"
        "}}, 50));</script>",
        visit.width, visit.height, attribute(watched), literal(visit.script));
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '%' && i + 2 < text.size()) {
            out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        } else {
            out += text[i];
        }
    return out;
}

std::string text_of(const Path& file) {
    auto text = read_file(file);
    return text.ok() ? *std::move(text) : std::string();
}

// Chromium's standard output; empty where it did not start.
std::string chromium(const Path& folder, const std::string& url, const Visit& visit,
                     const std::string& what) {
    const std::string command = fmt::format(
        "timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
        "--hide-scrollbars --user-data-dir='{0}/profile' --window-size={1},{2} --virtual-time-budget=5000 "
        "--blink-settings=preferredColorScheme={3} {4} '{5}' >'{0}/out' 2>'{0}/err'",
        folder.string(), std::max(visit.width, 500), visit.height, visit.dark ? 0 : 1, what, url);
    if (std::system(command.c_str()) != 0) return {};
    return text_of(folder / "out");
}

}  // namespace

Result<Seen> visit(const std::string& html, const Visit& visit) {
    std::string pattern = (std::filesystem::temp_directory_path() / "viridian-page-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
        return fail(ErrorCode::file_not_writable, "free some room in TMPDIR", "no folder for the browser");
    const Path folder = pattern;
    const std::string page = "file://" + folder.string() + "/page.html";
    VIRIDIAN_TRY(write_file(folder / "page.html", framed(html, visit)));
    const std::string dom = chromium(folder, page, visit, "--dump-dom");
    const bool starts = !dom.empty() || !chromium(folder, "about:blank", visit, "--dump-dom").empty();
    if (const char* kept = std::getenv("VIRIDIAN_SCREENSHOTS"); kept != nullptr && !dom.empty())
        chromium(folder, page, visit,
                 fmt::format("--screenshot='{}/{}-{}-{}.png'", kept, visit.name, visit.width,
                             visit.dark ? "dark" : "light"));
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (!starts)
        return fail(ErrorCode::no_device, "install chromium (tools/packages.txt)",
                    "Chromium does not start here");
    const std::size_t begin = dom.find("&lt;&lt;&lt;"), end = dom.find("&gt;&gt;&gt;");
    if (begin == std::string::npos || end == std::string::npos)
        return fail(ErrorCode::broken_invariant, "open the page in a browser", "the page `{}` never answered",
                    visit.name);
    const Json seen =
        Json::parse(decoded(std::string_view(dom).substr(begin + 12, end - begin - 12)), nullptr, false);
    if (seen.is_discarded())
        return fail(ErrorCode::broken_invariant, "open the page in a browser",
                    "the page `{}` answered nonsense", visit.name);
    return Seen{seen["answer"], seen["problems"].get<std::vector<std::string>>()};
}

}  // namespace viridian::tests
