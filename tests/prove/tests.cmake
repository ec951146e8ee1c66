# Steps to prove come from the room that makes them.
target_link_libraries(${target} PRIVATE viridian_gradient)
