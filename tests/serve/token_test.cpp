#include "viridian/serve/token.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tests/meter/fake_tree.hpp"

namespace viridian::serve {
namespace {

std::string token_error_or_ok(const Path& file) {
    const Result<std::string> token = token_in(file);
    return token.ok() ? "ok" : token.error().text();
}

TEST(Token, IsMadeOnceFromRandomBitsInAFileOfItsOwner) {
    const meter::tests::FakeTree folder;
    std::set<std::string> tokens;
    for (int i = 0; i < 20; ++i) {
        const Path file = folder.root() / fmt::format("token{}", i);
        const Result<std::string> made = token_in(file);
        ASSERT_TRUE(made.ok()) << made.error().text();
        EXPECT_EQ(made->size(), 64U);  // 256 bits as hexadecimal digits
        EXPECT_EQ(made->find_first_not_of("0123456789abcdef"), std::string::npos);
        struct stat about{};
        ASSERT_EQ(::stat(file.c_str(), &about), 0);
        EXPECT_EQ(about.st_mode & 07777U, 0600U);
        EXPECT_EQ(token_in(file).value(), *made);  // the next server has the same
        tokens.insert(*made);
    }
    EXPECT_EQ(tokens.size(), 20U);
}

TEST(Token, FilesThatOthersMayReadAndThatHoldNoTokenAreRefused) {
    const meter::tests::FakeTree folder;
    const Path file = folder.root() / "token";
    ASSERT_TRUE(token_in(file).ok());
    for (const mode_t mode : {0640U, 0604U, 0620U, 0602U, 0610U}) {
        ::chmod(file.c_str(), mode);
        EXPECT_EQ(token_error_or_ok(file),
                  "the token file `" + file.string() +
                      "` can be read or written by others. remove it, and a new token is made; "
                      "`chmod 600` suffices if nobody has read it.");
    }
    ::chmod(file.c_str(), 0600);
    EXPECT_EQ(token_error_or_ok(file), "ok");
    for (const std::string& text :
         {std::string(), std::string("\n"), std::string(31, 'a'), std::string(513, 'a'),
          std::string(600, ' ') + std::string(32, 'a'), std::string(20, 'a') + " " + std::string(20, 'a'),
          std::string(40, '\0'), std::string(40, '"')}) {
        std::ofstream(file) << text;
        EXPECT_EQ(token_error_or_ok(file),
                  "the token file `" + file.string() +
                      "` does not hold 32 to 512 letters, digits and `-._~+/=` in one line. remove "
                      "it, and a new token is made.")
            << text;
    }
    std::ofstream(file) << "  " << std::string(32, 'Z') << "\r\n";
    EXPECT_EQ(token_in(file).value(), std::string(32, 'Z'));
    EXPECT_NE(token_error_or_ok(folder.root()).find("is not a file"), std::string::npos);
    EXPECT_NE(token_error_or_ok(folder.root() / "none/token").find("cannot be made"), std::string::npos);
    std::filesystem::create_symlink(folder.root() / "elsewhere", folder.root() / "link");
    EXPECT_NE(token_error_or_ok(folder.root() / "link").find("cannot be made"),
              std::string::npos);  // a link is not followed
    EXPECT_FALSE(std::filesystem::exists(folder.root() / "elsewhere"));
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
        EXPECT_NE(token_error_or_ok(file).find("belongs to another user"), std::string::npos);
    }
}

TEST(Token, OnlyTheWholeTokenAfterTheSchemeAuthorises) {
    const std::string token(32, 'k');
    EXPECT_TRUE(authorises("Bearer " + token, token));
    EXPECT_TRUE(authorises("bearer " + token, token));
    for (const std::string& bad :
         {token, "Bearer" + token, "Bearer  " + token, "Bearer " + token + "k", "Bearer " + token.substr(1),
          "Basic  " + token, std::string("Bearer "), std::string()})
        EXPECT_FALSE(authorises(bad, token)) << bad;
    for (std::size_t i = 0; i < token.size(); ++i) {
        std::string wrong = token;
        wrong[i] = 'j';
        EXPECT_FALSE(authorises("Bearer " + wrong, token)) << i;
    }
    EXPECT_FALSE(authorises("Bearer ", ""));  // no token lets nobody in
}

}  // namespace
}  // namespace viridian::serve
