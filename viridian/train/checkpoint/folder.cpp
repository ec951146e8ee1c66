#include "viridian/train/checkpoint/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace viridian::train {
namespace {

constexpr std::string_view name_prefix = "step-";
constexpr std::string_view name_suffix = ".safetensors";
constexpr std::size_t name_digits = 12;  // so that names in order are steps in order

bool is_checkpoint_name(std::string_view name) {
    if (!name.starts_with(name_prefix) || !name.ends_with(name_suffix) ||
        name.size() < name_prefix.size() + name_digits + name_suffix.size())
        return false;
    name.remove_prefix(name_prefix.size());
    name.remove_suffix(name_suffix.size());
    return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// Returns whether `name` is that of a checkpoint while it is written: "step-….safetensors.PID.partial".
bool is_unfinished_name(std::string_view name) {
    constexpr std::string_view ending = ".partial";
    if (!name.ends_with(ending)) return false;
    name.remove_suffix(ending.size());
    const auto dot = name.rfind('.');
    return dot != std::string_view::npos && is_checkpoint_name(name.substr(0, dot));
}

std::vector<std::string> names_in(const Path& folder) {
    std::vector<std::string> names;
    std::error_code fault;
    for (std::filesystem::directory_iterator entry(folder, fault), end; !fault && entry != end;
         entry.increment(fault))
        names.push_back(entry->path().filename().string());
    return names;
}

Result<std::shared_ptr<const int>> lock_folder(const Path& folder) {
    const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0)
        return fail(ErrorCode::file_not_writable, "check the folder and its permissions",
                    "cannot open `{}`: {}", folder.string(), std::strerror(errno));
    std::shared_ptr<const int> lock(new const int(handle), [](const int* number) {
        ::close(*number);
        delete number;
    });
    if (::flock(handle, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)  // some file systems have no locks
        return fail(ErrorCode::file_not_writable, "wait until it ends, or name another folder",
                    "another process writes checkpoints to `{}`", folder.string());
    return lock;
}

// Returns the path of the best among `files`, the newest first, whose heads are read; damaged files and NaN
// are passed over.
std::optional<Path> best_of(const std::vector<Path>& files, bool lower_is_better) {
    std::optional<Path> best;
    double best_score = 0;
    for (const Path& file : files) {
        const auto head = read_checkpoint_head(file);
        if (!head.ok() || !head->score || std::isnan(*head->score)) continue;
        const double score = *head->score;
        if (best && (lower_is_better ? score > best_score : score < best_score)) continue;
        best = file;
        best_score = score;
    }
    return best;
}

}  // namespace

Path checkpoint_path(const Path& folder, std::int64_t step) {
    return folder / fmt::format("{}{:0{}}{}", name_prefix, step, name_digits, name_suffix);
}

std::vector<Path> checkpoints_in(const Path& folder) {
    std::vector<std::string> names = names_in(folder);
    std::erase_if(names, [](const std::string& name) { return !is_checkpoint_name(name); });
    std::ranges::sort(names, [](const std::string& a, const std::string& b) {
        return std::pair(a.size(), std::string_view(a)) > std::pair(b.size(), std::string_view(b));
    });
    std::vector<Path> files;
    for (const std::string& name : names) files.push_back(folder / name);
    return files;
}

Result<CheckpointFolder> CheckpointFolder::open(const Path& folder, Keep keep) {
    if (keep.last < 1)
        return fail(ErrorCode::invalid_argument, "keep at least 1", "{} checkpoints cannot be kept",
                    keep.last);
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        return fail(ErrorCode::file_not_writable, "check the folder and its permissions",
                    "the folder `{}` cannot be made: {}", folder.string(), fault.message());
    VIRIDIAN_TRY(auto lock, lock_folder(folder));
    for (const std::string& name : names_in(folder))  // nobody else writes here now
        if (is_unfinished_name(name)) std::filesystem::remove(folder / name, fault);
    return CheckpointFolder(folder, keep, std::move(lock));
}

Result<Path> CheckpointFolder::save(const Checkpoint& checkpoint) {
    const Path path = checkpoint_path(folder_, checkpoint.position.step);
    if (auto written = write_checkpoint(path, checkpoint); !written.ok()) {
        Error error = written.error();
        if (const auto files = checkpoints_in(folder_); !files.empty() && files.front() != path)
            error.next_step += fmt::format("; the last checkpoint is still `{}`", files.front().string());
        return error;
    }
    remove_old(path);
    return path;
}

// A file that cannot be read is not counted, and stays.
void CheckpointFolder::remove_old(const Path& newest) const {
    std::vector<Path> files = checkpoints_in(folder_);
    std::erase_if(files,
                  [&](const Path& file) { return file != newest && !read_checkpoint_head(file).ok(); });
    const auto best = keep_.best ? best_of(files, keep_.lower_is_better) : std::nullopt;
    for (std::size_t i = static_cast<std::size_t>(keep_.last); i < files.size(); ++i) {
        std::error_code ignored;
        if (files[i] != newest && files[i] != best) std::filesystem::remove(files[i], ignored);
    }
}

Result<FoundCheckpoint> newest_checkpoint(const Path& folder) {
    std::vector<std::string> notes;
    std::optional<Error> first;
    for (const Path& file : checkpoints_in(folder)) {
        auto read = read_checkpoint(file);
        if (read.ok()) return FoundCheckpoint{file, *std::move(read), std::move(notes)};
        notes.push_back(fmt::format("`{}` was skipped: {}", file.string(), read.error().message));
        if (!first) first = read.error();
    }
    if (first) {
        first->next_step = "begin anew in another folder";
        if (notes.size() > 1)
            first->message += fmt::format(", and {} older ones are damaged too", notes.size() - 1);
        return *first;
    }
    return fail(ErrorCode::file_not_found, "check the folder, or start a new run",
                "there is no checkpoint in `{}`", folder.string());
}

std::optional<Path> best_checkpoint(const Path& folder, bool lower_is_better) {
    return best_of(checkpoints_in(folder), lower_is_better);
}

}  // namespace viridian::train
