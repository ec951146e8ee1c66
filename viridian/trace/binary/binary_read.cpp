#include <zstd.h>

#include <limits>
#include <vector>

#include "viridian/trace/binary/binary.hpp"
#include "viridian/trace/binary/binary_columns.hpp"
#include "viridian/trace/binary/binary_flags.hpp"
#include "viridian/trace/binary/varint.hpp"

namespace viridian::trace {
namespace {

constexpr std::uint64_t largest_block = std::uint64_t{1} << 26;
constexpr std::uint64_t binary_read_most_events = std::uint64_t{1}
                                                  << 16;  // per block; the writer makes smaller ones

class BinarySource : public Source {
  public:
    BinarySource(std::unique_ptr<Bytes> bytes, std::string name, Nanoseconds shift)
        : bytes_(std::move(bytes)), shift_(shift) {
        about_.source = std::move(name);
        about_.format = "viridian";
    }

    Result<std::span<const Event>> next() override {
        events_.clear();
        while (!done_ && events_.empty()) {
            VIRIDIAN_TRY(const char kind, block());
            if ((kind == 'E' || kind == 'C') && !decode_events(kind)) stop("a damaged block of events");
            if (kind == 'F') footer();
        }
        return std::span<const Event>(events_);
    }
    const Trace& about() const override { return about_; }

  private:
    void stop(std::string_view why) {
        about_.warn(why, "the events behind it are lost");
        about_.lost_events += 1;
        done_ = true;
        events_.clear();
    }
    Result<bool> fill(std::size_t count) {  // at least so many bytes from at_
        if (input_.size() - at_ >= count) return true;
        input_.erase(0, at_);
        at_ = 0;
        while (input_.size() < count) {
            const std::size_t held = input_.size();
            input_.resize(held + std::min(std::size_t{1} << 18U, bytes_->most_left()));
            VIRIDIAN_TRY(const std::size_t got, bytes_->read({input_.data() + held, input_.size() - held}));
            input_.resize(held + got);
            if (got == 0) return false;
        }
        return true;
    }
    Result<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 63; shift += 7) {
            VIRIDIAN_TRY(const bool more, fill(1));
            if (!more) return ~std::uint64_t{0};
            const auto byte = static_cast<unsigned char>(input_[at_++]);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return value;
        }
        return ~std::uint64_t{0};
    }
    // Unpacks the next block into payload_; '\0' when there is none.
    Result<char> block() {
        if (!headed_) {
            VIRIDIAN_TRY(const bool magic, fill(binary_magic.size()));
            (void)magic;
            at_ = std::min(input_.size(), binary_magic.size());
            headed_ = true;
        }
        VIRIDIAN_TRY(const bool more, fill(1));
        if (!more) return stop("the file is cut off: it has no footer"), '\0';
        const char kind = input_[at_++];
        VIRIDIAN_TRY(const std::uint64_t plain, varint());
        VIRIDIAN_TRY(const std::uint64_t packed, varint());
        if ((kind != 'E' && kind != 'C' && kind != 'F') || plain > largest_block || packed > largest_block)
            return stop("a damaged block"), '\0';
        VIRIDIAN_TRY(const bool whole, fill(packed));
        if (!whole) return stop("the file is cut off inside a block"), '\0';
        // The frame's own size must agree before memory is taken.
        if (ZSTD_getFrameContentSize(input_.data() + at_, packed) != plain)
            return stop("a damaged block"), '\0';
        if (!context_) return fail(ErrorCode::out_of_memory, "close other programs", "zstd could not start");
        payload_.resize(plain);
        const std::size_t size =
            ZSTD_decompressDCtx(context_.get(), payload_.data(), plain, input_.data() + at_, packed);
        at_ += packed;
        if (ZSTD_isError(size) != 0 || size != plain) return stop("a damaged block"), '\0';
        return kind;
    }

