#pragma once
// Pages in headless Chromium: a page is opened in a frame of the asked width (Chromium's own windows are
// never narrower than 500 px), a script looks around in it, and what it returns comes back as JSON together
// with every error that the page reported. `VIRIDIAN_SCREENSHOTS=folder` keeps a picture of every visit.
//
//     const auto seen = tests::visit(html, {.width = 390, .script = "return document.title;"});
//     if (!seen.ok()) GTEST_SKIP() << seen.error().text();
//     EXPECT_THAT(seen->problems, IsEmpty());
#include <string>
#include <vector>

#include "viridian/base/json.hpp"
#include "viridian/base/result.hpp"

namespace viridian::tests {

struct Visit {
    int width = 1280, height = 900;
    bool dark = false;
    std::string script = "return null;";  // the body of a function that runs in the page when it is loaded
    std::string name = "page";            // of the screenshot
};

struct Seen {
    Json answer;                        // what the script returned
    std::vector<std::string> problems;  // uncaught errors, rejected promises, console.error, console.warn
};

// Errors: no_device where Chromium cannot start (a reason to skip); broken_invariant where the page never
// answered.
[[nodiscard]] Result<Seen> visit(const std::string& html, const Visit& visit);

// Scripts that every page is asked. How far the page sticks out of its window, in px, and by what: the first
// elements that cross the right edge without a scrolling or cutting ancestor.
inline constexpr const char* overflow_script = R"(
  const wide = document.documentElement.clientWidth, out = [];
  for (const node of document.body.querySelectorAll('*')) {
    const box = node.getBoundingClientRect();
    if (box.width === 0 || box.right <= wide + 0.5) continue;
    let held = false;
    for (let up = node.parentElement; up && up !== document.body; up = up.parentElement)
      held = held || ['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(up).overflowX);
    if (!held && out.length < 5) out.push(`${node.tagName}.${node.getAttribute('class')} to ${Math.round(box.right)}`);
  }
  return { width: wide, overflow: document.documentElement.scrollWidth - wide, by: out };
)";

}  // namespace viridian::tests
