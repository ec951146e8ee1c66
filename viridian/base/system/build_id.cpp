#include "viridian/base/system/build_id.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <string_view>

namespace viridian {
namespace {

// A segment of notes: header (sizes of name and content, type), name, content, each padded to four bytes.
std::string find_note(const char* at, std::size_t size) {
    const auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        std::memcpy(&header, at, sizeof header);
        const std::size_t whole = sizeof header + padded(header.n_namesz) + padded(header.n_descsz);
        if (whole > size) break;
        const std::string_view name(at + sizeof header, header.n_namesz);
        if (header.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
            std::string text;
            const char* content = at + sizeof header + padded(header.n_namesz);
            for (std::size_t i = 0; i < header.n_descsz; ++i)
                text += fmt::format("{:02x}", static_cast<unsigned char>(content[i]));
            return text;
        }
        at += whole;
        size -= whole;
    }
    return "";
}

// Our code is in the object one of whose segments holds this function: the program, or the shared library.
int visit(dl_phdr_info* object, std::size_t, void* found) {
    const auto here = reinterpret_cast<ElfW(Addr)>(&find_note);
    bool ours = false;
    std::string text;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        const ElfW(Addr) begin = object->dlpi_addr + segment.p_vaddr;
        ours = ours || (segment.p_type == PT_LOAD && here >= begin && here - begin < segment.p_memsz);
        if (segment.p_type == PT_NOTE && text.empty())
            text = find_note(reinterpret_cast<const char*>(begin), segment.p_filesz);
    }
    if (ours) *static_cast<std::string*>(found) = std::move(text);
    return ours ? 1 : 0;
}

}  // namespace

std::string build_id() {
    std::string found;
    dl_iterate_phdr(visit, &found);
    return found;
}

}  // namespace viridian
