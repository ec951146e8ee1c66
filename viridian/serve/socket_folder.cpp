#include "viridian/serve/socket_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <system_error>

namespace viridian::serve {
namespace {

constexpr auto safe_folder = "choose a folder that only you can write to";
constexpr int most_links = 40;  // as many as Linux follows

Error no_such_folder(const Path& folder) {
    return fail(ErrorCode::file_not_found, "make the folder first", "the folder `{}` does not exist",
                folder.string());
}

// The parts of `path` that are not "/", before those that wait.
void push_parts(const Path& path, std::deque<std::string>& waiting) {
    auto place = waiting.begin();
    for (const Path& part : path.relative_path())
        if (!part.empty()) place = waiting.insert(place, part.string()) + 1;
}

Result<void> check_entry(const Path& entry, const struct stat& about, uid_t user, bool last) {
    if (about.st_uid != user && about.st_uid != 0)
        return fail(ErrorCode::no_permission, safe_folder,
                    "`{}` belongs to another user, who could put a socket of theirs there", entry.string());
    const bool others = (about.st_mode & 022U) != 0;
    if (!S_ISLNK(about.st_mode) && others && (last || (about.st_mode & S_ISVTX) == 0))
        return fail(ErrorCode::no_permission, safe_folder,
                    "other users can write into `{}` and could put a socket of theirs there", entry.string());
    return {};
}

}  // namespace

std::optional<Path> default_socket(uid_t user, const std::string& runtime_folder) {
    if (user == 0) return "/run/viridian/monitor.sock";
    if (!runtime_folder.starts_with('/')) return std::nullopt;
    return Path(runtime_folder) / "viridian.sock";
}

Result<void> check_socket_folder(const Path& folder, uid_t user) {
    std::error_code fault;
    std::deque<std::string> waiting;
    push_parts(std::filesystem::absolute(folder, fault), waiting);
    Path at = "/";
    struct stat about{};
    for (int links = 0; !waiting.empty();) {
        const std::string part = waiting.front();
        waiting.pop_front();
        if (part == ".") continue;
        if (part == "..") {
            at = at.parent_path();
            continue;
        }
        const Path next = at / part;
        if (::lstat(next.c_str(), &about) != 0) return no_such_folder(folder);
        VIRIDIAN_TRY(check_entry(next, about, user, false));
        if (S_ISLNK(about.st_mode)) {
            const Path target = std::filesystem::read_symlink(next, fault);
            if (fault || ++links > most_links) return no_such_folder(folder);
            if (target.is_absolute()) at = "/";
            push_parts(target, waiting);
            continue;
        }
        if (!S_ISDIR(about.st_mode)) return no_such_folder(folder);
        at = next;
    }
    if (::lstat(at.c_str(), &about) != 0) return no_such_folder(folder);
    return check_entry(at, about, user, true);
}

}  // namespace viridian::serve
