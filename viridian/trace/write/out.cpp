#include "viridian/trace/write/out.hpp"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <vector>

#include "viridian/base/destination.hpp"
#include "viridian/base/system/transfer.hpp"

namespace viridian::trace {
namespace {

class String : public Out {
  public:
    explicit String(std::string& text) : text_(text) {}
    Result<void> put(std::string_view bytes) override { return text_.append(bytes), Result<void>(); }
    Result<void> close() override { return {}; }

  private:
    std::string& text_;
};

class OutFile : public Out {
  public:
    OutFile(Destination to, int number) : to_(std::move(to)), number_(number) {}
    ~OutFile() override {
        if (number_ < 0) return;
        ::close(number_);
        to_.abandon();
    }
    OutFile(const OutFile&) = delete;
    OutFile& operator=(const OutFile&) = delete;

    Result<void> put(std::string_view bytes) override {
        if (held_.size() + bytes.size() <= room) {
            held_.append(bytes);
            return {};
        }
        VIRIDIAN_TRY(write(held_));
        held_.clear();
        if (bytes.size() > room) return write(bytes);
        held_.append(bytes);
        return {};
    }
    Result<void> close() override {
        VIRIDIAN_TRY(write(held_));
        if (::close(std::exchange(number_, -1)) == 0) return to_.place();
        const int why = errno;
        to_.abandon();
        return write_error(to_.path, why);
    }

  private:
    static constexpr std::size_t room = std::size_t{1} << 18;
    Result<void> write(std::string_view bytes) {
        if (const Transfer written = write_all(number_, bytes); written.fault != 0)
            return write_error(to_.path, written.fault);
        return {};
    }
    Destination to_;
    int number_;
    std::string held_;
};

class GzipOut : public Out {
  public:
    explicit GzipOut(std::unique_ptr<Out> inner) : inner_(std::move(inner)), piece_(std::size_t{1} << 16) {
        ready_ = deflateInit2(&stream_, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    }
    ~GzipOut() override {
        if (ready_) deflateEnd(&stream_);
    }
    GzipOut(const GzipOut&) = delete;
    GzipOut& operator=(const GzipOut&) = delete;
    Result<void> put(std::string_view bytes) override { return run(bytes, Z_NO_FLUSH); }
    Result<void> close() override {
        VIRIDIAN_TRY(run({}, Z_FINISH));
        return inner_->close();
    }

  private:
    Result<void> run(std::string_view bytes, int flush) {
        if (!ready_) return fail(ErrorCode::out_of_memory, "close other programs", "zlib could not start");
        std::string copy(bytes);  // zlib's input is not const
        stream_.next_in = reinterpret_cast<Bytef*>(copy.data());
        stream_.avail_in = static_cast<uInt>(copy.size());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
            stream_.avail_out = static_cast<uInt>(piece_.size());
            deflate(&stream_, flush);
            VIRIDIAN_TRY(inner_->put({piece_.data(), piece_.size() - stream_.avail_out}));
        } while (stream_.avail_out == 0);
        return {};
    }
    std::unique_ptr<Out> inner_;
    z_stream stream_{};
    bool ready_ = false;
    std::vector<char> piece_;
};

class ZstdOut : public Out {
  public:
    explicit ZstdOut(std::unique_ptr<Out> inner) : inner_(std::move(inner)), piece_(ZSTD_CStreamOutSize()) {}
    Result<void> put(std::string_view bytes) override { return run(bytes, ZSTD_e_continue); }
    Result<void> close() override {
        VIRIDIAN_TRY(run({}, ZSTD_e_end));
        return inner_->close();
    }

  private:
    struct Free {
        void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
    };
    Result<void> run(std::string_view bytes, ZSTD_EndDirective how) {
        if (!stream_) return fail(ErrorCode::out_of_memory, "close other programs", "zstd could not start");
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        for (;;) {
            ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
            const std::size_t left = ZSTD_compressStream2(stream_.get(), &out, &in, how);
            invariant(ZSTD_isError(left) == 0, "zstd compresses");
            VIRIDIAN_TRY(inner_->put({piece_.data(), out.pos}));
            if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
        }
    }
    std::unique_ptr<Out> inner_;
    std::vector<char> piece_;
    std::unique_ptr<ZSTD_CStream, Free> stream_{ZSTD_createCStream()};
};

}  // namespace

Result<std::unique_ptr<Out>> open_out(const Path& name) {
    Destination to(name);
    const int number = to.open();
    if (number < 0) return write_error(to.path, errno);
    std::unique_ptr<Out> file = std::make_unique<OutFile>(std::move(to), number);
    if (name.extension() == ".gz") file = std::make_unique<GzipOut>(std::move(file));
    if (name.extension() == ".zst") file = std::make_unique<ZstdOut>(std::move(file));
    return file;
}

std::unique_ptr<Out> out_to(std::string& text) { return std::make_unique<String>(text); }

}  // namespace viridian::trace
