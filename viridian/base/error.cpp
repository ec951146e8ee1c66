#include "viridian/base/error.hpp"

namespace viridian {

ErrorKind kind_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::file_not_found:
        case ErrorCode::file_unreadable:
        case ErrorCode::malformed:
        case ErrorCode::unsupported:
        case ErrorCode::mismatch:
        case ErrorCode::limit_exceeded:
        case ErrorCode::missing_entry:
        case ErrorCode::cancelled:
            return ErrorKind::user;
        case ErrorCode::file_not_writable:
        case ErrorCode::disk_full:
        case ErrorCode::no_permission:
        case ErrorCode::no_device:
        case ErrorCode::out_of_memory:
        case ErrorCode::device_failed:
            return ErrorKind::machine;
        case ErrorCode::not_equal:
        case ErrorCode::broken_invariant:
            return ErrorKind::bug;
    }
    return ErrorKind::bug;
}

std::string_view name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "invalid_argument";
        case ErrorCode::file_not_found:
            return "file_not_found";
        case ErrorCode::file_unreadable:
            return "file_unreadable";
        case ErrorCode::malformed:
            return "malformed";
        case ErrorCode::unsupported:
            return "unsupported";
        case ErrorCode::mismatch:
            return "mismatch";
        case ErrorCode::limit_exceeded:
            return "limit_exceeded";
        case ErrorCode::missing_entry:
            return "missing_entry";
        case ErrorCode::cancelled:
            return "cancelled";
        case ErrorCode::file_not_writable:
            return "file_not_writable";
        case ErrorCode::disk_full:
            return "disk_full";
        case ErrorCode::no_permission:
            return "no_permission";
        case ErrorCode::no_device:
            return "no_device";
        case ErrorCode::out_of_memory:
            return "out_of_memory";
        case ErrorCode::device_failed:
            return "device_failed";
        case ErrorCode::not_equal:
            return "not_equal";
        case ErrorCode::broken_invariant:
            return "broken_invariant";
    }
    return "unknown";
}

namespace {

std::string sentence(std::string text) {
    if (!text.empty() && text.back() != '.' && text.back() != '!' && text.back() != '?') text += '.';
    return text;
}

}  // namespace

std::string Error::text() const {
    if (next_step.empty()) return sentence(message);
    // A message of several lines ends with a picture, such as a caret: the next step has its own line.
    if (message.find('\n') != std::string::npos) return message + "\n" + sentence(next_step);
    return sentence(message) + " " + sentence(next_step);
}

Error Error::within(std::string_view context) && {
    message = std::string(context) + ": " + message;
    return std::move(*this);
}

}  // namespace viridian
