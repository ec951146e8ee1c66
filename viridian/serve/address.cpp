#include "viridian/serve/address.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "viridian/serve/socket_folder.hpp"

namespace viridian::serve {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& host, int port) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) found = nullptr;
    return {found, ::freeaddrinfo};
}

Error not_an_address(std::string_view text) {
    return fail(ErrorCode::invalid_argument, "write 127.0.0.1:50417, [::1]:50417 or unix:/path/to/socket",
                "`{}` is not an address", text);
}

class Socket {
  public:
    explicit Socket(int family) : number_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
    ~Socket() {
        if (number_ >= 0) ::close(number_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

Error refused(const Address& address, int fault) {
    const std::string where = address.text();
    switch (fault) {
        case EADDRINUSE:
            return fail(ErrorCode::invalid_argument,
                        "stop the program that listens there, or choose another address", "{} is taken",
                        where);
        case EACCES:
        case EPERM:
            return fail(ErrorCode::no_permission,
                        address.socket.empty() ? "choose a port above 1023" : "choose a folder that is yours",
                        "the system does not let you listen on {}", where);
        case EADDRNOTAVAIL:
            return fail(ErrorCode::invalid_argument, "choose one of `ip address`",
                        "{} is not an address of this machine", where);
        case ENOENT:
        case ENOTDIR:
            return fail(ErrorCode::file_not_found, "make the folder first", "the folder of {} does not exist",
                        where);
        default:
            return fail(ErrorCode::device_failed, "choose another address", "cannot listen on {}: {}", where,
                        std::strerror(fault));
    }
}

Result<void> can_listen_on_socket(const Address& address) {
    const Path folder = address.socket.has_parent_path() ? address.socket.parent_path() : Path(".");
    VIRIDIAN_TRY(check_socket_folder(folder, ::geteuid()));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string path = address.socket.string();
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    const auto* where = reinterpret_cast<const sockaddr*>(&name);
    struct stat about{};
    if (::lstat(path.c_str(), &about) == 0) {
        if (!S_ISSOCK(about.st_mode))
            return fail(ErrorCode::invalid_argument, "choose another path", "`{}` is a file, not a socket",
                        path);
        const Socket probe(AF_UNIX);
        if (::connect(probe.number(), where, sizeof(name)) == 0 || errno != ECONNREFUSED)
            return refused(address, errno == EACCES ? EACCES : EADDRINUSE);
        if (::unlink(path.c_str()) != 0) return refused(address, errno);
    }
    const Socket socket(AF_UNIX);
    if (::bind(socket.number(), where, sizeof(name)) != 0) return refused(address, errno);
    ::unlink(path.c_str());
    return {};
}

}  // namespace

std::string Address::text() const {
    if (!socket.empty()) return "unix:" + socket.string();
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                               : fmt::format("[{}]:{}", host, port);
}

Result<Address> parse_address(std::string_view text) {
    Address address;
    if (text.starts_with("unix:")) {
        const std::string path(text.substr(5));
        if (path.empty() || path.find('\0') != std::string::npos) return not_an_address(text);
        if (path.size() >= sizeof(sockaddr_un::sun_path))
            return fail(ErrorCode::invalid_argument, "choose a shorter path",
                        "the path of a unix socket has at most {} bytes", sizeof(sockaddr_un::sun_path) - 1);
        address.socket = path;
        return address;
    }
    const std::size_t colon = text.rfind(':');
    std::string host = "127.0.0.1";
    if (colon != std::string_view::npos) host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string::npos)
        return not_an_address(text);
    if (host == "localhost") host = "127.0.0.1";
    const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (host.empty() || digits.empty() || fault != std::errc{} || end != digits.data() + digits.size() ||
        address.port < 0 || address.port > 65535 || host.find('\0') != std::string::npos)
        return not_an_address(text);
    const Addresses found = resolve(host, address.port);
    if (found == nullptr) return not_an_address(text);
    address.host = host;
    address.loopback = host.starts_with("127.") || host == "::1";
    return address;
}

Result<void> can_listen(const Address& address) {
    if (!address.socket.empty()) return can_listen_on_socket(address);
    const Addresses found = resolve(address.host, address.port);
    if (found == nullptr) return not_an_address(address.text());
    const Socket socket(found->ai_family);
    const int yes = 1;  // a connection that lingers is nobody who listens
    ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (socket.number() < 0 || ::bind(socket.number(), found->ai_addr, found->ai_addrlen) != 0 ||
        ::listen(socket.number(), 1) != 0)
        return refused(address, errno);
    return {};
}

}  // namespace viridian::serve
