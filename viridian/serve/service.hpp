#pragma once
// Service is the gRPC service of the monitor (monitor.proto): it translates messages to requests and results
// to messages. All decisions are the monitor's, except who may ask.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "viridian/meter/monitor/monitor.hpp"
#include "viridian/serve/monitor.grpc.pb.h"

namespace viridian::serve {

// Returns the status that clients get for `error`.
[[nodiscard]] grpc::Status to_status(const Error& error);

class Service final : public monitor::v1::Monitor::Service {
  public:
    // `sessions` must outlive this object. If `token` is not empty, calls without it in their metadata
    // (token.hpp) end with UNAUTHENTICATED.
    Service(meter::Monitor& sessions, std::string token) : sessions_(&sessions), token_(std::move(token)) {}
    void stop();  // ends every stream

    grpc::Status Start(grpc::ServerContext* context, const monitor::v1::StartRequest* request,
                       monitor::v1::StartReply* reply) override;
    grpc::Status Read(grpc::ServerContext* context, const monitor::v1::ReadRequest* request,
                      monitor::v1::Epoch* reply) override;
    grpc::Status Stop(grpc::ServerContext* context, const monitor::v1::StopRequest* request,
                      monitor::v1::StopReply* reply) override;
    grpc::Status Stream(grpc::ServerContext* context, const monitor::v1::StreamRequest* request,
                        grpc::ServerWriter<monitor::v1::Batch>* writer) override;

  private:
    [[nodiscard]] grpc::Status admit(const grpc::ServerContext& context) const;
    // Waits before the next message of a stream. Returns false if the stream has to end.
    bool wait(const grpc::ServerContext& context, std::int64_t milliseconds);
    meter::Monitor* sessions_;
    std::string token_;
    std::atomic<int> streams_{0};  // each has a thread
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool stopping_ = false;
};

}  // namespace viridian::serve
