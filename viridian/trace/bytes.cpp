#include "viridian/trace/bytes.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "viridian/base/system/transfer.hpp"

namespace viridian::trace {
namespace {

constexpr std::size_t piece = std::size_t{1} << 18;

class BytesFile : public Bytes {
  public:
    BytesFile(int number, std::string name) : number_(number), name_(std::move(name)) {}
    ~BytesFile() override { ::close(number_); }
    BytesFile(const BytesFile&) = delete;
    BytesFile& operator=(const BytesFile&) = delete;

    Result<std::size_t> read(std::span<char> room) override {
        const Transfer got = read_all(number_, std::as_writable_bytes(room));
        if (got.fault != 0)
            return fail(ErrorCode::file_unreadable,
                        got.fault == EISDIR ? "name a file inside it" : "check the disk",
                        "reading `{}` failed: {}", name_, std::strerror(got.fault));
        return got.bytes;
    }

  private:
    int number_;
    std::string name_;
};

class Text : public Bytes {
  public:
    explicit Text(std::string_view text) : text_(text) {}
    Result<std::size_t> read(std::span<char> room) override {
        const std::size_t count = std::min(room.size(), text_.size());
        std::copy_n(text_.data(), count, room.data());
        text_.remove_prefix(count);
        return count;
    }
    std::size_t most_left() const override { return text_.size(); }

  private:
    std::string_view text_;
};

// A filter over other bytes: keeps a piece of input.
class Filter : public Bytes {
  public:
    Filter(std::unique_ptr<Bytes> inner, std::string_view first)
        : inner_(std::move(inner)), input_(piece), begin_(0), end_(first.size()) {
        std::copy(first.begin(), first.end(), input_.begin());
    }
    std::string damage() const override { return damage_; }

  protected:
    Result<bool> refill() {  // false at the end of the input
        if (begin_ < end_) return true;
        VIRIDIAN_TRY(end_, inner_->read(input_));
        begin_ = 0;
        return end_ > 0;
    }
    std::unique_ptr<Bytes> inner_;
    std::vector<char> input_;
    std::size_t begin_, end_;
    std::string damage_;
    bool done_ = false;
};

class Gzip : public Filter {
  public:
    using Filter::Filter;
    ~Gzip() override {
        if (ready_) inflateEnd(&stream_);
    }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    Result<std::size_t> read(std::span<char> room) override {
        if (!ready_ && inflateInit2(&stream_, 15 + 16) != Z_OK)
            return fail(ErrorCode::out_of_memory, "close other programs", "zlib could not start");
        ready_ = true;
        stream_.next_out = reinterpret_cast<Bytef*>(room.data());
        stream_.avail_out = static_cast<uInt>(std::min(room.size(), std::size_t{1} << 30));
        const auto asked = stream_.avail_out;
        while (stream_.avail_out > 0 && !done_) {
            VIRIDIAN_TRY(const bool more, refill());
            if (!more) {
                done_ = true;
                if (inside_) damage_ = "the gzip stream is cut off";
                break;
            }
            stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + begin_);
            stream_.avail_in = static_cast<uInt>(end_ - begin_);
            const int status = inflate(&stream_, Z_NO_FLUSH);
            begin_ = end_ - stream_.avail_in;
            inside_ = true;
            if (status == Z_STREAM_END) {
                inside_ = false;
                inflateReset(&stream_);
                VIRIDIAN_TRY(const bool another, refill());
                if (another && input_[begin_] != '\x1f') done_ = true;  // padding after the last member
            } else if (status != Z_OK && status != Z_BUF_ERROR) {
                damage_ = "the gzip stream is damaged";
                done_ = true;
            }
        }
        return std::size_t{asked - stream_.avail_out};
    }

  private:
    z_stream stream_{};
    bool ready_ = false;
    bool inside_ = false;
};

class Zstd : public Filter {
  public:
    using Filter::Filter;
    Result<std::size_t> read(std::span<char> room) override {
        if (!stream_) return fail(ErrorCode::out_of_memory, "close other programs", "zstd could not start");
        ZSTD_outBuffer out{room.data(), room.size(), 0};
        while (out.pos < out.size && !done_) {
            VIRIDIAN_TRY(const bool more, refill());
            ZSTD_inBuffer in{input_.data(), end_, begin_};
            const std::size_t before = out.pos;
            const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
            begin_ = in.pos;
            if (ZSTD_isError(left) != 0) {
                damage_ = "the zstd stream is damaged";
                done_ = true;
            } else if (!more && out.pos == before) {
                if (inside_) damage_ = "the zstd stream is cut off";
                done_ = true;
            }
            inside_ = left != 0;
        }
        return out.pos;
    }

  private:
    struct Free {
        void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
    };
    static ZSTD_DStream* make() {
        ZSTD_DStream* stream = ZSTD_createDStream();
        if (stream != nullptr) ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 27);  // at most 128 MiB
        return stream;
    }
    std::unique_ptr<ZSTD_DStream, Free> stream_{make()};
    bool inside_ = false;
};

class Peeked : public Bytes {
  public:
    Peeked(std::unique_ptr<Bytes> inner, std::string first)
        : inner_(std::move(inner)), first_(std::move(first)) {}
    Result<std::size_t> read(std::span<char> room) override {
        const std::size_t count = std::min(room.size(), first_.size() - at_);
        std::copy_n(first_.data() + at_, count, room.data());
        at_ += count;
        if (at_ == first_.size()) std::string().swap(first_), at_ = 0;
        if (count == room.size()) return count;
        VIRIDIAN_TRY(const std::size_t more, inner_->read(room.subspan(count)));
        return count + more;
    }
    std::string damage() const override { return inner_->damage(); }
    std::size_t most_left() const override {
        const std::size_t inner = inner_->most_left(), mine = first_.size() - at_;
        return inner > unknown - mine ? unknown : inner + mine;
    }

  private:
    std::unique_ptr<Bytes> inner_;
    std::string first_;
    std::size_t at_ = 0;
};

Result<std::unique_ptr<Bytes>> undo(std::unique_ptr<Bytes> raw) {
    std::string first(4, '\0');
    VIRIDIAN_TRY(const std::size_t count, raw->read(first));
    first.resize(count);
    if (first.starts_with("\x1f\x8b"))
        return std::unique_ptr<Bytes>(std::make_unique<Gzip>(std::move(raw), first));
    if (first == "\x28\xb5\x2f\xfd")
        return std::unique_ptr<Bytes>(std::make_unique<Zstd>(std::move(raw), first));
    return std::unique_ptr<Bytes>(std::make_unique<Peeked>(std::move(raw), std::move(first)));
}

}  // namespace

std::unique_ptr<Bytes> replay(std::string first, std::unique_ptr<Bytes> rest) {
    return std::make_unique<Peeked>(std::move(rest), std::move(first));
}

Result<std::unique_ptr<Bytes>> open_bytes(const Path& path) {
    const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return fail(ErrorCode::file_not_found, "check the path", "there is no file `{}`", path.string());
        return fail(ErrorCode::file_unreadable, "check its permissions", "cannot open `{}`: {}",
                    path.string(), std::strerror(errno));
    }
    ::posix_fadvise(number, 0, 0, POSIX_FADV_SEQUENTIAL);
    return undo(std::make_unique<BytesFile>(number, path.string()));
}

std::unique_ptr<Bytes> bytes_of(std::string_view text) {
    return undo(std::make_unique<Text>(text)).value();  // reading memory cannot fail
}

}  // namespace viridian::trace
