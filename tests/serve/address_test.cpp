#include "viridian/serve/address.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/meter/fake_tree.hpp"
#include "viridian/base/random.hpp"
#include "viridian/serve/server.hpp"

namespace viridian::serve {
namespace {

TEST(Address, IsReadAndKnowsWhoCanConnect) {
    EXPECT_EQ(parse_address("127.0.0.1:80")->text(), "127.0.0.1:80");
    EXPECT_EQ(parse_address("localhost:0")->text(), "127.0.0.1:0");
    EXPECT_EQ(parse_address("9464")->text(), "127.0.0.1:9464");
    EXPECT_EQ(parse_address("[::1]:5")->text(), "[::1]:5");
    EXPECT_EQ(parse_address("unix:/tmp/x.sock")->text(), "unix:/tmp/x.sock");
    for (const char* near : {"127.0.0.1:80", "127.9.0.1:80", "[::1]:5", "localhost:1", "unix:x", "1"})
        EXPECT_TRUE(parse_address(near)->loopback) << near;
    for (const char* far : {"0.0.0.0:80", "[::]:5", "192.168.1.5:1"})
        EXPECT_FALSE(parse_address(far)->loopback) << far;
    for (const char* bad : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1",
                            "127.0.0.1:1x", "::1:5", "example.com:1", "300.0.0.1:1", "unix:", "[]:1", ":5"})
        EXPECT_FALSE(parse_address(bad).ok()) << bad;
    EXPECT_FALSE(parse_address("unix:" + std::string(200, 'x')).ok());
    EXPECT_FALSE(parse_address(std::string_view("unix:/tmp/\0x", 12)).ok());
}

TEST(Address, WhatIsTakenOrForbiddenIsSaidInOneSentence) {
    const meter::tests::FakeTree folder;
    const auto say = [](const std::string& text) {
        const Result<void> result = can_listen(*parse_address(text));
        return result.ok() ? std::string("ok") : result.error().message;
    };
    const std::string path = "unix:" + (folder.root() / "s").string();
    EXPECT_EQ(say(path), "ok");
    EXPECT_FALSE(std::filesystem::exists(folder.root() / "s"));
    EXPECT_NE(say("unix:" + (folder.root() / "none/s").string()).find("does not exist"), std::string::npos);
    folder.write("file", "x");
    EXPECT_NE(say("unix:" + (folder.root() / "file").string()).find("not a socket"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(folder.root() / "file"));
    EXPECT_NE(say("192.0.2.7:5000").find("not an address of this machine"), std::string::npos);  // TEST-NET-1

    const std::string token = "0123456789abcdef0123456789abcdef";
    auto first = Server::open(
        {}, {.listen = *parse_address("127.0.0.1:0"), .metrics = parse_address("0").value(), .token = token});
    ASSERT_TRUE(first.ok()) << first.error().text();
    EXPECT_NE(say((*first)->grpc_address()).find("is taken"), std::string::npos);
    const auto second =
        Server::open({}, {.listen = *parse_address((*first)->grpc_address()), .token = token});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::invalid_argument);

    auto on_socket = Server::open({}, {.listen = *parse_address(path)});
    ASSERT_TRUE(on_socket.ok());
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(folder.root() / "s").permissions(),
              perms::owner_read | perms::owner_write);
    EXPECT_NE(say(path).find("is taken"), std::string::npos);
    on_socket->reset();
    EXPECT_EQ(say(path), "ok");
    EXPECT_EQ(
        Server::open({}, {.listen = *parse_address("0"), .metrics = *parse_address(path), .token = token})
            .error()
            .code,
        ErrorCode::unsupported);
    if (::geteuid() != 0) {
        EXPECT_NE(say("127.0.0.1:80").find("does not let you"), std::string::npos);
    }
}

TEST(Address, ASocketThatADeadServerLeftIsUsedAgain) {
    const meter::tests::FakeTree folder;
    const std::string path = (folder.root() / "s").string();
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, path.c_str());
    const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    ::close(dead);
    ASSERT_TRUE(std::filesystem::exists(path));
    EXPECT_TRUE(Server::open({}, {.listen = *parse_address("unix:" + path)}).ok());
}

// Another user's connection, by a child that gives up being root.
TEST(Address, AnotherUserCannotConnectToTheSocket) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const meter::tests::FakeTree folder;
    std::filesystem::permissions(folder.root(),
                                 std::filesystem::perms(0755));  // only the socket keeps others out
    const std::string path = (folder.root() / "s").string();
    const auto server = Server::open({}, {.listen = *parse_address("unix:" + path)});
    ASSERT_TRUE(server.ok()) << server.error().text();
    const auto connects_as = [&](uid_t user) {
        const pid_t child = ::fork();
        if (child == 0) {
            sockaddr_un name{};
            name.sun_family = AF_UNIX;
            std::strcpy(name.sun_path, path.c_str());
            if (user != 0 && ::setresuid(user, user, user) != 0) ::_exit(3);
            const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
            const bool done = ::connect(socket, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
            ::_exit(done ? 0 : errno == EACCES ? 1 : 2);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    };
    EXPECT_EQ(connects_as(0), 0);
    EXPECT_EQ(connects_as(65534), 1);
}

TEST(Address, RandomTextIsRefusedOrComesBackAsItIs) {
    Random random(11);
    const std::string_view letters = "0123456789abcdef:.[]/unixlocalhost- %";
    int taken = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string text = i % 3 == 0 ? "unix:" : i % 3 == 1 ? "127.0.0.1:" : "";
        for (std::uint64_t n = random.below(12); n > 0; --n) text += letters[random.below(letters.size())];
        const Result<Address> address = parse_address(text);
        if (!address.ok()) continue;
        ++taken;
        const Result<Address> again = parse_address(address->text());
        ASSERT_TRUE(again.ok()) << text;
        EXPECT_EQ(again->text(), address->text()) << text;
        EXPECT_EQ(again->loopback, address->loopback) << text;
        EXPECT_EQ(address->open_to_users(), !text.starts_with("unix:")) << text;
    }
    EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace viridian::serve
