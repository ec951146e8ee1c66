#include <zstd.h>

#include <vector>

#include "viridian/trace/binary/binary.hpp"
#include "viridian/trace/binary/binary_columns.hpp"
#include "viridian/trace/binary/binary_flags.hpp"
#include "viridian/trace/binary/varint.hpp"

namespace viridian::trace {
namespace {

constexpr std::size_t fast_events = 1U << 14, small_events = 1U << 16;  // of one block
constexpr int fast_level = 1, small_level = 19;

class BinarySink : public Sink {
  public:
    BinarySink(std::unique_ptr<Out> out, Packing packing) : out_(std::move(out)), packing_(packing) {}

    Result<void> take(std::span<const Event> batch, const Trace& about) override {
        for (const Event& event : batch) {
            if (count_ == (packing_ == Packing::small ? small_events : fast_events))
                VIRIDIAN_TRY(flush(about));
            if (count_ > 0 && event.start < last_start_)
                return fail(ErrorCode::mismatch, "read it through a Source",
                            "events to be written are out of time order");
            if (packing_ == Packing::fast)
                encode(event, about);
            else
                held_.push_back(event);
            last_start_ = event.start;
            ++count_;
            ++total_;
        }
        return {};
    }
    Result<void> finish(const Trace& about) override {
        VIRIDIAN_TRY(flush(about));
        std::string footer;
        put_text(footer, about.format);
        put_text(footer, about.source);
        put_varint(footer, static_cast<std::uint64_t>(about.clock.zero));
        put_signed(footer, about.clock.resolution);
        put_varint(footer, about.edges.size());
        for (const Edge& edge : about.edges)
            put_varint(footer, edge.from), put_varint(footer, edge.to), put_varint(footer, edge.count);
        put_varint(footer, about.warnings.size());
        for (const Warning& warning : about.warnings)
            put_text(footer, warning.what), put_varint(footer, warning.count),
                put_text(footer, warning.first);
        put_varint(footer, total_);
        put_varint(footer, about.lost_events);
        put_varint(footer, about.capped ? 1 : 0);
        put_varint(footer, about.unowned);
        VIRIDIAN_TRY(head());
        VIRIDIAN_TRY(out_->put(binary_block('F', footer)));
        return out_->close();
    }

  private:
    void encode(const Event& event, const Trace& about) {
        if (count_ == 0) put_signed(events_, event.start), last_start_ = event.start;
        const unsigned flags = flags_for(event, about, last_instance_ + 1);
        put_varint(events_, flags);
        events_ +=
            static_cast<char>(static_cast<unsigned>(event.kind) | static_cast<unsigned>(event.pass) << 4U);
        put_varint(events_, static_cast<std::uint64_t>(event.start - last_start_));
        put_varint(events_, static_cast<std::uint64_t>(event.end - event.start));
        put_varint(events_, event.name);
        put_varint(events_, event.path);
        put_varint(events_, event.lane);
        put_varint(events_, event.depth);
        const auto back = [&](InstanceId other) {
            put_signed(events_, static_cast<std::int64_t>(event.instance - other));
        };
        if ((flags & flag_instance) != 0) put_varint(events_, event.instance);
        if ((flags & flag_parent) != 0) back(event.parent);
        if ((flags & flag_owner) != 0) back(event.owner);
        if ((flags & flag_forward) != 0) back(event.forward);
        if ((flags & flag_correlation) != 0) put_varint(events_, event.correlation);
        if ((flags & flag_sequence) != 0) put_varint(events_, static_cast<std::uint64_t>(event.sequence));
        if ((flags & flag_type) != 0) put_varint(events_, event.type);
        if ((flags & flag_scope) != 0) put_varint(events_, event.scope);
        if ((flags & flag_device) != 0) put_varint(events_, event.device);
        if ((flags & flag_value) != 0) put_double(events_, event.value);
        last_instance_ = event.instance;
    }

    // The tables' new entries, then the events.
    Result<void> flush(const Trace& about) {
        if (count_ == 0) return {};
        std::string block;
        put_varint(block, about.names.size() - names_);
        for (; names_ < about.names.size(); ++names_)
            put_text(block, about.names[static_cast<NameId>(names_)]);
        put_varint(block, about.paths.size() - paths_);
        for (; paths_ < about.paths.size(); ++paths_) {
            put_varint(block, about.paths.parent(static_cast<PathId>(paths_)));
            put_varint(block, about.paths.part(static_cast<PathId>(paths_)));
        }
        put_varint(block, about.devices.size() - devices_);
        for (; devices_ < about.devices.size(); ++devices_) put_text(block, about.devices[devices_]);
        put_varint(block, about.lanes.size() - lanes_);
        for (; lanes_ < about.lanes.size(); ++lanes_) {
            const Lane& lane = about.lanes[lanes_];
            put_varint(block, lane.device), put_signed(block, lane.process), put_signed(block, lane.thread);
            put_text(block, lane.name);
        }
        if (packing_ == Packing::small) {
            block += encode_columns(held_, about);
        } else {
            put_varint(block, count_);
            block += events_;
        }
        events_.clear();
        held_.clear();
        count_ = 0;
        last_instance_ = 0;
        VIRIDIAN_TRY(head());
        return packing_ == Packing::small ? out_->put(binary_block('C', block, small_level))
                                          : out_->put(binary_block('E', block, fast_level));
    }
    Result<void> head() {
        if (std::exchange(headed_, true)) return {};
        return out_->put(binary_magic);
    }

    std::unique_ptr<Out> out_;
    Packing packing_;
    std::string events_;       // by rows
    std::vector<Event> held_;  // for columns
    std::size_t count_ = 0;
    std::uint64_t total_ = 0;
    Nanoseconds last_start_ = 0;
    InstanceId last_instance_ = 0;
    std::size_t names_ = 1, paths_ = 1, devices_ = 0, lanes_ = 0;  // written so far
    bool headed_ = false;
};

}  // namespace

std::string binary_block(char kind, std::string_view payload, int level) {
    struct Free {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    std::string packed(ZSTD_compressBound(payload.size()), '\0');
    const std::size_t size =
        ZSTD_compress2(context.get(), packed.data(), packed.size(), payload.data(), payload.size());
    invariant(ZSTD_isError(size) == 0, "zstd compresses");
    std::string block(1, kind);
    put_varint(block, payload.size());
    put_varint(block, size);
    return block.append(packed, 0, size);
}

std::unique_ptr<Sink> binary_sink(std::unique_ptr<Out> out, Packing packing) {
    return std::make_unique<BinarySink>(std::move(out), packing);
}

Result<void> write_viridian(Source& source, const Path& path) {
    VIRIDIAN_TRY(std::unique_ptr<Out> out, open_out(path));
    const std::unique_ptr<Sink> sink = binary_sink(std::move(out));
    return copy(source, *sink);
}

}  // namespace viridian::trace
