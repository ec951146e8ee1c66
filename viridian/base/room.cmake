target_link_libraries(${target} PUBLIC fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