    bool decode_tables(Cursor& in) {
        for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
            const std::string_view text = in.text();
            if (!in.failed() && about_.names.add(text) != ++names_) return false;  // each once, none empty
        }
        for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
            const std::uint64_t parent = in.varint(), part = in.varint();
            if (parent >= about_.paths.size() || part >= about_.names.size()) return false;
            if (!in.failed() &&
                about_.paths.add(static_cast<PathId>(parent), static_cast<NameId>(part)) != ++paths_)
                return false;
        }
        for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left)
            if (about_.devices.size() < 65'535)
                about_.devices.emplace_back(in.text());
            else
                in.fail();
        for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
            Lane lane;
            const std::uint64_t device = in.varint();
            lane.process = in.signed_varint();
            lane.thread = in.signed_varint();
            lane.name = in.text();
            if (device >= about_.devices.size()) return false;
            lane.device = static_cast<DeviceId>(device);
            about_.lanes.push_back(std::move(lane));
        }
        return !in.failed();
    }

    bool decode_events(char kind) {
        Cursor in(payload_);
        if (!decode_tables(in)) return false;
        if (!(kind == 'C' ? decode_columns(in, about_, shift_, events_) : decode_rows(in))) return false;
        if (events_.empty()) return true;
        if (about_.events == 0) about_.begin = about_.end = events_.front().start;
        if (events_.front().start < last_)
            about_.warn("blocks that start before the one before them ended", "");
        last_ = events_.back().start;
        for (const Event& event : events_) about_.end = std::max(about_.end, event.end);
        about_.events += events_.size();
        return true;
    }

    bool decode_rows(Cursor& in) {
        const std::uint64_t count = in.varint();
        if (count > binary_read_most_events || count > payload_.size()) return false;
        events_.reserve(count);
        Nanoseconds start = count > 0 ? in.signed_varint() : 0;
        InstanceId instance = 0;
        const std::size_t names = about_.names.size(), paths = about_.paths.size(),
                          lanes = about_.lanes.size();
        for (std::uint64_t i = 0; i < count; ++i) {
            Event& event = events_.emplace_back();
            const auto flags = static_cast<unsigned>(in.varint());
            const auto packed = static_cast<unsigned>(in.varint());
            const auto since = static_cast<Nanoseconds>(in.varint());
            const auto duration = static_cast<Nanoseconds>(in.varint());
            event.name = static_cast<NameId>(in.varint());
            event.path = static_cast<PathId>(in.varint());
            event.lane = static_cast<LaneId>(in.varint());
            event.depth = static_cast<std::uint32_t>(in.varint());
            if (in.failed() || event.name >= names || event.path >= paths || event.lane >= lanes ||
                (packed & 15U) >= kind_count || packed >> 4U >= pass_count || since < 0 || duration < 0 ||
                __builtin_add_overflow(start, since, &start) ||
                __builtin_add_overflow(start, shift_, &event.start) ||
                __builtin_add_overflow(event.start, duration, &event.end))
                return false;
            event.kind = static_cast<Kind>(packed & 15U);
            event.pass = static_cast<Pass>(packed >> 4U);
            event.type = event.name;
            event.device = about_.lanes[event.lane].device;
            instance = (flags & flag_instance) != 0 ? in.varint() : instance + 1;
            event.instance = instance;
            const auto back = [&] { return instance - static_cast<InstanceId>(in.signed_varint()); };
            if ((flags & flag_parent) != 0) event.parent = back();
            if ((flags & flag_owner) != 0) event.owner = back();
            if ((flags & flag_forward) != 0) event.forward = back();
            if ((flags & flag_correlation) != 0) event.correlation = in.varint();
            if ((flags & flag_sequence) != 0) event.sequence = static_cast<std::int64_t>(in.varint());
            if ((flags & flag_type) != 0) event.type = static_cast<NameId>(in.varint());
            if ((flags & flag_scope) != 0) event.scope = static_cast<PathId>(in.varint());
            if ((flags & flag_device) != 0) event.device = static_cast<DeviceId>(in.varint());
            if ((flags & flag_value) != 0) event.value = in.real();
            if (event.type >= names || event.scope >= paths || event.device >= about_.devices.size())
                return false;
        }
        return !in.failed() && in.done();
    }

    void footer() {
        Cursor in(payload_);
        done_ = true;
        about_.format = in.text();
        about_.source = in.text();
        about_.clock.zero = in.varint() == 0 ? Clock::Zero::unix_epoch : Clock::Zero::unknown;
        about_.clock.resolution = in.signed_varint();
        for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
            const std::uint64_t from = in.varint(), to = in.varint(), count = in.varint();
            if (from >= about_.paths.size() || to >= about_.paths.size()) return stop("a damaged footer");
            about_.edges.push_back({static_cast<PathId>(from), static_cast<PathId>(to), count});
        }
        for (std::uint64_t left = in.varint(); left > 0 && !in.failed(); --left) {
            const std::string_view what = in.text();
            const std::uint64_t count = in.varint();
            about_.warn(what, in.text(), count);
        }
        const std::uint64_t events = in.varint();
        about_.lost_events += in.varint();
        about_.capped = in.varint() != 0;
        about_.unowned = in.varint();
        if (in.failed() || events != about_.events) stop("a damaged footer");
    }

    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<Bytes> bytes_;
    std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
    Nanoseconds shift_;
    Trace about_;
    std::string input_, payload_;
    std::size_t at_ = 0;
    bool headed_ = false, done_ = false;
    NameId names_ = 0;
    PathId paths_ = 0;
    Nanoseconds last_ = std::numeric_limits<Nanoseconds>::min();
    std::vector<Event> events_;
};

}  // namespace

std::unique_ptr<Source> binary_source(std::unique_ptr<Bytes> bytes, std::string name,
                                      const ReadOptions& options) {
    return std::make_unique<BinarySource>(std::move(bytes), std::move(name), options.shift);
}

}  // namespace viridian::trace
