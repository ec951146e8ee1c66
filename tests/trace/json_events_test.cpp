#include "viridian/trace/json/json_events.hpp"

#include <gtest/gtest.h>

#include <string>

#include "viridian/trace/json/json_text.hpp"

namespace viridian::trace {
namespace {

struct Read {
    std::string names;  // of the events, joined
    JsonFaults faults;
    std::vector<std::pair<std::string, std::string>> top;
};

Read read_json(std::string_view text) {
    JsonEvents events(bytes_of(text));
    Read all;
    for (;;) {
        auto event = events.next();
        EXPECT_TRUE(event.ok());
        if (!event.ok() || *event == nullptr) break;
        all.names += std::string((*event)->text(Key::name)) + "|";
    }
    all.faults = events.faults();
    all.top = events.top();
    return all;
}

TEST(JsonEvents, ReadsAnObjectWithKeysBeforeAndAfter) {
    const auto got = read_json(R"({"schemaVersion": 1, "devices": [{"a": "]"}], "traceEvents": [
        {"ph": "X", "name": "a", "args": {"External id": 7, "Input Dims": [[1, 2], []]}},
        {"ph": "X", "name": "b"} ], "baseTimeNanoseconds": 12, "traceName": "x\"y"})");
    EXPECT_EQ(got.names, "a|b|");
    EXPECT_FALSE(got.faults.any());
    ASSERT_EQ(got.top.size(), 3U);
    EXPECT_EQ(got.top[1].second, "12");
}

TEST(JsonEvents, ReadsBareListsAndLines) {
    EXPECT_EQ(read_json(R"([{"name": "a"},{"name":"b"}])").names, "a|b|");
    EXPECT_EQ(read_json("{\"name\": \"a\"}\n{\"name\":\"b\"}\n").names, "a|b|");
    const auto open = read_json(R"([{"name": "a"},)");  // Chrome's own writer leaves out the bracket
    EXPECT_EQ(open.names, "a|");
    EXPECT_FALSE(open.faults.any());
}

TEST(JsonEvents, FindsArguments) {
    JsonEvents events(bytes_of(
        R"([{"ph":"C","name":"power","args":{"W":3.5,"x":"no","Sequence number":18446744073709551615,"input1":"b","input0":"a"}}])"));
    const JsonEvent* event = events.next().value();
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->phase(), 'C');
    EXPECT_EQ(event->text(Key::sequence), "18446744073709551615");
    ASSERT_EQ(event->others.size(), 1U);
    EXPECT_EQ(event->others[0].first.text, "W");
    ASSERT_EQ(event->inputs.size(), 2U);
    EXPECT_EQ(event->inputs[0].text, "b");
    EXPECT_FALSE(event->has(Key::dur));
}

TEST(JsonEvents, ReadsBrokenTextAndCountsWhatWasWrong) {
    const auto quotes = read_json(R"([{"name": "say "hi", ok", "ph": "X"}, {"name":"{"x"}","ph":"X"}])");
    EXPECT_EQ(quotes.names, "say \"hi\", ok|{\"x\"}|");
    EXPECT_EQ(quotes.faults.counts.unescaped_quotes, 2U);

    const auto commas = read_json(R"([{"name": "a" "ph": "X",} {"name": "b",,"dur": N/A}])");
    EXPECT_EQ(commas.names, "a|b|");
    EXPECT_EQ(commas.faults.counts.missing_commas, 1U);

    const auto garbage = read_json(R"([{"name": "a"}, oops {"name": "b"}, {"name": {"name": "c"}])");
    EXPECT_EQ(garbage.names, "a|b|c|");
    EXPECT_EQ(garbage.faults.counts.garbage, 1U);
    EXPECT_EQ(garbage.faults.counts.skipped, 1U);
    EXPECT_EQ(garbage.faults.counts.first_offset, 16U);

    const auto cut = read_json(R"({"traceEvents": [{"name": "a"}, {"name": "b", "args": {"x")");
    EXPECT_EQ(cut.names, "a|");
    EXPECT_TRUE(cut.faults.cut);

    const std::string nul = fmt::format(R"([{{"name": "a"}},{}{{"name": "b"}}])", std::string(500, '\0'));
    EXPECT_EQ(read_json(nul).names, "a|b|");

    const auto hole =
        read_json(R"([{"name": "a", "args": {"x": ")" + std::string(50, '\0') +
                  R"(y"}, "dur": 2}, {"name": "b"}])");  // two events, or half of one: who knows
    EXPECT_EQ(hole.names, "b|");
    EXPECT_EQ(hole.faults.counts.skipped, 1U);

    const auto control = read_json("[{\"name\": \"a\nb\x01\"}]");
    EXPECT_EQ(control.names, "a\nb\x01|");
}

