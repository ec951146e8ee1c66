// rooms: cost
// A file that calls itself a cost database: everything that is read from one, and one write.
#include <unistd.h>

#include <cstddef>
#include <fstream>

#include "viridian/cost/database.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("cost_database_fuzz_{}.db", ::getpid()))
            .string();
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    auto database = viridian::cost::Database::open(path);
    if (!database.ok()) return 0;
    const viridian::cost::Key key{"s", "c", "d", "l", 1, 1, "m"};
    (void)database->get(key);
    (void)database->get_all(key);
    (void)database->choices({"s", "d", "l", 1, 1, "f32"});
    (void)database->residuals("d");
    (void)database->entry_count();
    (void)database->put(key, {});
    return 0;
}
