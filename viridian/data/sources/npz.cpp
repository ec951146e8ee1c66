#include "viridian/data/sources/npz.hpp"

#include <algorithm>

#include "viridian/data/sources/array.hpp"
#include "viridian/data/sources/zip.hpp"

namespace viridian::data {
namespace {

std::string without_npy(const std::string& name) {
    return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

}  // namespace

Result<Dataset> of_equal_length(std::string name, std::vector<Field> fields,
                                const std::vector<std::int64_t>& counts) {
    std::string list;
    bool equal = true;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i < 12) list += fmt::format("{}`{}` {}", i == 0 ? "" : ", ", fields[i].column.name, counts[i]);
        equal = equal && counts[i] == counts.front();
    }
    if (!equal)
        return fail(ErrorCode::mismatch, "save those that belong together in a file of their own",
                    "the arrays of `{}` have different numbers of samples: {}", name, list);
    if (fields.empty())
        return fail(ErrorCode::malformed, "save at least one array in it", "`{}` holds no arrays", name);
    if (counts.front() == 0)
        return fail(ErrorCode::malformed, "write at least one sample", "`{}` holds no samples", name);
    return Dataset(std::move(name), counts.front(), std::move(fields));
}

Result<Dataset> open_npz(const ByteSource& archive, const std::vector<std::string>& wanted) {
    VIRIDIAN_TRY(const std::vector<ZipMember> members, zip_members(archive));
    std::vector<Field> fields;
    std::vector<std::int64_t> counts;
    const auto take = [&](const ZipMember& member) -> Result<void> {
        VIRIDIAN_TRY(const ByteSource bytes,
                     open_member(archive, member, fmt::format("{}/{}", archive.name(), member.name)));
        VIRIDIAN_TRY(Array array, open_npy(bytes));
        counts.push_back(array.dims.front());
        fields.push_back(array_field(without_npy(member.name), std::move(array)));
        return {};
    };
    for (const std::string& name : wanted) {
        const auto found =
            std::ranges::find(members, name, [](const ZipMember& m) { return without_npy(m.name); });
        if (found == members.end()) {
            std::string known;
            for (const ZipMember& member : members)
                if (known.size() < 300)
                    known += (known.empty() ? "`" : ", `") + without_npy(member.name) + "`";
            return fail(ErrorCode::missing_entry, fmt::format("name one of its arrays: {}", known),
                        "`{}` has no array `{}`", archive.name(), name);
        }
        VIRIDIAN_TRY(take(*found));
    }
    if (wanted.empty())
        for (const ZipMember& member : members) VIRIDIAN_TRY(take(member));
    return of_equal_length(archive.name(), std::move(fields), counts);
}

}  // namespace viridian::data
