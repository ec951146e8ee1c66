#pragma once
// JsonEvents reads the events of a JSON trace one after the other, in any of the shapes in use:
// `{"traceEvents": [...]}` with other keys before and after, a bare list, one object per line. It is
// tolerant: text that cannot be read is skipped up to the next thing that looks like an event, and counted.
// It holds one window of text in memory.
//
// These faults are read over: cut files, missing or extra commas and brackets, unescaped quotes and control
// characters in strings, bare words (N/A, NaN), NUL bytes, numbers as strings.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/trace/bytes.hpp"

namespace viridian::trace {

// Keys of an event and of its "args" that some format needs.
enum class Key : std::uint8_t {
    none,
    ph,
    name,
    cat,
    pid,
    tid,
    ts,
    dur,
    id,
    bp,
    args,
    // in args
    arg_name,
    arg_op,
    external_id,
    correlation,
    sequence,
    forward_thread,
    stream,
    device,
    op_name,
    provider,
    node_index,
    tf_op,
    hlo_op,
    hlo_module,
    module_hierarchy,
    parent_name,
    long_name,
    path,
    scope,
    type,
    pass,
    kind,
    count_,
};
inline constexpr std::size_t key_count = static_cast<std::size_t>(Key::count_);

// A JsonValue is a value as it stands in the text.
struct JsonValue {
    std::string_view text;  // the text between the quotes, escapes not undone; or the bare word
    bool quoted = false;
    bool escaped = false;  // has a backslash
};

// A JsonEvent holds the values of one event, by key.
class JsonEvent {
  public:
    [[nodiscard]] bool has(Key key) const { return (present_ >> static_cast<unsigned>(key) & 1U) != 0; }
    [[nodiscard]] const JsonValue& operator[](Key key) const {  // an empty value when absent
        static constexpr JsonValue nothing;
        return has(key) ? values_[static_cast<std::size_t>(key)] : nothing;
    }
    [[nodiscard]] std::string_view text(Key key) const { return (*this)[key].text; }
    // Returns the letter of the key "ph", or NUL if there is none.
    [[nodiscard]] char phase() const {
        return has(Key::ph) && !text(Key::ph).empty() ? text(Key::ph).front() : '\0';
    }

    std::uint64_t offset = 0;       // of the opening brace in the uncompressed text
    std::vector<JsonValue> inputs;  // args input0, input1, ... in order of appearance
    // Args with bare values whose keys are not in Key, such as the series of a counter.
    std::vector<std::pair<JsonValue, JsonValue>> others;

  private:
    friend class JsonEvents;
    void clear() { present_ = 0, inputs.clear(), others.clear(); }
    void set(Key key, const JsonValue& value) {
        present_ |= std::uint64_t{1} << static_cast<unsigned>(key);
        values_[static_cast<std::size_t>(key)] = value;
    }
    std::uint64_t present_ = 0;
    std::array<JsonValue, key_count> values_;
};

// JsonFaults counts the faults of the text.
struct JsonFaults {
    struct Counts {
        std::uint64_t skipped = 0;  // events that could not be read
        std::uint64_t unescaped_quotes = 0;
        std::uint64_t missing_commas = 0;
        std::uint64_t garbage = 0;       // stretches of text between events
        std::uint64_t first_offset = 0;  // of the first fault of any kind
    } counts;
    bool cut = false;    // the text ended inside an event or its list
    std::string damage;  // of the compressed stream, in words; empty: none
    [[nodiscard]] bool any() const {
        return counts.skipped + counts.unescaped_quotes + counts.missing_commas + counts.garbage > 0 || cut ||
               !damage.empty();
    }
};

class JsonEvents {
  public:
    explicit JsonEvents(std::unique_ptr<Bytes> bytes);

    // Returns the next event, which is valid until the next call, or nullptr at the end. Errors:
    // file_unreadable.
    [[nodiscard]] Result<const JsonEvent*> next();
    [[nodiscard]] const JsonFaults& faults() const { return faults_; }
    // Returns keys beside the event list that were seen so far, each with the text of its value. Scalars are
    // kept if they are shorter than 4 KiB. Objects and lists are kept up to 16 MiB, and only those of the
    // keys `viridian` and `metadata`.
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& top() const { return top_; }
    // Returns true if the text is a list of events without an object around it.
    [[nodiscard]] bool bare_list() const { return bare_list_; }
    // Returns how many bytes of the uncompressed text were read so far.
    [[nodiscard]] std::uint64_t bytes_read() const {
        return window_offset_ + static_cast<std::uint64_t>(at_ - window_.data());
    }

  private:
    enum class State { begin, top, list, end };
    enum class Outcome { complete, incomplete, broken };

    // Reads on and keeps the text from `keep`. Returns false at the end, or if the kept text is too long.
    [[nodiscard]] Result<bool> more(const char* keep);
    // Makes at least `count` bytes readable from at_. Returns false if `more` does.
    [[nodiscard]] Result<bool> see(std::size_t count);
    [[nodiscard]] Result<void> begin();
    [[nodiscard]] Result<void> top_pair();
    [[nodiscard]] Result<bool> behind();
    [[nodiscard]] Result<void> skip_value(bool keep, std::string& text);
    [[nodiscard]] Result<bool> resync();  // skips to the next thing that looks like an event
    Outcome parse(const char* at);
    Outcome pair(const char*& at, bool in_args);
    Outcome value(const char*& at, JsonValue& into);
    Outcome string(const char*& at, JsonValue& into);
    void fault(std::uint64_t& counter, const char* at);
    [[nodiscard]] const char* limit() const { return window_.data() + filled_; }

    std::unique_ptr<Bytes> bytes_;
    std::vector<char> window_;
    std::size_t filled_ = 0;
    const char* at_ = nullptr;
    std::uint64_t window_offset_ = 0;
    bool exhausted_ = false;
    bool holes_ = false;  // NUL bytes were seen
    bool bare_list_ = false;
    State state_ = State::begin;
    const char* after_ = nullptr;  // end of the last parsed event
    JsonEvent event_;
    JsonFaults faults_;
    std::vector<std::pair<std::string, std::string>> top_;
};

}  // namespace viridian::trace
