#pragma once
// Opens a text as samples for a language model: windows of `context` tokens, and for each token the next one
// as its target. A token is a byte, or a character of a vocabulary that is made of the text's characters. The
// file is read once when it is opened. What stays in memory is the vocabulary and one position per 1,024
// characters.
#include "viridian/data/dataset.hpp"
#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

constexpr std::int64_t ignored_label = -100;  // a target that no loss counts, as in PyTorch

struct TextOptions {
    bool bytes = false;         // tokens are bytes, and the vocabulary is 0 to 255
    std::int64_t context = 64;  // tokens of a window
    // Tokens from one window to the next; 0: `context`, so that windows do not overlap.
    std::int64_t stride = 0;
    // True: the tokens that are left at the end form a shorter last window, which is filled with token 0 and
    // ignored targets. Then every token except the first is the target of one sample, if the windows do not
    // overlap.
    bool keep_tail = false;
    // The vocabulary, one character each: that of the training text, when another text is opened for
    // evaluation. Empty: the characters of this text in the order of their code points.
    std::vector<std::string> vocabulary = {};
};

// The columns are "tokens" and "targets", both i64[context], with the vocabulary as categories (none for
// bytes). Errors: malformed (not UTF-8, shorter than a window), missing_entry (a character outside the
// vocabulary), invalid_argument (context or stride).
[[nodiscard]] Result<Dataset> open_text(const ByteSource& file, const TextOptions& options);

}  // namespace viridian::data