TEST(JsonEvents, ALostQuoteCostsTwoEventsNotTheFile) {
    std::string text = "[";
    for (int i = 0; i < 50'000; ++i)
        text += R"({"ph": "X", "name": ")" + std::to_string(i) + (i == 777 ? "" : "\"") +
                R"(, "cat": "x", "args": {"list": ["a)" + (i == 1234 ? "" : "\"") + R"(]}},)" + "\n";
    text += "{}]";
    JsonEvents events(bytes_of(text));
    std::size_t count = 0;
    while (events.next().value() != nullptr) ++count;
    EXPECT_GE(count, 49'995U);
    EXPECT_GE(events.faults().counts.skipped, 1U);
}

TEST(JsonEvents, EventsLongerThanTheWindowAreRead) {
    const std::string name(3'000'000, 'n');
    const auto got = read_json(R"([{"name": "a"}, {"name": ")" + name + R"("}, {"name": "b"}])");
    EXPECT_EQ(got.names, "a|" + name + "|b|");
    const std::string huge(20'000'000, 'n');
    const auto skipped = read_json(R"([{"name": "a"}, {"name": ")" + huge + R"("}, {"name": "b"}])");
    EXPECT_EQ(skipped.names, "a|b|");
    EXPECT_EQ(skipped.faults.counts.skipped, 1U);
    const auto top = read_json(R"({"x": {"y": [")" + huge + R"("]}, "traceEvents": [{"name": "b"}], "z": ")" +
                               huge + R"("})");
    EXPECT_EQ(top.names, "b|");
}

TEST(JsonEvents, NothingIsNothing) {
    EXPECT_EQ(read_json("").names, "");
    EXPECT_EQ(read_json("   ").names, "");
    EXPECT_EQ(read_json("hello world, no trace at all").names, "");
    EXPECT_EQ(read_json("{}").names, "");
    EXPECT_EQ(read_json("[]").names, "");
    EXPECT_EQ(read_json("[{},{}]").names, "||");
}

TEST(JsonText, MicrosecondsAreExactNanoseconds) {
    EXPECT_EQ(nanoseconds_of_microseconds("1712195495519689.047"), 1'712'195'495'519'689'047);
    EXPECT_EQ(nanoseconds_of_microseconds("12"), 12'000);
    EXPECT_EQ(nanoseconds_of_microseconds("0.0015"), 2);
    EXPECT_EQ(nanoseconds_of_microseconds("-3.5"), -3'500);
    EXPECT_EQ(nanoseconds_of_microseconds("1.5e3"), 1'500'000);
    EXPECT_EQ(nanoseconds_of_microseconds("N/A"), std::nullopt);
    EXPECT_EQ(nanoseconds_of_microseconds("1e300"), std::nullopt);
    EXPECT_EQ(nanoseconds_of_microseconds("99999999999999999999999999"), std::nullopt);
    EXPECT_EQ(nanoseconds_of_microseconds(""), std::nullopt);
    for (const std::int64_t value : {0L, 7L, -7L, 1'000L, 1'712'195'495'519'689'047L, -999L}) {
        std::string text;
        append_microseconds(text, value);
        EXPECT_EQ(nanoseconds_of_microseconds(text), value) << text;
    }
}

TEST(JsonText, EscapesAreUndoneAndMade) {
    std::string text;
    unescape(R"(a\"b\\\n\u00e9\ud83d\ude00\ud83dx\q)", text);
    EXPECT_EQ(text, "a\"b\\\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbdx\\q");
    std::string out;
    append_escaped(out, "q\"\\\n\xff\xc3\xa9");
    EXPECT_EQ(out, "\"q\\\"\\\\\\u000a\xef\xbf\xbd\xc3\xa9\"");
    EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
    EXPECT_TRUE(is_utf8("12345678\xf0\x9f\x98\x80"));
    EXPECT_EQ(integer("0x10"), 16);
    EXPECT_EQ(integer("18446744073709551615"), -1);
    EXPECT_EQ(integer("x"), std::nullopt);
}

}  // namespace
}  // namespace viridian::trace
