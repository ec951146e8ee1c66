// A libamd_smi.so for tests: behaves as VIRIDIAN_FAKE_AMDSMI says, a list of words
//   no_init  init_denied  no_sockets  cpu_only  denied  no_counter  zero_resolution  frozen  vanish
// Two sockets: the first has a CPU and GPU 0, the second GPUs 1 and 2; GPU 2 has no counter. Energy grows by
// 65536 counts of 15.259 uJ (1 J) a reading.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::uint64_t counts[4] = {};

bool told(const char* word) {
    const char* script = std::getenv("VIRIDIAN_FAKE_AMDSMI");
    return script != nullptr &&
           (" " + std::string(script) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}
std::uintptr_t number(void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }
void* handle(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

}  // namespace

extern "C" {

int amdsmi_init(std::uint64_t flags) {
    return told("init_denied") ? 10 : told("no_init") || flags != 2 ? 6 : 0;
}
int amdsmi_shut_down() { return 0; }
int amdsmi_get_socket_handles(std::uint32_t* count, void** sockets) {
    if (told("no_sockets")) return 7;
    *count = 2;
    sockets[0] = handle(100);
    sockets[1] = handle(200);
    return 0;
}
int amdsmi_get_processor_handles(void* socket, std::uint32_t* count, void** processors) {
    *count = 2;
    processors[0] = handle(socket == handle(100) ? 9 : 2);
    processors[1] = handle(socket == handle(100) ? 1 : 3);
    return 0;
}
int amdsmi_get_processor_type(void* processor, int* type) {
    *type = told("cpu_only") || number(processor) == 9 ? 2 : 1;
    return 0;
}
int amdsmi_get_gpu_asic_info(void*, char* about) {
    std::strcpy(about, "AMD Instinct MI300X");
    return 0;
}
int amdsmi_get_energy_count(void* processor, std::uint64_t* energy, float* resolution, std::uint64_t* stamp) {
    if (told("denied")) return 10;
    if (told("no_counter") || number(processor) == 3) return 2;
    if (told("vanish") && number(processor) == 1 && counts[1] > 3 * 65536) return 32;
    if (!told("frozen")) counts[number(processor)] += 65536;
    *energy = counts[number(processor)];
    *resolution = told("zero_resolution") ? 0.0F : 15.259F;
    *stamp = 1;
    return 0;
}
int amdsmi_status_code_to_string(int status, const char** text) {
    *text = status == 10  ? "AMDSMI_STATUS_NO_PERM: Permission Denied"
            : status == 2 ? "AMDSMI_STATUS_NOT_SUPPORTED: Feature not supported"
                          : "AMDSMI_STATUS_API_FAILED: API call failed";
    return 0;
}
}
