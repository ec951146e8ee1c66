#pragma once
// The parts of `viridian account`: one subcommand a file.
#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"
#include "viridian/cli/command.hpp"

namespace viridian::cli {

using AccountAction = std::function<Result<Answer>()>;
AccountAction define_account_run(CLI::App& app);
AccountAction define_account_selftest(CLI::App& app);
AccountAction define_account_diff(CLI::App& app);

[[nodiscard]] Result<account::Accounting> load_accounting(const std::string& path);

}  // namespace viridian::cli
