#include "viridian/serve/token.hpp"

#include <fcntl.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace viridian::serve {
namespace {

constexpr std::size_t shortest_token = 32, longest_token = 512;
constexpr std::string_view token_space = " \t\r\n";

class TokenFile {
  public:
    explicit TokenFile(int number) : number_(number) {}
    ~TokenFile() {
        if (number_ >= 0) ::close(number_);
    }
    TokenFile(const TokenFile&) = delete;
    TokenFile& operator=(const TokenFile&) = delete;
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

Result<std::string> make_token(const Path& path) {
    std::array<unsigned char, 32> bits{};
    if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
        return fail(ErrorCode::device_failed, "try again", "the system gives no random bits: {}",
                    std::strerror(errno));
    std::string token;
    for (const unsigned char byte : bits) token += fmt::format("{:02x}", byte);
    const std::string line = token + "\n";
    const TokenFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.number() < 0)
        return fail(ErrorCode::file_not_writable, "choose a file in a folder that is yours",
                    "the token file `{}` cannot be made: {}", path.string(), std::strerror(errno));
    if (::write(file.number(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        ::unlink(path.c_str());  // half a token is worse than none
        return fail(ErrorCode::file_not_writable, "make room, or choose another file",
                    "the token file `{}` cannot be written: {}", path.string(), std::strerror(errno));
    }
    return token;
}

Result<void> check_owner(int file, const std::string& name) {
    struct stat about{};
    if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return fail(ErrorCode::file_unreadable, "name a file, or one that does not exist yet",
                    "the token file `{}` is not a file", name);
    if (about.st_uid != ::geteuid() && about.st_uid != 0)
        return fail(ErrorCode::no_permission, "name a file of yours, or one that does not exist yet",
                    "the token file `{}` belongs to another user", name);
    if ((about.st_mode & 077U) != 0)
        return fail(ErrorCode::no_permission,
                    "remove it, and a new token is made; `chmod 600` suffices if nobody has read it",
                    "the token file `{}` can be read or written by others", name);
    return {};
}

bool is_token(std::string_view token) {
    if (token.size() < shortest_token || token.size() > longest_token) return false;
    for (const char c : token) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && std::string_view("-._~+/=").find(c) == std::string_view::npos) return false;
    }
    return true;
}

}  // namespace

Result<std::string> token_in(const Path& path) {
    const std::string name = path.string();
    const TokenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0 && errno == ENOENT) return make_token(path);
    if (file.number() < 0)
        return fail(ErrorCode::file_unreadable, "name a file of yours, or one that does not exist yet",
                    "the token file `{}` cannot be read: {}", name, std::strerror(errno));
    VIRIDIAN_TRY(check_owner(file.number(), name));
    std::string text(longest_token + 8, '\0');
    const ssize_t size = ::read(file.number(), text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    const std::size_t begin = text.find_first_not_of(token_space);
    const std::string token =
        begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(token_space) - begin + 1);
    if (is_token(token)) return token;
    return fail(ErrorCode::malformed, "remove it, and a new token is made",
                "the token file `{}` does not hold {} to {} letters, digits and `-._~+/=` in one line", name,
                shortest_token, longest_token);
}

bool authorises(std::string_view header, std::string_view token) {
    constexpr std::string_view scheme = "Bearer ";  // its case does not matter (RFC 9110, section 11.1)
    if (header.size() != scheme.size() + token.size() || token.empty() ||
        ::strncasecmp(header.data(), scheme.data(), scheme.size()) != 0)
        return false;
    header.remove_prefix(scheme.size());
    volatile unsigned char difference = 0;  // every character is compared
    for (std::size_t i = 0; i < token.size(); ++i)
        difference = static_cast<unsigned char>(difference | (header[i] ^ token[i]));
    return difference == 0;
}

}  // namespace viridian::serve
