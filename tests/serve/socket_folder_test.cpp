#include "viridian/serve/socket_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/meter/fake_tree.hpp"

namespace viridian::serve {
namespace {

using std::filesystem::create_directories;
using std::filesystem::create_directory_symlink;
using std::filesystem::permissions;
using std::filesystem::perms;

std::string said(const Path& folder, uid_t user = ::geteuid()) {
    const Result<void> checked = check_socket_folder(folder, user);
    return checked.ok() ? "ok" : checked.error().text();
}

TEST(SocketFolder, TheDefaultIsInTheUsersOwnFolder) {
    EXPECT_EQ(default_socket(0, "/run/user/0"), "/run/viridian/monitor.sock");
    EXPECT_EQ(default_socket(0, ""), "/run/viridian/monitor.sock");
    EXPECT_EQ(default_socket(1000, "/run/user/1000"), "/run/user/1000/viridian.sock");
    EXPECT_EQ(default_socket(1000, ""), std::nullopt);
    EXPECT_EQ(default_socket(1000, "here"),
              std::nullopt);  // the XDG specification: relative paths are invalid
}

TEST(SocketFolder, OthersMustNotWriteThere) {
    const meter::tests::FakeTree tree;
    const Path folder = tree.root() / "a/b";
    create_directories(folder);
    for (const char* name : {"a", "a/b"}) permissions(tree.root() / name, perms(0755));
    EXPECT_EQ(said(folder), "ok");
    EXPECT_EQ(said(folder / ".." / "b" / "."), "ok");
    for (const mode_t mode : {0777U, 0775U, 01777U}) {
        ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
        EXPECT_EQ(said(folder), "other users can write into `" + folder.string() +
                                    "` and could put a socket of theirs there. choose a folder that only you "
                                    "can write to.");
    }
    ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
    ASSERT_EQ(::chmod((tree.root() / "a").c_str(), 0777), 0);  // others can put another `b` there
    EXPECT_NE(said(folder).find("other users can write into `" + (tree.root() / "a").string()),
              std::string::npos);
    ASSERT_EQ(::chmod((tree.root() / "a").c_str(), 01777), 0);  // they cannot: as in /tmp
    EXPECT_EQ(said(folder), "ok");
    EXPECT_EQ(said(tree.root() / "none"),
              "the folder `" + (tree.root() / "none").string() + "` does not exist. make the folder first.");
    tree.write("file", "");
    EXPECT_NE(said(tree.root() / "file").find("does not exist"), std::string::npos);
}

TEST(SocketFolder, LinksAreFollowedOnlyIfTheyAndTheirTargetsAreSafe) {
    const meter::tests::FakeTree tree;
    create_directories(tree.root() / "safe");
    create_directories(tree.root() / "open");
    ASSERT_EQ(::chmod((tree.root() / "safe").c_str(), 0700), 0);
    ASSERT_EQ(::chmod((tree.root() / "open").c_str(), 0777), 0);
    create_directory_symlink("safe", tree.root() / "to_safe");
    create_directory_symlink(tree.root() / "to_safe", tree.root() / "twice");
    create_directory_symlink(tree.root() / "open", tree.root() / "to_open");
    create_directory_symlink("loop", tree.root() / "loop");
    create_directory_symlink(tree.root() / "safe", tree.root() / "open/back");
    EXPECT_EQ(said(tree.root() / "to_safe"), "ok");
    EXPECT_EQ(said(tree.root() / "twice"), "ok");
    EXPECT_NE(said(tree.root() / "to_open").find("other users can write"), std::string::npos);
    EXPECT_NE(said(tree.root() / "loop").find("does not exist"), std::string::npos);
    // The target is safe, but others may exchange the link.
    EXPECT_NE(said(tree.root() / "to_open/back").find("other users can write"), std::string::npos);
}

TEST(SocketFolder, AnotherUsersFolderIsRefused) {
    const meter::tests::FakeTree tree;
    if (::geteuid() == 0) {
        create_directories(tree.root() / "theirs/inside");
        ASSERT_EQ(::lchown((tree.root() / "theirs").c_str(), 65534, 65534), 0);
        create_directory_symlink("/run", tree.root() / "link");
        ASSERT_EQ(::lchown((tree.root() / "link").c_str(), 65534, 65534), 0);
        for (const char* name : {"theirs", "theirs/inside", "link"})
            EXPECT_NE(said(tree.root() / name).find("belongs to another user"), std::string::npos) << name;
    } else {
        EXPECT_NE(said(tree.root(), ::geteuid() + 1).find("belongs to another user"), std::string::npos);
    }
    EXPECT_EQ(said("/", ::geteuid() + 1), "ok");  // root's
}

}  // namespace
}  // namespace viridian::serve
