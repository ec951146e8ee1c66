# Plans of training steps are proven, too.
target_link_libraries(${target} PRIVATE viridian_gradient viridian_zoo)
