#pragma once
// A Database keeps measured prices in one SQLite file in WAL mode that any number of processes may use at
// once. Every put is its own transaction, so nothing that a process has put is lost if it is killed. Seconds
// are kept per (region or conversion, choice, device, threads, library, protocol), measured joules also per
// meter, so that joules of two meters never meet in one plan. The list of choices of a region is kept too, so
// that the file alone answers a solver.
#include <memory>
#include <optional>

#include "viridian/base/file.hpp"
#include "viridian/cost/entry.hpp"

struct sqlite3;

namespace viridian::cost {

// A ListKey identifies a list of choices: it is a Key (entry.hpp) without choice and meter, but
// with the precisions that the device may offer.
struct ListKey {
    std::string subject;
    std::string device;
    std::string library;
    int threads = 1;
    int protocol = 1;
    std::string allowances;  // "f32", "f32,bf16"
};

// A Residual is what was expected of one plan beside what its runs took, kept so that expectations can be
// judged later.
struct Residual {
    std::string model;
    std::string plan;  // hash of the plan
    std::string device;
    int threads = 1;
    Seconds predicted;  // from before the plan first ran: the sum of its stored prices, times `correction`
    Seconds kernels;    // sum of the plan's kernels, timed one by one beside the runs
    Seconds ran;        // median of the runs
    std::string at;     // when it was added, "2026-11-23 18:20:00" UTC; given by the database
    double correction = 1;  // what earlier residuals said about such sums (correction_of in residuals.hpp)
};

class Database {
  public:
    // Opens the file, and creates it and its folder if there is none. Errors: file_not_writable, malformed
    // (not such a database), mismatch (written by a newer version), disk_full.
    [[nodiscard]] static Result<Database> open(const Path& path);
    // Opens a database in memory, which is gone with the object.
    [[nodiscard]] static Result<Database> temporary();
    Database(Database&&) noexcept;
    Database& operator=(Database&&) noexcept;
    ~Database();

    // These read and write one entry; get() returns nothing if there is none. The errors of all members are
    // those of sqlite_error() (statement.hpp), and malformed for an entry that cannot be read.
    [[nodiscard]] Result<std::optional<Entry>> get(const Key& key) const;
    [[nodiscard]] Result<void> put(const Key& key, const Entry& entry);
    // Returns all entries of the key's subject, device, library, threads and protocol, each with its
    // choice and with the joules of the key's meter.
    [[nodiscard]] Result<std::vector<std::pair<std::string, Entry>>> get_all(const Key& key) const;

    // These read and write the list of choices of a region; choices() returns nothing if there is none.
    [[nodiscard]] Result<std::optional<std::vector<plan::Choice>>> choices(const ListKey& key) const;
    [[nodiscard]] Result<void> put_choices(const ListKey& key, const std::vector<plan::Choice>& choices);

    // These add a residual, and return those of `device` in the order in which they were added.
    [[nodiscard]] Result<void> put_residual(const Residual& residual);
    [[nodiscard]] Result<std::vector<Residual>> residuals(const std::string& device) const;
    // Returns the least time of each probe beside any price that was timed on so many threads of `device`;
    // zeros if there is none.
    [[nodiscard]] Result<ProbeTimes> fastest_probes(const std::string& device, int threads) const;
    [[nodiscard]] Result<std::int64_t> entry_count() const;

  private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    explicit Database(std::unique_ptr<sqlite3, Close> handle) : handle_(std::move(handle)) {}
    static Result<Database> open_name(const std::string& name);

    std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace viridian::cost
