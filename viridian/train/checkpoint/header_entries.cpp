#include "viridian/train/checkpoint/header_entries.hpp"

#include <limits>
#include <unordered_set>

#include "viridian/base/json.hpp"

namespace viridian::train {
namespace {

constexpr std::size_t most_dimensions = 32;

class EntryReader final : public nlohmann::json_sax<Json> {
  public:
    explicit EntryReader(std::string_view file) : file_(file) {}

    SafetensorsHeader header;
    std::optional<Error> error;

    bool null() override { return wrong("`null`"); }
    bool boolean(bool) override { return wrong("a truth value"); }
    bool number_integer(number_integer_t) override { return wrong("a negative number"); }
    bool number_float(number_float_t, const string_t&) override { return wrong("a number with a fraction"); }
    bool binary(binary_t&) override { return wrong("binary data"); }

    bool number_unsigned(number_unsigned_t number) override {
        if (at_ == At::shape) {
            if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                return wrong("a dimension above 2^63");
            if (entry_.dims.size() == most_dimensions) {
                error = fail(ErrorCode::limit_exceeded, "check that it is the right file",
                             "`{}`: tensor `{}` has more than {} dimensions", file_, entry_.name,
                             most_dimensions);
                return false;
            }
            entry_.dims.push_back(static_cast<std::int64_t>(number));
            return true;
        }
        if (at_ == At::offsets && offsets_ < 2) {
            (offsets_++ == 0 ? entry_.begin : entry_.end) = number;
            return true;
        }
        return wrong("a number");
    }

    bool string(string_t& text) override {
        if (at_ == At::metadata) {
            header.metadata[key_] = std::move(text);
            return true;
        }
        if (at_ != At::tensor || key_ != "dtype") return wrong("a text");
        entry_.type = stored_type(text);
        if (entry_.type != nullptr) return true;
        error = fail(ErrorCode::malformed, "check that it is a safetensors file and complete",
                     "`{}`: tensor `{}` has the unknown element type `{}`", file_, entry_.name, text);
        return false;
    }

    bool key(string_t& name) override {
        key_ = std::move(name);
        auto& seen = at_ == At::top ? names_ : members_;
        if (!seen.insert(key_).second) return complain(fmt::format("names `{}` twice", key_));
        if (at_ == At::tensor && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets")
            return complain(fmt::format("has the unknown member `{}` in tensor `{}`", key_, entry_.name));
        return true;
    }

    bool start_object(std::size_t) override {
        if (at_ == At::outside) {
            at_ = At::top;
            return true;
        }
        if (at_ != At::top) return wrong("an object");
        members_.clear();
        at_ = key_ == "__metadata__" ? At::metadata : At::tensor;
        if (at_ == At::tensor) entry_ = {.name = key_, .type = nullptr, .dims = {}};
        return true;
    }
    bool end_object() override {
        if (at_ == At::tensor) {
            if (members_.size() != 3) {
                key_ = entry_.name;
                return complain(fmt::format("lacks dtype, shape or data_offsets in tensor `{}`", key_));
            }
            header.tensors.push_back(std::move(entry_));
        }
        at_ = at_ == At::top ? At::outside : At::top;
        return true;
    }

    bool start_array(std::size_t) override {
        if (at_ != At::tensor || key_ == "dtype") return wrong("an array");
        at_ = key_ == "shape" ? At::shape : At::offsets;
        offsets_ = 0;
        return true;
    }
    bool end_array() override {
        if (at_ == At::offsets && offsets_ != 2) return wrong("too few offsets");
        at_ = At::tensor;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        return complain(fmt::format("is not JSON at byte {}", position));
    }

  private:
    enum class At { outside, top, metadata, tensor, shape, offsets };

    bool complain(const std::string& what) {
        error = fail(ErrorCode::malformed, "check that it is a safetensors file and complete",
                     "the header of `{}` {}", file_, what);
        return false;
    }
    // Refuses a value that may not stand where it stands.
    bool wrong(std::string_view what) {
        if (at_ == At::outside) return complain(fmt::format("is {} and not an object", what));
        return complain(fmt::format("has {} at `{}`{}", what, key_,
                                    at_ == At::top || at_ == At::metadata
                                        ? std::string()
                                        : fmt::format(" of tensor `{}`", entry_.name)));
    }

    std::string_view file_;
    At at_ = At::outside;
    std::string key_;  // the last key
    StoredTensor entry_;
    int offsets_ = 0;                          // how many were read
    std::unordered_set<std::string> names_;    // the keys of the whole header
    std::unordered_set<std::string> members_;  // the keys of the object that is read
};

}  // namespace

Result<SafetensorsHeader> read_header_entries(std::string_view json, std::string_view file) {
    EntryReader reader(file);
    if (!json.starts_with('{'))
        return fail(ErrorCode::malformed, "check that it is a safetensors file and complete",
                    "the header of `{}` is not a JSON object", file);
    if (!Json::sax_parse(json, &reader)) return *std::move(reader.error);
    return std::move(reader.header);
}

}  // namespace viridian::train
