#include "viridian/train/checkpoint/description.hpp"

#include <charconv>

#include "viridian/base/json.hpp"
#include "viridian/train/crc32c.hpp"

namespace viridian::train {
namespace {

constexpr std::string_view checkpoint_schema = "viridian.checkpoint/2";
constexpr const char* description_key = "viridian.checkpoint";
constexpr const char* checksum_key = "viridian.crc32c";

std::string checksum_text(std::uint32_t checksum) { return fmt::format("{:08x}", checksum); }

// A number as text: JSON has neither infinity nor NaN, which an early stop starts with.
std::string number_text(double number) { return fmt::format("{}", number); }

// A Reader takes members out of the JSON text and remembers the first that is missing or of another kind.
class Reader {
  public:
    explicit Reader(std::string_view file) : file_(file) {}

    std::string text(const Json& object, const char* key) {
        if (const Json* found = member(object, key); found != nullptr && found->is_string())
            return found->get<std::string>();
        return complain(key), std::string();
    }
    template <std::integral Integer>
    Integer count(const Json& object, const char* key) {
        const Json* found = member(object, key);
        if (found == nullptr || !found->is_number_unsigned()) return complain(key), Integer{};
        const auto number = found->get<std::uint64_t>();
        return std::in_range<Integer>(number) ? static_cast<Integer>(number) : (complain(key), Integer{});
    }
    double number(const Json& object, const char* key) { return parse(text(object, key), key); }
    std::uint32_t checksum(const Json& object, const char* key) {
        const std::string hex = text(object, key);
        std::uint32_t checksum = 0;
        const auto [end, fault] = std::from_chars(hex.data(), hex.data() + hex.size(), checksum, 16);
        if (fault != std::errc{} || end != hex.data() + hex.size() || checksum_text(checksum) != hex)
            complain(key);
        return checksum;
    }
    // Returns the members of an object of texts.
    Options texts(const Json& object, const char* key) {
        Options texts;
        const Json* found = member(object, key);
        if (found == nullptr || !found->is_object()) return complain(key), texts;
        for (const auto& [name, value] : found->items())
            if (value.is_string())
                texts[name] = value.get<std::string>();
            else
                complain(key);
        return texts;
    }
    const Json* member(const Json& object, const char* key) const {
        if (!object.is_object()) return nullptr;
        const auto found = object.find(key);
        return found == object.end() ? nullptr : &*found;
    }
    double parse(const std::string& text, const char* key) {
        double number = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (fault != std::errc{} || end != text.data() + text.size()) complain(key);
        return number;
    }
    void complain(const char* key) {
        if (!error_)
            error_ = fail(ErrorCode::malformed, "resume from another checkpoint",
                          "the description of `{}` has no usable `{}`", file_, key);
    }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  private:
    std::string_view file_;
    std::optional<Error> error_;
};

std::vector<ColumnPrint> read_data(const Json& json, Reader& read) {
    std::vector<ColumnPrint> data;
    const Json* columns = read.member(json, "data");
    if (columns == nullptr || !columns->is_array()) return read.complain("data"), data;
    for (const Json& column : *columns)
        data.push_back({.source = read.text(column, "source"),
                        .column = read.text(column, "column"),
                        .form = read.text(column, "form"),
                        .values = read.text(column, "values")});
    return data;
}

Description read_members(const Json& json, Reader& read) {
    Description description;
    Checkpoint& head = description.head;
    const Json* position = read.member(json, "position");
    const Json& place = position == nullptr ? json : *position;
    head.position = {.step = read.count<std::int64_t>(place, "step"),
                     .epoch = read.count<std::int64_t>(place, "epoch"),
                     .sample = read.count<std::int64_t>(place, "sample"),
                     .seed = read.count<std::uint64_t>(place, "seed")};
    head.model = read.text(json, "model");
    head.options = read.texts(json, "options");
    head.data = read_data(json, read);
    for (const auto& [name, text] : read.texts(json, "numbers"))
        head.numbers[name] = read.parse(text, "numbers");
    if (read.member(json, "score") != nullptr) head.score = read.number(json, "score");
    const Json* states = read.member(json, "states");
    if (states == nullptr || !states->is_array()) return read.complain("states"), description;
    for (const Json& state : *states)
        description.states.push_back({.name = read.text(state, "name"),
                                      .role = read.text(state, "role"),
                                      .of = read.text(state, "of"),
                                      .checksum = read.checksum(state, "crc32c")});
    return description;
}

}  // namespace

std::uint32_t checksum_of(const graph::Tensor& tensor) {
    const std::string kind =
        fmt::format("{}[{}]", graph::name_of(tensor.type()), fmt::join(tensor.dims(), ","));
    return crc32c(
        {reinterpret_cast<const char*>(tensor.bytes()), static_cast<std::size_t>(tensor.byte_count())},
        crc32c(kind));
}

Metadata describe(const Checkpoint& checkpoint) {
    Json states = Json::array();
    for (const SavedState& state : checkpoint.states)
        states.push_back({{"name", state.name},
                          {"role", state.role},
                          {"of", state.of},
                          {"crc32c", checksum_text(checksum_of(state.tensor))}});
    Json numbers = Json::object();
    for (const auto& [name, number] : checkpoint.numbers) numbers[name] = number_text(number);
    Json data = Json::array();
    for (const ColumnPrint& column : checkpoint.data)
        data.push_back({{"source", column.source},
                        {"column", column.column},
                        {"form", column.form},
                        {"values", column.values}});
    const Position& at = checkpoint.position;
    Json json = {
        {"schema", checkpoint_schema},
        {"position", {{"step", at.step}, {"epoch", at.epoch}, {"sample", at.sample}, {"seed", at.seed}}},
        {"model", checkpoint.model},
        {"options", Json(checkpoint.options)},
        {"data", std::move(data)},
        {"numbers", std::move(numbers)}};
    if (checkpoint.score) json["score"] = number_text(*checkpoint.score);
    json["states"] = std::move(states);
    std::string text = json_dump(json, -1);
    std::string checksum = checksum_text(crc32c(text));
    // Hugging Face's programs take a file without "format" for one that they cannot read.
    return {{"format", "pt"}, {description_key, std::move(text)}, {checksum_key, std::move(checksum)}};
}

Result<Description> read_description(const Metadata& metadata, std::string_view file) {
    const auto text = metadata.find(description_key), checksum = metadata.find(checksum_key);
    if (text == metadata.end() || checksum == metadata.end())
        return fail(ErrorCode::malformed, "name a checkpoint that Viridian wrote",
                    "`{}` has no description of a training run", file);
    if (checksum_text(crc32c(text->second)) != checksum->second)
        return fail(ErrorCode::malformed, "resume from another checkpoint",
                    "`{}` is damaged: its description does not match its checksum", file);
    VIRIDIAN_TRY(const Json json, parse_json(text->second, file));
    Reader read(file);
    const std::string found = read.text(json, "schema");
    if (read.error()) return *read.error();
    if (found != checkpoint_schema)
        return fail(ErrorCode::mismatch, "use the version of Viridian that wrote it",
                    "`{}` follows the schema `{}`, this version reads `{}`", file, found, checkpoint_schema);
    Description description = read_members(json, read);
    if (read.error()) return *read.error();
    return description;
}

}  // namespace viridian::train
