#pragma once
// Parses an address to listen on: `unix:/path`, `127.0.0.1:50417`, `[::1]:50417`, `localhost:0` (0: any free
// port), or a port alone, which means loopback.
#include <string>
#include <string_view>

#include "viridian/base/file.hpp"

namespace viridian::serve {

struct Address {
    Path socket = {};       // a unix socket; empty: TCP
    std::string host = {};  // a numeric address
    int port = 0;
    bool loopback = true;  // only this machine can connect

    // Whether every user of this machine can connect: the mode of a unix socket keeps others out.
    [[nodiscard]] bool open_to_users() const { return socket.empty(); }
    // Returns the address as text that `parse_address` reads.
    [[nodiscard]] std::string text() const;
};

// Returns the address that `text` means. Errors: invalid_argument.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

// Checks that a server may listen at `address`, by doing so for a moment. A socket that a dead server left is
// removed. Errors: invalid_argument (taken, or not an address of this machine), no_permission (also: others
// can write into the socket's folder), file_not_found (the socket's folder), device_failed.
[[nodiscard]] Result<void> can_listen(const Address& address);

}  // namespace viridian::serve
