#include "viridian/cli/natural_order.hpp"

#include <algorithm>
#include <tuple>

namespace viridian::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits that `text` begins with, without leading zeros.
std::string_view take_number(std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
    std::string_view left = a, right = b;
    while (!left.empty() && !right.empty()) {
        if (is_digit(left.front()) && is_digit(right.front())) {
            const std::string_view x = take_number(left), y = take_number(right);
            if (x != y) return std::tuple(x.size(), x) < std::tuple(y.size(), y);
        } else {
            if (left.front() != right.front())
                return static_cast<unsigned char>(left.front()) < static_cast<unsigned char>(right.front());
            left.remove_prefix(1);
            right.remove_prefix(1);
        }
    }
    return left.empty() && right.empty() ? a < b : left.empty();
}

}  // namespace viridian::cli
